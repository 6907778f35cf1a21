"""Multiclass in part space: marginals of one node a block."""

from __future__ import annotations

import numpy as np

from ..._compile import helper, implements
from ..._prefetch import prefetch
from ...inference.vectors import largest_of
from ..directions import Measured, list_change, list_difference, list_pair, plus
from ..rows import add_outer, add_scores, list_sample_ranges, most_ranges, prefetch_rows, prefetch_weights
from ..verbs import (
    accumulate,
    add_block,
    add_corner,
    add_direction,
    announce,
    announce_weights,
    argmax_cost,
    block_value,
    corner_loss,
    find_corner,
    find_potentials_with,
    find_support,
    measure,
    move,
    new_labelings,
    output_bound,
    settle_block,
    support_bound,
    truth_value,
)
from .layout import MulticlassProblem, weight_rows


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
    prefetch_rows(problem.rows, i, i + 1)
    prefetch(blocks.node, i * n_labels, n_labels)
    for array in (problem.weight, problem.squared_norm, blocks.loss):
        prefetch(array, i, 1)
    prefetch(problem.labels, i, 1)


@implements(announce_weights, MulticlassProblem)
def _(problem, w, i):
    prefetch_weights(problem.rows, i, i + 1, problem.cost.shape[0], w)


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
    return list_sample_ranges(problem.rows, i, problem.intercept_row, problem.cost.shape[0], support)


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
