"""Sets of labels written out, with and without interactions."""

import itertools

import numpy as np
from numpy.typing import ArrayLike

from .enumeration import Array, EnumeratedProblem, Labels, from_callables


def label_sets(n_labels: int) -> Labels:
    """(2^L, L): every set of labels as zeros and ones, in lexicographic order."""
    return np.array(list(itertools.product((0, 1), repeat=n_labels)), dtype=np.int64)


def multilabel_joint_feature(
    x: ArrayLike, y: ArrayLike, *, intercept: bool = True, interactions: bool = False
) -> Array:
    """phi(x, y): node (F, L) row-major, [bias (L)], [pairs l < m, by l and then by m]."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    pairs = [y[a] * y[b] for a in range(len(y)) for b in range(a + 1, len(y))]
    parts = [np.outer(x, y).ravel(), *([y] if intercept else []), *([np.array(pairs)] if interactions else [])]
    return np.concatenate(parts)


def enumerate_multilabel(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    intercept: bool = True,
    interactions: bool = False,
    missed: ArrayLike = 1.0,
    wrong: ArrayLike = 1.0,
    sample_weight: ArrayLike | None = None,
) -> EnumeratedProblem:
    """Sets of labels: ``X`` (n, F), ``Y`` (n, L) of zeros and ones; costs of labels that are missed, or wrong."""
    X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=np.int64)
    costs = (np.asarray(missed, dtype=float), np.asarray(wrong, dtype=float))
    return from_callables(
        len(Y),
        lambda i: list(label_sets(Y.shape[1])),
        lambda i, y: multilabel_joint_feature(X[i], y, intercept=intercept, interactions=interactions),
        lambda i, y: float(np.sum(costs[0] * Y[i] * (1 - y) + costs[1] * (1 - Y[i]) * y)),
        list(Y),
        sample_weight,
    )
