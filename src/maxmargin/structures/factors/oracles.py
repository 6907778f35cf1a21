"""Which label of a site, and which pair of a link, has the largest score with messages among all there are.

A search hides what is listed already: labels in a list have messages and are looked at one by one, all others have
none. So the largest of a link lies in one of four cases: both labels listed, one of them, or neither.
"""  # yen16, App. C-1

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, verb
from ...inference.maxima import Maxima, best_in_column, best_in_row, best_pair, lift, new_maxima, read_maxima
from ..pairwise.layout import link_weights
from ..pairwise.sites import score_labels, site_weights


class Ordered(NamedTuple):
    """Pairs are searched by bounds on the table of weights, see :mod:`~maxmargin.inference.maxima`."""

    maxima: Maxima


def ordered_search(problem: Any, w: np.ndarray) -> Ordered:
    """With bounds that are what the weights say."""
    search = Ordered(new_maxima(problem.cost.shape[0]))
    read_maxima(search.maxima, pair_table(problem, w))
    return search


class Exhaustive(NamedTuple):
    """All pairs are looked at."""


class Scratch(NamedTuple):
    """Of one run. Flags are False between calls."""

    scores: np.ndarray  # (K,) of labels
    listed: np.ndarray  # (K,) bool, at a site or at the tail of a link
    at_head: np.ndarray  # (K,) bool
    tail_pull: np.ndarray  # (K,) messages to the labels in the list of the tail
    head_pull: np.ndarray  # (K,)
    active: np.ndarray  # (K,) labels that change, and how much
    changes: np.ndarray  # (K,)
    found: np.ndarray  # (2,) labels of the pair that was found
    visited: np.ndarray  # (3,) entries looked at where neither label is listed, elsewhere, and searches


def new_scratch(n_labels: int) -> Scratch:
    return Scratch(
        scores=np.zeros(n_labels),
        listed=np.zeros(n_labels, np.bool_),
        at_head=np.zeros(n_labels, np.bool_),
        tail_pull=np.zeros(n_labels),
        head_pull=np.zeros(n_labels),
        active=np.zeros(n_labels, np.int64),
        changes=np.zeros(n_labels),
        found=np.zeros(2, np.int64),
        visited=np.zeros(3, np.int64),
    )


@helper
def mark(factors, j, flags, flag):
    """Set the flags of the labels listed at a site."""
    for p in range(factors.first[j], factors.first[j] + factors.size[j]):
        flags[factors.label[p]] = flag


@helper
def find_label(problem, factors, scratch, w, j, low, high):
    """The best label from `low` to `high` that is not listed at site j, -1 if all are; scores are left in the scratch.

    A part of the labels drawn at random has the best of all in it as often as it is part of all.
    """  # yen16, eq. 21
    sites, i, n_labels = problem.sites, factors.sample_of_site[j], problem.cost.shape[0]
    weights, costs = site_weights(sites, n_labels, w), problem.cost[problem.labels[j]]
    score_labels(sites, weights, sites.offsets[i], sites.offsets[i + 1], j, low, scratch.scores[low:high])
    mark(factors, j, scratch.listed, True)
    best, value, unit = -1, -np.inf, problem.loss_scale[i]
    for k in range(low, high):
        score = scratch.scores[k] + unit * costs[k]
        scratch.scores[k] = score
        if score > value and not scratch.listed[k]:
            best, value = k, score
    mark(factors, j, scratch.listed, False)
    return best


@verb
def find_pair(search, problem, factors, scratch, w, e, rho):
    """The value of the best pair of link e, whose labels are left in ``scratch.found``.

    The messages to listed labels are in the scratch, and flags of the lists are set.
    """


@implements(find_pair, Exhaustive)
def _(search, problem, factors, scratch, w, e, rho):
    table = pair_table(problem, w)
    tail, head, best = factors.ends[2 * e], factors.ends[2 * e + 1], -np.inf
    spread_messages(factors, tail, scratch.tail_pull, scratch.scores)
    spread_messages(factors, head, scratch.head_pull, scratch.changes)
    for a in range(table.shape[0]):
        for b in range(table.shape[0]):
            value = table[a, b] - rho * (scratch.scores[a] + scratch.changes[b])
            if value > best:
                best, scratch.found[0], scratch.found[1] = value, a, b
    scratch.visited[0] += table.size
    scratch.visited[2] += 1
    return best


@helper
def spread_messages(factors, j, pull, out):
    """Messages to the labels listed at site j, among all labels."""
    for k in range(out.shape[0]):
        out[k] = 0.0
    for p in range(factors.size[j]):
        out[factors.label[factors.first[j] + p]] = pull[p]


@helper
def pair_table(problem, w):
    n_labels = problem.cost.shape[0]
    return link_weights(problem.links, problem.sites, n_labels, w)[0].reshape((n_labels, n_labels))


@implements(find_pair, Ordered)
def _(search, problem, factors, scratch, w, e, rho):
    table, maxima = pair_table(problem, w), search.maxima
    tail, head, best = factors.ends[2 * e], factors.ends[2 * e + 1], -np.inf
    tails = factors.label[factors.first[tail] : factors.first[tail] + factors.size[tail]]
    heads = factors.label[factors.first[head] : factors.first[head] + factors.size[head]]
    spare = 0.0  # no message to a head adds more
    for q in range(heads.shape[0]):
        spare = max(spare, -rho * scratch.head_pull[q])
    for p in range(tails.shape[0]):
        a, own = tails[p], -rho * scratch.tail_pull[p]
        if maxima.row[a] + own + spare <= best:
            continue
        for q in range(heads.shape[0]):  # (iv) both are listed
            value = table[a, heads[q]] + own - rho * scratch.head_pull[q]
            if value > best:
                best, scratch.found[0], scratch.found[1] = value, a, heads[q]
        if maxima.row[a] + own > best:  # (iii) the tail is
            b = best_in_row(maxima, table, a, scratch.at_head, best - own, scratch.visited[1:])
            if b >= 0:
                best, scratch.found[0], scratch.found[1] = table[a, b] + own, a, b
    for q in range(heads.shape[0]):  # (ii) the head is
        b, own = heads[q], -rho * scratch.head_pull[q]
        if maxima.column[b] + own > best:
            a = best_in_column(maxima, table, b, scratch.listed, best - own, scratch.visited[1:])
            if a >= 0:
                best, scratch.found[0], scratch.found[1] = table[a, b] + own, a, b
    a, b = best_pair(
        maxima, table, scratch.listed, scratch.at_head.reshape((1, -1)), best, scratch.visited
    )  # (i) neither is
    if a >= 0:
        best, scratch.found[0], scratch.found[1] = table[a, b], a, b
    scratch.visited[2] += 1
    return best


@verb
def entry_grew(search, a, b, value):
    """A weight of the table became so large."""


@implements(entry_grew, Exhaustive)
def _(search, a, b, value):
    return None


@implements(entry_grew, Ordered)
def _(search, a, b, value):
    lift(search.maxima, a, b, value)
