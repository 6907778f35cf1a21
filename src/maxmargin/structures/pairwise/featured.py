"""Links with features: each has a score table and marginals of its own.

Link e has the features x_e, with a row of weights each: K^2, so that a pair of labels is to a link what a label is to a
site; or one, for all pairs of different labels (Potts). Norms are not kept but summed in feature space, in a buffer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements, verb
from ..directions import BetweenCorners, ToCorner, ToExpectation, plus
from ..rows import add_outer, add_scores, drain_squares, list_ranges, most_ranges
from .links import (
    Featured,
    Potts,
    accumulate_links,
    add_difference,
    add_expected,
    add_link_direction,
    add_marginals,
    clear_mixture,
    ends_of,
    first_table,
    gather_marginals,
    head,
    link_norm,
    link_scores,
    list_link_ranges,
    mix_links,
    most_link_ranges,
    move_links,
    n_link_rows,
    n_pool_tables,
    n_tables,
    new_kept,
    new_link_buffer,
    new_mixture_tables,
    prepare_links,
    put_marginals,
    score_labeling,
    score_marginals,
    set_truth,
    settle_links,
    tables_of,
    tail,
)


@implements(n_link_rows, Featured, Potts)
def _(links):
    return links.n_rows


class Tables(NamedTuple):
    """The marginals of every link."""

    edge: np.ndarray  # (E, K, K) or, where only differences of labels count, (E, 1, 1)
    used: np.ndarray  # (E, K) or (E, 1) bool: rows of `edge` that are not all zero


@implements(new_kept, Featured)
def _(links, n, n_labels):
    return _tables(links, n_labels)


@implements(new_kept, Potts)
def _(links, n, n_labels):
    return _tables(links, 1)


def _tables(links, side):
    count = len(links.tails)
    return Tables(np.zeros((count, side, side)), np.zeros((count, side), np.bool_))


@implements(n_pool_tables, Featured, Potts)
def _(links):
    return links.most


@implements(new_link_buffer, Featured, Potts)
def _(links, n_pairs):
    return np.zeros((links.n_rows, n_pairs))


@helper
def count_links(links, i):
    return links.offsets[i + 1] - links.offsets[i]


@verb
def pair_of(links, i, e, labels, n_labels):
    """Which weights of a row the labels of link e take, or -1 for none."""


@implements(pair_of, Featured)
def _(links, i, e, labels, n_labels):
    return labels[tail(links, i, e)] * n_labels + labels[head(links, i, e)]


@implements(pair_of, Potts)
def _(links, i, e, labels, n_labels):
    return 0 if labels[tail(links, i, e)] != labels[head(links, i, e)] else -1


@implements(prepare_links, Featured)
def _(links, work, weights, i):
    n_pairs = weights.shape[1]
    mask = links.mask.reshape(links.mask.size)
    for e in range(count_links(links, i)):
        scores = work.edge[e * n_pairs : (e + 1) * n_pairs]
        for p in range(n_pairs):
            scores[p] = mask[p] if mask.shape[0] > 0 else 0.0
        add_scores(links.rows, links.offsets[i] + e, weights, scores)


@implements(prepare_links, Potts)
def _(links, work, weights, i):
    n_labels = work.node.shape[1]
    n_pairs = n_labels * n_labels
    for e in range(count_links(links, i)):
        score = work.masses[:1]
        score[0] = 0.0
        add_scores(links.rows, links.offsets[i] + e, weights, score)
        for p in range(n_pairs):
            work.edge[e * n_pairs + p] = 0.0 if p // n_labels == p % n_labels else score[0]


@implements(link_scores, Featured, Potts)
def _(links, work, weights, i):
    return work.edge


@implements(score_labeling, Featured, Potts)
def _(links, sites, work, weights, i, labels):
    n_labels = work.node.shape[1]
    total = 0.0
    for e in range(count_links(links, i)):
        total += work.edge[(e * n_labels + labels[tail(links, i, e)]) * n_labels + labels[head(links, i, e)]]
    return total


@implements(score_marginals, (Tables, Featured))
def _(kept, links, work, weights, i):
    n_labels = work.node.shape[1]
    total = 0.0
    for e in range(count_links(links, i)):
        at = links.offsets[i] + e
        for a in range(n_labels):
            if kept.used[at, a]:
                for b in range(n_labels):
                    mass = kept.edge[at, a, b]
                    if mass != 0.0:
                        total += mass * work.edge[(e * n_labels + a) * n_labels + b]
    return total


@implements(score_marginals, (Tables, Potts))
def _(kept, links, work, weights, i):
    n_labels = work.node.shape[1]
    total = 0.0
    for e in range(count_links(links, i)):
        # labels 0 and 1 differ
        total += kept.edge[links.offsets[i] + e, 0, 0] * work.edge[e * n_labels * n_labels + 1]
    return total


@helper
def list_marginals(kept, at, sign, work):
    """List the pairs of table `at` that hold mass, with the sign given; their number is returned."""
    n_labels = kept.edge.shape[1]
    count = 0
    for a in range(n_labels):
        if kept.used[at, a]:
            for b in range(n_labels):
                if kept.edge[at, a, b] != 0.0:
                    work.pairs[count], work.masses[count] = a * n_labels + b, sign * kept.edge[at, a, b]
                    count += 1
    return count


@helper
def list_one(pair, value, count, work):
    if pair < 0:
        return count
    work.pairs[count], work.masses[count] = pair, value
    return count + 1


@helper
def spread_links(links, at, scale, count, work, weights):
    """Add ``scale phi`` of one link to weights, for the pairs listed; a pair may be listed twice."""
    add_outer(links.rows, at, scale, count, work.pairs, work.masses, weights)


@helper
def drain_links(links, i, work):
    total = 0.0
    for at in range(links.offsets[i], links.offsets[i + 1]):
        total += drain_squares(links.rows, at, work.link_buffer)
    return total


@verb
def list_link(direction, links, kept, work, i, e):
    """List the pairs of labels whose marginals change at link e, and by how much; a pair may be listed twice."""


@implements(list_link, ToCorner)
def _(direction, links, kept, work, i, e):
    at, side = links.offsets[i] + e, kept.edge.shape[1]
    pair = pair_of(links, i, e, work.labels, work.node.shape[1])
    if pair >= 0 and kept.edge[at, pair // side, pair % side] == 1.0:
        return 0
    return list_one(pair, 1.0, list_marginals(kept, at, -1.0, work), work)


@implements(list_link, BetweenCorners)
def _(direction, links, kept, work, i, e):
    return list_pair_of_labelings(links, i, e, work.labels, work.away, work)


@implements(list_link, ToExpectation)
def _(direction, links, kept, work, i, e):
    at, n_labels, count = links.offsets[i] + e, kept.edge.shape[1], 0
    for a in range(n_labels):
        for b in range(n_labels):
            value = direction.expectation.edge[e, a, b] - kept.edge[at, a, b]
            if value != 0.0:
                work.pairs[count], work.masses[count] = a * n_labels + b, value
                count += 1
    return count


@implements(link_norm, Tables)
def _(kept, direction, links, sites, work, i):
    for e in range(count_links(links, i)):
        count = list_link(direction, links, kept, work, i, e)
        spread_links(links, links.offsets[i] + e, 1.0, count, work, work.link_buffer)
    return drain_links(links, i, work)


@helper
def list_pair_of_labelings(links, i, e, corner, away, work):
    """List what two labelings differ by at link e; 0 if nothing."""
    n_labels = work.node.shape[1]
    to, other = pair_of(links, i, e, corner, n_labels), pair_of(links, i, e, away, n_labels)
    return 0 if to == other else list_one(other, -1.0, list_one(to, 1.0, 0, work), work)


@implements(move_links, Tables)
def _(kept, direction, links, sites, work, weights, i, gamma, scale):
    for e in range(count_links(links, i)):
        at, count = links.offsets[i] + e, list_link(direction, links, kept, work, i, e)
        spread_links(links, at, -scale * gamma, count, work, weights)
        for j in range(count):
            add_mass(kept, at, work.pairs[j], gamma * work.masses[j])


@implements(add_link_direction, Tables)
def _(kept, direction, links, sites, work, weights, i, scale):
    for e in range(count_links(links, i)):
        count = list_link(direction, links, kept, work, i, e)
        spread_links(links, links.offsets[i] + e, scale, count, work, weights)


@implements(settle_links, Tables)
def _(kept, expectation, links, i):
    side = kept.edge.shape[1]
    for e in range(count_links(links, i)):
        at = links.offsets[i] + e
        for a in range(side):
            kept.used[at, a] = True
            for b in range(side):
                kept.edge[at, a, b] = expectation.edge[e, a, b]


@implements(new_mixture_tables, Featured)
def _(links, n_labels):
    return np.zeros((links.most, n_labels, n_labels))


@implements(new_mixture_tables, Potts)
def _(links, n_labels):
    return np.zeros((links.most, 1, 1))


@implements(clear_mixture, Featured, Potts)
def _(links, i, tables):
    for e in range(count_links(links, i)):
        for a in range(tables.shape[1]):
            for b in range(tables.shape[2]):
                tables[e, a, b] = 0.0


@implements(mix_links, Featured, Potts)
def _(links, sites, i, labels, mass, tables):
    side = tables.shape[1]
    for e in range(count_links(links, i)):
        pair = pair_of(links, i, e, labels, side)
        if pair >= 0:
            tables[e, pair // side, pair % side] += mass


@implements(most_link_ranges, Featured, Potts)
def _(links):
    return most_ranges(links.rows, links.offsets)


@implements(list_link_ranges, Featured, Potts)
def _(links, i, first, width, support, count):
    for at in range(links.offsets[i], links.offsets[i + 1]):
        count = list_ranges(links.rows, at, first, width, support, count)
    return count


@helper
def add_mass(kept, at, pair, gamma):
    """Mass of a pair of labels grows by gamma, or shrinks; a pair without weights has none."""
    if pair >= 0:
        side = kept.edge.shape[1]
        a, b = pair // side, pair % side
        kept.edge[at, a, b] = plus(kept.edge[at, a, b], gamma)
        kept.used[at, a] = True


@implements(accumulate_links, Tables)
def _(kept, totals, links, i, amount):
    n_labels = kept.edge.shape[1]
    for at in range(links.offsets[i], links.offsets[i + 1]):
        for a in range(n_labels):
            if kept.used[at, a]:
                totals.used[at, a] = True
                for b in range(n_labels):
                    totals.edge[at, a, b] += amount * kept.edge[at, a, b]


@implements(add_marginals, Tables)
def _(kept, links, sites, labels, work, i, scale, mass, weights):
    n_labels = work.node.shape[1]
    for e in range(count_links(links, i)):
        at = links.offsets[i] + e
        count = list_marginals(kept, at, -1.0, work)
        count = list_one(pair_of(links, i, e, labels, n_labels), mass, count, work)
        spread_links(links, at, scale, count, work, weights)


@implements(add_difference, Featured, Potts)
def _(links, sites, labels, work, i, scale, weights):
    for e in range(count_links(links, i)):
        count = list_pair_of_labelings(links, i, e, labels, work.labels, work)
        spread_links(links, links.offsets[i] + e, scale, count, work, weights)


@implements(add_expected, Featured)
def _(links, sites, labels, expectation, work, i, scale, weights):
    n_labels = work.node.shape[1]
    for e in range(count_links(links, i)):
        count = 0
        for a in range(n_labels):
            for b in range(n_labels):
                if expectation.edge[e, a, b] != 0.0:
                    work.pairs[count], work.masses[count] = a * n_labels + b, -expectation.edge[e, a, b]
                    count += 1
        count = list_one(pair_of(links, i, e, labels, n_labels), 1.0, count, work)
        spread_links(links, links.offsets[i] + e, scale, count, work, weights)


@implements(set_truth, (Tables, Featured))
def _(kept, links, sites, labels):
    _, tails, heads = ends_of(links, sites)
    at = np.arange(len(tails))
    kept.edge[at, labels[tails], labels[heads]] = 1.0
    kept.used[at, labels[tails]] = True
    return kept


@implements(set_truth, (Tables, Potts))
def _(kept, links, sites, labels):
    _, tails, heads = ends_of(links, sites)
    differ = labels[tails] != labels[heads]
    kept.edge[differ], kept.used[differ] = 1.0, True
    return kept


@implements(n_tables, Featured)
def _(links, n):
    return len(links.tails)


@implements(first_table, Featured)
def _(links, i):
    return links.offsets[i]


@implements(tables_of, Featured)
def _(links, i):
    return count_links(links, i)


@implements(gather_marginals, Featured)
def _(links, sites, expectation, i):
    flat = expectation.edge.reshape(expectation.edge.size)
    for p in range(count_links(links, i) * expectation.edge[0].size):
        flat[p] = expectation.every_edge[p]


@implements(put_marginals, Tables)
def _(kept, links, i, tables):
    kept.edge[links.offsets[i] : links.offsets[i + 1]] = tables
    kept.used[links.offsets[i] : links.offsets[i + 1]] = True
