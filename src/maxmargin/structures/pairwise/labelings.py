"""Labelings remembered a block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements, kernel
from ..._prefetch import prefetch
from ...inference.verbs import argmax_work
from ..rows import stored
from ..verbs import (
    announce_labelings,
    argmax_cost,
    enlarged,
    is_corner,
    keep_corner,
    new_labelings,
    output_bound,
    slot_value,
    take_away,
    take_corner,
)
from .blocks import NUMBERS_AHEAD, labeling_value
from .layout import PairwiseProblem
from .links import n_kept, n_link_rows


class Labelings(NamedTuple):
    """Slot j of block i starts at ``offsets[i] capacity + j T_i``."""

    codes: np.ndarray  # (N capacity,) int32
    capacity: int


# What a step costs without its argmax, in the units of `argmax_work`: a block, a site, a label of a site, a label of a
# non-zero feature (scores and update), a marginal of links and feature of theirs. Measured over chains, trees, cycles,
# strips of grids and networks of 2 to 120 labels, whose argmax this mostly tells within a factor of two.
BLOCK_WORK, SITE_WORK, LABEL_WORK, FEATURE_WORK, LINK_WORK = 25000.0, 1250.0, 12.0, 2.0, 4.0


@implements(argmax_cost, PairwiseProblem)
def _(problem):
    n, n_sites, n_labels = len(problem.weight), len(problem.labels), problem.cost.shape[0]
    features = float(stored(problem.sites.rows, problem.sites.offsets[[0, -1]])[0])
    links = float(n_kept(problem.links, problem.sites, n_labels)) * n_link_rows(problem.links)
    by_label = (LABEL_WORK * n_sites + FEATURE_WORK * features) * n_labels
    return argmax_work(problem.plan) / (BLOCK_WORK * n + SITE_WORK * n_sites + by_label + LINK_WORK * links)


@implements(output_bound, PairwiseProblem)
def _(problem):
    return problem.cost.shape[0] ** min(problem.longest, 32)


@implements(new_labelings, PairwiseProblem)
def _(problem, capacity):
    truth = Labelings(problem.labels, 1)
    return enlarged(problem, truth, np.ones(len(problem.sites.offsets) - 1, np.int64), capacity)


@kernel
def copy_slots(offsets, filled, codes, capacity, larger, wider):
    """Copy the slots of all blocks that are in use to where there are more of them a block."""
    for i in range(filled.shape[0]):
        source, target = offsets[i] * capacity, offsets[i] * wider
        for p in range(filled[i] * (offsets[i + 1] - offsets[i])):
            larger[target + p] = codes[source + p]


@implements(enlarged, PairwiseProblem)
def _(problem, labelings, filled, capacity):
    larger = np.zeros(len(problem.labels) * capacity, np.int32)
    # pages of slots never used need not become resident
    copy_slots(problem.sites.offsets, filled, labelings.codes, labelings.capacity, larger, capacity)
    return Labelings(larger, capacity)


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


@implements(announce_labelings, PairwiseProblem)
def _(problem, labelings, i, filled):
    begin = problem.sites.offsets[i]
    codes = filled * (problem.sites.offsets[i + 1] - begin)
    prefetch(labelings.codes, begin * labelings.capacity, min(codes, NUMBERS_AHEAD))


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
