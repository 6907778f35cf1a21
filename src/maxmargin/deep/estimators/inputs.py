"""Sequences as users hand them over: numbers of positions, or features of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...estimators.inputs.arrays import as_any_array, read_list

WANTED = "sequences, each (T, F) features or (T,) whole numbers such as those of words"


def read_sequences(X: Any, like: tuple[int, int] | None = None) -> tuple[list[np.ndarray], tuple[int, int]]:
    """Arrays of one kind, and that kind: how many dimensions, and how many features (of numbers: up to the largest)."""
    given = read_list(X, f"{WANTED}, at least one", least=like is None)
    found = [_sequence(one, f"X, sample {i}") for i, one in enumerate(given)]
    if not found:
        return [], like or (2, 0)
    n_dims = like[0] if like is not None else found[0].ndim
    for i, one in enumerate(found):
        if one.ndim != n_dims:
            raise ValueError(f"X, sample {i}: has {one.ndim} dimensions, where others have {n_dims}: {WANTED}")
    if n_dims == 1:
        most = 1 + max(int(one.max()) for one in found)
        if like is not None and most > like[1]:
            raise ValueError(f"X holds the number {most - 1}, but the network was trained with numbers below {like[1]}")
        return found, (1, like[1] if like is not None else most)
    width = like[1] if like is not None else found[0].shape[1]
    for i, one in enumerate(found):
        if one.shape[1] != width:
            raise ValueError(f"X, sample {i}: has {one.shape[1]} features, where {width} are expected")
    return found, (2, width)


def _sequence(sample: Any, where: str) -> np.ndarray:
    if sp.issparse(sample):
        raise ValueError(f"{where}: networks take arrays, got a sparse matrix: take its toarray(), or numbers of words")
    x = as_any_array(sample, where)
    if x.ndim not in (1, 2) or not len(x) or (x.ndim == 2 and not x.shape[1]):
        raise ValueError(f"{where}: must be (T, F) features or (T,) whole numbers, none of them 0, got {x.shape}")
    if x.dtype.kind not in ("iu" if x.ndim == 1 else "biuf"):
        raise ValueError(f"{where}: must hold {'whole ' if x.ndim == 1 else ''}numbers, got {x.dtype}")
    if x.ndim == 1 and x.min() < 0:
        raise ValueError(f"{where}: numbers must be >= 0, got {x.min()}")
    if x.ndim == 2 and not np.isfinite(x).all():
        row = int(np.argmin(np.isfinite(x).all(axis=1)))
        raise ValueError(f"{where}, position {row}: features must be finite, got {x[row][~np.isfinite(x[row])][0]}")
    return x.astype(np.int64) if x.ndim == 1 else x.astype(np.float64, copy=False)
