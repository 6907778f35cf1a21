"""Distributions as cliques: against the sums over all labelings."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from maxmargin.inference import Bounded, ChainPlan, make_junction_plan, make_tree_plan
from maxmargin.inference.verbs import (
    FLOOR,
    clique_size,
    edges_first,
    find_marginals,
    find_reweighted,
    mix_labeling,
    new_scratch,
)

from .shapes import CLIQUE, CYCLE, GRID

K = 3
FOREST = [-1, 0, 0, -1, 3, 4]  # parents


def chain(length):
    ends = np.array([0.0, -np.inf, 0.0]), np.array([0.0, 0.0, -np.inf])
    return ChainPlan(np.array([0, 2, 2 + length]), *ends, max(length, 2)), [(t, t + 1) for t in range(length - 1)]


def tree():
    edges = [(v, p) for v, p in enumerate(FOREST) if p >= 0]
    return make_tree_plan([0, 2, 2 + len(FOREST)], [-1, 0, *FOREST], K, shared=True), edges


def junction(n_nodes, edges):
    tails, heads = ([0, *ends] for ends in np.array(edges, int).reshape(-1, 2).T)
    heads[0] = 1
    offsets = [0, 2, 2 + n_nodes], [0, 1, 1 + len(edges)]
    return make_junction_plan(*offsets, tails, heads, K, shared=True), edges


def bounded_tree():
    plan, edges = tree()
    return Bounded(plan, np.array([0.0, -np.inf, 0.0]), np.zeros(K), 6), edges


# all with another sample before the one that is asked
SHAPES = {
    "chain": lambda: chain(4),
    "pair": lambda: chain(2),
    "single": lambda: chain(1),
    "forest": tree,
    "bounded": bounded_tree,
    "cycle": lambda: junction(5, CYCLE),
    "clique": lambda: junction(4, CLIQUE),
    "grid": lambda: junction(6, GRID),
    "parts": lambda: junction(5, [(2, 0), (3, 4)]),
}


class Case:
    """Sample 1 of a plan, with all its labelings."""

    def __init__(self, shape, seed):
        self.plan, self.edges = SHAPES[shape]()
        self.rng = np.random.default_rng(seed)
        offsets = getattr(self.plan, "plan", self.plan).offsets
        self.n_nodes = int(offsets[2] - offsets[1])
        self.labelings = np.array(list(itertools.product(range(K), repeat=self.n_nodes)))
        self.allowed = np.zeros(len(self.labelings))
        if hasattr(self.plan, "start"):
            self.allowed = self.plan.start[self.labelings[:, 0]] + self.plan.end[self.labelings[:, -1]]
        self.size = clique_size(self.plan, 1)

    def scores(self, scale=1.0):
        return scale * self.rng.normal(size=self.n_nodes * K), scale * self.rng.normal(size=K * K)

    def of_labelings(self, node, edge):
        by_node = node.reshape(-1, K)[np.arange(self.n_nodes), self.labelings].sum(axis=1)
        return by_node + sum(edge.reshape(K, K)[self.labelings[:, a], self.labelings[:, b]] for a, b in self.edges)

    def reweighted(self, cliques, node, edge):
        out, nodes = np.full(self.size, np.nan), np.full(self.n_nodes * K, np.nan)
        edges = out if edges_first(self.plan) else np.full(max(1, len(self.edges) * K * K), np.nan)
        value = find_reweighted(self.plan, 1, cliques, node, edge, new_scratch(self.plan, 1), nodes, edges, out)
        return value, nodes, edges[: len(self.edges) * K * K].copy(), out

    def expected(self, logs):
        """Log-partition, marginals of nodes and of edges, from the logarithms of all labelings' weights."""
        logs = logs + self.allowed
        p = np.exp(logs - logs.max())
        total = p.sum()
        nodes, pairs = np.zeros((self.n_nodes, K)), np.zeros((len(self.edges), K, K))
        for labels, share in zip(self.labelings, p / total, strict=True):
            nodes[np.arange(self.n_nodes), labels] += share
            for e, (a, b) in enumerate(self.edges):
                pairs[e, labels[a], labels[b]] += share
        return logs.max() + np.log(total), nodes.ravel(), pairs.ravel()


@pytest.fixture(params=SHAPES)
def case(request):
    return Case(request.param, 0)


def test_from_equal_probabilities_it_is_what_scores_say(case):
    node, edge = case.scores()
    _, nodes, edges, _ = case.reweighted(np.ones(case.size), node, edge)
    _, wanted, pairs = case.expected(case.of_labelings(node, edge))
    assert_allclose(nodes, wanted, atol=1e-12)
    assert_allclose(edges, pairs, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4, 1e12])
def test_scores_add_up_over_steps(case, scale):
    first, second = case.scores(), case.scores(scale)
    _, _, _, cliques = case.reweighted(np.ones(case.size), *first)
    _, nodes, edges, _ = case.reweighted(cliques, *second)
    _, wanted, pairs = case.expected(case.of_labelings(*second) + case.of_labelings(*first))
    assert_allclose(nodes, wanted, atol=1e-10)
    assert_allclose(edges, pairs, atol=1e-10)


def test_its_value_is_the_logarithm_of_an_expectation(case):
    first, second = case.scores(), case.scores()
    _, _, _, cliques = case.reweighted(np.ones(case.size), *first)
    value, *_ = case.reweighted(cliques, *second)
    before, after = case.of_labelings(*first), case.of_labelings(*first) + case.of_labelings(*second)
    assert value == pytest.approx(case.expected(after)[0] - case.expected(before)[0], abs=1e-10)


def test_cliques_mix_as_distributions_do(case):
    _, nodes, edges, cliques = case.reweighted(np.ones(case.size), *case.scores())
    labels = case.labelings[np.flatnonzero(case.allowed == 0.0)[-1]].astype(np.int32)
    mix_labeling(case.plan, 1, labels, 0.25, cliques)
    _, mixed, pairs, again = case.reweighted(cliques, np.zeros(case.n_nodes * K), np.zeros(K * K))
    certain = (labels[:, None] == np.arange(K)).astype(float).ravel()
    both = np.array([np.outer(labels[a] == np.arange(K), labels[b] == np.arange(K)) for a, b in case.edges])
    assert_allclose(mixed, 0.75 * nodes + 0.25 * certain, atol=1e-12)
    assert_allclose(pairs, 0.75 * edges + 0.25 * both.astype(float).ravel(), atol=1e-12)
    assert_allclose(again, cliques, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_what_has_no_probability_can_get_one(case, scale):
    """All mass on one labeling, and scores that speak for another one by more than the floor is below 1."""
    from_, to = (case.labelings[k].astype(np.int32) for k in np.flatnonzero(case.allowed == 0.0)[[0, -1]])
    cliques = np.zeros(case.size)
    mix_labeling(case.plan, 1, from_, 1.0, cliques)
    node = np.zeros((case.n_nodes, K))
    node[np.arange(case.n_nodes), to] = -2 * scale * np.log(FLOOR)
    _, nodes, _, _ = case.reweighted(cliques, node.ravel(), np.zeros(K * K))
    assert_allclose(nodes.reshape(-1, K)[np.arange(case.n_nodes), to], 1.0, atol=1e-12)


def test_forbidden_pairs_stay_forbidden(case):
    node, edge = case.scores()
    edge[1] = -np.inf
    value, nodes, edges, cliques = case.reweighted(np.ones(case.size), node, edge)
    _, wanted, pairs = case.expected(case.of_labelings(node, edge))
    assert_allclose(nodes, wanted, atol=1e-12)
    assert_allclose(edges, pairs, atol=1e-12)
    _, nodes, edges, _ = case.reweighted(cliques, 0.0 * node, np.where(edge == -np.inf, edge, 0.0))
    assert_allclose(nodes, wanted, atol=1e-12)
    assert value < np.inf


def test_it_is_find_marginals_in_other_words(case):
    node, edge = case.scores(5.0)
    nodes, edges = np.zeros(case.n_nodes * K), np.zeros(max(1, len(case.edges)) * K * K)
    find_marginals(case.plan, 1, node, edge, new_scratch(case.plan, 1), nodes, edges)
    _, found, pairs, _ = case.reweighted(np.ones(case.size), node, edge)
    assert_allclose(found, nodes, atol=1e-12)
    assert_allclose(pairs, edges[: len(pairs)], atol=1e-12)
