"""Sets of labels as scikit-learn takes them, a column a label, and numbers of labels; or say what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .arrays import as_any_array, as_float64, read_target
from .sparse import read_csr, stack_csr

HOW = "give one column of zeros and ones a label, as sklearn.preprocessing.MultiLabelBinarizer makes them"


def read_label_sets(y: Any, n: int | None = None, n_labels: int | None = None, name: str = "y") -> np.ndarray:
    """Indicators (n, L) as uint8, from an array or a sparse matrix of zeros and ones, of as many as expected."""
    read_target(y, name)
    table = _dense(y, name)
    if table.ndim != 2:
        raise ValueError(f"{name} must hold a set of labels a sample, got an array of shape {table.shape}: {HOW}")
    if table.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold zeros and ones, got {table.dtype}: {HOW}")
    if n is not None and len(table) != n:
        raise ValueError(f"{name} has {len(table)} samples, but X has {n}")
    if n_labels is not None and table.shape[1] != n_labels:
        raise ValueError(f"{name} has {table.shape[1]} labels, but there are {n_labels}")
    if table.shape[1] == 0:
        raise ValueError(f"{name} has no column: {HOW}")
    wrong = (table != 0) & (table != 1)
    if wrong.any():
        i, label = np.unravel_index(int(wrong.argmax()), wrong.shape)
        raise ValueError(f"{name}, sample {i}, label {label}: {table[i, label]} is neither 0 nor 1: {HOW}")
    return table.astype(np.uint8)


def _dense(y: Any, name: str) -> np.ndarray:
    if not sp.issparse(y):
        try:
            return as_any_array(y, name)
        except ValueError as error:  # sets of different sizes
            raise ValueError(f"{name} must hold as many columns for every sample: {HOW}") from error
    if y.ndim != 2 or y.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be a matrix of zeros and ones, got {y.dtype} of shape {y.shape}: {HOW}")
    return stack_csr([read_csr(y, name)], lambda _: name).toarray()


def read_by_label(values: Any, n_labels: int, name: str, *, least: float = -np.inf) -> np.ndarray:
    """A finite number of at least `least` for each label (L,); one alone is that of all."""
    numbers = as_any_array(values, name)
    if numbers.dtype.kind not in "biuf" or numbers.shape not in ((), (n_labels,)):
        raise ValueError(f"{name} must be a number, or one for each of {n_labels} labels, got {values!r}")
    numbers = np.broadcast_to(as_float64(numbers), n_labels).copy()
    wrong = ~(np.isfinite(numbers) & (numbers >= least))
    if wrong.any():
        label = int(wrong.argmax())
        bound = "" if least == -np.inf else f" and >= {least:g}"
        raise ValueError(f"{name}, label {label}: {numbers[label]} must be finite{bound}")
    return numbers
