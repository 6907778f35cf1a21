"""Bucket elimination against a look at every labeling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from inference.shapes import GRID, NAMED, grid
from maxmargin._compile import kernel
from maxmargin.inference import verbs
from maxmargin.inference.junction import JunctionScratch, make_junction_plan
from reference import Graph, graph_log_partition, graph_marginals, graph_max_marginals, score_graph_labelings

# few values make ties, -inf forbids, large ones lose the small ones' last digits, cold ones leave the range of exp
SMALL = st.sampled_from([-1.0, 0.0, 1.0, 2.0])


ANY = st.floats(-10, 10)


MASKED = st.one_of(ANY, st.just(-np.inf))


MOSTLY_MASKED = st.sampled_from([-np.inf, -np.inf, 0.0, 1.0, 1e6])


LARGE = st.floats(-1e6, 1e6)


COLD = st.integers(-3, 3).map(lambda value: value / 1e-10)


WIDE = st.one_of(st.floats(-400, 400), st.just(-np.inf))


VALUES = {
    "wide": WIDE,
    "ties": SMALL,
    "any": ANY,
    "masked": MASKED,
    "mostly": MOSTLY_MASKED,
    "large": LARGE,
    "cold": COLD,
}


@st.composite
def graphs(draw):
    """Number of nodes and edges: one of the above, or any at all."""
    n_nodes = draw(st.integers(2, 6))
    pair = st.tuples(st.integers(0, n_nodes - 1), st.integers(1, n_nodes - 1))
    edges = draw(st.lists(pair.map(lambda p: (p[0], (p[0] + p[1]) % n_nodes)), max_size=9))
    return draw(st.one_of(st.sampled_from(NAMED), st.just((n_nodes, edges))))


class Case:
    """One graph among two (the other comes first, so that nothing may begin at 0), with its scores."""

    def __init__(self, n_nodes, edges, counts, node, edge, shared):
        self.edges, self.counts, self.node = edges, list(counts), node
        sizes = [counts[a] * counts[b] for a, b in edges]
        tail, head = np.array([(0, 1), *edges]).T
        offsets, edge_offsets = [0, 2, 2 + n_nodes], [0, 1, 1 + len(edges)]
        first = [counts[0]] * 2 if shared else [2, 3]
        self.plan = make_junction_plan(offsets, edge_offsets, tail, head, [*first, *counts], shared=shared)
        self.edge = edge[: counts[0] ** 2] if shared else edge
        tables = [self.edge] * len(edges) if shared else np.split(edge, np.cumsum(sizes)[:-1]) if edges else []
        self.tables = [t.reshape(counts[a], counts[b]) for t, (a, b) in zip(tables, edges, strict=True)]
        self.n_pairs = sum(sizes)
        parts = np.split(node, np.cumsum(counts)[:-1])
        self.graph = Graph(parts, edges, self.tables)
        self.labelings, self.scores = score_graph_labelings(self.graph)

    @property
    def rounding(self):
        """Of a sum of the scores at hand."""
        finite = np.concatenate([self.node, self.edge])
        size = np.abs(finite[np.isfinite(finite)]).max(initial=1.0)
        return 1e-14 * size * (len(self.counts) + len(self.edges))

    def score(self, labels):
        (row,) = np.flatnonzero((self.labelings == labels).all(axis=1))
        return self.scores[row]

    def scratch(self, k=1):
        """Full of NaN: nothing may be read before it is written."""
        empty = verbs.new_scratch(self.plan, k)
        return JunctionScratch(*(part * np.nan if part.dtype.kind == "f" else part for part in empty))


@st.composite
def cases(draw, values):
    n_nodes, edges = draw(graphs())
    shared = draw(st.booleans())
    each = st.integers(1, 3)
    counts = [draw(each)] * n_nodes if shared else draw(st.lists(each, min_size=n_nodes, max_size=n_nodes))
    size = counts[0] ** 2 if shared else sum(counts[a] * counts[b] for a, b in edges)
    node = draw(arrays(np.float64, sum(counts), elements=values))
    return Case(n_nodes, edges, counts, node, draw(arrays(np.float64, size, elements=values)), shared)


@kernel
def best(plan, i, node, edge, scratch, labels):
    return verbs.find_best(plan, i, node, edge, scratch, labels)


@kernel
def top(plan, i, node, edge, scratch, k, labels, values):
    return verbs.find_top(plan, i, node, edge, scratch, k, labels, values)


@kernel
def peaks(plan, i, node, edge, scratch, out):
    verbs.find_max_marginals(plan, i, node, edge, scratch, out)


@kernel
def sums(plan, i, node, edge, scratch, node_out, edge_out):
    return verbs.find_marginals(plan, i, node, edge, scratch, node_out, edge_out)


def run_best(case, how="uncached"):
    labels = np.full(len(case.counts), -1)
    return getattr(best, how)(case.plan, 1, case.node, case.edge, case.scratch(), labels), labels


def run_top(case, k, how="uncached"):
    labels, values = np.full((k, len(case.counts)), -1), np.full(k, np.nan)
    found = getattr(top, how)(case.plan, 1, case.node, case.edge, case.scratch(k), k, labels, values)
    assert (labels[found:] == -1).all() and np.isnan(values[found:]).all()
    return labels[:found], values[:found]


def run_peaks(case, how="uncached"):
    out = np.full(len(case.node), np.nan)
    getattr(peaks, how)(case.plan, 1, case.node, case.edge, case.scratch(), out)
    return out


def run_sums(case, how="uncached"):
    node_out, edge_out = np.full(len(case.node), np.nan), np.full(case.n_pairs, np.nan)
    value = getattr(sums, how)(case.plan, 1, case.node, case.edge, case.scratch(), node_out, edge_out)
    return value, node_out, edge_out


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Before Hypothesis watches: under its eyes compilation takes twice as long."""
    case = Case(1, [], [1], np.zeros(1), np.zeros(0), False)
    run_best(case), run_top(case, 1), run_peaks(case), run_sums(case)


def with_cases(values):
    """Run a check on many cases of these values."""

    def decorate(check):
        settings(max_examples=50, deadline=None)(given(cases(values))(check))()

    return decorate


each_kind = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())


@each_kind
def test_best(values):
    @with_cases(values)
    def check(case):
        value, labels = run_best(case)
        assert value == pytest.approx(case.scores.max(), abs=case.rounding)
        assert (labels >= 0).all() and (labels < case.counts).all()
        assert case.score(labels) == pytest.approx(case.scores.max(), abs=case.rounding)


@each_kind
def test_top(values):
    @with_cases(values)
    def check(case):
        for k in (1, 3, 10, len(case.scores) + 2):
            labels, found = run_top(case, k)
            expected = np.sort(case.scores[case.scores > -np.inf])[::-1][:k]
            assert found == pytest.approx(expected, abs=case.rounding)
            assert (np.diff(found) <= 0).all()
            assert len({tuple(row) for row in labels.tolist()}) == len(expected)
            assert [case.score(row) for row in labels] == pytest.approx(list(found), abs=case.rounding)


@each_kind
def test_max_marginals(values):
    @with_cases(values)
    def check(case):
        expected = np.concatenate(graph_max_marginals(case.graph))
        assert run_peaks(case) == pytest.approx(expected, abs=case.rounding)


@each_kind
def test_marginals(values):
    @with_cases(values)
    def check(case):
        value, node, pairs = run_sums(case)
        expected = graph_log_partition(case.graph)
        if expected == -np.inf:
            assert value == -np.inf and np.isnan(node).all() and np.isnan(pairs).all()
            return
        assert value == pytest.approx(expected, abs=case.rounding + 1e-12)
        close = max(1e-10, 10 * case.rounding)  # the exponents of large scores have lost that much themselves
        nodes, tables = graph_marginals(case.graph)
        assert node == pytest.approx(np.concatenate(nodes), abs=close)
        assert pairs == pytest.approx(np.concatenate([[], *(table.ravel() for table in tables)]), abs=close)


def random_case(rng, n_nodes, edges, counts, share=0.0, scale=1.0):
    def scores(size):
        return np.where(rng.random(size) < share, -np.inf, scale * rng.normal(size=size))

    sizes = sum(counts[a] * counts[b] for a, b in edges)
    return Case(n_nodes, edges, counts, scores(sum(counts)), scores(sizes), False)


def test_compiled_agrees():
    rng = np.random.default_rng(1)
    for share, scale in [(0.0, 1.0), (0.2, 1.0), (0.0, 1e6), (1.0, 1.0)]:
        for n_nodes, edges in NAMED:
            case = random_case(rng, n_nodes, edges, rng.integers(1, 4, n_nodes).tolist(), share, scale)
            for run in (run_best, lambda *args: run_top(args[0], 7, *args[1:]), run_peaks, run_sums):
                for one, two in zip(run(case), run(case, "interpreted"), strict=True):
                    assert one == pytest.approx(two, abs=case.rounding, nan_ok=True)


def test_marginals_are_derivatives_of_the_log_partition():
    rng = np.random.default_rng(2)
    case = random_case(rng, 6, GRID, [2, 3, 2, 3, 2, 2])
    _, node, pairs = run_sums(case)
    for scores, marginals in [(case.node, node), (case.edge, pairs)]:
        for a in range(len(scores)):
            before, values = scores[a], []
            for step in (1e-5, -1e-5):
                scores[a] = before + step
                values.append(run_sums(case)[0])
            scores[a] = before
            assert (values[0] - values[1]) / 2e-5 == pytest.approx(marginals[a], abs=1e-9)


class LargeGrid(Case):
    """A grid of 3 rows, too large to enumerate."""

    def __init__(self, n_columns, n_labels):
        rng = np.random.default_rng(n_labels)
        self.edges, n = grid(3, n_columns), 3 * n_columns
        self.counts, self.n_pairs = [n_labels] * n, len(self.edges) * n_labels**2
        self.node, self.edge = rng.normal(size=n * n_labels), rng.normal(size=n_labels**2)
        tail, head = np.concatenate([[(0, 1)], self.edges]).T
        self.plan = make_junction_plan([0, 2, n + 2], [0, 1, len(tail)], tail, head, n_labels, shared=True)

    def score(self, labels):
        n_labels = self.counts[0]
        pairs = labels[self.edges[:, 0]] * n_labels + labels[self.edges[:, 1]]
        return self.node[np.arange(len(labels)) * n_labels + labels].sum() + self.edge[pairs].sum()


@pytest.mark.parametrize("n_labels", [2, 5])
def test_a_large_grid(n_labels):
    case = LargeGrid(12, n_labels)
    value, labels = run_best(case)
    assert value == pytest.approx(case.score(labels))
    many, values = run_top(case, 20)
    assert many[0].tolist() == labels.tolist() and len({tuple(row) for row in many.tolist()}) == 20
    assert values == pytest.approx([case.score(row) for row in many])
    peak = run_peaks(case).reshape(-1, n_labels)
    assert peak.max(axis=1) == pytest.approx(value)
    assert peak.argmax(axis=1).tolist() == labels.tolist()
    total, node, pairs = run_sums(case)
    assert total > value
    assert node.reshape(-1, n_labels).sum(axis=1) == pytest.approx(1, abs=1e-12)
    for e, (a, b) in enumerate(case.edges):
        own = pairs.reshape(-1, n_labels, n_labels)[e]
        assert own.sum(axis=1) == pytest.approx(node[a * n_labels : (a + 1) * n_labels], abs=1e-12)
        assert own.sum(axis=0) == pytest.approx(node[b * n_labels : (b + 1) * n_labels], abs=1e-12)
    case.node, case.edge = case.node / 1e-10, case.edge / 1e-10  # all of it on the best
    total, node, _ = run_sums(case)
    assert total == pytest.approx(value / 1e-10, rel=1e-12)
    assert node.reshape(-1, n_labels).argmax(axis=1).tolist() == labels.tolist()
    assert node.sum() == pytest.approx(len(labels)) and node.max() == 1.0


def test_log_space_agrees_with_the_scaled_domain():
    case = LargeGrid(12, 3)
    expected = run_sums(case)
    case.node[4] = -np.inf  # a label forbidden, or so unlikely that a double cannot hold how much
    forbidden = run_sums(case)
    case.node[4] = -1e4
    unlikely = run_sums(case)
    assert abs(expected[0] - forbidden[0]) > 1e-3
    for one, two in zip(forbidden, unlikely, strict=True):
        assert one == pytest.approx(two, abs=1e-11)
