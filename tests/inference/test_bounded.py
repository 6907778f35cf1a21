"""Restricted first and last labels around any plan, against a look at every labeling."""

import numpy as np
import pytest

from maxmargin.inference import make_tree_plan
from maxmargin.inference.bounded import Bounded
from maxmargin.inference.verbs import find_best, find_marginals, find_max_marginals, find_top, new_scratch
from reference import Graph, graph_log_partition, graph_marginals, graph_max_marginals, score_graph_labelings

K, TOP = 3, 50
FREE, FIRST, LAST = np.zeros(K), np.array([0.0, -np.inf, 0.0]), np.array([-np.inf, 0.0, -np.inf])
ENDS = {"start": (FIRST, FREE), "end": (FREE, LAST), "both": (FIRST, LAST), "nowhere": (FREE, FREE)}
LENGTHS = (4, 1, 3)


class Asked:
    """Chains, each rooted at its last node; sample i is asked of."""

    def __init__(self, i, start, end):
        rng = np.random.default_rng(i)
        offsets = np.cumsum([0, *LENGTHS])
        parents = np.concatenate([[*range(1, n), -1] for n in LENGTHS])
        inner = make_tree_plan(offsets, parents, K, shared=False)
        self.n = LENGTHS[i]
        self.node, self.edge = rng.normal(size=(self.n, K)), rng.normal(size=(self.n - 1, K, K))
        self.plan = Bounded(inner, start, end, max(LENGTHS))
        nodes = self.node.copy()
        nodes[0] += start
        nodes[-1] += end
        self.graph = Graph(list(nodes), [(t, t + 1) for t in range(self.n - 1)], list(self.edge))
        self.args = self.plan, i, self.node.ravel(), self.edge.ravel(), new_scratch(self.plan, TOP)


@pytest.fixture(params=[(i, ends) for i in range(len(LENGTHS)) for ends in ENDS], ids=lambda p: f"{p[0]}, {p[1]}")
def asked(request):
    i, ends = request.param
    return Asked(i, *ENDS[ends])


def test_best(asked):
    labels = np.full(asked.n, -1, np.int32)
    value = find_best(*asked.args, labels)
    labelings, scores = score_graph_labelings(asked.graph)
    assert value == pytest.approx(scores.max())
    assert scores.max() == -np.inf or labels.tolist() == labelings[scores.argmax()].tolist()


def test_top(asked):
    labels, values = np.full((TOP, asked.n), -1, np.int32), np.full(TOP, np.nan)
    count = find_top(*asked.args, TOP, labels, values)
    labelings, scores = score_graph_labelings(asked.graph)
    order = np.argsort(-scores)[: min(TOP, np.sum(scores > -np.inf))]
    assert count == len(order)
    assert values[:count] == pytest.approx(scores[order])
    assert labels[:count].tolist() == labelings[order].tolist()


def test_max_marginals(asked):
    out = np.full(asked.n * K, np.nan)
    find_max_marginals(*asked.args, out)
    assert out.reshape(-1, K) == pytest.approx(np.array(graph_max_marginals(asked.graph)))


def test_marginals(asked):
    node_out, edge_out = np.zeros(asked.n * K), np.zeros((asked.n - 1) * K * K)
    value = find_marginals(*asked.args, node_out, edge_out)
    assert value == pytest.approx(graph_log_partition(asked.graph))
    if value > -np.inf:
        nodes, tables = graph_marginals(asked.graph)
        assert node_out.reshape(-1, K) == pytest.approx(np.array(nodes))
        assert edge_out.reshape(-1, K, K) == pytest.approx(np.reshape(tables, (-1, K, K)))


def test_the_potentials_given_stay_as_they_are(asked):
    before = asked.node.copy()
    find_best(*asked.args, np.zeros(asked.n, np.int32))
    assert np.array_equal(asked.node, before)


def test_a_chain_of_one_has_both_ends():
    """Where no label is allowed both first and last, there is no labeling."""
    one = Asked(1, FIRST, LAST)
    assert find_best(*one.args, np.zeros(1, np.int32)) == -np.inf
    assert find_top(*one.args, 2, np.zeros((2, 1), np.int32), np.zeros(2)) == 0
