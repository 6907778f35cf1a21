"""Expectations over the labelings of a sample, where its plan can sum over them.

Where they start from is a tilt, potentials as scores are: one table for links that share theirs. Or it is the block's
own distribution, kept as its cliques: all that a step of partial length leaves, and what a tilt cannot hold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements
from ...inference.verbs import (
    clique_size,
    edges_first,
    find_marginals,
    find_reweighted,
    mix_labeling,
)
from ..directions import list_difference
from ..smoothing import Untilted
from ..verbs import (
    add_expectation,
    find_between,
    find_entry,
    find_expectation,
    keep_expectation,
    largest_loss,
    mix_corner,
    n_blocks,
    new_expectation,
    new_interior,
    new_tilts,
    open_block,
    tilt_value,
)
from .layout import MOST_BYTES, PairwiseProblem, link_weights
from .links import (
    add_expected,
    first_table,
    gather_marginals,
    link_scores,
    n_links,
    n_pool_tables,
    n_tables,
    tables_of,
)
from .sites import site_weights, spread


class Tilts(NamedTuple):
    node: np.ndarray  # (N, K)
    edge: np.ndarray  # (tables, K^2), as the marginals of the links


class Interior(NamedTuple):
    """Distributions of all blocks; those that were never moved are what `node` says, without room of their own."""

    node: np.ndarray  # (N, K) potentials of the distribution that a block entered with
    opened: np.ndarray  # (n,) bool: whether it has its cliques below
    offsets: np.ndarray  # (n + 1,)
    cliques: np.ndarray  # what no block uses does not become resident


class Expectation(NamedTuple):
    node_scores: np.ndarray  # (longest K,)
    edge_scores: np.ndarray  # (tables K^2,)
    node: np.ndarray  # (longest K,) marginals
    every_edge: np.ndarray  # (links K^2,) marginals of each link
    edge: np.ndarray  # (tables, K, K) as links keep them
    cliques: np.ndarray  # of the largest sample; where edges come first, `every_edge` is their beginning
    log_sum: np.ndarray  # (1,) log of the sum over all labelings, where they start from tilts or from nothing


@implements(new_tilts, PairwiseProblem)
def _(problem):
    n_labels = problem.cost.shape[0]
    tables = n_tables(problem.links, n_blocks(problem))
    return Tilts(np.zeros((len(problem.labels), n_labels)), np.zeros((tables, n_labels * n_labels)))


@implements(largest_loss, PairwiseProblem)
def _(problem):
    of_sites = problem.cost.max(axis=1)[problem.labels]
    return float((problem.weight * problem.loss_scale) @ np.add.reduceat(of_sites, problem.sites.offsets[:-1]))


@implements(new_interior, PairwiseProblem)
def _(problem):
    n = n_blocks(problem)
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum([clique_size(problem.plan, i) for i in range(n)], out=offsets[1:])
    if 8 * offsets[-1] > MOST_BYTES:
        raise MemoryError(
            f"steps to expectations keep the marginals of all links, {8e-9 * offsets[-1]:.0f} GB for these samples: "
            "take other steps"
        )
    node = np.zeros((len(problem.labels), problem.cost.shape[0]))
    return Interior(node, np.zeros(n, np.bool_), offsets, np.zeros(offsets[-1]))


@implements(new_expectation, PairwiseProblem)
def _(problem):
    n_labels, most, largest = problem.cost.shape[0], 0, 0
    for i in range(n_blocks(problem)):
        most = max(most, n_links(problem.links, problem.sites, i))
        largest = max(largest, clique_size(problem.plan, i))
    pairs, tables = n_labels * n_labels, n_pool_tables(problem.links)
    cliques = np.zeros(largest)
    return Expectation(
        np.zeros(problem.longest * n_labels),
        np.zeros(tables * pairs),
        np.zeros(problem.longest * n_labels),
        cliques[: most * pairs] if edges_first(problem.plan) else np.zeros(most * pairs),
        np.zeros((tables, n_labels, n_labels)),
        cliques,
        np.zeros(1),
    )


@helper
def tilted(rest, tilt, eta, score):
    """What is forbidden stays so where eta is 0, too; its tilt may be -inf."""
    return score if score == -np.inf else rest * tilt + eta * score


@helper
def tilt_nodes(problem, tilt, expectation, work, i, rest, eta):
    """Scores of the sites: the rest of their tilt and eta times the potentials at hand. Returns how many there are."""
    begin, end, n_labels = problem.sites.offsets[i], problem.sites.offsets[i + 1], problem.cost.shape[0]
    for t in range(begin, end):
        for k in range(n_labels):
            expectation.node_scores[(t - begin) * n_labels + k] = tilted(rest, tilt[t, k], eta, work.node[t - begin, k])
    return (end - begin) * n_labels


@helper
def scale_links(problem, expectation, scores, i, eta):
    for p in range(tables_of(problem.links, i) * problem.cost.size):
        expectation.edge_scores[p] = tilted(1.0, 0.0, eta, scores[p])


@helper
def scores_of_links(problem, work, w, i):
    weights = link_weights(problem.links, problem.sites, problem.cost.shape[0], w)
    return link_scores(problem.links, work, weights, i)


@helper
def value_of(problem, expectation, work, scores, i):
    """Marginals as links keep them, and what the potentials at hand are worth there."""
    gather_marginals(problem.links, problem.sites, expectation, i)
    n_labels, node, total = problem.cost.shape[0], expectation.node, 0.0
    for t in range(problem.sites.offsets[i + 1] - problem.sites.offsets[i]):
        for k in range(n_labels):
            if node[t * n_labels + k] != 0.0:  # a forbidden label has none, and -inf times 0 must not count
                total += work.node[t, k] * node[t * n_labels + k]
    edge = expectation.edge.reshape(expectation.edge.size)
    for p in range(tables_of(problem.links, i) * problem.cost.size):
        if edge[p] != 0.0:
            total += edge[p] * scores[p]
    return total


@helper
def find_tilted(problem, expectation, work, size, i):
    """Marginals under the scores in the expectation."""
    node, edge = expectation.node_scores[:size], expectation.edge_scores
    expectation.log_sum[0] = find_marginals(
        problem.plan, i, node, edge, work.scratch, expectation.node[:size], expectation.every_edge
    )


@helper
def scale_scores(problem, expectation, work, scores, i, eta):
    """The scores in the expectation become eta times the potentials at hand. Returns how many labels sites have."""
    size = problem.cost.shape[0] * (problem.sites.offsets[i + 1] - problem.sites.offsets[i])
    flat = work.node.reshape(work.node.size)
    for p in range(size):
        expectation.node_scores[p] = tilted(1.0, 0.0, eta, flat[p])
    scale_links(problem, expectation, scores, i, eta)
    return size


@implements(find_expectation, (PairwiseProblem, Untilted))
def _(problem, base, expectation, work, w, i, eta):
    scores = scores_of_links(problem, work, w, i)
    find_tilted(problem, expectation, work, scale_scores(problem, expectation, work, scores, i, eta), i)
    return value_of(problem, expectation, work, scores, i)


@helper
def find_under(problem, tilts, expectation, work, w, i, rest, eta):
    """The expectation under the rest of the tilt and eta times the potentials at hand."""
    pairs, first, scores = problem.cost.size, first_table(problem.links, i), scores_of_links(problem, work, w, i)
    size = tilt_nodes(problem, tilts.node, expectation, work, i, rest, eta)
    for e in range(tables_of(problem.links, i)):
        for p in range(pairs):
            at = e * pairs + p
            expectation.edge_scores[at] = tilted(rest, tilts.edge[first + e, p], eta, scores[at])
    find_tilted(problem, expectation, work, size, i)
    return value_of(problem, expectation, work, scores, i)


@implements(find_expectation, (PairwiseProblem, Tilts))
def _(problem, tilts, expectation, work, w, i, eta):
    return find_under(problem, tilts, expectation, work, w, i, 1.0, eta)


@implements(find_between, PairwiseProblem)
def _(problem, tilts, expectation, work, w, i, eta):
    return find_under(problem, tilts, expectation, work, w, i, 1.0 - eta, eta)


@implements(tilt_value, PairwiseProblem)
def _(problem, expectation, i):
    node, scores, total = expectation.node, expectation.node_scores, 0.0
    for p in range((problem.sites.offsets[i + 1] - problem.sites.offsets[i]) * problem.cost.shape[0]):
        if node[p] != 0.0:  # a forbidden label has none, and -inf times 0 must not count
            total += scores[p] * node[p]
    edge = expectation.edge.reshape(expectation.edge.size)
    for p in range(tables_of(problem.links, i) * problem.cost.size):
        if edge[p] != 0.0:
            total += expectation.edge_scores[p] * edge[p]
    return total


@implements(add_expectation, PairwiseProblem)
def _(problem, expectation, work, i, scale, w):
    sites, n_labels = problem.sites, problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights = site_weights(sites, n_labels, w)
    for t in range(begin, end):
        marginals = expectation.node[(t - begin) * n_labels : (t - begin + 1) * n_labels]
        count = list_difference(marginals, problem.labels[t], 1.0, work.active, work.values)
        spread(sites, t, begin, end, scale, count, work.active, work.values, weights)
    of_links = link_weights(problem.links, sites, n_labels, w)
    add_expected(problem.links, sites, problem.labels[begin:end], expectation, work, i, scale, of_links)


@helper
def cliques_of(base, i):
    return base.cliques[base.offsets[i] : base.offsets[i + 1]]


@helper
def find_inside(problem, base, expectation, work, size, i):
    """Marginals under the scores in the expectation and the block's own distribution."""
    cliques = cliques_of(base, i)
    find_reweighted(
        problem.plan,
        i,
        cliques,
        expectation.node_scores[:size],
        expectation.edge_scores,
        work.scratch,
        expectation.node[:size],
        expectation.every_edge,
        expectation.cliques[: cliques.shape[0]],
    )


@implements(open_block, (PairwiseProblem, Interior))
def _(problem, base, expectation, work, w, i):
    if not base.opened[i]:
        base.opened[i] = True
        cliques = cliques_of(base, i)
        for p in range(cliques.shape[0]):
            cliques[p] = 1.0
        size = tilt_nodes(problem, base.node, expectation, work, i, 1.0, 0.0)
        scale_links(problem, expectation, scores_of_links(problem, work, w, i), i, 0.0)
        find_inside(problem, base, expectation, work, size, i)
        keep_expectation(problem, base, expectation, i, 1.0)


@implements(find_expectation, (PairwiseProblem, Interior))
def _(problem, base, expectation, work, w, i, eta):
    scores = scores_of_links(problem, work, w, i)
    size = scale_scores(problem, expectation, work, scores, i, eta)
    find_inside(problem, base, expectation, work, size, i)
    return value_of(problem, expectation, work, scores, i)


@implements(find_entry, PairwiseProblem)
def _(problem, base, blocks, expectation, work, w, i, odds):
    for t in range(problem.sites.offsets[i], problem.sites.offsets[i + 1]):
        for k in range(problem.cost.shape[0]):
            mass = blocks.node[t, k]
            base.node[t, k] = max(np.log(mass), -odds) if mass > 0.0 else -odds
    scores = scores_of_links(problem, work, w, i)
    size = tilt_nodes(problem, base.node, expectation, work, i, 1.0, 0.0)
    scale_links(problem, expectation, scores, i, 0.0)
    find_tilted(problem, expectation, work, size, i)
    return value_of(problem, expectation, work, scores, i)


@implements(keep_expectation, (PairwiseProblem, Tilts))
def _(problem, tilts, expectation, i, gamma):
    sites, n_labels = problem.sites, problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    first, pairs = first_table(problem.links, i), n_labels * n_labels
    for e in range(tables_of(problem.links, i)):
        for p in range(pairs):
            tilts.edge[first + e, p] = expectation.edge_scores[e * pairs + p]
    for t in range(begin, end):
        for k in range(n_labels):
            tilts.node[t, k] = expectation.node_scores[(t - begin) * n_labels + k]


@implements(keep_expectation, (PairwiseProblem, Interior))
def _(problem, base, expectation, i, gamma):
    cliques, rest = cliques_of(base, i), 1.0 - gamma
    for p in range(cliques.shape[0]):
        cliques[p] = rest * cliques[p] + gamma * expectation.cliques[p]


@implements(mix_corner, (PairwiseProblem, Interior))
def _(problem, base, work, i, gamma):
    mix_labeling(problem.plan, i, work.labels, gamma, cliques_of(base, i))
