"""Which labels may go together, read as users give it, or say which training sample breaks it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...structures.masks import TransitionMask, bio_mask
from .arrays import as_any_array


def read_transition_mask(
    mask: Any, classes: np.ndarray, codes: np.ndarray, offsets: np.ndarray, numbers: np.ndarray
) -> TransitionMask:
    """The mask a user means, checked against the training labels; `numbers` are those users know the samples by."""
    n_labels = len(classes)
    if mask is None:
        return TransitionMask.everything(n_labels)
    scheme = isinstance(mask, str)
    if scheme:
        if mask != "bio":
            raise ValueError(f'transition_mask must be None, "bio", a (K, K) array or a TransitionMask, got {mask!r}')
        try:
            mask = bio_mask(classes)
        except ValueError as error:
            raise ValueError(f'y: transition_mask="bio": {error}') from error
    if not isinstance(mask, TransitionMask):
        mask = TransitionMask.everything(n_labels)._replace(allowed=as_any_array(mask, "transition_mask"))
    for name, array in mask._asdict().items():
        # scores such as 0 and -inf would mean the reverse if taken for truth values
        if not np.isin(array, [False, True]).all():
            raise ValueError(f"transition_mask: {name} must hold truth values, True where a move is allowed")
    mask = mask.check(n_labels)
    violation = mask.first_violation(codes, offsets)
    if violation is not None:
        sample, position = violation
        at = offsets[sample] + position
        before = repr(str(classes[codes[at - 1]])) if position else "the start"
        hint = "; labels in IOB1, where chunks may begin with I-, must be made IOB2" if scheme else ""
        raise ValueError(
            f"y, sample {numbers[sample]}, position {position}: label {str(classes[codes[at]])!r} after {before} "
            f"(or at the end) is forbidden by transition_mask; correct the label or allow it{hint}"
        )
    return mask


def read_pair_mask(
    mask: Any, classes: np.ndarray, codes: np.ndarray, plan: Any, numbers: np.ndarray
) -> np.ndarray | None:
    """(K, K) truth values, checked against the training labels; `numbers` are those users know the samples by."""
    if mask is None:
        return None
    if isinstance(mask, TransitionMask):
        raise ValueError("transition_mask must hold truth values: give TransitionMask.allowed, only chains have ends")
    if isinstance(mask, str):
        raise ValueError(f"transition_mask must be a (K, K) array here, got {mask!r}: names are for chains")
    allowed = as_any_array(mask, "transition_mask")
    if allowed.shape != (len(classes), len(classes)):
        raise ValueError(f"transition_mask has shape {allowed.shape}, but there are {len(classes)} labels")
    if not np.isin(allowed, [False, True]).all():
        raise ValueError("transition_mask must hold truth values, True where a pair of labels is allowed")
    allowed = allowed.astype(bool)
    samples = np.repeat(np.arange(len(plan.edge_offsets) - 1), np.diff(plan.edge_offsets))
    first = plan.offsets[samples]
    bad = ~allowed[codes[first + plan.tail], codes[first + plan.head]]
    if bad.any():
        e = int(np.argmax(bad))
        one, other = (str(classes[codes[first[e] + end[e]]]) for end in (plan.tail, plan.head))
        raise ValueError(
            f"y, sample {numbers[samples[e]]}, edge {plan.tail[e]} -> {plan.head[e]}: transition_mask forbids labels "
            f"{one!r}, {other!r}; correct one or allow them"
        )
    return allowed
