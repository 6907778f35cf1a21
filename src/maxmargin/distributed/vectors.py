"""Vectors on their way between machines: sparse where that takes fewer bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

SPARSE_BELOW = 0.5  # of the entries: an index and a number take 12 bytes or 16, a number alone 8


def compact(vector: np.ndarray) -> Any:
    """The vector, as a sparse row where few entries are not 0."""
    if np.count_nonzero(vector) >= SPARSE_BELOW * len(vector):
        return vector
    return sp.csr_array(vector[None, :])


def dense(vector: Any) -> np.ndarray:
    """An array of its own or the one given, never to be written to."""
    return vector.toarray()[0] if sp.issparse(vector) else vector


def added(first: Any, second: Any) -> Any:
    """The sum, sparse where both are and it stays so."""
    if not (sp.issparse(first) and sp.issparse(second)):
        return dense(first) + dense(second)
    total = first + second
    return total if total.nnz < SPARSE_BELOW * total.shape[1] else dense(total)


def n_bytes(vector: Any) -> int:
    """What it takes to send it."""
    if not sp.issparse(vector):
        return vector.nbytes
    return vector.data.nbytes + vector.indices.nbytes + vector.indptr.nbytes
