"""Sets of labels in part space, each label by itself. Flat weights are ``[coef (F, L) | intercept (L,)]``.

A block is a sample, with one number a label: the mass of the sets that have it. Labels share nothing but the sample, so
that a block's optimum is one clip a label: a visit takes the coordinate steps of L binary SVMs at once, and reads a
feature's weights for all labels in one row. Blocks of a sample and a label would read them one by one.

What is kept of sets of labels with interactions is in :mod:`.label_pairs`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import helper, implements, plain, verb
from .directions import BetweenCorners, Measured, ToCorner, ToExpectation, plus
from .needs import offered_if
from .rows import Rows, add_outer, add_scores, as_rows, list_sample_ranges, most_ranges, squared_norms
from .verbs import (
    accumulate,
    add_block,
    add_corner,
    add_direction,
    argmax_cost,
    block_value,
    corner_loss,
    dimension,
    enlarged,
    find_corner,
    find_optimum,
    find_potentials_with,
    find_support,
    is_corner,
    keep_corner,
    measure,
    move,
    new_blocks,
    new_expectation,
    new_labelings,
    new_totals,
    new_work,
    offers,
    output_bound,
    slot_value,
    support_bound,
    take_away,
    take_corner,
    truth_value,
)


class MultilabelProblem(NamedTuple):
    """Samples with their sets of labels and costs: enough to learn. :func:`make_multilabel_problem` lays it out.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        Features of the samples.
    n_rows : int
        Rows of weights: F, and one for the intercept.
    intercept_row : int
        Which of them is the intercept; -1 without one.
    present : array of uint8 of shape (n, L)
        1 where a sample has a label.
    missed : array of shape (L,)
        Loss of a label that a sample has and a set has not.
    wrong : array of shape (L,)
        Loss of a label that a set has and the sample has not.
    empty_loss : array of shape (n,)
        Loss of the empty set.
    weight : array of shape (n,)
        Sample weights over their sum, ``s_i / S``.
    squared_norm : array of shape (n,)
        ``|x_i|^2``, intercept included.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.structures import make_multilabel_problem
    >>> problem = make_multilabel_problem(np.eye(2), np.array([[1, 0, 1], [0, 0, 0]]))
    >>> problem.n_rows, problem.empty_loss.tolist(), problem.squared_norm.tolist()
    (3, [2.0, 0.0], [2.0, 2.0])
    """

    rows: Rows
    n_rows: int
    intercept_row: int
    present: np.ndarray
    missed: np.ndarray
    wrong: np.ndarray
    empty_loss: np.ndarray
    weight: np.ndarray
    squared_norm: np.ndarray


class MultilabelBlocks(NamedTuple):
    node: np.ndarray  # (n, L) mass of the sets that have a label
    loss: np.ndarray  # (n,)


class MultilabelWork(NamedTuple):
    node: np.ndarray  # (L,) what a label adds to a set's score and loss
    base: np.ndarray  # (1,) loss of the empty set, whose score is 0
    labels: np.ndarray  # (L,) uint8, the corner
    away: np.ndarray  # (L,) uint8
    active: np.ndarray  # (L,)
    values: np.ndarray  # (L,)


class Expected(NamedTuple):
    node: np.ndarray  # (L,)


def make_multilabel_problem(
    matrix: Any,
    present: np.ndarray,
    *,
    intercept: bool = True,
    missed: Any = 1.0,
    wrong: Any = 1.0,
    sample_weight: np.ndarray | None = None,
) -> MultilabelProblem:
    """Encode samples once into flat arrays. Nothing is checked here; the estimators do that.

    Parameters
    ----------
    matrix : array or CSR matrix of shape (n, F)
        Features of the samples, float64.
    present : array of shape (n, L)
        1 where a sample has a label, else 0.
    intercept : bool, default=True
        Whether labels have a bias.
    missed : float or array of shape (L,), default=1.0
        Loss of a label that a sample has and a set has not.
    wrong : float or array of shape (L,), default=1.0
        Loss of a label that a set has and the sample has not.
    sample_weight : array of shape (n,) or None, default=None
        Weights of the samples, >= 0; None: all alike.

    Returns
    -------
    problem : MultilabelProblem

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe
    >>> from maxmargin.structures import make_multilabel_problem
    >>> problem = make_multilabel_problem(np.eye(3), np.array([[1, 0], [1, 1], [0, 0]]), intercept=False)
    >>> result = BlockFrankWolfe(step="optimal").solve(problem, 0.01, tol=1e-3, random_state=0)
    >>> (result.w.reshape(3, 2) > 0).astype(int).tolist()  # weights are features by labels
    [[1, 0], [1, 1], [0, 0]]
    """
    n, n_labels = present.shape
    rows, sets = as_rows(matrix), plain(present, np.uint8)
    cost_missed, cost_wrong = (plain(np.broadcast_to(cost, n_labels), np.float64) for cost in (missed, wrong))
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)
    return MultilabelProblem(
        rows=rows,
        n_rows=matrix.shape[1] + intercept,
        intercept_row=matrix.shape[1] if intercept else -1,
        present=sets,
        missed=cost_missed,
        wrong=cost_wrong,
        empty_loss=sets @ cost_missed,
        weight=weight / weight.sum(),
        squared_norm=squared_norms(rows) + intercept,
    )


@implements(dimension, MultilabelProblem)
def _(problem):
    return problem.n_rows * problem.missed.shape[0]


@implements(offers, MultilabelProblem)
def _(problem):
    return offered_if(bounds=True, weights=True, decoding=True, optima=True)


@implements(new_blocks, MultilabelProblem)
def _(problem):
    return MultilabelBlocks(problem.present.astype(np.float64), np.zeros(len(problem.present)))


@implements(new_totals, MultilabelProblem)
def _(problem):
    return MultilabelBlocks(np.zeros(problem.present.shape), np.zeros(len(problem.present)))


@implements(new_work, MultilabelProblem)
def _(problem):
    n_labels = problem.missed.shape[0]
    labels, away = np.zeros((2, n_labels), np.uint8)
    active = np.zeros(n_labels, np.int64)
    return MultilabelWork(np.zeros(n_labels), np.zeros(1), labels, away, active, np.zeros(n_labels))


@implements(new_expectation, MultilabelProblem)
def _(problem):
    return Expected(np.zeros(problem.missed.shape[0]))


@helper
def weight_rows(problem, w):
    return w.reshape((problem.n_rows, problem.missed.shape[0]))


@helper
def cost_of(problem, i, k):
    """What label k adds to the loss of a set that has it."""
    return -problem.missed[k] if problem.present[i, k] else problem.wrong[k]


@implements(find_potentials_with, MultilabelProblem)
def _(problem, work, w, i, emphasis):
    weights, n_labels = weight_rows(problem, w), work.node.shape[0]
    work.base[0] = emphasis * problem.empty_loss[i]
    for k in range(n_labels):
        work.node[k] = emphasis * cost_of(problem, i, k)
    if problem.intercept_row >= 0:
        for k in range(n_labels):
            work.node[k] += weights[problem.intercept_row, k]
    add_scores(problem.rows, i, weights, work.node)


@implements(find_corner, MultilabelProblem)
def _(problem, work, w, i):
    total = work.base[0]
    for k in range(work.node.shape[0]):
        gain = work.node[k]
        work.labels[k] = gain > 0.0
        total += max(gain, 0.0)
    return total


@helper
def value_of(work, masses):
    """Score and loss of a set, or of masses of labels."""
    total = work.base[0]
    for k in range(masses.shape[0]):
        total += work.node[k] * masses[k]
    return total


@implements(truth_value, MultilabelProblem)
def _(problem, work, w, i):
    return value_of(work, problem.present[i])  # the loss of the truth is 0


@implements(block_value, MultilabelProblem)
def _(problem, blocks, work, w, i):
    return value_of(work, blocks.node[i])


@verb
def change_of(direction, work, mass, k):
    """How much the mass of label k changes along a direction."""


@implements(change_of, ToCorner)
def _(direction, work, mass, k):
    return work.labels[k] - mass


@implements(change_of, BetweenCorners)
def _(direction, work, mass, k):
    return float(work.labels[k]) - float(work.away[k])


@implements(change_of, ToExpectation)
def _(direction, work, mass, k):
    return direction.expectation.node[k] - mass


@helper
def list_moves(direction, blocks, work, i):
    """List which labels' masses change along a direction, and by how much; their number is returned."""
    count = 0
    for k in range(work.node.shape[0]):
        change = change_of(direction, work, blocks.node[i, k], k)
        if change != 0.0:
            work.active[count], work.values[count] = k, change
            count += 1
    return count


@implements(measure, MultilabelProblem)
def _(problem, direction, blocks, work, i):
    total = 0.0
    for k in range(work.node.shape[0]):
        change = change_of(direction, work, blocks.node[i, k], k)
        total += change * change
    return Measured(total * problem.squared_norm[i])


@helper
def spread(problem, work, i, scale, n_active, w):
    """Add ``scale phi`` of a sample to the weights, for the labels and values listed in the scratch."""
    weights = weight_rows(problem, w)
    add_outer(problem.rows, i, scale, n_active, work.active, work.values, weights)
    if problem.intercept_row >= 0:
        for j in range(n_active):
            weights[problem.intercept_row, work.active[j]] += scale * work.values[j]


@implements(move, MultilabelProblem)
def _(problem, direction, measured, blocks, work, w, i, gamma, scale):
    count, loss = list_moves(direction, blocks, work, i), 0.0
    for j in range(count):
        k, value = work.active[j], work.values[j]
        blocks.node[i, k] = plus(blocks.node[i, k], gamma * value)
        loss += cost_of(problem, i, k) * value
    blocks.loss[i] += gamma * loss
    spread(problem, work, i, -scale * gamma, count, w)


@implements(add_direction, MultilabelProblem)
def _(problem, direction, blocks, work, i, scale, w):
    spread(problem, work, i, scale, list_moves(direction, blocks, work, i), w)


@implements(find_optimum, MultilabelProblem)
def _(problem, blocks, expectation, work, i, scale):
    curvature = scale * problem.squared_norm[i]
    for k in range(work.node.shape[0]):  # of each label a maximum of theta mu - curvature/2 (mu - mu_i)^2 in [0, 1]
        gain, mass = work.node[k], blocks.node[i, k]
        if gain > curvature * (1.0 - mass):
            expectation.node[k] = 1.0
        elif gain < -curvature * mass:
            expectation.node[k] = 0.0
        else:
            expectation.node[k] = mass + gain / curvature if curvature > 0.0 else mass


@implements(corner_loss, MultilabelProblem)
def _(problem, work, i):
    total = problem.empty_loss[i]
    for k in range(work.labels.shape[0]):
        if work.labels[k]:
            total += cost_of(problem, i, k)
    return total


@implements(accumulate, MultilabelProblem)
def _(problem, totals, blocks, i, amount):
    for k in range(problem.missed.shape[0]):
        totals.node[i, k] += amount * blocks.node[i, k]
    totals.loss[i] += amount * blocks.loss[i]


@helper
def list_missing(present, mass, masses, work):
    """List the non-zeros of ``mass present - masses``; their number is returned."""
    count = 0
    for k in range(present.shape[0]):
        value = mass * present[k] - masses[k]
        if value != 0.0:
            work.active[count], work.values[count] = k, value
            count += 1
    return count


@implements(add_block, MultilabelProblem)
def _(problem, blocks, work, i, scale, mass, w):
    spread(problem, work, i, scale, list_missing(problem.present[i], mass, blocks.node[i], work), w)


@implements(add_corner, MultilabelProblem)
def _(problem, work, i, scale, w):
    spread(problem, work, i, scale, list_missing(problem.present[i], 1.0, work.labels, work), w)


@implements(support_bound, MultilabelProblem)
def _(problem):
    return most_ranges(problem.rows, np.arange(len(problem.present) + 1)) + 1


@implements(find_support, MultilabelProblem)
def _(problem, i, support):
    return list_sample_ranges(problem.rows, i, problem.intercept_row, problem.missed.shape[0], support)


@implements(argmax_cost, MultilabelProblem)
def _(problem):
    return 0.0  # a sign a label


@implements(output_bound, MultilabelProblem)
def _(problem):
    return 2 ** min(len(problem.missed), 62)


@implements(new_labelings, MultilabelProblem)
def _(problem, capacity):
    n, n_labels = problem.present.shape
    labelings = np.zeros((n, capacity, n_labels), np.uint8)
    labelings[:, 0] = problem.present
    return labelings


@implements(enlarged, MultilabelProblem)
def _(problem, labelings, filled, capacity):
    larger = np.zeros((len(labelings), capacity, labelings.shape[2]), np.uint8)
    for kept, room, count in zip(labelings, larger, filled.tolist(), strict=True):
        room[:count] = kept[:count]  # pages of slots never used need not become resident
    return larger


@helper
def copy_set(source, target):
    for k in range(target.shape[0]):
        target[k] = source[k]


@implements(keep_corner, MultilabelProblem)
def _(problem, labelings, work, i, j):
    copy_set(work.labels, labelings[i, j])


@implements(take_corner, MultilabelProblem)
def _(problem, labelings, work, i, j):
    copy_set(labelings[i, j], work.labels)


@implements(take_away, MultilabelProblem)
def _(problem, labelings, work, i, j):
    copy_set(labelings[i, j], work.away)


@implements(is_corner, MultilabelProblem)
def _(problem, labelings, work, i, j):
    for k in range(work.labels.shape[0]):
        if labelings[i, j, k] != work.labels[k]:
            return False
    return True


@implements(slot_value, MultilabelProblem)
def _(problem, labelings, work, w, i, j):
    return value_of(work, labelings[i, j])
