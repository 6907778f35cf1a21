"""Multiclass in part space: one node a block. Flat weights are ``[node (F, K) | intercept (K,)]``.

With kernel rows the node part is theirs, see :class:`~.rows.KernelRows`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import helper, implements, plain
from .._prefetch import prefetch
from ..inference.smoothing import smooth_max
from ..inference.vectors import exp_scores, largest_of
from ..inference.verbs import FLOOR
from .directions import Measured, list_change, list_difference, list_pair, plus
from .needs import offered_if
from .numbered import with_numbered_outputs
from .rows import (
    Rows,
    add_outer,
    add_scores,
    as_rows,
    count_weight_rows,
    flat_inner,
    has_features,
    list_ranges,
    most_ranges,
    prefetch_row,
    squared_norms,
)
from .smoothing import (
    EntropySmoothing,
    L2Smoothing,
    Smoothed,
    Untilted,
    by_entropy,
    find_smoothed,
    new_smoothed,
)
from .verbs import (
    accumulate,
    add_block,
    add_corner,
    add_direction,
    add_expectation,
    announce,
    argmax_cost,
    block_value,
    corner_loss,
    dimension,
    find_between,
    find_corner,
    find_entry,
    find_expectation,
    find_optimum,
    find_potentials_with,
    find_support,
    inner,
    keep_expectation,
    largest_loss,
    measure,
    mix_corner,
    move,
    new_blocks,
    new_expectation,
    new_interior,
    new_labelings,
    new_tilts,
    new_totals,
    new_work,
    offers,
    output_bound,
    settle_block,
    support_bound,
    tilt_value,
    truth_value,
)


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


@implements(find_potentials_with, MulticlassProblem)
def _(problem, work, w, i, emphasis):
    weights = weight_rows(problem, w)
    costs = problem.cost[problem.labels[i]]
    n_labels = costs.shape[0]
    for k in range(n_labels):
        work.node[k] = emphasis * costs[k]
    if problem.intercept_row >= 0:
        for k in range(n_labels):
            work.node[k] += weights[problem.intercept_row, k]
    add_scores(problem.rows, i, weights, work.node)


@implements(find_corner, MulticlassProblem)
def _(problem, work, w, i):
    best, largest = 0, largest_of(work.node)
    while work.node[best] < largest:
        best += 1
    work.label[0] = best
    return largest


@implements(announce, MulticlassProblem)
def _(problem, blocks, i):
    n_labels = problem.cost.shape[0]
    prefetch_row(problem.rows, i)
    prefetch(blocks.node, i * n_labels, n_labels)
    for array in (problem.weight, problem.squared_norm, blocks.loss):
        prefetch(array, i, 1)
    prefetch(problem.labels, i, 1)


@implements(truth_value, MulticlassProblem)
def _(problem, work, w, i):
    return work.node[problem.labels[i]]  # the loss of the truth is 0


@implements(block_value, MulticlassProblem)
def _(problem, blocks, work, w, i):
    total = 0.0
    for k in range(work.node.shape[0]):
        total += work.node[k] * blocks.node[i, k]
    return total


@helper
def list_moves(problem, direction, blocks, work, i):
    """List which marginals change along a direction, and by how much; their number is returned."""
    return list_change(direction, 0, blocks.node[i], work.label[0], work.label[1], work.active, work.values)


@implements(measure, MulticlassProblem)
def _(problem, direction, blocks, work, i):
    total = 0.0
    for j in range(list_moves(problem, direction, blocks, work, i)):
        total += work.values[j] * work.values[j]
    return Measured(total * problem.squared_norm[i])


@helper
def spread(problem, work, i, scale, n_active, w):
    """Add ``scale phi`` of a sample to the weights, for the labels and values listed in the scratch."""
    weights = weight_rows(problem, w)
    add_outer(problem.rows, i, scale, n_active, work.active, work.values, weights)
    if problem.intercept_row >= 0:
        for j in range(n_active):
            weights[problem.intercept_row, work.active[j]] += scale * work.values[j]


@implements(move, MulticlassProblem)
def _(problem, direction, measured, blocks, work, w, i, gamma, scale):
    count, loss = list_moves(problem, direction, blocks, work, i), 0.0
    costs = problem.cost[problem.labels[i]]
    for j in range(count):
        k, value = work.active[j], work.values[j]
        blocks.node[i, k] = plus(blocks.node[i, k], gamma * value)
        loss += costs[k] * value
    blocks.loss[i] += gamma * loss
    spread(problem, work, i, -scale * gamma, count, w)


@implements(add_direction, MulticlassProblem)
def _(problem, direction, blocks, work, i, scale, w):
    spread(problem, work, i, scale, list_moves(problem, direction, blocks, work, i), w)


@implements(settle_block, MulticlassProblem)
def _(problem, expectation, blocks, i):
    loss = 0.0
    for k in range(expectation.node.shape[0]):
        blocks.node[i, k] = expectation.node[k]
        loss += problem.cost[problem.labels[i], k] * expectation.node[k]
    blocks.loss[i] = loss


@implements(support_bound, MulticlassProblem)
def _(problem):
    return most_ranges(problem.rows, np.arange(len(problem.labels) + 1)) + 1


@implements(find_support, MulticlassProblem)
def _(problem, i, support):
    n_labels = problem.cost.shape[0]
    count = list_ranges(problem.rows, i, 0, n_labels, support, 0)
    if problem.intercept_row >= 0:
        begin = problem.intercept_row * n_labels
        support[count, 0], support[count, 1] = begin, begin + n_labels
        count += 1
    return count


@implements(corner_loss, MulticlassProblem)
def _(problem, work, i):
    return problem.cost[problem.labels[i], work.label[0]]


@implements(accumulate, MulticlassProblem)
def _(problem, totals, blocks, i, amount):
    for k in range(problem.cost.shape[0]):
        totals.node[i, k] += amount * blocks.node[i, k]
    totals.loss[i] += amount * blocks.loss[i]


@implements(add_block, MulticlassProblem)
def _(problem, blocks, work, i, scale, mass, w):
    count = list_difference(blocks.node[i], problem.labels[i], mass, work.active, work.values)
    spread(problem, work, i, scale, count, w)


@implements(add_corner, MulticlassProblem)
def _(problem, work, i, scale, w):
    spread(problem, work, i, scale, list_pair(problem.labels[i], work.label[0], work.active, work.values), w)


@implements(argmax_cost, MulticlassProblem)
def _(problem):
    return 0.0  # a maximum over K numbers


@implements(output_bound, MulticlassProblem)
def _(problem):
    return problem.cost.shape[0]


@implements(new_labelings, MulticlassProblem)
def _(problem, capacity):
    labelings = np.zeros((len(problem.labels), capacity), np.int32)
    labelings[:, 0] = problem.labels
    return labelings


class Expected(NamedTuple):
    scores: np.ndarray  # (K,)
    node: np.ndarray  # (K,) probabilities
    log_sum: np.ndarray  # (1,) log of the sum over classes, where they start from tilts or from nothing


class Tilts(NamedTuple):
    node: np.ndarray  # (n, K) logarithms of probabilities, but for a constant


class Interior(NamedTuple):
    node: np.ndarray  # (n, K) probabilities


@implements(new_tilts, MulticlassProblem)
def _(problem):
    return Tilts(np.zeros((len(problem.labels), problem.cost.shape[0])))


@implements(largest_loss, MulticlassProblem)
def _(problem):
    return float(problem.weight @ problem.cost.max(axis=1)[problem.labels])


@implements(new_interior, MulticlassProblem)
def _(problem):
    return Interior(np.zeros((len(problem.labels), problem.cost.shape[0])))


@implements(new_expectation, MulticlassProblem)
def _(problem):
    return Expected(np.zeros(problem.cost.shape[0]), np.zeros(problem.cost.shape[0]), np.zeros(1))


@helper
def settle_weights(expectation, work):
    """Weights of classes become probabilities; returns what the potentials at hand are worth there."""
    node, total, value = expectation.node, 0.0, 0.0
    for k in range(node.shape[0]):
        total += node[k]
    expectation.log_sum[0] = np.log(total)
    for k in range(node.shape[0]):
        node[k] /= total
        value += node[k] * work.node[k]
    return value


@helper
def expect_scores(expectation, work):
    """Classes have probabilities in proportion to exp(scores); returns what the potentials at hand are worth there."""
    largest = exp_scores(expectation.scores, expectation.node)
    value = settle_weights(expectation, work)
    expectation.log_sum[0] += largest
    return value


@implements(find_expectation, (MulticlassProblem, Tilts))
def _(problem, base, expectation, work, w, i, eta):
    for k in range(expectation.scores.shape[0]):
        expectation.scores[k] = base.node[i, k] + eta * work.node[k]
    return expect_scores(expectation, work)


@implements(find_between, MulticlassProblem)
def _(problem, tilts, expectation, work, w, i, eta):
    for k in range(expectation.scores.shape[0]):
        expectation.scores[k] = (1.0 - eta) * tilts.node[i, k] + eta * work.node[k]
    return expect_scores(expectation, work)


@implements(tilt_value, MulticlassProblem)
def _(problem, expectation, i):
    total = 0.0
    for k in range(expectation.scores.shape[0]):
        total += expectation.scores[k] * expectation.node[k]
    return total


@implements(add_expectation, MulticlassProblem)
def _(problem, expectation, work, i, scale, w):
    count = list_difference(expectation.node, problem.labels[i], 1.0, work.active, work.values)
    spread(problem, work, i, scale, count, w)


@implements(find_expectation, (MulticlassProblem, Untilted))
def _(problem, base, expectation, work, w, i, eta):
    for k in range(expectation.scores.shape[0]):
        expectation.scores[k] = eta * work.node[k]
    return expect_scores(expectation, work)


@implements(find_expectation, (MulticlassProblem, Interior))
def _(problem, base, expectation, work, w, i, eta):  # mohapatra16, Prop. 1
    scores, node = expectation.scores, expectation.node
    for k in range(scores.shape[0]):
        scores[k] = eta * work.node[k]
    exp_scores(scores, node)
    for k in range(scores.shape[0]):  # what underflowed is nothing beside the floor of another class
        node[k] *= base.node[i, k] + FLOOR
    return settle_weights(expectation, work)


@implements(find_entry, MulticlassProblem)
def _(problem, base, blocks, expectation, work, w, i, odds):
    for k in range(expectation.node.shape[0]):
        mass = blocks.node[i, k]
        expectation.scores[k] = max(np.log(mass), -odds) if mass > 0.0 else -odds
        expectation.node[k] = np.exp(expectation.scores[k])
    value = settle_weights(expectation, work)
    keep_expectation(problem, base, expectation, i, 1.0)
    return value


@implements(keep_expectation, (MulticlassProblem, Tilts))
def _(problem, base, expectation, i, gamma):
    for k in range(expectation.scores.shape[0]):
        base.node[i, k] = expectation.scores[k]


@implements(keep_expectation, (MulticlassProblem, Interior))
def _(problem, base, expectation, i, gamma):
    for k in range(expectation.node.shape[0]):
        base.node[i, k] = (1.0 - gamma) * base.node[i, k] + gamma * expectation.node[k]


@implements(mix_corner, MulticlassProblem)
def _(problem, base, work, i, gamma):
    for k in range(problem.cost.shape[0]):
        base.node[i, k] *= 1.0 - gamma
    base.node[i, work.label[0]] += gamma


@implements(find_optimum, MulticlassProblem)
def _(problem, blocks, expectation, work, i, scale):
    # a maximum of -curvature/2 |mu - (mu_i + theta / curvature)|^2: the point of the simplex nearest to that
    n_labels, curvature = work.node.shape[0], scale * problem.squared_norm[i]
    goal, best = expectation.node, work.label[0]
    top = work.node[best]
    for k in range(n_labels):  # differences of scores: where the curvature is small, their sizes would hide it
        goal[k] = blocks.node[i, k] * curvature + (work.node[k] - top)
    # what rises above a level sums to the curvature: raise the level until it does
    level, raised = -np.inf, largest_of(goal) - curvature
    while raised > level:
        level, total, count = raised, 0.0, 0
        for k in range(n_labels):
            if goal[k] > level:
                total += goal[k] - level
                count += 1
        raised = level + (total - curvature) / count if count > 0 else level
    for k in range(n_labels):
        goal[k] = max(goal[k] - level, 0.0) / curvature if curvature > 0.0 else (1.0 if k == best else 0.0)


@implements(new_smoothed, (MulticlassProblem, EntropySmoothing))
def _(problem, smoothing):
    return new_expectation(problem)


@implements(find_smoothed, (MulticlassProblem, EntropySmoothing))
def _(problem, smoothing, room, work, w, i):
    mean = find_expectation(problem, Untilted(), room, work, w, i, 1.0 / smoothing.mu)
    return by_entropy(smoothing, mean, room.log_sum[0])


class Mixture(NamedTuple):
    node: np.ndarray  # (K,) probabilities
    classes: np.ndarray  # (k + 1,) the best few
    values: np.ndarray  # (k + 1,)
    shares: np.ndarray  # (k + 1,)


@implements(new_smoothed, (MulticlassProblem, L2Smoothing))
def _(problem, smoothing):
    n_labels, asked = problem.cost.shape[0], smoothing.top_k + 1
    return Mixture(np.zeros(n_labels), np.zeros(asked, np.int64), np.zeros(asked), np.zeros(asked))


@implements(find_smoothed, (MulticlassProblem, L2Smoothing))
def _(problem, smoothing, room, work, w, i):
    node, count = room.node, 0
    for k in range(node.shape[0]):  # insertion: the best few are few
        at = min(count, room.values.shape[0])
        while at > 0 and work.node[k] > room.values[at - 1]:
            if at < room.values.shape[0]:
                room.values[at], room.classes[at] = room.values[at - 1], room.classes[at - 1]
            at -= 1
        if at < room.values.shape[0]:
            room.values[at], room.classes[at] = work.node[k], k
            count = min(count + 1, room.values.shape[0])
        node[k] = 0.0
    value, size, exact = smooth_max(room.values, count, smoothing.top_k, smoothing.mu, room.shares)
    mean = 0.0
    for j in range(size):
        node[room.classes[j]] = room.shares[j]
        mean += room.shares[j] * room.values[j]
    return Smoothed(value, mean, room.values[0], exact)
