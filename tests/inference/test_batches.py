"""Padded batches: the same answers as sample by sample."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin.inference import ChainPlan, make_tree_plan
from maxmargin.inference.batches import best_of_range, sums_of_range, top_of_range
from maxmargin.inference.verbs import find_best, find_marginals, find_top, new_scratch

SIZES, K, TOP = np.array([3, 1, 4]), 3, 4
OFFSETS = np.concatenate([[0], np.cumsum(SIZES)])
PLANS = {
    "chains": ChainPlan(OFFSETS, np.zeros(K), np.zeros(K), 4),
    "trees": make_tree_plan(OFFSETS, [-1, 0, 0, -1, 2, 2, -1, 0], K, shared=True),
}


@pytest.fixture(params=PLANS)
def asked(request, no_compilation):
    """A plan, node scores padded to one size, and one table for all."""
    rng = np.random.default_rng(0)
    return PLANS[request.param], rng.normal(size=(3, 4 * K)), rng.normal(size=(1, K * K))


def test_the_best_and_the_best_few(asked):
    plan, node, edge = asked
    labels, several, values = np.zeros((3, 4), int), np.zeros((3, TOP, 4), int), np.full((3, TOP), -np.inf)
    counts = np.zeros(3, int)
    for first, last in ((0, 2), (2, 3)):  # as two threads would
        best_of_range(plan, node, edge, new_scratch(plan, 1), K, first, last, labels)
        top_of_range(plan, node, edge, new_scratch(plan, TOP), K, TOP, first, last, several, values, counts)
    for i, size in enumerate(SIZES):
        own, top, of_top = np.zeros(size, int), np.zeros((TOP, size), int), np.zeros(TOP)
        scores, scratch = node[i, : size * K], new_scratch(plan, TOP)
        find_best(plan, i, scores, edge[0], scratch, own)
        assert_array_equal(labels[i, :size], own)
        count = find_top(plan, i, scores, edge[0], scratch, TOP, top, of_top)
        assert counts[i] == count == min(TOP, K**size)
        assert_array_equal(several[i, :count, :size], top[:count])
        assert_allclose(values[i, :count], of_top[:count], rtol=0, atol=1e-12)


def test_sums_add_up_pairs_where_their_scores_are(asked):
    plan, node, edge = asked
    most = SIZES.max() - 1
    for shared in (True, False):
        places = np.full((3, most), -1)
        for i, size in enumerate(SIZES):
            places[i, : size - 1] = 0 if shared else np.arange(size - 1)
        values, node_out = np.zeros(3), np.zeros_like(node)
        edge_out, pairs = np.zeros((3, 1 if shared else most, K * K)), np.zeros(most * K * K)
        scratch = new_scratch(plan, 1)
        sums_of_range(plan, node, edge, scratch, K, pairs, places, 0, 3, values, node_out, edge_out)
        for i, size in enumerate(SIZES):
            shares, own = np.zeros(size * K), np.zeros(most * K * K)
            value = find_marginals(plan, i, node[i, : size * K], edge[0], scratch, shares, own)
            assert values[i] == value
            assert_allclose(node_out[i, : size * K], shares, rtol=0, atol=1e-15)
            tables = own[: (size - 1) * K * K].reshape(-1, K * K)
            expected = tables.sum(axis=0)[None] if shared else tables
            assert_allclose(edge_out[i, : len(expected)], expected, rtol=0, atol=1e-15)


def test_samples_of_which_all_is_forbidden_have_no_marginals(asked):
    plan, node, edge = asked
    node[0, :K] = -np.inf
    values, node_out, edge_out = np.zeros(3), np.zeros_like(node), np.zeros((3, 1, K * K))
    places, pairs = np.array([[0, 0, -1], [-1, -1, -1], [0, 0, 0]]), np.zeros(3 * K * K)
    sums_of_range(plan, node, edge, new_scratch(plan, 1), K, pairs, places, 0, 3, values, node_out, edge_out)
    assert values[0] == -np.inf and np.all(np.isfinite(values[1:]))
    assert not edge_out[0].any() and edge_out[2].sum() == pytest.approx(3.0)
