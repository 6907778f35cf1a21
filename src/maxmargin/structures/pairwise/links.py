"""Links between sites whose pairs of labels have weights: which there are, and what learning does with them.

Links of one kind share a (K, K) table of weights, the row for the label of the tail, the column for that of the head;
their marginals need be known only as the sum over a block. Links with features are in :mod:`.featured`. The verbs are
the links' parts of those in :mod:`~..verbs`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements, verb
from ..rows import Rows


@verb
def n_links(links, sites, i):
    """Number of links of sample i."""


@verb
def tail(links, i, e):
    """First site of link e of sample i, counted inside the sample."""


@verb
def head(links, i, e):
    """Second site of it."""


@verb
def n_link_rows(links):
    """Rows of weights."""


@verb
def link_width(links, n_labels):
    """Weights of a row: one for each pair of labels that has its own."""


@verb
def n_tables(links, n):
    """Tables of marginals for n samples."""


@verb
def table_side(links, n_labels):
    """Rows and columns of such a table."""


@verb
def n_pool_tables(links):
    """Tables of scores the largest sample needs room for."""


@verb
def new_link_buffer(links, n_pairs):
    """Room for what links are spread over, a row for each row of weights, where norms are summed there."""


@verb
def prepare_links(links, work, weights, i):
    """Find the scores of the links of sample i, where they are not the weights themselves."""


@verb
def link_scores(links, work, weights, i):
    """Those scores, masked: a flat array of tables."""


@verb
def score_labeling(links, sites, work, weights, i, labels):
    """The links' share of the score of a labeling, which the mask allows."""


@verb
def score_marginals(links, blocks, work, weights, i):
    """``<theta, mu>`` of the links of block i. A forbidden pair has no mass, and -inf times 0 must not count."""


@verb
def corner_products(links, sites, blocks, work, i):
    """``<E phi, phi(corner)>`` and ``|phi(corner)|^2`` of what `blocks.norm` covers of the links."""


@verb
def covered_norm(links, sites, blocks, work, i):
    """``|phi(corner) - E phi|^2`` of what `blocks.norm` covers of the links, term by term."""


@verb
def further_norm(links, sites, blocks, work, i):
    """The same of the rest of them."""


@verb
def pair_products(links, sites, blocks, work, i):
    """``<E phi, D>`` and ``|D|^2``, D = phi(corner) - phi(away corner), of what `blocks.norm` covers of the links."""


@verb
def further_pair_norm(links, sites, work, i):
    """``|D|^2`` of the rest of them."""


@verb
def move_links(links, sites, blocks, work, weights, i, gamma, scale):
    """As ``move``."""


@verb
def move_pair_links(links, sites, blocks, work, weights, i, gamma, scale):
    """As ``move_pair``."""


@verb
def accumulate_links(links, totals, blocks, i, amount):
    """As ``accumulate``."""


@verb
def add_marginals(links, sites, labels, blocks, work, i, scale, mass, weights):
    """As ``add_block``; `labels` are the true ones of the sample."""


@verb
def add_difference(links, sites, labels, work, i, scale, weights):
    """As ``add_corner``."""


@verb
def set_truth(links, sites, labels, blocks, i):
    """All mass on the true labels; returns ``|phi|^2`` of what `blocks.norm` covers of the links."""


@helper
def plus(mass, gamma):
    """``mass + gamma``, and 0 where only rounding is left: what is exactly 0 costs nothing later."""
    total = mass + gamma
    return total if total > 1e-15 else 0.0


class Successive(NamedTuple):
    """Each site is linked to the next one: a chain."""

    mask: np.ndarray  # (K, K) 0 or -inf, or empty


@implements(n_links, Successive)
def _(links, sites, i):
    return sites.offsets[i + 1] - sites.offsets[i] - 1


@implements(tail, Successive)
def _(links, i, e):
    return e


@implements(head, Successive)
def _(links, i, e):
    return e + 1


class Alike(NamedTuple):
    """Links as listed, all with the same weights."""

    mask: np.ndarray  # (K, K) 0 or -inf, or empty
    offsets: np.ndarray  # (n + 1,)
    tails: np.ndarray  # (E,) int32, counted inside the sample
    heads: np.ndarray  # (E,) int32


class Featured(NamedTuple):
    """Links as listed, with features; each has a score table and marginals of its own, see :mod:`.featured`."""

    mask: np.ndarray  # (K, K) 0 or -inf, or empty
    offsets: np.ndarray  # (n + 1,)
    tails: np.ndarray  # (E,) int32, counted inside the sample
    heads: np.ndarray  # (E,) int32
    rows: Rows  # (E, R)
    n_rows: int  # R
    most: int  # links of the largest sample


class Potts(NamedTuple):
    """Links as listed whose features count where the labels of their ends differ, whatever they are."""

    mask: np.ndarray  # empty
    offsets: np.ndarray  # (n + 1,)
    tails: np.ndarray  # (E,) int32, counted inside the sample
    heads: np.ndarray  # (E,) int32
    rows: Rows  # (E, R)
    n_rows: int  # R
    most: int  # links of the largest sample


@implements(n_links, Alike, Featured, Potts)
def _(links, sites, i):
    return links.offsets[i + 1] - links.offsets[i]


@implements(tail, Alike, Featured, Potts)
def _(links, i, e):
    return links.tails[links.offsets[i] + e]


@implements(head, Alike, Featured, Potts)
def _(links, i, e):
    return links.heads[links.offsets[i] + e]


@implements(n_link_rows, Successive, Alike)
def _(links):
    return 1


@implements(link_width, Successive, Alike, Featured)
def _(links, n_labels):
    return n_labels * n_labels


@implements(link_width, Potts)
def _(links, n_labels):
    return 1


@implements(table_side, Successive, Alike, Featured)
def _(links, n_labels):
    return n_labels


@implements(table_side, Potts)
def _(links, n_labels):
    return 1


@implements(n_tables, Successive, Alike)
def _(links, n):
    return n


@implements(n_pool_tables, Successive, Alike)
def _(links):
    return 1


@implements(new_link_buffer, Successive, Alike)
def _(links, n_pairs):
    return np.zeros((0, n_pairs))


@implements(prepare_links, Successive, Alike)
def _(links, work, weights, i):
    return None


@implements(link_scores, Successive, Alike)
def _(links, work, weights, i):
    if links.mask.shape[0] == 0:
        return weights[0]
    n_labels = links.mask.shape[0]
    for a in range(n_labels):
        for b in range(n_labels):
            work.edge[a * n_labels + b] = weights[0, a * n_labels + b] + links.mask[a, b]
    return work.edge


@helper
def table(weights, n_labels):
    return weights[0].reshape((n_labels, n_labels))


@implements(score_labeling, Successive, Alike)
def _(links, sites, work, weights, i, labels):
    transitions = table(weights, work.node.shape[1])
    total = 0.0
    for e in range(n_links(links, sites, i)):
        total += transitions[labels[tail(links, i, e)], labels[head(links, i, e)]]
    return total


@implements(score_marginals, Successive, Alike)
def _(links, blocks, work, weights, i):
    n_labels = work.node.shape[1]
    transitions, edge = table(weights, n_labels), blocks.edge[i]
    total = 0.0
    for a in range(n_labels):
        if blocks.used[i, a]:
            for b in range(n_labels):
                total += transitions[a, b] * edge[a, b]
    return total


@implements(corner_products, Successive, Alike)
def _(links, sites, blocks, work, i):
    count = n_links(links, sites, i)
    for e in range(count):
        work.counts[work.labels[tail(links, i, e)], work.labels[head(links, i, e)]] += 1.0
    cross, corner = 0.0, 0.0
    for e in range(count):
        a, b = work.labels[tail(links, i, e)], work.labels[head(links, i, e)]
        if blocks.used[i, a]:  # an unused row need not come from memory
            cross += blocks.edge[i, a, b]
        corner += work.counts[a, b]
    for e in range(count):
        work.counts[work.labels[tail(links, i, e)], work.labels[head(links, i, e)]] = 0.0
    return cross, corner


@implements(covered_norm, Successive, Alike)
def _(links, sites, blocks, work, i):
    edge = blocks.edge[i]
    for e in range(n_links(links, sites, i)):
        work.counts[work.labels[tail(links, i, e)], work.labels[head(links, i, e)]] += 1.0
    total = 0.0
    for a in range(edge.shape[0]):
        for b in range(edge.shape[0]):
            difference = work.counts[a, b] - edge[a, b]
            total += difference * difference
            work.counts[a, b] = 0.0
    return total


@implements(further_norm, Successive, Alike)
def _(links, sites, blocks, work, i):
    return 0.0


@implements(further_pair_norm, Successive, Alike)
def _(links, sites, work, i):
    return 0.0


@implements(pair_products, Successive, Alike)
def _(links, sites, blocks, work, i):
    corner, away, counts = work.labels, work.away, work.counts
    count = n_links(links, sites, i)
    cross, norm = 0.0, 0.0
    for e in range(count):
        s, t = tail(links, i, e), head(links, i, e)
        counts[corner[s], corner[t]] += 1.0
        counts[away[s], away[t]] -= 1.0
        if blocks.used[i, corner[s]]:
            cross += blocks.edge[i, corner[s], corner[t]]
        cross -= blocks.edge[i, away[s], away[t]]
    for e in range(count):
        s, t = tail(links, i, e), head(links, i, e)
        norm += counts[corner[s], corner[t]] ** 2
        counts[corner[s], corner[t]] = 0.0
        norm += counts[away[s], away[t]] ** 2
        counts[away[s], away[t]] = 0.0
    return cross, norm


@implements(move_links, Successive, Alike)
def _(links, sites, blocks, work, weights, i, gamma, scale):
    n_labels = work.node.shape[1]
    transitions, edge, used = table(weights, n_labels), blocks.edge[i], blocks.used[i]
    keep, step = 1.0 - gamma, scale * gamma
    for a in range(n_labels):
        if used[a]:
            for b in range(n_labels):
                transitions[a, b] += step * edge[a, b]
                edge[a, b] *= keep
            used[a] = keep > 0.0
    for e in range(n_links(links, sites, i)):
        a, b = work.labels[tail(links, i, e)], work.labels[head(links, i, e)]
        transitions[a, b] -= step
        edge[a, b] = plus(edge[a, b], gamma)
        used[a] = True


@implements(move_pair_links, Successive, Alike)
def _(links, sites, blocks, work, weights, i, gamma, scale):
    transitions, edge = table(weights, work.node.shape[1]), blocks.edge[i]
    step, count = scale * gamma, n_links(links, sites, i)
    for e in range(count):
        a, b = work.labels[tail(links, i, e)], work.labels[head(links, i, e)]
        transitions[a, b] -= step
        edge[a, b] += gamma
        blocks.used[i, a] = True
    for e in range(count):
        a, b = work.away[tail(links, i, e)], work.away[head(links, i, e)]
        transitions[a, b] += step
        edge[a, b] = plus(edge[a, b], -gamma)


@implements(accumulate_links, Successive, Alike)
def _(links, totals, blocks, i, amount):
    total, edge = totals.edge[i], blocks.edge[i]
    for a in range(edge.shape[0]):
        if blocks.used[i, a]:
            totals.used[i, a] = True
            for b in range(edge.shape[0]):
                total[a, b] += amount * edge[a, b]


@implements(add_marginals, Successive, Alike)
def _(links, sites, labels, blocks, work, i, scale, mass, weights):
    n_labels = work.node.shape[1]
    transitions = table(weights, n_labels)
    for e in range(n_links(links, sites, i)):
        transitions[labels[tail(links, i, e)], labels[head(links, i, e)]] += scale * mass
    for a in range(n_labels):
        if blocks.used[i, a]:
            for b in range(n_labels):
                transitions[a, b] -= scale * blocks.edge[i, a, b]


@implements(add_difference, Successive, Alike)
def _(links, sites, labels, work, i, scale, weights):
    transitions = table(weights, work.node.shape[1])
    for e in range(n_links(links, sites, i)):
        s, t = tail(links, i, e), head(links, i, e)
        transitions[labels[s], labels[t]] += scale
        transitions[work.labels[s], work.labels[t]] -= scale


@implements(set_truth, Successive, Alike)
def _(links, sites, labels, blocks, i):
    counts, count = blocks.edge[i], n_links(links, sites, i)
    for e in range(count):
        counts[labels[tail(links, i, e)], labels[head(links, i, e)]] += 1.0
        blocks.used[i, labels[tail(links, i, e)]] = True
    total = 0.0
    for e in range(count):
        total += counts[labels[tail(links, i, e)], labels[head(links, i, e)]]
    return total
