"""Marginals of links that share a table of weights, by the pairs of labels that have mass.

Few of the K^2 pairs have any in a block (on OCR 22 of 676), so that memory follows what is not zero. The lists of all
blocks lie in one pool. One that is full moves to where the pool is free, which kernels do themselves; where the pool is
full, they return for a larger one, see ``lacks_room``. Expectations, which give mass to all pairs, go into tables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements
from ..._prefetch import prefetch
from ...inference.verbs import change_flat_score
from ..directions import BetweenCorners, ToCorner, plus
from ..pools import places_of
from .links import (
    accumulate_links,
    add_marginals,
    announce_links,
    ends_of,
    head,
    link_norm,
    move_links,
    n_links,
    score_marginals,
    set_truth,
    tail,
)
from .room import links_lack_room, links_with_room, list_kept, put_listed, sums_lack_room, sums_with_room


class Pairs(NamedTuple):
    """The marginals of links with the same weights, summed over a block: a sorted list of pairs of labels with mass."""

    pair: np.ndarray  # (pool,) int32: labels a and b are the pair a K + b
    mass: np.ndarray  # (pool,) > 0
    first: np.ndarray  # (n,) where the list of a block begins
    filled: np.ndarray  # (n,) how long it is
    room: np.ndarray  # (n,) how long it may become where it lies
    free: np.ndarray  # (2,) from where to where the pool is free
    n_labels: int  # K


def no_pairs(n: int, n_labels: int) -> Pairs:
    """Empty lists, without room."""
    first, filled, room = np.zeros((3, n), np.int64)
    return Pairs(np.zeros(0, np.int32), np.zeros(0), first, filled, room, np.zeros(2, np.int64), n_labels)


def _laid_out(kept: Pairs, room: np.ndarray, spare: int) -> Pairs:
    """The same lists with so much room each, in a new pool with so much to spare."""
    ends = np.cumsum(room)
    first, size = ends - room, int(ends[-1]) + spare
    old, new = places_of(kept.first, kept.filled), places_of(first, kept.filled)
    pair, mass = np.zeros(size, np.int32), np.zeros(size)  # what is not used does not become resident
    pair[new], mass[new] = kept.pair[old], kept.mass[old]
    return kept._replace(pair=pair, mass=mass, first=first, room=room, free=np.array([ends[-1], size]))


def _grown(kept: Pairs, more: np.ndarray) -> Pairs:
    """Room for so many more pairs of each block, and for half of what there is; and as much again for all of them."""
    room = np.minimum(kept.filled + np.maximum(more, kept.filled // 2), kept.n_labels**2)
    return _laid_out(kept, room, int(2 * room.max() + room.sum()))


@implements(links_with_room, Pairs)
def _(kept, links, sites):
    return _grown(kept, np.bincount(ends_of(links, sites)[0], minlength=len(kept.filled)))


@implements(sums_with_room, (Pairs, Pairs))
def _(totals, kept):
    wanted = np.minimum(totals.filled + kept.filled, kept.n_labels**2)
    return totals if np.all(wanted <= totals.room) else _grown(totals, kept.filled)


@helper
def finds_room(kept, i, wanted):
    """Whether the list of block i may become so long; it may move for that."""
    all_pairs = kept.n_labels * kept.n_labels
    wanted = min(wanted, all_pairs)
    if wanted <= kept.room[i]:
        return True
    begin, target, room = kept.first[i], kept.free[0], min(2 * wanted, all_pairs)
    if target + room > kept.free[1]:
        return False
    for j in range(kept.filled[i]):
        kept.pair[target + j], kept.mass[target + j] = kept.pair[begin + j], kept.mass[begin + j]
    kept.first[i], kept.room[i], kept.free[0] = target, room, target + room
    return True


@implements(links_lack_room, Pairs)
def _(kept, links, sites, i):
    return not finds_room(kept, i, kept.filled[i] + n_links(links, sites, i))


@implements(sums_lack_room, Pairs)
def _(totals, kept, i):
    return not finds_room(totals, i, totals.filled[i] + kept.filled[i])


@implements(set_truth, Pairs)
def _(kept, links, sites, labels):
    samples, tails, heads = ends_of(links, sites)
    return put_listed(kept, samples, labels[tails], labels[heads], np.ones(len(samples)))


@implements(list_kept, Pairs)
def _(kept):
    places = places_of(kept.first, kept.filled)
    samples = np.repeat(np.arange(len(kept.filled)), kept.filled)
    return samples, *np.divmod(kept.pair[places], kept.n_labels), kept.mass[places]


@implements(put_listed, Pairs)
def _(kept, samples, tails, heads, masses):
    n_labels = kept.n_labels
    keys, at = np.unique((samples * n_labels + tails) * n_labels + heads, return_inverse=True)
    count = np.bincount(keys // n_labels**2, minlength=len(kept.filled))
    tight = kept._replace(
        pair=(keys % n_labels**2).astype(np.int32),
        mass=np.bincount(at, masses, len(keys)),
        first=np.cumsum(count) - count,
        filled=count,
        room=count,
    )
    return _grown(tight, count)


@implements(announce_links, Pairs)
def _(kept, i):
    prefetch(kept.pair, kept.first[i], kept.filled[i])
    prefetch(kept.mass, kept.first[i], kept.filled[i])


@helper
def flat(table):
    return table.reshape(table.size)


@helper
def pair_at(links, labels, n_labels, i, e):
    return labels[tail(links, i, e)] * n_labels + labels[head(links, i, e)]


@helper
def add_pairs(kept, work, i, scale, weights):
    """``weights += scale mu``, flat."""
    begin = kept.first[i]
    for j in range(begin, begin + kept.filled[i]):
        change_flat_score(work.scratch, weights, kept.n_labels, kept.pair[j], scale * kept.mass[j])


@implements(score_marginals, Pairs)
def _(kept, links, work, weights, i):
    begin, total = kept.first[i], 0.0
    for j in range(begin, begin + kept.filled[i]):
        total += weights[0, kept.pair[j]] * kept.mass[j]
    return total


@implements(link_norm, (Pairs, ToCorner))
def _(kept, direction, links, sites, work, i):
    counts, n_labels, total = flat(work.counts), work.node.shape[1], 0.0
    count = n_links(links, sites, i)
    for e in range(count):
        counts[pair_at(links, work.labels, n_labels, i, e)] += 1.0
    begin = kept.first[i]
    for j in range(begin, begin + kept.filled[i]):
        pair = kept.pair[j]
        total += (counts[pair] - kept.mass[j]) ** 2
        counts[pair] = 0.0
    for e in range(count):
        pair = pair_at(links, work.labels, n_labels, i, e)
        total += counts[pair] ** 2
        counts[pair] = 0.0
    return total


@helper
def fold(kept, i, keep, changes):
    """Masses become `keep` times theirs and what `changes` says, which is cleared there; what is 0 leaves the list."""
    begin, left = kept.first[i], kept.first[i]
    for j in range(begin, begin + kept.filled[i]):
        pair = kept.pair[j]
        mass = plus(keep * kept.mass[j], changes[pair])
        changes[pair] = 0.0
        if mass > 0.0:
            kept.pair[left], kept.mass[left] = pair, mass
            left += 1
    kept.filled[i] = left - begin


@helper
def insert_pairs(kept, links, sites, labels, n_labels, i, changes):
    """The pairs of a labeling that are not in the list join it with what `changes` says, which is cleared."""
    begin = kept.first[i]
    for e in range(n_links(links, sites, i)):
        pair = pair_at(links, labels, n_labels, i, e)
        mass = plus(0.0, changes[pair])
        changes[pair] = 0.0
        if mass > 0.0:
            j = begin + kept.filled[i]
            while j > begin and kept.pair[j - 1] > pair:
                kept.pair[j], kept.mass[j] = kept.pair[j - 1], kept.mass[j - 1]
                j -= 1
            kept.pair[j], kept.mass[j] = pair, mass
            kept.filled[i] += 1


@helper
def shift_pair(pair, n_labels, work, gamma, scale, changes, weights):
    """A pair gets mass gamma."""
    change_flat_score(work.scratch, weights, n_labels, pair, -scale * gamma)
    changes[pair] += gamma


@helper
def shift_pairs(links, sites, labels, work, i, gamma, scale, changes, weights):
    """A labeling gets mass gamma."""
    n_labels = work.node.shape[1]
    for e in range(n_links(links, sites, i)):
        shift_pair(pair_at(links, labels, n_labels, i, e), n_labels, work, gamma, scale, changes, weights)


@implements(move_links, (Pairs, ToCorner))
def _(kept, direction, links, sites, work, weights, i, gamma, scale):
    changes, n_labels = flat(work.counts), work.node.shape[1]
    add_pairs(kept, work, i, scale * gamma, weights[0])
    shift_pairs(links, sites, work.labels, work, i, gamma, scale, changes, weights[0])
    fold(kept, i, 1.0 - gamma, changes)
    insert_pairs(kept, links, sites, work.labels, n_labels, i, changes)


@implements(move_links, (Pairs, BetweenCorners))
def _(kept, direction, links, sites, work, weights, i, gamma, scale):
    changes, n_labels = flat(work.counts), work.node.shape[1]
    for e in range(n_links(links, sites, i)):
        to, other = pair_at(links, work.labels, n_labels, i, e), pair_at(links, work.away, n_labels, i, e)
        if to != other:  # few are not the same
            shift_pair(to, n_labels, work, gamma, scale, changes, weights[0])
            shift_pair(other, n_labels, work, -gamma, scale, changes, weights[0])
    fold(kept, i, 1.0, changes)
    insert_pairs(kept, links, sites, work.labels, n_labels, i, changes)
    insert_pairs(kept, links, sites, work.away, n_labels, i, changes)


@implements(accumulate_links, Pairs)
def _(kept, totals, links, i, amount):
    begin, end = kept.first[i], kept.first[i] + kept.filled[i]
    first, at, missing = totals.first[i], totals.first[i], 0
    last = first + totals.filled[i]
    for j in range(begin, end):
        while at < last and totals.pair[at] < kept.pair[j]:
            at += 1
        if at < last and totals.pair[at] == kept.pair[j]:
            totals.mass[at] += amount * kept.mass[j]
        else:
            missing += 1
    totals.filled[i] += missing
    source, j, target = last - 1, end - 1, last - 1 + missing
    while target > source:  # from the largest pair on, those that are missing find their places
        if source >= first and totals.pair[source] >= kept.pair[j]:
            if totals.pair[source] == kept.pair[j]:
                j -= 1
            totals.pair[target], totals.mass[target] = totals.pair[source], totals.mass[source]
            source -= 1
        else:
            totals.pair[target], totals.mass[target] = kept.pair[j], amount * kept.mass[j]
            j -= 1
        target -= 1


@implements(add_marginals, Pairs)
def _(kept, links, sites, labels, work, i, scale, mass, weights):
    n_labels = work.node.shape[1]
    for e in range(n_links(links, sites, i)):
        change_flat_score(work.scratch, weights[0], n_labels, pair_at(links, labels, n_labels, i, e), scale * mass)
    add_pairs(kept, work, i, -scale, weights[0])
