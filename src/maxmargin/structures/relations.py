"""What the positions of parts tell before anything is learned: which parts go together, and in which relations."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from threadpoolctl import threadpool_limits


def steadiest_tree(positions: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Parents (P,) in the tree whose displacements vary least in all, part 0 its root; from poses (n, P, 2)."""
    together = sum(np.atleast_2d(np.cov(positions[:, :, axis].T, aweights=weight, ddof=0)) for axis in (0, 1))
    alone = np.diagonal(together)
    variance = alone[:, None] + alone - 2.0 * together
    tree = minimum_spanning_tree(variance + 1.0 + np.abs(variance.min()))  # SciPy takes 0 for no edge
    parents = breadth_first_order(tree, 0, directed=False)[1]
    return np.maximum(parents, -1).astype(np.int64)


def find_anchors(positions: np.ndarray, parents: np.ndarray, n_types: int, weight: np.ndarray) -> np.ndarray:
    """(P, R, 2) typical displacements of the parts from their parents, by k-means (chen14); zeros for roots.

    Where there are fewer different displacements than types, some are repeated. The seed is fixed: anchors belong to
    the data, as features do.
    """
    from sklearn.cluster import KMeans  # imports half of scikit-learn

    anchors = np.zeros((len(parents), n_types, 2))
    with threadpool_limits(1):  # threads that wait for each other cost more than these few points do
        for part in np.flatnonzero(parents >= 0):
            apart = (positions[:, part] - positions[:, parents[part]]).astype(np.float64)
            n_clusters = min(n_types, len(np.unique(apart, axis=0)))
            centers = KMeans(n_clusters, n_init=10, random_state=0).fit(apart, sample_weight=weight).cluster_centers_
            anchors[part] = np.resize(centers, (n_types, 2))
    return anchors


def nearest_types(positions: np.ndarray, parents: np.ndarray, anchors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The type (n, P) of each relation, that of the nearest anchor, -1 for roots; and the squared distance to it."""
    apart = positions - positions[:, parents]
    square = ((apart[:, :, None] - anchors) ** 2).sum(axis=-1)
    return np.where(parents >= 0, square.argmin(axis=2), -1), np.where(parents >= 0, square.min(axis=2), 0.0)
