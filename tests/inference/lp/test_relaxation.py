"""Linear relaxations against a look at every labeling, and against the program written out."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inference.lp.cases import interpreted, make_grids
from maxmargin.inference.lp import bound_by_messages, make_relaxed_plan, new_messages, relax, relax_by_program
from reference.graph import Graph, score_graph_labelings
from reference.relaxation import graph_scores, local_polytope, relaxed_value

VALUES = {"ties": st.sampled_from([-1.0, 0.0, 1.0, 2.0]), "any": st.floats(-10, 10)}


AGREE, DIFFER = np.eye(2), 1.0 - np.eye(2)


TRIANGLE = [(0, 1), (1, 2), (2, 0)]


# of the fixture, which only turns the compiler off, there need not be one an example
quickly = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def is_forest(n_nodes, edges):
    root = list(range(n_nodes))
    for u, v in edges:
        if root[u] == root[v]:
            return False
        root = [root[u] if one == root[v] else one for one in root]
    return True


@st.composite
def graphs(draw, forest=False):
    n_nodes = draw(st.integers(1, 5))
    pairs = [(u, v) for u in range(n_nodes) for v in range(n_nodes) if u != v]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=7)) if pairs else []
    if forest:
        kept: list = []
        for edge in edges:
            kept += [edge] * is_forest(n_nodes, [*kept, edge])
        edges = kept
    counts = draw(st.lists(st.integers(1, 3), min_size=n_nodes, max_size=n_nodes))
    values = VALUES[draw(st.sampled_from(sorted(VALUES)))]

    def scores(*shape):
        size = int(np.prod(shape))
        return np.array(draw(st.lists(values, min_size=size, max_size=size))).reshape(shape)

    return Graph([scores(k) for k in counts], edges, [scores(counts[u], counts[v]) for u, v in edges])


def plan_of(graph):
    ends = np.array(graph.edges, np.int64).reshape(-1, 2)
    counts = [len(scores) for scores in graph.nodes]
    return make_relaxed_plan([0, len(counts)], [0, len(ends)], *ends.T, counts, shared=False)


def potentials(graph):
    scores = graph_scores(graph)
    n_node = sum(map(len, graph.nodes))
    return scores[:n_node], scores[n_node:]


def check(graph, found):
    labelings, scores = score_graph_labelings(graph)
    best, (matrix, right) = scores.max(), local_polytope(graph)
    shares = np.concatenate([found.node, found.edge])
    assert np.all(shares >= 0) and matrix @ shares == pytest.approx(right, abs=1e-9)
    assert found.value == pytest.approx(graph_scores(graph) @ shares, abs=1e-9)
    assert found.bound >= max(found.value, found.labels_value) and found.bound >= best - 1e-9
    (own,) = np.flatnonzero((labelings == found.labels).all(axis=1))
    assert found.labels_value == pytest.approx(scores[own], abs=1e-9)
    return best


@interpreted
@given(graphs())
@quickly
def test_value_and_bound_are_those_of_the_program(graph):
    wanted = relaxed_value(graph)
    for solve in (relax, relax_by_program):
        found = solve(plan_of(graph), 0, *potentials(graph))
        best = check(graph, found)
        assert found.value == pytest.approx(wanted, abs=1e-6)
        assert found.bound == pytest.approx(wanted, abs=1e-6)
        if found.integral.all():
            assert found.labels_value == pytest.approx(best, abs=1e-6)


@interpreted
@given(graphs(forest=True))
@quickly
def test_forests_need_one_sweep_back(graph):
    found = relax(plan_of(graph), 0, *potentials(graph), most_pairs=0)
    best = check(graph, found)
    assert found.integral.all()
    assert found.bound == pytest.approx(best, abs=1e-9)
    assert found.labels_value == pytest.approx(best, abs=1e-9)


@interpreted
@given(graphs(), st.integers(0, 2**32 - 1))
@quickly
def test_any_messages_bound_every_labeling(graph, seed):
    plan = plan_of(graph)
    messages = np.random.default_rng(seed).normal(scale=3.0, size=len(new_messages(plan, 0)))
    best = score_graph_labelings(graph)[1].max()
    before = bound_by_messages(plan, 0, *potentials(graph), messages)
    found = relax(plan, 0, *potentials(graph), messages=messages, most_pairs=0)
    check(graph, found)
    assert best - 1e-9 <= found.bound <= before + 1e-9  # sweeps lower it, from wherever they begin
    assert bound_by_messages(plan, 0, *potentials(graph), messages) == pytest.approx(found.bound, abs=1e-9)


@interpreted
def test_a_frustrated_triangle_is_half_everywhere():
    graph = Graph([np.zeros(2)] * 3, TRIANGLE, [DIFFER] * 3)
    found = relax(plan_of(graph), 0, *potentials(graph))
    assert check(graph, found) == found.labels_value == 2.0
    assert found.value == pytest.approx(3.0) and found.bound == pytest.approx(3.0)
    assert found.node == pytest.approx(0.5) and not found.integral.any()
    small = relax(plan_of(graph), 0, *potentials(graph), most_pairs=11)
    assert small.value == small.labels_value == 2.0 and small.bound == pytest.approx(3.0)


@interpreted
def test_ties_of_agreement_are_a_labeling():
    graph = Graph([np.zeros(2)] * 3, TRIANGLE, [AGREE] * 3)
    found = relax(plan_of(graph), 0, *potentials(graph))
    assert found.labels.tolist() == [0, 0, 0] and found.value == 3.0 and found.integral.all()


def answers():
    plan, nodes, table, grids = make_grids()
    for i, graph in enumerate(grids):
        found = relax(plan, i, nodes[i], table)
        check(graph, found)
        assert found.value == pytest.approx(relaxed_value(graph), abs=1e-6)
        yield np.concatenate([found.node, found.edge, [found.value, found.bound, found.labels_value], found.labels])


def test_compiled_and_interpreted_agree(request):
    compiled = list(answers())
    request.getfixturevalue("no_compilation")
    for one, other in zip(compiled, answers(), strict=True):
        assert one == pytest.approx(other, abs=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_must_be_finite(bad):
    plan, nodes, table, _ = make_grids()
    broken = table.copy()
    broken[1, 2] = bad
    for scores in ((nodes[0], broken), (np.full_like(nodes[0], bad), table)):
        with pytest.raises(ValueError, match="finite scores"):
            relax(plan, 0, *scores)


def test_sizes_must_fit():
    plan, nodes, table, _ = make_grids()
    with pytest.raises(ValueError, match="24 node and 9 edge scores, but 27 and 9"):
        relax(plan, 0, nodes[1], table)
    with pytest.raises(ValueError, match="27 node and 8 edge scores"):
        relax_by_program(plan, 0, nodes[0], table.ravel()[:-1])
