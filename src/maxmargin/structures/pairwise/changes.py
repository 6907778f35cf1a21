"""What a step changed of a block of sites and links that share a table of weights.

Keys are ``t K + k`` for label k of site t of the block, and ``-1 - pair`` for a pair of labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements, verb
from ...inference.verbs import change_flat_score
from ..changes import (
    add_changes,
    changes_bound,
    keep_before,
    list_changes,
    new_before,
    shared_out,
    sizes_of_blocks,
    tells_changes,
)
from ..rows import has_features
from .layout import PairwiseProblem, link_weights
from .links import Alike, Successive, n_links
from .sites import site_weights, spread


class PairwiseBefore(NamedTuple):
    """A block as it was."""

    node: np.ndarray  # (longest, K)
    pair: np.ndarray  # (capacity,) int32
    mass: np.ndarray  # (capacity,)
    filled: np.ndarray  # (1,) how many pairs there were


@verb
def links_tell_changes(links):
    """Whether marginals of links are lists of pairs, whatever others do."""


@implements(links_tell_changes, object)
def _(links):
    return False


@implements(links_tell_changes, Successive, Alike)
def _(links):
    return True


@implements(tells_changes, PairwiseProblem)
def _(problem):
    return links_tell_changes(problem.links) and has_features(problem.sites.rows)


@implements(sizes_of_blocks, PairwiseProblem)
def _(problem):
    return np.diff(problem.sites.offsets)


@implements(shared_out, PairwiseProblem)
def _(problem, blocks, n_shares):
    kept = blocks.links
    ends = np.linspace(*kept.free, n_shares + 1).astype(np.int64)
    kept.free[0] = kept.free[1]  # all of it is given away
    return [blocks._replace(links=kept._replace(free=ends[p : p + 2].copy())) for p in range(n_shares)]


@implements(new_before, PairwiseProblem)
def _(problem, capacity):
    return PairwiseBefore(
        node=np.zeros((problem.longest, problem.cost.shape[0])),
        pair=np.zeros(capacity, np.int32),
        mass=np.zeros(capacity),
        filled=np.zeros(1, np.int64),
    )


@implements(changes_bound, PairwiseProblem)
def _(problem, blocks, i):
    sites = problem.sites
    length = sites.offsets[i + 1] - sites.offsets[i]
    # four steps bring as many labelings
    return length * problem.cost.shape[0] + 2 * blocks.links.filled[i] + 4 * n_links(problem.links, sites, i)


@implements(keep_before, PairwiseProblem)
def _(problem, blocks, before, i):
    begin, kept = problem.sites.offsets[i], blocks.links
    for t in range(problem.sites.offsets[i + 1] - begin):
        for k in range(before.node.shape[1]):
            before.node[t, k] = blocks.node[begin + t, k]
    first, filled = kept.first[i], kept.filled[i]
    for j in range(filled):
        before.pair[j], before.mass[j] = kept.pair[first + j], kept.mass[first + j]
    before.filled[0] = filled


@implements(list_changes, PairwiseProblem)
def _(problem, before, blocks, i, keys, values, count):
    begin, n_labels = problem.sites.offsets[i], before.node.shape[1]
    for t in range(problem.sites.offsets[i + 1] - begin):
        moved = 0.0
        for k in range(n_labels):  # which vectorises: most sites stay as they are
            moved += abs(blocks.node[begin + t, k] - before.node[t, k])
        if moved > 0.0:
            for k in range(n_labels):
                change = blocks.node[begin + t, k] - before.node[t, k]
                if change != 0.0:
                    keys[count], values[count] = t * n_labels + k, change
                    count += 1
    return list_pair_changes(before, blocks.links, i, keys, values, count)


@helper
def list_pair_changes(before, kept, i, keys, values, count):
    """Of two sorted lists of pairs, those whose masses differ."""
    j, last = kept.first[i], kept.first[i] + kept.filled[i]
    old, n_old = 0, before.filled[0]
    while j < last or old < n_old:
        if old == n_old or (j < last and kept.pair[j] < before.pair[old]):
            pair, change = kept.pair[j], kept.mass[j]
            j += 1
        elif j == last or before.pair[old] < kept.pair[j]:
            pair, change = before.pair[old], -before.mass[old]
            old += 1
        else:
            pair, change = kept.pair[j], kept.mass[j] - before.mass[old]
            j += 1
            old += 1
        if change != 0.0:
            keys[count], values[count] = -1 - pair, change
            count += 1
    return count


@implements(add_changes, PairwiseProblem)
def _(problem, work, i, keys, values, first, last, scale, w):
    sites, n_labels = problem.sites, problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights, j = site_weights(sites, n_labels, w), first
    while j < last and keys[j] >= 0:
        t, count = keys[j] // n_labels, 0
        while j < last and t * n_labels <= keys[j] < (t + 1) * n_labels:
            work.active[count], work.values[count] = keys[j] - t * n_labels, values[j]
            count += 1
            j += 1
        spread(sites, begin + t, begin, end, -scale, count, work.active, work.values, weights)
    of_links = link_weights(problem.links, sites, n_labels, w)
    while j < last:
        change_flat_score(work.scratch, of_links[0], n_labels, -1 - keys[j], -scale * values[j])
        j += 1
