"""Samples with one label each, laid out: the problem, its dual state and the scratch of a thread."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, plain
from ..needs import offered_if
from ..numbered import with_numbered_outputs
from ..rows import Rows, as_rows, count_weight_rows, flat_inner, has_features, squared_norms
from ..verbs import dimension, inner, new_blocks, new_totals, new_work, offers


@with_numbered_outputs
class MulticlassProblem(NamedTuple):
    """Samples with their true classes and costs: enough to learn. :func:`make_multiclass_problem` lays it out.

    Parameters
    ----------
    rows : DenseRows, SparseRows or KernelRows
        Features of the samples.
    n_rows : int
        Rows of weights: F, and one for the intercept.
    intercept_row : int
        Which of them is the intercept; -1 without one.
    labels : array of int32 of shape (n,)
        True classes.
    cost : array of shape (K, K)
        Loss of a class (column) where another (row) is true.
    weight : array of shape (n,)
        Sample weights over their sum, ``s_i / S``.
    squared_norm : array of shape (n,)
        ``|x_i|^2``, intercept included.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> problem.n_rows, problem.weight.tolist(), problem.squared_norm.tolist()
    (5, [0.25, 0.25, 0.25, 0.25], [2.0, 2.0, 2.0, 2.0])
    """

    rows: Rows
    n_rows: int
    intercept_row: int
    labels: np.ndarray
    cost: np.ndarray
    weight: np.ndarray
    squared_norm: np.ndarray


class MulticlassBlocks(NamedTuple):
    node: np.ndarray  # (n, K)
    loss: np.ndarray  # (n,)


class MulticlassWork(NamedTuple):
    node: np.ndarray  # (K,) loss-augmented scores
    label: np.ndarray  # (2,) the corner and the away corner
    active: np.ndarray  # (K,)
    values: np.ndarray  # (K,)


def make_multiclass_problem(
    matrix: Any,
    labels: np.ndarray,
    n_labels: int,
    *,
    intercept: bool = True,
    cost: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> MulticlassProblem:
    """Encode samples once into flat arrays. Nothing is checked here; the estimators do that.

    Parameters
    ----------
    matrix : array, CSR matrix or KernelRows of shape (n, F)
        Features of the samples, float64.
    labels : array of int of shape (n,)
        True classes, in ``range(n_labels)``.
    n_labels : int
        K, the number of classes.
    intercept : bool, default=True
        Whether classes have a bias.
    cost : array of shape (K, K) or None, default=None
        Loss of a class (column) where another (row) is true; None: 1 for every wrong class.
    sample_weight : array of shape (n,) or None, default=None
        Weights of the samples, >= 0; None: all alike.

    Returns
    -------
    problem : MulticlassProblem

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3, intercept=False)
    >>> result = BlockFrankWolfe(step="pairwise").solve(problem, 0.01, tol=1e-3, random_state=0)
    >>> result.w.reshape(4, 3).argmax(axis=1).tolist()  # weights are features by classes
    [0, 1, 2, 2]
    """
    n, n_features = len(labels), count_weight_rows(matrix)
    rows = as_rows(matrix)
    cost = 1.0 - np.eye(n_labels) if cost is None else cost
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)
    return MulticlassProblem(
        rows=rows,
        n_rows=n_features + intercept,
        intercept_row=n_features if intercept else -1,
        labels=plain(labels, np.int32),
        cost=plain(cost, np.float64),
        weight=weight / weight.sum(),
        squared_norm=squared_norms(rows) + intercept,
    )


@implements(dimension, MulticlassProblem)
def _(problem):
    return problem.n_rows * problem.cost.shape[0]


@implements(inner, MulticlassProblem)
def _(problem, u, v):
    return flat_inner(problem.rows, problem.cost.shape[0], u, v)


@implements(offers, MulticlassProblem)
def _(problem):
    linear = has_features(problem.rows)
    # with a kernel, each label that changes costs a row of it: pairs are the better steps there
    return offered_if(bounds=linear, weights=linear, decoding=True, expectations=True, top_outputs=True, optima=linear)


@implements(new_blocks, MulticlassProblem)
def _(problem):
    blocks = _zero_blocks(problem)
    blocks.node[np.arange(len(problem.labels)), problem.labels] = 1.0
    return blocks


@implements(new_totals, MulticlassProblem)
def _zero_blocks(problem):
    n = len(problem.labels)
    return MulticlassBlocks(np.zeros((n, problem.cost.shape[0])), np.zeros(n))


@implements(new_work, MulticlassProblem)
def _(problem):
    n_labels = problem.cost.shape[0]
    return MulticlassWork(np.zeros(n_labels), np.zeros(2, np.int64), np.zeros(n_labels, np.int64), np.zeros(n_labels))


@helper
def weight_rows(problem, w):
    return w.reshape((problem.n_rows, problem.cost.shape[0]))
