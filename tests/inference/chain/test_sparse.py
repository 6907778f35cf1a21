"""Chains whose edge scores are mostly 0: the same answers as with a look at all pairs of labels, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin._compile import kernel
from maxmargin.inference import ChainPlan, SparseChainPlan
from maxmargin.inference.chain import sparse
from maxmargin.inference.chain.sparse import LEADERS
from maxmargin.inference.verbs import argmax_work, change_score, find_best, find_top, forget_tables, new_scratch
from reference import brute_force_argmax

TIES = st.sampled_from([-1.0, 0.0, 1.0])
ANY = st.floats(-10, 10)
MASKED = st.one_of(ANY, st.just(-np.inf))
HARSH = st.sampled_from([-5.0, -1.0, -1.0, 0.0, 0.5])  # most transitions cost: leaders run out


@st.composite
def potentials(draw, values, most_labels):
    length, n_labels = draw(st.integers(1, 4)), draw(st.integers(1, most_labels))
    node, start, end = (draw(arrays(np.float64, s, elements=values)) for s in [(length, n_labels), n_labels, n_labels])
    size = n_labels * n_labels
    edge, listed = np.zeros(size), draw(st.lists(st.tuples(st.integers(0, size - 1), values), max_size=2 * n_labels))
    for p, score in listed:
        edge[p] = score
    return node, edge.reshape(n_labels, n_labels), start, end


@kernel
def best(plan, node, edge, scratch, labels):
    return find_best(plan, 0, node, edge, scratch, labels)


@kernel
def changed_best(plan, node, edge, scratch, labels, tails, heads, amounts, values):
    """The best scores while the table changes."""
    for j in range(len(tails)):
        change_score(scratch, edge.reshape((len(plan.start), len(plan.start))), tails[j], heads[j], amounts[j])
        values[j] = find_best(plan, 0, node, edge, scratch, labels[j])


def plan_of(kind, node, start, end):
    return kind(np.array([0, len(node)]), start, end, len(node))


def run(kind, scores, find=best.interpreted):
    node, edge, start, end = scores
    plan, labels = plan_of(kind, node, start, end), np.full(len(node), -1, np.int32)
    return find(plan, node.ravel(), edge.ravel(), new_scratch(plan, 1), labels), labels.tolist()


@given(st.integers(1, 40).flatmap(lambda n: arrays(np.float64, n, elements=st.one_of(TIES, MASKED))))
@pytest.mark.parametrize("n_lanes", [3, LEADERS, 17, 256])
def test_leaders_are_the_best_prefixes_in_their_order(n_lanes, before):
    lanes, leaders = np.zeros(min(n_lanes, len(before))), np.zeros(min(LEADERS, len(before)), np.int64)
    sparse.fill_lanes(before, lanes)
    sparse.find_leaders(before, lanes, leaders)
    assert leaders.tolist() == np.lexsort((np.arange(len(before)), -before))[: len(leaders)].tolist()


@pytest.mark.parametrize("n_lanes", [3, 256])
@pytest.mark.parametrize("most_labels", [4, 2 * LEADERS])
@pytest.mark.parametrize("values", [TIES, ANY, MASKED, HARSH], ids=["ties", "any", "masked", "harsh"])
def test_labelings_are_those_of_the_dense_way(values, most_labels, n_lanes, monkeypatch):
    monkeypatch.setattr(sparse, "LANES", n_lanes)

    @given(potentials(values, most_labels))
    @settings(max_examples=100, deadline=None)
    def check(scores):
        value, labels = run(SparseChainPlan, scores)
        assert (value, labels) == run(ChainPlan, scores)  # ties go to the lowest label, last position first
        if scores[1].shape[0] <= 4:
            assert value == pytest.approx(brute_force_argmax(*scores)[0], abs=1e-12)

    check()


def some_scores(length, n_labels, share, seed):
    rng = np.random.default_rng(seed)
    node, edge = rng.normal(size=(length, n_labels)), rng.normal(size=(n_labels, n_labels))
    edge[rng.random(edge.shape) > share] = 0.0
    return node, edge, np.zeros(n_labels), np.zeros(n_labels)


SHARES = [
    (1, 1, 0.0),
    (1, 30, 0.1),
    (9, 1, 1.0),
    (9, 30, 0.0),
    (9, 30, 0.03),
    (9, 60, 0.3),
    (5, 40, 1.0),
    (4, 600, 0.01),
]


@pytest.mark.parametrize(("length", "n_labels", "share"), SHARES)
def test_compiled_and_interpreted_agree(length, n_labels, share):
    scores = some_scores(length, n_labels, share, seed=length)
    expected = run(ChainPlan, scores)
    assert run(SparseChainPlan, scores) == expected
    assert run(SparseChainPlan, scores, best) == expected


@pytest.mark.parametrize("speed", ["interpreted", "compiled"])
def test_a_scratch_follows_changes_of_the_table(speed):
    node, edge, start, end = some_scores(6, 20, 0.02, seed=1)
    rng, n_changes = np.random.default_rng(2), 200
    tails, heads = rng.integers(0, 20, (2, n_changes))
    amounts = np.where(rng.random(n_changes) < 0.1, 0.0, rng.normal(size=n_changes))
    found = {}
    for kind in (ChainPlan, SparseChainPlan):
        plan, table = plan_of(kind, node, start, end), edge.ravel().copy()
        labels, values = np.zeros((n_changes, 6), np.int32), np.zeros(n_changes)
        find = changed_best if speed == "compiled" else changed_best.interpreted
        find(plan, node.ravel(), table, new_scratch(plan, 1), labels, tails, heads, amounts, values)
        found[kind] = values.tolist(), labels.tolist(), table.tolist()
    assert found[ChainPlan] == found[SparseChainPlan]


def test_another_table_is_read_and_the_same_one_when_it_is_forgotten():
    node, edge, start, end = some_scores(5, 12, 0.05, seed=3)
    plan = plan_of(SparseChainPlan, node, start, end)
    scratch, labels = new_scratch(plan, 1), np.zeros(5, np.int32)
    dense = plan_of(ChainPlan, node, start, end)

    def agree(table):
        return (
            find_best(plan, 0, node.ravel(), table, scratch, labels)
            == run(ChainPlan, (node, table.reshape(12, 12), start, end))[0]
        )

    first, second = edge.ravel(), 5.0 * edge.T.ravel()
    assert agree(first) and agree(second) and agree(first)
    first[:] = np.random.default_rng(4).normal(size=first.shape)
    forget_tables(scratch)
    assert agree(first)
    forget_tables(new_scratch(dense, 1))  # a scratch that knows nothing has nothing to forget


def test_pairs_of_another_table_do_not_count():
    """Sums of features go to other vectors than the weights."""
    node, edge, start, end = some_scores(5, 12, 0.05, seed=5)
    plan = plan_of(SparseChainPlan, node, start, end)
    scratch, labels, other = new_scratch(plan, 1), np.zeros(5, np.int32), np.zeros((12, 12))
    expected = run(ChainPlan, (node, edge, start, end))
    assert find_best(plan, 0, node.ravel(), edge.ravel(), scratch, labels) == expected[0]
    for a, b in np.ndindex(12, 12):
        change_score(scratch, other, a, b, 1.0 + a)
    assert find_best(plan, 0, node.ravel(), edge.ravel(), scratch, labels) == expected[0]
    assert labels.tolist() == expected[1]
    assert other[3, 4] == 4.0


def test_other_answers_are_those_of_chains():
    node, edge, start, end = some_scores(4, 6, 0.2, seed=6)
    found = []
    for kind in (ChainPlan, SparseChainPlan):
        plan = plan_of(kind, node, start, end)
        labels, values = np.zeros((3, 4), np.int32), np.zeros(3)
        count = find_top(plan, 0, node.ravel(), edge.ravel(), new_scratch(plan, 3), 3, labels, values)
        found.append((count, labels.tolist(), values.tolist()))
    assert found[0] == found[1]


def test_the_cost_grows_with_the_labels_not_with_their_pairs():
    def cost(kind, n_labels):
        return argmax_work(plan_of(kind, np.zeros((3, 1)), np.zeros(n_labels), np.zeros(n_labels)))

    assert cost(SparseChainPlan, 2000) == 2 * cost(SparseChainPlan, 1000)
    assert cost(ChainPlan, 2000) == 4 * cost(ChainPlan, 1000)
