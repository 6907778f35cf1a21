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
TIED_AND_LARGE = st.sampled_from([-1e10, 0.0, 1e10, -np.inf])  # scores of 0 and 1 at a temperature of 1e-10
KINDS = {"ties": SMALL, "masked": MASKED, "large": LARGE, "cold": TIED_AND_LARGE}


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


@kernel(n_parts=1)
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
