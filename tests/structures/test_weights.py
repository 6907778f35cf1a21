"""Flat weights by name: what layouts say is where the problems have it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from maxmargin.structures import make_chain_problem, make_multiclass_problem
from maxmargin.structures.pairwise import PairwiseWeights
from maxmargin.structures.verbs import dimension
from maxmargin.structures.weights import MulticlassWeights, Weights

F, K, E = 3, 2, 4
BOOL = [False, True]


@pytest.mark.parametrize("intercept", BOOL)
@pytest.mark.parametrize("boundary", BOOL)
@pytest.mark.parametrize("n_edge_features", [0, E])
@pytest.mark.parametrize("differences", BOOL)
@pytest.mark.parametrize("n_features", [F, None])
def test_parts_are_the_weights_and_nothing_else(intercept, boundary, n_edge_features, differences, n_features):
    layout = PairwiseWeights(n_features, K, intercept, boundary, n_edge_features, differences)
    w = layout.blank()
    free = np.arange(1.0, layout.size + 1)
    if n_features is None:  # the scores' own weights have no name
        free[: K * K] = np.eye(K).ravel()
    w[:] = free
    assert_array_equal(layout.pack(**layout.unpack(w)), w)
    parts = layout.unpack(w)
    assert ("coef" in parts) == (n_features is not None)
    assert parts["transitions"].shape == (K, K) and parts["edge_coef"].shape == (n_edge_features, K, K)
    assert parts["intercept"].shape == (K,) and np.any(parts["intercept"]) == intercept
    assert parts["boundary"].shape == (2, K) and np.any(parts["boundary"]) == boundary


@pytest.mark.parametrize("intercept", BOOL)
@pytest.mark.parametrize("boundary", BOOL)
@pytest.mark.parametrize("n_edge_features", [None, E])
def test_as_many_as_chains_have(intercept, boundary, n_edge_features):
    x, offsets = np.ones((5, F)), np.array([0, 2, 5])
    edges = None if n_edge_features is None else np.ones((3, n_edge_features))
    labels = np.array([0, 1, 1, 0, 1])
    problem = make_chain_problem(x, offsets, labels, K, intercept=intercept, boundary=boundary, edge_matrix=edges)
    assert PairwiseWeights(F, K, intercept, boundary, n_edge_features or 0).size == dimension(problem)
    rows = make_multiclass_problem(x, labels, K, intercept=intercept)
    assert MulticlassWeights(F, K, intercept).size == dimension(rows)


def test_views_write_through():
    layout = PairwiseWeights(F, K, True, True, E)
    w = np.zeros(layout.size)
    for name, part in layout.unpack(w).items():
        part[...] = 1.0
        assert np.shares_memory(part, w), name
    assert np.all(w == 1.0)


def test_what_cannot_be_written():
    layout = PairwiseWeights(F, K, False)
    w = layout.blank()
    with pytest.raises(ValueError, match=r"coef: the shape must be \(2, 3\), got \(3, 2\)"):
        layout.write(w, "coef", np.zeros((F, K)))
    with pytest.raises(ValueError, match="intercept: it was not learned and stays 0"):
        layout.write(w, "intercept", np.ones(K))
    with pytest.raises(ValueError, match="read-only"):
        layout.unpack(w)["intercept"][0] = 1.0
    layout.write(w, "intercept", np.zeros(K))
    with pytest.raises(KeyError):
        layout.pack(nonsense=1.0)


def test_differences():
    layout = PairwiseWeights(F, 2, True, n_edge_features=1, differences=True)
    w = layout.blank()
    w[layout.positive] = [3.0, 5.0]
    assert_array_equal(layout.unpack(w)["transitions"], [[0, -3], [-3, 0]])
    assert_array_equal(layout.unpack(w)["edge_coef"], [[[0, -5], [-5, 0]]])
    assert PairwiseWeights(F, 2, True).positive is None
    for wrong in ([[0, 1], [1, 0]], [[0, -1], [-2, 0]], [[-1, -1], [-1, 0]]):
        with pytest.raises(ValueError, match="transitions: its weights are no cost >= 0"):
            layout.write(w, "transitions", wrong)
    with pytest.raises(ValueError, match="edge_coef, edge feature 0"):
        layout.write(w, "edge_coef", np.ones((1, 2, 2)))
    assert_array_equal(w[layout.positive], [3.0, 5.0])


def test_weights_in_another_layout():
    pairs, costs = PairwiseWeights(F, 2, True), PairwiseWeights(F, 2, True, differences=True)
    w = costs.pack(coef=np.arange(6.0).reshape(2, 3), transitions=[[0, -3], [-3, 0]])
    weights = Weights(costs, w)
    assert np.shares_memory(weights.laid_out(PairwiseWeights(F, 2, True, differences=True)), w)
    tables = weights.laid_out(pairs)
    assert_array_equal(pairs.unpack(tables)["transitions"], [[0, -3], [-3, 0]])
    assert_array_equal(Weights(pairs, tables).laid_out(costs), w)


def test_read_only_weights_are_copied_for_kernels():
    layout = MulticlassWeights(F, K, True)
    w = np.zeros(layout.size)
    w.flags.writeable = False
    assert Weights(layout, w).laid_out(layout).flags.writeable
