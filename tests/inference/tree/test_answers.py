"""Forests against a look at every labeling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin._compile import kernel
from maxmargin.inference.tree import make_tree_plan
from maxmargin.inference.verbs import find_best, find_marginals, find_max_marginals, find_top, new_scratch
from reference import (
    Graph,
    graph_log_partition,
    graph_marginals,
    graph_max_marginals,
    score_graph_labelings,
)

# few values make ties, -inf forbids (at times everything), large ones lose the small ones' last digits
SMALL = st.sampled_from([-1.0, 0.0, 1.0, 2.0])


MASKED = st.one_of(st.floats(-10, 10), st.sampled_from([-np.inf, -np.inf, 0.0]))


LARGE = st.floats(-1e6, 1e6)


MIDDLE = st.one_of(st.floats(-400, 400), st.sampled_from([-400.0, 400.0, -np.inf]))  # where exponentials give out


TIED_AND_LARGE = st.sampled_from([-1e10, 0.0, 1e10, -np.inf])  # scores of 0 and 1 at a temperature of 1e-10


KINDS = {"ties": SMALL, "masked": MASKED, "middle": MIDDLE, "large": LARGE, "cold": TIED_AND_LARGE}


@st.composite
def forests(draw, values, max_nodes=5):
    """Parents in any order (not only later nodes), label counts that differ, or one table for all edges."""
    n_nodes, shared = draw(st.integers(1, max_nodes)), draw(st.booleans())
    count = st.integers(1, 3)
    counts = [draw(count)] * n_nodes if shared else [draw(count) for _ in range(n_nodes)]
    places = draw(st.permutations(range(n_nodes)))
    parents = np.full(n_nodes, -1)
    for rank in range(1, n_nodes):
        above = draw(st.integers(-1, rank - 1))
        parents[places[rank]] = -1 if above < 0 else places[above]
    nodes = [draw(arrays(np.float64, k, elements=values)) for k in counts]
    tails = np.flatnonzero(parents >= 0)
    edges = [(int(v), int(parents[v])) for v in tails]
    tables = [
        draw(arrays(np.float64, (counts[t], counts[h]), elements=values)) for t, h in edges[: 1 if shared else None]
    ]
    return parents, np.array(counts), shared, Graph(nodes, edges, tables * len(edges) if shared else tables)


class Asked:
    """A forest as sample 1 of 3, beside others, and what the library says of it."""

    def __init__(self, forest, k=4):
        parents, counts, shared, self.graph = forest
        beside, n_beside = np.array([-1, 0]), counts[:1].repeat(2)
        offsets = np.cumsum([0, 2, len(parents), 2])
        all_parents, all_counts = np.r_[beside, parents, beside], np.r_[n_beside, counts, n_beside]
        self.plan = make_tree_plan(offsets, all_parents, all_counts, shared=shared)
        self.node = np.concatenate(self.graph.nodes)
        tables = self.graph.tables[:1] if shared else self.graph.tables
        self.edge = np.concatenate([table.ravel() for table in tables] + [[]])
        self.scratch, self.k, self.n_nodes = new_scratch(self.plan, k), k, len(parents)
        for array in [*self.scratch[:-1], *self.scratch.beam]:
            array.fill(-77)  # nobody may rely on what was there
        self.cuts = np.cumsum(counts)[:-1]

    def args(self):
        return self.plan, 1, self.node, self.edge, self.scratch

    def outputs(self):
        n_pairs = sum(table.size for table in self.graph.tables)
        labels, values = np.full((self.k, self.n_nodes), -1, np.int32), np.full(self.k, np.nan)
        best, maxima = np.full(self.n_nodes, -1, np.int32), np.full(len(self.node), np.nan)
        return best, labels, values, maxima, np.full(len(self.node), np.nan), np.full(n_pairs, np.nan)

    def unpack(self, nodes, pairs):
        ends = np.cumsum([table.size for table in self.graph.tables])[:-1]
        tables = [p.reshape(t.shape) for p, t in zip(np.split(pairs, ends), self.graph.tables, strict=False)]
        return np.split(nodes, self.cuts), tables

    @property
    def rounding(self):
        """Of a sum of the scores at hand."""
        parts = [*self.graph.nodes, *self.graph.tables]
        return 1e-15 * sum(np.abs(part[np.isfinite(part)]).max(initial=1.0) for part in parts)


@kernel
def ask(plan, i, node, edge, scratch, k, best, labels, values, maxima, nodes, pairs):
    value = find_best(plan, i, node, edge, scratch, best)
    count = find_top(plan, i, node, edge, scratch, k, labels, values)
    find_max_marginals(plan, i, node, edge, scratch, maxima)
    return value, count, find_marginals(plan, i, node, edge, scratch, nodes, pairs)


def check(forest, run=ask.interpreted, k=4):
    asked = Asked(forest, k)
    best, labels, values, maxima, nodes, pairs = outputs = asked.outputs()
    value, count, log_partition = run(*asked.args(), k, *outputs)
    labelings, scores = score_graph_labelings(asked.graph)
    near, row_of = 10 * asked.rounding, {tuple(y): r for r, y in enumerate(labelings.tolist())}
    assert value == pytest.approx(scores.max(), abs=near)
    assert count == min(k, np.sum(scores > -np.inf))
    assert len({tuple(y) for y in labels[:count].tolist()}) == count
    assert values[:count] == pytest.approx(np.sort(scores)[::-1][:count], abs=near)
    assert (np.diff(values[:count]) <= 0).all()
    assert [scores[row_of[tuple(y)]] for y in labels[:count].tolist()] == pytest.approx(values[:count], abs=near)
    assert maxima == pytest.approx(np.concatenate(graph_max_marginals(asked.graph)), abs=near)
    assert log_partition == pytest.approx(graph_log_partition(asked.graph), abs=near)
    if scores.max() == -np.inf:
        assert np.isnan(nodes).all() and np.isnan(pairs).all()
        return
    assert scores[row_of[tuple(best.tolist())]] == pytest.approx(value, abs=near)
    found, expected = asked.unpack(nodes, pairs), graph_marginals(asked.graph)
    for one, two in zip([*found[0], *found[1]], [*expected[0], *expected[1]], strict=True):
        assert one == pytest.approx(two, abs=1e-10 + near)
        assert np.sum(one) == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_against_every_labeling(kind):
    @given(forests(KINDS[kind]))
    @settings(max_examples=80, deadline=None)
    def check_one(forest):
        check(forest)

    check_one()


@given(forests(SMALL), st.sampled_from([1, 2, 1000]))
@settings(max_examples=40, deadline=None)
def test_any_number_of_the_best(forest, k):
    check(forest, k=k)


def random_forest(rng, n_nodes, scale, shared=False):
    counts = np.full(n_nodes, 3) if shared else rng.integers(1, 5, n_nodes)
    parents = np.array([rng.integers(-1, v) if v else -1 for v in range(n_nodes)])[::-1]
    parents = np.where(parents < 0, -1, n_nodes - 1 - parents)  # no longer before their children
    edges = [(v, int(parents[v])) for v in np.flatnonzero(parents >= 0)]
    tables = [scale * rng.normal(size=(counts[t], counts[h])) for t, h in edges]
    nodes = [scale * rng.normal(size=k) for k in counts]
    return parents, counts, shared, Graph(nodes, edges, tables[:1] * len(edges) if shared else tables)


def test_compiled_agrees():
    rng = np.random.default_rng(0)
    cases = [(1, 1.0, False), (6, 1.0, True), (7, 1.0, False), (6, 1e6, False), (7, 1e6, True)]
    for n_nodes, scale, shared in cases:
        check(random_forest(rng, n_nodes, scale, shared), run=ask.uncached)
    for scale in (1.0, 1e3):  # too many labelings to look at
        forest = random_forest(rng, 40, scale)
        one, two = Asked(forest), Asked(forest)
        fast, plain = one.outputs(), two.outputs()
        assert ask.uncached(*one.args(), 4, *fast) == pytest.approx(ask.interpreted(*two.args(), 4, *plain))
        for x, y in zip(fast, plain, strict=True):
            assert x == pytest.approx(y, abs=1e-11 * scale)


def test_marginals_are_slopes_of_the_log_partition():
    rng, step = np.random.default_rng(1), 1e-5
    asked = Asked(random_forest(rng, 6, 1.0))
    *_, nodes, pairs = asked.outputs()
    find_marginals(*asked.args(), nodes, pairs)

    def log_partition():
        return find_marginals(*asked.args(), *asked.outputs()[-2:])

    for scores, expected in [(asked.node, nodes), (asked.edge, pairs)]:
        for at in range(len(scores)):
            scores[at] += step
            above = log_partition()
            scores[at] -= 2 * step
            below = log_partition()
            scores[at] += step
            assert expected[at] == pytest.approx((above - below) / (2 * step), abs=1e-9)


def test_many_children():
    """Products of very many messages stay in range, and a label lost on the way is noticed."""
    n_nodes = 1500
    parents = np.r_[-1, np.zeros(n_nodes - 1, int)]
    plan = make_tree_plan([0, n_nodes], parents, 2, shared=True)
    scratch, edge = new_scratch(plan, 1), np.array([0.0, -np.inf, -np.inf, 0.0])  # all the same label
    # first, the root falls behind by 1500 with label 1, then with label 0: the labels end up alike
    node = np.zeros((n_nodes, 2))
    node[1:751, 1], node[751:, 0] = -2.0, -2.0 - 2.0 / 749
    out, pairs = np.zeros(2 * n_nodes), np.zeros(4 * (n_nodes - 1))
    value = find_marginals(plan, 0, node.ravel(), edge, scratch, out, pairs)
    assert value == pytest.approx(-1500 + np.log(2.0))
    assert out == pytest.approx(np.full(2 * n_nodes, 0.5))
