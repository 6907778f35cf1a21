"""Marginals of links that share a table of weights, as tables: expectations give mass to all pairs of labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements, routine
from ...inference.verbs import change_score
from ..directions import BetweenCorners, ToCorner, ToExpectation, plus
from .alike import table
from .links import (
    MOST_BYTES,
    accumulate_links,
    add_link_direction,
    add_marginals,
    head,
    link_norm,
    links_with_all_room,
    list_kept,
    move_links,
    n_links,
    put_listed,
    put_marginals,
    score_marginals,
    settle_links,
    sums_with_room,
    tail,
)
from .pairs import Pairs


class Sums(NamedTuple):
    """The marginals of links with the same weights, summed over a block."""

    edge: np.ndarray  # (n, K, K)
    used: np.ndarray  # (n, K) bool: rows of `edge` that are not all zero
    square: np.ndarray  # (n,) sum of the squares of `edge`


@implements(links_with_all_room, Pairs)
def _(kept):
    n, n_labels = len(kept.filled), kept.n_labels
    if 8 * n * n_labels**2 > MOST_BYTES:
        raise MemoryError(
            f"expectations give mass to all pairs of labels, {8e-9 * n * n_labels**2:.0f} GB for {n} samples with "
            f"{n_labels} labels: take a solver whose steps go to outputs, merge rare labels, or take fewer samples"
        )
    tables = Sums(np.zeros((n, n_labels, n_labels)), np.zeros((n, n_labels), np.bool_), np.zeros(n))
    return put_listed(tables, *list_kept(kept))


@implements(sums_with_room, (Pairs, Sums))
def _(totals, kept):
    return links_with_all_room(totals)


@implements(score_marginals, Sums)
def _(kept, links, work, weights, i):
    n_labels = work.node.shape[1]
    transitions, edge = table(weights, n_labels), kept.edge[i]
    total = 0.0
    for a in range(n_labels):
        if kept.used[i, a]:
            for b in range(n_labels):
                total += transitions[a, b] * edge[a, b]
    return total


# Below this share of what it is the difference of, a norm is summed afresh.
CANCELLED = 1e-6


@implements(link_norm, (Sums, ToCorner))
def _(kept, direction, links, sites, work, i):
    count, cross, square = n_links(links, sites, i), 0.0, 0.0
    for e in range(count):
        work.counts[work.labels[tail(links, i, e)], work.labels[head(links, i, e)]] += 1.0
    for e in range(count):
        a, b = work.labels[tail(links, i, e)], work.labels[head(links, i, e)]
        if kept.used[i, a]:  # an unused row need not come from memory
            cross += kept.edge[i, a, b]
        square += work.counts[a, b]
    norm = kept.square[i] - 2.0 * cross + square
    if norm <= CANCELLED * square:  # a small difference of large numbers has lost its digits, and the step with it
        norm = summed_norm(kept, work, i)
    for e in range(count):
        work.counts[work.labels[tail(links, i, e)], work.labels[head(links, i, e)]] = 0.0
    return norm


@routine
def summed_norm(kept, work, i):
    total = 0.0
    for a in range(work.counts.shape[0]):
        for b in range(work.counts.shape[0]):
            total += (work.counts[a, b] - kept.edge[i, a, b]) ** 2
    return total


@implements(link_norm, (Sums, BetweenCorners), (Pairs, BetweenCorners))
def _(kept, direction, links, sites, work, i):
    corner, away, counts = work.labels, work.away, work.counts
    count, total = n_links(links, sites, i), 0.0
    for e in range(count):
        s, t = tail(links, i, e), head(links, i, e)
        counts[corner[s], corner[t]] += 1.0
        counts[away[s], away[t]] -= 1.0
    for e in range(count):
        s, t = tail(links, i, e), head(links, i, e)
        total += counts[corner[s], corner[t]] ** 2
        counts[corner[s], corner[t]] = 0.0
        total += counts[away[s], away[t]] ** 2
        counts[away[s], away[t]] = 0.0
    return total


@implements(link_norm, (Sums, ToExpectation))
def _(kept, direction, links, sites, work, i):
    new, old, total = direction.expectation.edge[0], kept.edge[i], 0.0
    for a in range(new.shape[0]):
        for b in range(new.shape[0]):
            total += (new[a, b] - old[a, b]) ** 2
    return total


@implements(move_links, (Sums, ToCorner))
def _(kept, direction, links, sites, work, weights, i, gamma, scale):
    n_labels = work.node.shape[1]
    transitions, edge, used = table(weights, n_labels), kept.edge[i], kept.used[i]
    keep, step, square = 1.0 - gamma, scale * gamma, 0.0
    for a in range(n_labels):
        if used[a]:
            for b in range(n_labels):
                change_score(work.scratch, transitions, a, b, step * edge[a, b])
                edge[a, b] *= keep
                square += edge[a, b] * edge[a, b]
            used[a] = keep > 0.0
    for e in range(n_links(links, sites, i)):
        a, b = work.labels[tail(links, i, e)], work.labels[head(links, i, e)]
        change_score(work.scratch, transitions, a, b, -step)
        square += shift(edge, a, b, gamma)
        used[a] = True
    kept.square[i] = square


@helper
def shift(edge, a, b, gamma):
    """Add gamma to an entry; returns what its square gains."""
    old = edge[a, b]
    edge[a, b] = plus(old, gamma)
    return (edge[a, b] - old) * (edge[a, b] + old)


@implements(move_links, (Sums, BetweenCorners))
def _(kept, direction, links, sites, work, weights, i, gamma, scale):
    transitions, edge = table(weights, work.node.shape[1]), kept.edge[i]
    step, count = scale * gamma, n_links(links, sites, i)
    for e in range(count):
        a, b = work.labels[tail(links, i, e)], work.labels[head(links, i, e)]
        change_score(work.scratch, transitions, a, b, -step)
        kept.square[i] += shift(edge, a, b, gamma)
        kept.used[i, a] = True
    for e in range(count):
        a, b = work.away[tail(links, i, e)], work.away[head(links, i, e)]
        change_score(work.scratch, transitions, a, b, step)
        kept.square[i] += shift(edge, a, b, -gamma)


@implements(move_links, (Sums, ToExpectation))
def _(kept, direction, links, sites, work, weights, i, gamma, scale):
    new, old = direction.expectation.edge[0], kept.edge[i]
    transitions, square = table(weights, new.shape[0]), 0.0
    for a in range(new.shape[0]):
        kept.used[i, a] = True
        for b in range(new.shape[0]):
            change = gamma * (new[a, b] - old[a, b])
            change_score(work.scratch, transitions, a, b, -scale * change)
            old[a, b] = plus(old[a, b], change)
            square += old[a, b] * old[a, b]
    kept.square[i] = square


@implements(add_link_direction, (Sums, ToExpectation))
def _(kept, direction, links, sites, work, weights, i, scale):
    new, old = direction.expectation.edge[0], kept.edge[i]
    transitions = table(weights, new.shape[0])
    for a in range(new.shape[0]):
        for b in range(new.shape[0]):
            change_score(work.scratch, transitions, a, b, scale * (new[a, b] - old[a, b]))


@implements(settle_links, Sums)
def _(kept, expectation, links, i):
    new, old, square = expectation.edge[0], kept.edge[i], 0.0
    for a in range(new.shape[0]):
        kept.used[i, a] = True
        for b in range(new.shape[0]):
            old[a, b] = new[a, b]
            square += new[a, b] * new[a, b]
    kept.square[i] = square


@implements(accumulate_links, Sums)
def _(kept, totals, links, i, amount):
    total, edge = totals.edge[i], kept.edge[i]
    for a in range(edge.shape[0]):
        if kept.used[i, a]:
            totals.used[i, a] = True
            for b in range(edge.shape[0]):
                total[a, b] += amount * edge[a, b]


@implements(add_marginals, Sums)
def _(kept, links, sites, labels, work, i, scale, mass, weights):
    n_labels = work.node.shape[1]
    transitions = table(weights, n_labels)
    for e in range(n_links(links, sites, i)):
        a, b = labels[tail(links, i, e)], labels[head(links, i, e)]
        change_score(work.scratch, transitions, a, b, scale * mass)
    for a in range(n_labels):
        if kept.used[i, a]:
            for b in range(n_labels):
                change_score(work.scratch, transitions, a, b, -scale * kept.edge[i, a, b])


@implements(put_listed, Sums)
def _(kept, samples, tails, heads, masses):
    np.add.at(kept.edge, (samples, tails, heads), masses)
    kept.used[samples, tails] = True
    kept.square[:] = np.bincount(samples, masses * kept.edge[samples, tails, heads], len(kept.square))
    return kept


@implements(list_kept, Sums)
def _(kept):
    samples, tails, heads = np.nonzero(kept.edge)
    return samples, tails, heads, kept.edge[samples, tails, heads]


@implements(put_marginals, Sums)
def _(kept, links, i, tables):
    kept.edge[i] = 0.0
    for e in range(tables.shape[0]):
        kept.edge[i] += tables[e]
    kept.used[i] = True
    kept.square[i] = np.sum(kept.edge[i] * kept.edge[i])
