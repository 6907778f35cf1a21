"""Trees and graphs: sites with links as given."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..rows import as_rows
from .links import Alike, Featured, Potts


def links_of(plan: Any, n_labels: int, allowed: np.ndarray | None = None, matrix: Any = None) -> Alike | Featured:
    """The edges of a plan as links, all alike, or with the features `matrix` (E, F) beside a constant one.

    `allowed` (K, K) says which label of the tail may go with which of the head.
    """
    mask = np.empty((0, 0))
    if allowed is not None and not allowed.all():
        mask = np.where(allowed, 0.0, -np.inf)
    ends = np.asarray(plan.tail, np.int32), np.asarray(plan.head, np.int32)
    if matrix is None:
        return Alike(mask, plan.edge_offsets, *ends)
    rows = as_rows(_with_constant(matrix))
    most = int(np.diff(plan.edge_offsets).max(initial=0))
    return Featured(mask, plan.edge_offsets, *ends, rows, matrix.shape[1] + 1, most)


def potts_links_of(plan: Any, matrix: Any = None) -> Potts:
    """The edges of a plan as links that cost where labels differ, by a constant and the features `matrix` (E, F) >= 0.

    Scores are then ``-<w, x_e>`` for different labels, submodular where w >= 0.
    """
    matrix = np.zeros((len(plan.tail), 0)) if matrix is None else matrix
    ends = np.asarray(plan.tail, np.int32), np.asarray(plan.head, np.int32)
    most = int(np.diff(plan.edge_offsets).max(initial=0))
    rows = as_rows(-_with_constant(matrix))
    return Potts(np.empty((0, 0)), plan.edge_offsets, *ends, rows, matrix.shape[1] + 1, most)


def _with_constant(matrix: Any) -> Any:
    ones = np.ones((matrix.shape[0], 1))
    return sparse.csr_matrix(sparse.hstack([ones, matrix])) if sparse.issparse(matrix) else np.hstack([ones, matrix])
