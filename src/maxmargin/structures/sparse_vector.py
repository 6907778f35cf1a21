"""Vectors of which only what is not 0 is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class SparseVector(NamedTuple):
    indices: np.ndarray
    values: np.ndarray

    def dot(self, w: np.ndarray) -> float:
        return float(w[self.indices] @ self.values)

    def add_to(self, w: np.ndarray, scale: float) -> None:
        w[self.indices] += scale * self.values

    def squared_norm(self) -> float:
        return float(self.values @ self.values)


def combine(a: float, u: SparseVector, b: float, v: SparseVector) -> SparseVector:
    """``a u + b v``."""
    return mixture([u, v], [a, b])


def mixture(vectors: Sequence[SparseVector], shares: Sequence[float]) -> SparseVector:
    """The sum of all vectors, each times its share."""
    indices, place = np.unique(np.concatenate([one.indices for one in vectors]), return_inverse=True)
    values = np.concatenate([share * one.values for one, share in zip(vectors, shares, strict=True)])
    return SparseVector(indices, np.bincount(place, values, len(indices)))


def as_sparse_vector(vector: Any, d: int) -> SparseVector:
    """A dense vector, a scipy sparse row or an (indices, values) pair as sorted indices with summed values."""
    if sparse.issparse(vector):
        vector = sparse.coo_array(vector.reshape(1, -1))
        indices, values, length = vector.col, vector.data, vector.shape[1]
    elif isinstance(vector, tuple) and len(vector) == 2 and all(np.ndim(part) > 0 for part in vector):
        indices, values, length = np.asarray(vector[0]), vector[1], d
        if indices.ndim != 1 or np.shape(values) != indices.shape:
            raise ValueError(f"pairs indices of shape {indices.shape} with values of shape {np.shape(values)}")
        if len(indices) and indices.dtype.kind not in "iu":
            raise ValueError(f"must have integer indices, got {indices.dtype}")
        if len(indices) and (indices.min() < 0 or indices.max() >= d):
            raise ValueError(f"has an index outside 0 … {d - 1}")
    else:
        values = np.asarray(vector)
        if values.ndim != 1:
            raise ValueError(f"must be a vector, got an array of shape {values.shape}")
        indices, length = np.arange(len(values)), len(values)
    if length != d:
        raise ValueError(f"has length {length}, but n_features is {d}")
    if np.iscomplexobj(values):
        raise ValueError("holds complex numbers")
    values = np.asarray(values, np.float64)
    if not np.all(np.isfinite(values)):
        raise ValueError("holds NaN or infinity")
    kept = values != 0.0
    indices, place = np.unique(indices[kept].astype(np.int64), return_inverse=True)
    return SparseVector(indices, np.bincount(place, values[kept], len(indices)))
