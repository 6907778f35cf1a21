"""Labelings remembered a block, and steps between two of them."""

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
from .blocks import labeling_value
from .layout import PairwiseProblem, link_weights
from .links import further_pair_norm, move_pair_links, pair_products, plus
from .sites import drain, site_weights, spread


class Labelings(NamedTuple):
    """Slot j of block i starts at ``offsets[i] capacity + j T_i``."""

    codes: np.ndarray  # (N capacity,) int32
    capacity: int


@implements(argmax_cost, PairwiseProblem)
def _(problem):
    # T K^2 for the forward pass against T nnz K for the scores and about as much again for the update
    return problem.cost.shape[0] / (
        2.0 * max(stored(problem.sites.rows, problem.sites.offsets[[0, -1]])[0], 1.0) / len(problem.labels)
    )


@implements(output_bound, PairwiseProblem)
def _(problem):
    return problem.cost.shape[0] ** min(problem.longest, 32)


@implements(output_bytes, PairwiseProblem)
def _(problem):
    return problem.labels.nbytes


@implements(new_labelings, PairwiseProblem)
def _(problem, capacity):
    labelings = Labelings(np.zeros(len(problem.labels) * capacity, np.int32), capacity)
    fill_first_slots(problem, labelings)
    return labelings


@kernel(n_parts=2)
def fill_first_slots(problem, labelings):
    for i in range(problem.sites.offsets.shape[0] - 1):
        begin, end = problem.sites.offsets[i], problem.sites.offsets[i + 1]
        slot(problem, labelings, i, 0)[:] = problem.labels[begin:end]


@implements(enlarged, PairwiseProblem)
def _(problem, labelings, filled, capacity):
    larger = Labelings(np.zeros(len(problem.labels) * capacity, np.int32), capacity)
    copy_slots(problem, labelings, larger, filled)
    return larger


@kernel(n_parts=3)
def copy_slots(problem, source, target, filled):
    for i in range(filled.shape[0]):
        for j in range(filled[i]):  # pages of slots never used need not become resident
            copy_labels(slot(problem, source, i, j), slot(problem, target, i, j))


@helper
def slot(problem, labelings, i, j):
    begin = problem.sites.offsets[i]
    length = problem.sites.offsets[i + 1] - begin
    first = begin * labelings.capacity + j * length
    return labelings.codes[first : first + length]


@helper
def copy_labels(source, target):
    for t in range(source.shape[0]):
        target[t] = source[t]


@implements(keep_corner, PairwiseProblem)
def _(problem, labelings, work, i, j):
    kept = slot(problem, labelings, i, j)
    copy_labels(work.labels[: kept.shape[0]], kept)


@implements(take_corner, PairwiseProblem)
def _(problem, labelings, work, i, j):
    copy_labels(slot(problem, labelings, i, j), work.labels)


@implements(take_away, PairwiseProblem)
def _(problem, labelings, work, i, j):
    copy_labels(slot(problem, labelings, i, j), work.away)


@implements(is_corner, PairwiseProblem)
def _(problem, labelings, work, i, j):
    kept = slot(problem, labelings, i, j)
    for t in range(kept.shape[0]):
        if kept[t] != work.labels[t]:
            return False
    return True


@implements(slot_value, PairwiseProblem)
def _(problem, labelings, work, w, i, j):
    return labeling_value(problem, work, w, i, slot(problem, labelings, i, j))


@implements(pair_norm, PairwiseProblem)
def _(problem, blocks, work, i):
    begin = problem.sites.offsets[i]
    length = problem.sites.offsets[i + 1] - begin
    corner, away = work.labels[:length], work.away[:length]
    cross, norm = pair_products(problem.links, problem.sites, blocks, work, i)
    further = further_pair_norm(problem.links, problem.sites, work, i)
    first = problem.gram_offsets[i]
    if first == problem.gram_offsets[i + 1]:
        return further + norm + pair_norm_in_feature_space(problem, work, i)
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
    return further + work.products[1]


@helper
def pair_norm_in_feature_space(problem, work, i):
    begin, end = problem.sites.offsets[i], problem.sites.offsets[i + 1]
    for t in range(begin, end):
        if work.labels[t - begin] != work.away[t - begin]:
            list_pair(work, t - begin)
            spread(problem.sites, t, begin, end, 1.0, 2, work.active, work.values, work.buffer)
    return drain(problem.sites, begin, end, work.buffer)


@helper
def list_pair(work, t):
    work.active[0], work.active[1] = work.labels[t], work.away[t]
    work.values[0], work.values[1] = 1.0, -1.0


@implements(move_pair, PairwiseProblem)
def _(problem, blocks, work, w, i, gamma, scale):
    sites = problem.sites
    n_labels = problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights = site_weights(sites, n_labels, w)
    loss = 0.0
    for t in range(begin, end):
        corner, away = work.labels[t - begin], work.away[t - begin]
        if corner != away:
            list_pair(work, t - begin)
            spread(sites, t, begin, end, -scale * gamma, 2, work.active, work.values, weights)
            blocks.node[t, corner] += gamma
            blocks.node[t, away] = plus(blocks.node[t, away], -gamma)
            costs = problem.cost[problem.labels[t]]
            loss += costs[corner] - costs[away]
    move_pair_links(
        problem.links, sites, blocks, work, link_weights(problem.links, sites, n_labels, w), i, gamma, scale
    )
    blocks.loss[i] += gamma * problem.loss_scale[i] * loss
    blocks.norm[i] += gamma * (2.0 * work.products[0] + gamma * work.products[1])
