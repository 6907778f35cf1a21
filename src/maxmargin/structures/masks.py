"""Which labels may follow which, and which may open or close a sequence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class TransitionMask(NamedTuple):
    """Allowed moves over K labels, in the order of ``classes_``."""

    allowed: np.ndarray  # (K, K) bool: row label may be followed by column label
    start: np.ndarray  # (K,) bool: label may come first
    end: np.ndarray  # (K,) bool: label may come last

    @classmethod
    def everything(cls, n_labels: int) -> TransitionMask:
        return cls(np.ones((n_labels, n_labels), bool), np.ones(n_labels, bool), np.ones(n_labels, bool))

    def check(self, n_labels: int) -> TransitionMask:
        """The mask as boolean arrays of the right shapes, or an error that names the wrong one."""
        for name, array, shape in zip(
            self._fields, self, [(n_labels, n_labels), (n_labels,), (n_labels,)], strict=True
        ):
            if np.shape(array) != shape:
                raise ValueError(
                    f"transition_mask: {name} has shape {np.shape(array)}, but {n_labels} labels need {shape}"
                )
        return TransitionMask(*(np.asarray(array, bool) for array in self))

    def first_violation(self, labels: np.ndarray, offsets: np.ndarray) -> tuple[int, int] | None:
        """The first (sample, position) whose label the mask forbids there, or None."""
        bad = np.zeros(len(labels), bool)
        bad[1:] = ~self.allowed[labels[:-1], labels[1:]]
        bad[offsets[:-1]] = ~self.start[labels[offsets[:-1]]]
        bad[offsets[1:] - 1] |= ~self.end[labels[offsets[1:] - 1]]
        if not bad.any():
            return None
        position = int(np.argmax(bad))
        sample = int(np.searchsorted(offsets, position, side="right")) - 1
        return sample, position - int(offsets[sample])


def bio_mask(classes: Iterable) -> TransitionMask:
    """BIO (IOB2) rules read off names such as ``B-NP``, ``I-NP``, ``O``: ``I-X`` follows ``B-X`` or ``I-X`` only."""
    names = [str(name) for name in classes]
    if not any(name.startswith(("B-", "I-")) for name in names):
        raise ValueError(f"no label is named B-… or I-…, so there are no BIO rules to read off: {names[:5]}")
    inside = np.array([name.startswith("I-") for name in names])
    kind = np.array([name[2:] if name.startswith(("B-", "I-")) else "" for name in names])
    allowed = ~inside[None, :] | (kind[:, None] == kind[None, :])
    return TransitionMask(allowed, ~inside, np.ones(len(names), bool))
