"""Expectations over the labelings of a sample, where its plan can sum over them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements
from ...inference.verbs import find_marginals
from ..verbs import find_expectation, keep_tilt, n_blocks, new_expectation, new_tilts
from .layout import PairwiseProblem, link_weights
from .links import first_table, gather_marginals, link_scores, n_links, n_pool_tables, n_tables, tables_of


class Tilts(NamedTuple):
    node: np.ndarray  # (N, K)
    edge: np.ndarray  # (tables, K^2), as the marginals of the links


class Expectation(NamedTuple):
    node_scores: np.ndarray  # (longest K,)
    edge_scores: np.ndarray  # (tables K^2,)
    node: np.ndarray  # (longest K,) marginals
    every_edge: np.ndarray  # (links K^2,) marginals of each link
    edge: np.ndarray  # (tables, K, K) as links keep them


@implements(new_tilts, PairwiseProblem)
def _(problem, odds):
    n_labels = problem.cost.shape[0]
    node = np.zeros((len(problem.labels), n_labels))
    node[np.arange(len(node)), problem.labels] = odds
    return Tilts(node, np.zeros((n_tables(problem.links, n_blocks(problem)), n_labels * n_labels)))


@implements(new_expectation, PairwiseProblem)
def _(problem):
    n_labels, most = problem.cost.shape[0], 0
    for i in range(n_blocks(problem)):
        most = max(most, n_links(problem.links, problem.sites, i))
    pairs, tables = n_labels * n_labels, n_pool_tables(problem.links)
    return Expectation(
        np.zeros(problem.longest * n_labels),
        np.zeros(tables * pairs),
        np.zeros(problem.longest * n_labels),
        np.zeros(most * pairs),
        np.zeros((tables, n_labels, n_labels)),
    )


@helper
def tilted(tilt, eta, score):
    """What is forbidden stays so where eta is 0, too."""
    return score if score == -np.inf else tilt + eta * score


@implements(find_expectation, PairwiseProblem)
def _(problem, tilts, expectation, work, w, i, eta):
    sites, links, n_labels = problem.sites, problem.links, problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    size, pairs, first = (end - begin) * n_labels, n_labels * n_labels, first_table(links, i)
    scores = link_scores(links, work, link_weights(links, sites, n_labels, w), i)
    for t in range(begin, end):
        for k in range(n_labels):
            expectation.node_scores[(t - begin) * n_labels + k] = tilted(tilts.node[t, k], eta, work.node[t - begin, k])
    for e in range(tables_of(links, i)):
        for p in range(pairs):
            at = e * pairs + p
            expectation.edge_scores[at] = tilted(tilts.edge[first + e, p], eta, scores[at])
    node = expectation.node[:size]
    find_marginals(
        problem.plan,
        i,
        expectation.node_scores[:size],
        expectation.edge_scores,
        work.scratch,
        node,
        expectation.every_edge,
    )
    gather_marginals(links, sites, expectation, i)
    total = 0.0
    for t in range(end - begin):
        for k in range(n_labels):
            if node[t * n_labels + k] != 0.0:  # a forbidden label has none, and -inf times 0 must not count
                total += work.node[t, k] * node[t * n_labels + k]
    for e in range(tables_of(links, i)):
        for p in range(pairs):
            mass = expectation.edge[e, p // n_labels, p % n_labels]
            if mass != 0.0:
                total += mass * scores[e * pairs + p]
    return total


@implements(keep_tilt, PairwiseProblem)
def _(problem, tilts, expectation, i):
    sites, n_labels = problem.sites, problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    first, pairs = first_table(problem.links, i), n_labels * n_labels
    for e in range(tables_of(problem.links, i)):
        for p in range(pairs):
            tilts.edge[first + e, p] = expectation.edge_scores[e * pairs + p]
    for t in range(begin, end):
        for k in range(n_labels):
            tilts.node[t, k] = expectation.node_scores[(t - begin) * n_labels + k]
