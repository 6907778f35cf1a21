"""What a move changes of a block of sites and links that share a table of weights.

Keys are ``t K + k`` for label k of site t of the block, and ``-1 - pair`` for a pair of labels.
"""

from __future__ import annotations

import numpy as np

from ..._compile import helper, implements, verb
from ...inference.verbs import change_flat_score
from ..changes import (
    add_changes,
    announce_changed_weights,
    announce_changes,
    blocks_tell,
    changes_bound,
    list_changes,
    shared_out,
    sizes_of_blocks,
    tells_changes,
)
from ..directions import BetweenCorners, ToCorner
from ..rows import has_features, prefetch_outer, prefetch_rows
from .layout import PairwiseProblem, link_weights
from .links import Alike, Successive, n_links
from .moves import list_site
from .pairs import Pairs, pair_at
from .sites import site_weights, spread


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


@implements(blocks_tell, PairwiseProblem)
def _(problem, blocks):
    return isinstance(blocks.links, Pairs)  # of tables, a move would list all pairs


@implements(sizes_of_blocks, PairwiseProblem)
def _(problem):
    return np.diff(problem.sites.offsets)


@implements(shared_out, PairwiseProblem)
def _(problem, blocks, n_shares):
    kept = blocks.links
    ends = np.linspace(*kept.free, n_shares + 1).astype(np.int64)
    kept.free[0] = kept.free[1]  # all of it is given away
    return [blocks._replace(links=kept._replace(free=ends[p : p + 2].copy())) for p in range(n_shares)]


@implements(changes_bound, PairwiseProblem)
def _(problem, blocks, i, moves):
    sites = problem.sites
    length = sites.offsets[i + 1] - sites.offsets[i]
    # a move lists the pairs with mass and those of a labeling, which may be among the former at the next one; or those
    # of two labelings
    links = blocks.links.filled[i] + (moves + 1) * n_links(problem.links, sites, i)
    return moves * (length * problem.cost.shape[0] + links)


@implements(list_changes, PairwiseProblem)
def _(problem, direction, blocks, work, i, gamma, keys, values, count):
    sites, n_labels = problem.sites, problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    for t in range(begin, end):
        first = (t - begin) * n_labels
        for j in range(list_site(direction, blocks, work, begin, t)):
            keys[count], values[count] = first + work.active[j], gamma * work.values[j]
            count += 1
    return list_link_changes(blocks.links, direction, problem.links, sites, work, i, gamma, keys, values, count)


@helper
def list_labeling(links, sites, labels, n_labels, i, mass, keys, values, count):
    """A labeling gets so much mass."""
    n = n_links(links, sites, i)
    for e in range(n):
        keys[count + e], values[count + e] = -1 - pair_at(links, labels, n_labels, i, e), mass
    return count + n


@verb
def list_link_changes(kept, direction, links, sites, work, i, gamma, keys, values, count):
    """The same of links alone."""


@implements(list_link_changes, (Pairs, ToCorner))
def _(kept, direction, links, sites, work, i, gamma, keys, values, count):
    for j in range(kept.first[i], kept.first[i] + kept.filled[i]):
        keys[count], values[count] = -1 - kept.pair[j], -gamma * kept.mass[j]
        count += 1
    return list_labeling(links, sites, work.labels, kept.n_labels, i, gamma, keys, values, count)


@implements(list_link_changes, (Pairs, BetweenCorners))
def _(kept, direction, links, sites, work, i, gamma, keys, values, count):
    for e in range(n_links(links, sites, i)):
        to, other = pair_at(links, work.labels, kept.n_labels, i, e), pair_at(links, work.away, kept.n_labels, i, e)
        if to != other:  # few are not the same
            keys[count], values[count] = -1 - to, gamma
            keys[count + 1], values[count + 1] = -1 - other, -gamma
            count += 2
    return count


@implements(announce_changes, PairwiseProblem)
def _(problem, i, keys, first, last):
    begin, n_labels, j = problem.sites.offsets[i], problem.cost.shape[0], first
    while j < last and keys[j] >= 0:
        t = begin + keys[j] // n_labels
        prefetch_rows(problem.sites.rows, t, t + 1)
        j += 1


@implements(announce_changed_weights, PairwiseProblem)
def _(problem, work, i, keys, first, last, w):
    sites, n_labels, j = problem.sites, problem.cost.shape[0], first
    while j < last and keys[j] >= 0:
        t, count = keys[j] // n_labels, take_site(keys, j, last, n_labels, work.active)
        prefetch_outer(sites.rows, sites.offsets[i] + t, count, work.active, n_labels, w, 0, sites.n_rows)
        j += count


@helper
def take_site(keys, first, last, n_labels, active):
    """The labels of one site, which keys are listed of from `first` on; returns how many there are."""
    t, count = keys[first] // n_labels, 0
    while first + count < last and t * n_labels <= keys[first + count] < (t + 1) * n_labels:
        active[count] = keys[first + count] - t * n_labels
        count += 1
    return count


@implements(add_changes, PairwiseProblem)
def _(problem, work, i, keys, values, first, last, scale, w):
    sites, n_labels = problem.sites, problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights, j = site_weights(sites, n_labels, w), first
    while j < last and keys[j] >= 0:
        t, count = keys[j] // n_labels, take_site(keys, j, last, n_labels, work.active)
        spread(sites, begin + t, begin, end, -scale, count, work.active, values[j : j + count], weights)
        j += count
    of_links = link_weights(problem.links, sites, n_labels, w)
    while j < last:
        change_flat_score(work.scratch, of_links[0], n_labels, -1 - keys[j], -scale * values[j])
        j += 1
