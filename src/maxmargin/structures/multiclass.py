"""Multiclass in part space: one node a block. Flat weights are ``[node (F, K) | intercept (K,)]``.

With kernel rows the node part is theirs, see :class:`~.rows.KernelRows`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import helper, implements
from .._prefetch import prefetch
from .._sums import dot
from .rows import (
    Rows,
    add_outer,
    add_scores,
    as_rows,
    count_weight_rows,
    flat_inner,
    has_features,
    prefetch_row,
    squared_norms,
)
from .verbs import (
    accumulate,
    add_block,
    add_corner,
    announce,
    argmax_cost,
    block_value,
    can_be_bounded,
    can_expect,
    corner_loss,
    dimension,
    direction_norm,
    enlarged,
    expectation_norm,
    expected_loss,
    find_corner,
    find_expectation,
    find_potentials_with,
    inner,
    is_corner,
    keep_corner,
    mean_loss,
    move,
    move_pair,
    move_to_expectation,
    n_blocks,
    new_blocks,
    new_expectation,
    new_labelings,
    new_tilts,
    new_totals,
    new_work,
    output_bound,
    output_bytes,
    pair_norm,
    slot_value,
    take_away,
    take_corner,
    truth_value,
    upper_value,
)


class MulticlassProblem(NamedTuple):
    rows: Rows
    n_rows: int  # weight rows: F, and one for the intercept
    intercept_row: int  # -1 without intercept
    labels: np.ndarray  # (n,) int32
    cost: np.ndarray  # (K, K) row: true label
    weight: np.ndarray  # (n,) s_i / S
    squared_norm: np.ndarray  # (n,) |x_i|^2, intercept included


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
    """Encode samples once: `matrix` (n, F) float64, dense, CSR or kernel rows; `labels` (n,) in ``range(n_labels)``."""
    n, n_features = len(labels), count_weight_rows(matrix)
    rows = as_rows(matrix)
    squared_norm = np.empty(n)
    squared_norms(rows, squared_norm)
    cost = 1.0 - np.eye(n_labels) if cost is None else cost
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)
    return MulticlassProblem(
        rows=rows,
        n_rows=n_features + intercept,
        intercept_row=n_features if intercept else -1,
        labels=np.asarray(labels, np.int32),
        cost=np.ascontiguousarray(cost, np.float64),
        weight=weight / weight.sum(),
        squared_norm=squared_norm + intercept,
    )


@implements(n_blocks, MulticlassProblem)
def _(problem):
    return problem.labels.shape[0]


@implements(dimension, MulticlassProblem)
def _(problem):
    return problem.n_rows * problem.cost.shape[0]


@implements(inner, MulticlassProblem)
def _(problem, u, v):
    return flat_inner(problem.rows, problem.cost.shape[0], u, v)


@implements(can_be_bounded, MulticlassProblem)
def _(problem):
    return has_features(problem.rows)


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
    best = 0
    for k in range(1, work.node.shape[0]):
        if work.node[k] > work.node[best]:
            best = k
    work.label[0] = best
    return work.node[best]


@implements(announce, MulticlassProblem)
def _(problem, blocks, i):
    n_labels = problem.cost.shape[0]
    prefetch_row(problem.rows, i)
    prefetch(blocks.node, i * n_labels, n_labels)
    for array in (problem.weight, problem.squared_norm, blocks.loss):
        prefetch(array, i, 1)
    prefetch(problem.labels, i, 1)


@implements(upper_value, MulticlassProblem)
def _(problem, work, w, i, value):
    return value


@implements(truth_value, MulticlassProblem)
def _(problem, work, w, i):
    return work.node[problem.labels[i]]  # the loss of the truth is 0


@implements(block_value, MulticlassProblem)
def _(problem, blocks, work, w, i):
    total = 0.0
    for k in range(work.node.shape[0]):
        total += work.node[k] * blocks.node[i, k]
    return total


@implements(direction_norm, MulticlassProblem)
def _(problem, blocks, work, i):
    rest, total = 0.0, 0.0  # the corner's own entry is what the others hold
    for k in range(work.node.shape[0]):
        m = 0.0 if k == work.label[0] else blocks.node[i, k]
        rest += m
        total += m * m
    return (rest * rest + total) * problem.squared_norm[i]


@helper
def spread(problem, work, i, scale, n_active, w):
    """Add ``scale phi`` of a sample to the weights, for the labels and values listed in the scratch."""
    weights = weight_rows(problem, w)
    add_outer(problem.rows, i, scale, n_active, work.active, work.values, weights)
    if problem.intercept_row >= 0:
        for j in range(n_active):
            weights[problem.intercept_row, work.active[j]] += scale * work.values[j]


@helper
def list_difference(marginals, label, mass, work):
    """List the non-zeros of ``mass e_label - marginals`` in the scratch; their number is returned."""
    n_active = 0
    for k in range(marginals.shape[0]):
        value = (mass if k == label else 0.0) - marginals[k]
        if value != 0.0:
            work.active[n_active] = k
            work.values[n_active] = value
            n_active += 1
    return n_active


@implements(move, MulticlassProblem)
def _(problem, blocks, work, w, i, gamma, scale):
    n_active = list_difference(blocks.node[i], work.label[0], 1.0, work)
    spread(problem, work, i, -scale * gamma, n_active, w)
    for k in range(work.node.shape[0]):
        blocks.node[i, k] *= 1.0 - gamma
    blocks.node[i, work.label[0]] = max(blocks.node[i, work.label[0]] + gamma, 0.0)
    blocks.loss[i] += gamma * (corner_loss(problem, work, i) - blocks.loss[i])


@implements(corner_loss, MulticlassProblem)
def _(problem, work, i):
    return problem.cost[problem.labels[i], work.label[0]]


@implements(mean_loss, MulticlassProblem)
def _(problem, blocks):
    return dot(problem.weight, blocks.loss)


@implements(accumulate, MulticlassProblem)
def _(problem, totals, blocks, i, amount):
    for k in range(problem.cost.shape[0]):
        totals.node[i, k] += amount * blocks.node[i, k]
    totals.loss[i] += amount * blocks.loss[i]


@implements(add_block, MulticlassProblem)
def _(problem, blocks, work, i, scale, mass, w):
    spread(problem, work, i, scale, list_difference(blocks.node[i], problem.labels[i], mass, work), w)


@implements(add_corner, MulticlassProblem)
def _(problem, work, i, scale, w):
    if work.label[0] != problem.labels[i]:
        work.active[0], work.active[1] = problem.labels[i], work.label[0]
        work.values[0], work.values[1] = 1.0, -1.0
        spread(problem, work, i, scale, 2, w)


@implements(argmax_cost, MulticlassProblem)
def _(problem):
    return 0.0  # a maximum over K numbers


@implements(output_bound, MulticlassProblem)
def _(problem):
    return problem.cost.shape[0]


@implements(output_bytes, MulticlassProblem)
def _(problem):
    return problem.labels.nbytes


@implements(new_labelings, MulticlassProblem)
def _(problem, capacity):
    labelings = np.zeros((len(problem.labels), capacity), np.int32)
    labelings[:, 0] = problem.labels
    return labelings


@implements(enlarged, MulticlassProblem)
def _(problem, labelings, filled, capacity):
    larger = np.zeros((len(problem.labels), capacity), np.int32)
    larger[:, : labelings.shape[1]] = labelings
    return larger


@implements(keep_corner, MulticlassProblem)
def _(problem, labelings, work, i, j):
    labelings[i, j] = work.label[0]


@implements(take_corner, MulticlassProblem)
def _(problem, labelings, work, i, j):
    work.label[0] = labelings[i, j]


@implements(take_away, MulticlassProblem)
def _(problem, labelings, work, i, j):
    work.label[1] = labelings[i, j]


@implements(is_corner, MulticlassProblem)
def _(problem, labelings, work, i, j):
    return labelings[i, j] == work.label[0]


@implements(slot_value, MulticlassProblem)
def _(problem, labelings, work, w, i, j):
    return work.node[labelings[i, j]]


@implements(pair_norm, MulticlassProblem)
def _(problem, blocks, work, i):
    return 0.0 if work.label[0] == work.label[1] else 2.0 * problem.squared_norm[i]


@implements(move_pair, MulticlassProblem)
def _(problem, blocks, work, w, i, gamma, scale):
    corner, away = work.label[0], work.label[1]
    work.active[0], work.active[1] = corner, away
    work.values[0], work.values[1] = 1.0, -1.0
    spread(problem, work, i, -scale * gamma, 2, w)
    blocks.node[i, corner] += gamma
    blocks.node[i, away] = max(blocks.node[i, away] - gamma, 0.0)
    costs = problem.cost[problem.labels[i]]
    blocks.loss[i] += gamma * (costs[corner] - costs[away])


class Expected(NamedTuple):
    scores: np.ndarray  # (K,)
    node: np.ndarray  # (K,) probabilities


@implements(can_expect, MulticlassProblem)
def _(problem):
    return True


@implements(new_tilts, MulticlassProblem)
def _(problem, odds):
    return odds * np.eye(problem.cost.shape[0])[problem.labels]


@implements(new_expectation, MulticlassProblem)
def _(problem):
    return Expected(np.zeros(problem.cost.shape[0]), np.zeros(problem.cost.shape[0]))


@implements(find_expectation, MulticlassProblem)
def _(problem, tilts, expectation, work, w, i, eta):
    scores, node, highest = expectation.scores, expectation.node, -np.inf
    for k in range(scores.shape[0]):
        scores[k] = tilts[i, k] + eta * work.node[k]
        highest = max(highest, scores[k])
    total, value = 0.0, 0.0
    for k in range(scores.shape[0]):
        node[k] = np.exp(scores[k] - highest)
        total += node[k]
    for k in range(scores.shape[0]):
        node[k] /= total
        value += node[k] * work.node[k]
    return value


@implements(expectation_norm, MulticlassProblem)
def _(problem, blocks, expectation, work, i):
    total = 0.0
    for k in range(work.node.shape[0]):
        total += (expectation.node[k] - blocks.node[i, k]) ** 2
    return total * problem.squared_norm[i]


@implements(expected_loss, MulticlassProblem)
def _(problem, expectation, i):
    total = 0.0
    for k in range(expectation.node.shape[0]):
        total += expectation.node[k] * problem.cost[problem.labels[i], k]
    return total


@implements(move_to_expectation, MulticlassProblem)
def _(problem, blocks, tilts, expectation, work, w, i, scale):
    for k in range(work.node.shape[0]):
        work.active[k], work.values[k] = k, expectation.node[k] - blocks.node[i, k]
        tilts[i, k], blocks.node[i, k] = expectation.scores[k], expectation.node[k]
    spread(problem, work, i, -scale, work.node.shape[0], w)
    blocks.loss[i] = expected_loss(problem, expectation, i)
