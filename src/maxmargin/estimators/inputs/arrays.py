"""What readers of inputs share: lists of samples and of their outputs, arrays, features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Words(NamedTuple):
    """What messages call a sample, and one of the things in it that get a label."""

    sample: str
    site: str


SEQUENCES = Words("sequence", "position")


def is_list(values: Any) -> bool:
    """Whether there is one value after the other; a NamedTuple is one sample."""
    listed = isinstance(values, (list, tuple)) and not hasattr(values, "_fields")
    return listed or (isinstance(values, np.ndarray) and values.ndim > 0)


def read_list(X: Any, wanted: str, least: int = 1) -> Any:
    """Samples, at least so many."""
    if not is_list(X):
        hint = ": X is one sample, wrap it: [X]" if hasattr(X, "_fields") else ""
        raise ValueError(f"X must be a list of {wanted}, got {type(X).__name__}{hint}")
    if len(X) < least:
        raise ValueError(f"X must be a list of {wanted}, got none")
    return X


def read_target(y: Any, name: str = "y") -> Any:
    """Outputs that are given, in whatever way."""
    if y is None:
        raise ValueError(f"This estimator requires {name} to be passed, but the target {name} is None.")
    return y


def read_outputs(y: Any, n: int, wanted: str, name: str = "y") -> Any:
    """One output for each of n samples."""
    read_target(y, name)
    if not is_list(y) or len(y) != n:
        count = len(y) if is_list(y) else f"an object of type {type(y).__name__}"
        raise ValueError(f"{name} must hold {wanted} of {n} samples, as X does, got {count}")
    return y


def take(values: Any, kept: np.ndarray) -> Any:
    """Those of some samples, or of some positions; what there is itself, not a copy, where they are all."""
    n = values.shape[0] if hasattr(values, "shape") else len(values)
    if len(kept) == n:
        return values
    return values[kept] if hasattr(values, "shape") else [values[i] for i in kept]


def rows_of(counts: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Which rows are those of some samples, where each sample has `counts` rows, one sample after the other."""
    chosen = np.zeros(len(counts), bool)
    chosen[kept] = True
    return np.flatnonzero(np.repeat(chosen, counts))


def as_array(x: Any, where: str) -> np.ndarray:
    """An array-like other than a list as an ndarray of at least one dimension."""
    if type(x) is np.ndarray and x.ndim > 0:  # as most are, of thousands
        return x
    refuse_mask(x, where)
    array = np.asarray(x) if hasattr(x, "__array__") and not sp.issparse(x) else None
    if array is None or array.ndim == 0:
        raise TypeError(f"{where}: expected a list or an array, got {type(x).__name__}")
    return array


def as_any_array(values: Any, where: str) -> np.ndarray:
    """Anything as an ndarray, lists included; whether it is of use, its shape and dtype tell."""
    refuse_mask(values, where)
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def refuse_mask(x: Any, where: str) -> None:
    if np.ma.is_masked(x):  # conversion to a plain array would bring the hidden values back
        raise ValueError(f"{where}: masked values are not supported: fill or drop them")


def as_float64(x: Any) -> np.ndarray:
    """What compiled kernels read: float64, C order, aligned, a plain ndarray; x itself where it is that already."""
    with np.errstate(over="ignore"):
        return np.require(x, np.float64, ["C", "A", "E"])


def as_features(x: np.ndarray, where: str) -> np.ndarray:
    """Real numbers as float64; they may be NaN or infinite still."""
    if x.dtype.kind not in "biuf":
        raise ValueError(f"{where}: features must hold real numbers, got {x.dtype}")
    return as_float64(x)


def check_features_finite(x: Any, where: str) -> None:
    if not np.all(np.isfinite(x.data if sp.issparse(x) else x)):
        raise ValueError(f"{where}: features hold NaN or infinity")


def same_width(widths: Sequence[int | None], n_features: int | None, estimator: str) -> int:
    """How many features all samples have, None of those that do not say; after a fit, as many as there."""
    expected = next((width for width in widths if width is not None), 0) if n_features is None else n_features
    for i, width in enumerate(widths):
        if width is not None and width != expected:
            who = "the samples before have" if n_features is None else f"{estimator} is expecting"
            raise ValueError(f"X, sample {i}: {width} features, but {who} {expected} features")
    return expected
