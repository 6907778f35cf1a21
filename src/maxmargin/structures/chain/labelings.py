"""Labelings of chains remembered a block, and steps between two of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements, kernel
from ..rows import stored
from ..verbs import (
    argmax_cost,
    enlarged,
    is_corner,
    keep_corner,
    move_pair,
    new_labelings,
    output_bound,
    output_bytes,
    pair_norm,
    slot_value,
    take_away,
    take_corner,
)
from .blocks import buffer_norm, plus, spread
from .layout import ChainProblem
from .scoring import edge_weights, node_weights


class ChainLabelings(NamedTuple):
    """Slot j of block i starts at ``offsets[i] capacity + j T_i``."""

    codes: np.ndarray  # (N capacity,) int32
    capacity: int


@implements(argmax_cost, ChainProblem)
def _(problem):
    # T K^2 for the forward pass against T nnz K for the scores and about as much again for the update
    return problem.cost.shape[0] / (
        2.0 * max(stored(problem.chains.rows, problem.chains.offsets[[0, -1]])[0], 1.0) / len(problem.labels)
    )


@implements(output_bound, ChainProblem)
def _(problem):
    return problem.cost.shape[0] ** min(problem.longest, 32)


@implements(output_bytes, ChainProblem)
def _(problem):
    return problem.labels.nbytes


@implements(new_labelings, ChainProblem)
def _(problem, capacity):
    labelings = ChainLabelings(np.zeros(len(problem.labels) * capacity, np.int32), capacity)
    fill_first_slots(problem, labelings)
    return labelings


@kernel(n_parts=2)
def fill_first_slots(problem, labelings):
    for i in range(problem.chains.offsets.shape[0] - 1):
        begin, end = problem.chains.offsets[i], problem.chains.offsets[i + 1]
        slot(problem, labelings, i, 0)[:] = problem.labels[begin:end]


@implements(enlarged, ChainProblem)
def _(problem, labelings, filled, capacity):
    larger = ChainLabelings(np.zeros(len(problem.labels) * capacity, np.int32), capacity)
    copy_slots(problem, labelings, larger, filled)
    return larger


@kernel(n_parts=3)
def copy_slots(problem, source, target, filled):
    for i in range(filled.shape[0]):
        for j in range(filled[i]):  # pages of slots never used need not become resident
            copy_labels(slot(problem, source, i, j), slot(problem, target, i, j))


@helper
def slot(problem, labelings, i, j):
    begin = problem.chains.offsets[i]
    length = problem.chains.offsets[i + 1] - begin
    first = begin * labelings.capacity + j * length
    return labelings.codes[first : first + length]


@helper
def copy_labels(source, target):
    for t in range(source.shape[0]):
        target[t] = source[t]


@implements(keep_corner, ChainProblem)
def _(problem, labelings, work, i, j):
    kept = slot(problem, labelings, i, j)
    copy_labels(work.labels[: kept.shape[0]], kept)


@implements(take_corner, ChainProblem)
def _(problem, labelings, work, i, j):
    copy_labels(slot(problem, labelings, i, j), work.labels)


@implements(take_away, ChainProblem)
def _(problem, labelings, work, i, j):
    copy_labels(slot(problem, labelings, i, j), work.away)


@implements(is_corner, ChainProblem)
def _(problem, labelings, work, i, j):
    kept = slot(problem, labelings, i, j)
    for t in range(kept.shape[0]):
        if kept[t] != work.labels[t]:
            return False
    return True


@implements(slot_value, ChainProblem)
def _(problem, labelings, work, w, i, j):
    transitions = edge_weights(problem.chains, problem.cost.shape[0], w)
    labels = slot(problem, labelings, i, j)
    total = work.node[0, labels[0]]
    for t in range(1, labels.shape[0]):
        total += work.node[t, labels[t]] + transitions[labels[t - 1], labels[t]]
    return total


@implements(pair_norm, ChainProblem)
def _(problem, blocks, work, i):
    begin = problem.chains.offsets[i]
    length = problem.chains.offsets[i + 1] - begin
    corner, away = work.labels[:length], work.away[:length]
    norm, cross = pair_edges(blocks.edge[i], blocks.used[i], corner, away, work.counts)
    first = problem.gram_offsets[i]
    if first == problem.gram_offsets[i + 1]:
        return norm + pair_norm_in_feature_space(problem, work, i)
    for t in range(length):
        if corner[t] == away[t]:
            continue
        for u in range(length):
            low, high = min(t, u), max(t, u)
            product = problem.gram[first + low * length - (low * (low - 1)) // 2 + high - low]
            cross += product * (blocks.node[begin + u, corner[t]] - blocks.node[begin + u, away[t]])
            if corner[u] != away[u]:
                agree = (1.0 if corner[t] == corner[u] else 0.0) + (1.0 if away[t] == away[u] else 0.0)
                cancel = (1.0 if corner[t] == away[u] else 0.0) + (1.0 if away[t] == corner[u] else 0.0)
                norm += product * (agree - cancel)
    work.products[0] = cross
    work.products[1] = max(norm, 0.0)
    return work.products[1]


@helper
def pair_edges(edge, used, corner, away, counts):
    """Squared norm of the difference of the edge counts of two labelings, and its product with the edge marginals."""
    length = corner.shape[0]
    cross, norm = 0.0, 0.0
    for t in range(1, length):
        counts[corner[t - 1], corner[t]] += 1.0
        counts[away[t - 1], away[t]] -= 1.0
        if used[corner[t - 1]]:
            cross += edge[corner[t - 1], corner[t]]
        cross -= edge[away[t - 1], away[t]]
    for t in range(1, length):
        norm += counts[corner[t - 1], corner[t]] ** 2
        counts[corner[t - 1], corner[t]] = 0.0
        norm += counts[away[t - 1], away[t]] ** 2
        counts[away[t - 1], away[t]] = 0.0
    return norm, cross


@helper
def pair_norm_in_feature_space(problem, work, i):
    begin, end = problem.chains.offsets[i], problem.chains.offsets[i + 1]
    for t in range(begin, end):
        if work.labels[t - begin] != work.away[t - begin]:
            list_pair(work, t - begin)
            spread(problem.chains, t, begin, end, 1.0, 2, work.active, work.values, work.buffer)
    return buffer_norm(problem.chains, begin, end, work.buffer)


@helper
def list_pair(work, t):
    work.active[0], work.active[1] = work.labels[t], work.away[t]
    work.values[0], work.values[1] = 1.0, -1.0


@implements(move_pair, ChainProblem)
def _(problem, blocks, work, w, i, gamma, scale):
    chains = problem.chains
    n_labels = problem.cost.shape[0]
    begin, end = chains.offsets[i], chains.offsets[i + 1]
    weights, transitions = node_weights(chains, n_labels, w), edge_weights(chains, n_labels, w)
    loss = 0.0
    for t in range(begin, end):
        corner, away = work.labels[t - begin], work.away[t - begin]
        if corner != away:
            list_pair(work, t - begin)
            spread(chains, t, begin, end, -scale * gamma, 2, work.active, work.values, weights)
            blocks.node[t, corner] += gamma
            blocks.node[t, away] = plus(blocks.node[t, away], -gamma)
            costs = problem.cost[problem.labels[t]]
            loss += costs[corner] - costs[away]
    step = scale * gamma
    edge = blocks.edge[i]
    for t in range(1, end - begin):
        a, b = work.labels[t - 1], work.labels[t]
        transitions[a, b] -= step
        edge[a, b] += gamma
        blocks.used[i, a] = True
    for t in range(1, end - begin):
        a, b = work.away[t - 1], work.away[t]
        transitions[a, b] += step
        edge[a, b] = plus(edge[a, b], -gamma)
    blocks.loss[i] += gamma * problem.loss_scale[i] * loss
    blocks.norm[i] += gamma * (2.0 * work.products[0] + gamma * work.products[1])
