"""Samples that join others: rows under rows, labels among those that are known, or say what is wrong and why."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .arrays import as_any_array

FIRST = "those of the first call, where classes= may name more than its y has"


def stack_rows(first: Any, more: Any) -> Any:
    """Rows of both, dense or CSR, as the first are."""
    if sp.issparse(first) != sp.issparse(more):
        kinds = {True: "sparse", False: "dense"}
        now, then = kinds[sp.issparse(more)], kinds[sp.issparse(first)]
        raise ValueError(f"X is {now}, but was {then} in the first call: give all samples the same way")
    if not sp.issparse(first):
        return np.concatenate([first, more])
    parts = (
        np.concatenate([first.data, more.data]),
        np.concatenate([first.indices, more.indices]),
        np.concatenate([first.indptr, first.indptr[-1] + more.indptr[1:].astype(np.int64)]),
    )
    stacked = type(first)(parts, shape=(first.shape[0] + more.shape[0], first.shape[1]))
    stacked.has_canonical_format = True
    stacked.indices, stacked.indptr = parts[1], parts[2]  # scipy gives both index arrays the same dtype
    return stacked


def follow(first: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Offsets of samples, and of those that come after them."""
    return np.concatenate([first, first[-1] + more[1:]])


def read_classes(classes: Any, known: np.ndarray | None) -> np.ndarray | None:
    """The classes of a first call, sorted, None where y tells them; in later calls they must be those."""
    if classes is None:
        return known
    given = as_any_array(classes, "classes")
    if given.ndim != 1 or not len(given) or len(set(given.tolist())) < len(given):
        raise ValueError(f"classes must hold every label once, got {classes!r}")
    if known is None:
        return np.array(sorted(given.tolist()), given.dtype)
    if set(given.tolist()) != set(known.tolist()):
        raise ValueError(f"classes are {FIRST}: {known.tolist()}, not {given.tolist()}")
    return known


def check_known(codes: np.ndarray, labels: np.ndarray, classes: np.ndarray, samples: np.ndarray) -> None:
    """Refuse labels that are none of the classes; `samples` are the numbers of theirs."""
    unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        at = unknown[0]
        raise ValueError(
            f"y, sample {samples[at]}: the label {labels.tolist()[at]!r} is none of {classes.tolist()}: classes are "
            f"{FIRST}"
        )


def check_width(rows: Any, n_features: int, estimator: str) -> None:
    """Refuse rows of other features."""
    if rows.shape[1] != n_features:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {estimator} is expecting {n_features} features as input."
        )
