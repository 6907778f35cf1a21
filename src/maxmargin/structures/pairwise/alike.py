"""Links that share one (K, K) table of weights: of their marginals the sum over a block is kept.

Their weights are the scores that plans work with, so that every change of one is a `change_score`.
As lists of what has mass, see :mod:`.pairs`, or, where expectations give mass to all, as tables, see :mod:`.sums`.
"""

from __future__ import annotations

import numpy as np

from ..._compile import helper, implements
from ...inference.verbs import change_score, forget_tables
from .links import (
    Alike,
    Joined,
    Successive,
    add_difference,
    add_expected,
    clear_mixture,
    first_table,
    gather_marginals,
    head,
    link_scores,
    list_link_ranges,
    mix_links,
    most_link_ranges,
    n_link_rows,
    n_links,
    n_pool_tables,
    n_tables,
    new_kept,
    new_link_buffer,
    new_mixture_tables,
    prepare_links,
    score_labeling,
    tables_of,
    tail,
)
from .pairs import no_pairs


@implements(n_link_rows, Successive, Joined, Alike)
def _(links):
    return 1


@implements(new_kept, Successive, Joined, Alike)
def _(links, n, n_labels):
    return no_pairs(n, n_labels)


@implements(n_pool_tables, Successive, Joined, Alike)
def _(links):
    return 1


@implements(new_link_buffer, Successive, Joined, Alike)
def _(links, n_pairs):
    return np.zeros((0, n_pairs))


@implements(prepare_links, Successive, Alike)
def _(links, work, weights, i):
    return None


@implements(link_scores, Successive, Joined, Alike)
def _(links, work, weights, i):
    if links.mask.shape[0] == 0:
        return weights[0]
    n_labels = links.mask.shape[0]
    forget_tables(work.scratch)
    for a in range(n_labels):
        for b in range(n_labels):
            work.edge[a * n_labels + b] = weights[0, a * n_labels + b] + links.mask[a, b]
    return work.edge


@helper
def table(weights, n_labels):
    return weights[0].reshape((n_labels, n_labels))


@implements(score_labeling, Successive, Joined, Alike)
def _(links, sites, work, weights, i, labels):
    transitions = table(weights, work.node.shape[1])
    total = 0.0
    for e in range(n_links(links, sites, i)):
        total += transitions[labels[tail(links, i, e)], labels[head(links, i, e)]]
    return total


@implements(new_mixture_tables, Successive, Joined, Alike)
def _(links, n_labels):
    return np.zeros((1, n_labels, n_labels))


@implements(clear_mixture, Successive, Joined, Alike)
def _(links, i, tables):
    for a in range(tables.shape[1]):
        for b in range(tables.shape[2]):
            tables[0, a, b] = 0.0


@implements(mix_links, Successive, Joined, Alike)
def _(links, sites, i, labels, mass, tables):
    for e in range(n_links(links, sites, i)):
        tables[0, labels[tail(links, i, e)], labels[head(links, i, e)]] += mass


@implements(most_link_ranges, Successive, Joined, Alike)
def _(links):
    return 1


@implements(list_link_ranges, Successive, Joined, Alike)
def _(links, i, first, width, support, count):
    support[count, 0], support[count, 1] = first, first + width
    return count + 1


@implements(add_difference, Successive, Joined, Alike)
def _(links, sites, labels, work, i, scale, weights):
    transitions = table(weights, work.node.shape[1])
    for e in range(n_links(links, sites, i)):
        s, t = tail(links, i, e), head(links, i, e)
        change_score(work.scratch, transitions, labels[s], labels[t], scale)
        change_score(work.scratch, transitions, work.labels[s], work.labels[t], -scale)


@implements(add_expected, Successive, Joined, Alike)
def _(links, sites, labels, expectation, work, i, scale, weights):
    transitions, expected = table(weights, work.node.shape[1]), expectation.edge[0]
    for e in range(n_links(links, sites, i)):
        change_score(work.scratch, transitions, labels[tail(links, i, e)], labels[head(links, i, e)], scale)
    for a in range(expected.shape[0]):
        for b in range(expected.shape[0]):
            change_score(work.scratch, transitions, a, b, -scale * expected[a, b])


@implements(n_tables, Successive, Joined, Alike)
def _(links, n):
    return n


@implements(first_table, Successive, Joined, Alike)
def _(links, i):
    return i


@implements(tables_of, Successive, Joined, Alike)
def _(links, i):
    return 1


@implements(gather_marginals, Successive, Joined, Alike)
def _(links, sites, expectation, i):
    total = expectation.edge[0].reshape(expectation.edge[0].size)
    for p in range(total.shape[0]):
        total[p] = 0.0
    for e in range(n_links(links, sites, i)):
        one = expectation.every_edge[e * total.shape[0] : (e + 1) * total.shape[0]]
        for p in range(total.shape[0]):
            total[p] += one[p]
