"""Chain inference by looking at every labeling.

score(y) = start[y_0] + end[y_{T-1}] + sum_t node[t, y_t] + sum_t transitions[y_t, y_{t+1}]

Transitions are (K, K), or (T-1, K, K) when they differ by position. Entries of -inf forbid. All labelings are kept in
lexicographic order, those of score -inf included.
"""

import numpy as np
from numpy.typing import ArrayLike

from .enumeration import Array, Labels, chain_labelings


def score_labelings(
    node: ArrayLike, transitions: ArrayLike, start: ArrayLike | None = None, end: ArrayLike | None = None
) -> tuple[Labels, Array]:
    """Every labeling (K^T, T) with its score (K^T,)."""
    node = np.asarray(node, dtype=float)
    length, n_labels = node.shape
    trans = np.broadcast_to(np.asarray(transitions, dtype=float), (length - 1, n_labels, n_labels))
    first = np.zeros(n_labels) if start is None else np.asarray(start, dtype=float)
    last = np.zeros(n_labels) if end is None else np.asarray(end, dtype=float)
    labelings = chain_labelings(length, n_labels)
    scores = np.empty(len(labelings))
    for row, y in enumerate(labelings):
        total = first[y[0]] + last[y[-1]]
        for t in range(length):
            total += node[t, y[t]]
        for t in range(length - 1):
            total += trans[t, y[t], y[t + 1]]
        scores[row] = total
    return labelings, scores


def brute_force_argmax(
    node: ArrayLike,
    transitions: ArrayLike,
    start: ArrayLike | None = None,
    end: ArrayLike | None = None,
    tol: float = 1e-12,
) -> tuple[float, Labels]:
    """The largest score and all labelings (m, T) within ``tol`` of it (relative to max(1, |max|)), first ones first.

    Where every labeling is forbidden the value is -inf and no labeling is returned.
    """
    labelings, scores = score_labelings(node, transitions, start, end)
    best = float(np.max(scores))
    if best == -np.inf:
        return best, labelings[:0]
    return best, labelings[scores >= best - tol * max(1.0, abs(best))]


def brute_force_max_marginals(
    node: ArrayLike, transitions: ArrayLike, start: ArrayLike | None = None, end: ArrayLike | None = None
) -> Array:
    """(T, K): the largest score among the labelings with y_t = k; -inf where there is none."""
    labelings, scores = score_labelings(node, transitions, start, end)
    out = np.full(np.shape(node), -np.inf)
    for y, score in zip(labelings, scores, strict=True):
        for t, k in enumerate(y):
            out[t, k] = max(out[t, k], score)
    return out


def brute_force_edge_max_marginals(
    node: ArrayLike, transitions: ArrayLike, start: ArrayLike | None = None, end: ArrayLike | None = None
) -> Array:
    """(T-1, K, K): the largest score among the labelings with y_t = a, y_{t+1} = b; -inf where there is none."""
    labelings, scores = score_labelings(node, transitions, start, end)
    length, n_labels = np.shape(node)
    out = np.full((length - 1, n_labels, n_labels), -np.inf)
    for y, score in zip(labelings, scores, strict=True):
        for t in range(length - 1):
            out[t, y[t], y[t + 1]] = max(out[t, y[t], y[t + 1]], score)
    return out


def chain_potentials(
    w: ArrayLike, X: ArrayLike, n_labels: int, *, intercept: bool = True, boundary: bool = True
) -> tuple[Array, Array, Array, Array]:
    """(node, transitions, start, end) with score(y) = <w, phi(x, y)>; w laid out as in ``chain_joint_feature``."""
    X, rest = np.asarray(X, dtype=float), list(np.asarray(w, dtype=float))

    def take(*shape: int) -> Array:
        size = int(np.prod(shape))
        block = np.array(rest[:size]).reshape(shape)
        del rest[:size]
        return block

    node = X @ take(X.shape[1], n_labels)
    transitions = take(n_labels, n_labels)
    if intercept:
        node = node + take(n_labels)
    start = take(n_labels) if boundary else np.zeros(n_labels)
    end = take(n_labels) if boundary else np.zeros(n_labels)
    if rest:
        raise ValueError(f"w has {len(rest)} entries too many")
    return node, transitions, start, end
