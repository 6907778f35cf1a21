"""Minimum cuts against a look at every labeling."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from inference.shapes import NAMED, grid
from maxmargin._compile import kernel
from maxmargin.inference import verbs
from maxmargin.inference.cut import CutScratch, first_nonsubmodular, make_cut_plan
from maxmargin.inference.junction import make_junction_plan
from reference.graph import Graph, graph_max_marginals, score_graph_labelings

# few values make ties, -inf forbids, large ones lose the small ones' last digits
VALUES = {
    "ties": st.sampled_from([-1.0, 0.0, 1.0, 2.0]),
    "any": st.floats(-10, 10),
    "masked": st.one_of(st.floats(-10, 10), st.just(-np.inf)),
    "mostly": st.sampled_from([-np.inf, -np.inf, 0.0, 1.0, 1e6]),
    "mixed": st.one_of(st.floats(-1, 1), st.floats(-1e6, 1e6)),
    "cold": st.integers(-3, 3).map(lambda value: value / 1e-10),
}


BEST, TOP, PEAKS, SUMS, CHECK = range(5)


@kernel
def ask(plan, what, i, node, edge, scratch, k, labels, values, out):
    """Every verb in one, to be compiled once."""
    if what == BEST:
        values[0] = verbs.find_best(plan, i, node, edge, scratch, labels[0])
    elif what == TOP:
        return verbs.find_top(plan, i, node, edge, scratch, k, labels, values)
    elif what == PEAKS:
        verbs.find_max_marginals(plan, i, node, edge, scratch, out)
    elif what == SUMS:
        values[0] = verbs.find_marginals(plan, i, node, edge, scratch, out, out)
    elif what == CHECK:
        return first_nonsubmodular(plan, i, edge)
    return 0


def made_submodular(tables):
    """With the columns swapped where the table is not; the other way round it always is."""
    return np.array([[a, b, c, d] if a + d >= b + c else [b, a, d, c] for a, b, c, d in tables.reshape(-1, 4)]).ravel()


class Case:
    """One graph among two (the other comes first, so that nothing may begin at 0), with its scores."""

    def __init__(self, n_nodes, edges, node, edge, shared=False):
        self.n_nodes, self.edges, self.node = n_nodes, edges, node
        tail, head = np.array([(0, 1), *edges]).T
        self.plan = make_cut_plan([0, 2, 2 + n_nodes], [0, 1, 1 + len(edges)], tail, head, shared=shared)
        self.edge = made_submodular(edge)
        tables = list(self.edge.reshape(-1, 2, 2))
        self.graph = Graph(list(node.reshape(-1, 2)), edges, tables * len(edges) if shared else tables)

    def look(self):
        """At every labeling."""
        self.labelings, self.scores = score_graph_labelings(self.graph)
        return self

    @property
    def rounding(self):
        """Of a sum of the scores at hand."""
        finite = np.concatenate([self.node, self.edge])
        size = np.abs(finite[np.isfinite(finite)]).max(initial=1.0)
        return 1e-14 * size * (self.n_nodes + len(self.edges))

    def score(self, labels):
        return sum(scores[y] for scores, y in zip(self.graph.nodes, labels, strict=True)) + sum(
            table[labels[a], labels[b]] for (a, b), table in zip(self.edges, self.graph.tables, strict=True)
        )

    def ask(self, what, k=1, how="uncached"):
        """What was returned and written; the scratch is full of NaN: nothing may be read before it is written."""
        empty = verbs.new_scratch(self.plan, k)
        scratch = CutScratch(*(part * np.nan if part.dtype.kind == "f" else part - 7 for part in empty))
        labels, values, out = np.full((k, self.n_nodes), -1), np.full(k, np.nan), np.full(2 * self.n_nodes, np.nan)
        run = getattr(ask, how)
        found = run(self.plan, what, 1, self.node, self.edge, scratch, k, labels, values, out)
        return found, labels, values, out

    def best(self, how="uncached"):
        _, labels, values, _ = self.ask(BEST, how=how)
        return values[0], labels[0]

    def top(self, k, how="uncached"):
        found, labels, values, _ = self.ask(TOP, k, how)
        assert (labels[found:] == -1).all() and np.isnan(values[found:]).all()
        return labels[:found], values[:found]

    def peaks(self, how="uncached"):
        return self.ask(PEAKS, how=how)[3]


@st.composite
def cases(draw, values):
    n_nodes = draw(st.integers(2, 6))
    pair = st.tuples(st.integers(0, n_nodes - 1), st.integers(1, n_nodes - 1))
    edges = draw(st.lists(pair.map(lambda p: (p[0], (p[0] + p[1]) % n_nodes)), max_size=9))
    n_nodes, edges = draw(st.one_of(st.sampled_from(NAMED), st.just((n_nodes, edges))))
    shared = draw(st.booleans())
    node = draw(arrays(np.float64, 2 * n_nodes, elements=values))
    edge = draw(arrays(np.float64, 4 if shared else 4 * len(edges), elements=values))
    return Case(n_nodes, edges, node, edge, shared).look()


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Before Hypothesis watches: under its eyes compilation takes twice as long."""
    Case(1, [], np.zeros(2), np.zeros(0)).best()


each_kind = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())


def with_cases(values):
    """Run a check on many cases of these values."""

    def decorate(check):
        settings(max_examples=60, deadline=None)(given(cases(values))(check))()

    return decorate


@each_kind
def test_best(values):
    @with_cases(values)
    def check(case):
        assert case.ask(CHECK)[0] == -1
        value, labels = case.best()
        assert value == pytest.approx(case.scores.max(), abs=case.rounding)
        assert np.isin(labels, (0, 1)).all()
        assert case.score(labels) == pytest.approx(value, abs=case.rounding)


@pytest.mark.parametrize("kind", ["ties", "cold"])
def test_ties_go_to_the_fewest_ones(kind):
    @with_cases(VALUES[kind])
    def check(case):
        best = case.labelings[case.scores == case.scores.max()]
        assert case.best()[1].tolist() == best.min(axis=0).tolist()  # which is one of them


@each_kind
def test_top(values):
    @with_cases(values)
    def check(case):
        for k in (1, 3, 10, len(case.scores) + 2):
            labels, found = case.top(k)
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
        assert case.peaks() == pytest.approx(expected, abs=case.rounding)


@pytest.mark.parametrize("how", ["uncached", "interpreted"])
def test_marginals_are_refused(how):
    with pytest.raises(NotImplementedError, match="#P-hard"):
        Case(2, [(0, 1)], np.zeros(4), np.zeros(4)).ask(SUMS, how=how)


def random_case(rng, n_nodes, edges, share=0.0, strength=1.0):
    def scores(size):
        return np.where(rng.random(size) < share, -np.inf, rng.normal(size=size))

    return Case(n_nodes, edges, scores(2 * n_nodes), strength * scores(4 * len(edges)))


def test_compiled_agrees():
    rng = np.random.default_rng(1)
    for (n_nodes, edges), share in itertools.product(NAMED, [0.0, 0.2, 1.0]):
        case = random_case(rng, n_nodes, edges, share)
        for run in (case.best, lambda how: case.top(7, how), lambda how: (case.peaks(how),)):  # noqa: B023
            for one, two in zip(run("uncached"), run("interpreted"), strict=True):
                assert one == pytest.approx(two, abs=case.rounding)


@pytest.mark.parametrize("strength", [0.1, 0.5, 2.0])
def test_agrees_with_junction_trees(strength):
    edges, n = grid(3, 8), 24
    case = random_case(np.random.default_rng(2), n, edges, strength=strength)
    plan = make_junction_plan([0, n], [0, len(edges)], *np.transpose(edges), 2, shared=False)
    k, scratch = 20, verbs.new_scratch(plan, 20)
    labels, values, peaks = np.zeros((k, n), int), np.zeros(k), np.zeros(2 * n)
    verbs.find_top(plan, 0, case.node, case.edge, scratch, k, labels, values)
    verbs.find_max_marginals(plan, 0, case.node, case.edge, scratch, peaks)
    found = case.top(k)
    assert found[0].tolist() == labels.tolist()
    assert found[1] == pytest.approx(values)
    assert case.peaks() == pytest.approx(peaks)


@pytest.mark.parametrize("strength", [0.03, 0.3, 1.0, 10.0])
def test_a_large_graph_agrees_with_itself(strength):
    rng = np.random.default_rng(3)
    far = rng.integers([0, 75], [75, 150], (60, 2)).tolist()
    case = random_case(rng, 150, grid(10, 15).tolist() + far, strength=strength)
    value, labels = case.best()
    assert value == pytest.approx(case.score(labels))
    many, values = case.top(20)
    assert many[0].tolist() == labels.tolist() and len({tuple(row) for row in many.tolist()}) == 20
    assert values == pytest.approx([case.score(row) for row in many])
    peaks = case.peaks().reshape(-1, 2)
    assert peaks.max(axis=1) == pytest.approx(value) and peaks.argmax(axis=1).tolist() == labels.tolist()
    assert values[1] == pytest.approx(peaks.min(axis=1).max())


def test_violations_by_rounding_count_as_nothing():
    case = Case(2, [(0, 1)], np.array([0.0, 1.0, 0.0, -1.0]), np.zeros(4))
    case.edge[:] = [0.3, 0.1 + 0.2, 0.0, 0.0]
    assert case.best()[1].tolist() == [1, 0]
    assert case.top(9)[1] == pytest.approx([1.0, 0.3, 0.0, -0.7])
