"""What `solver="auto"` chooses, from types and sizes."""

import numpy as np
import pytest

from maxmargin import ChainSVM, GraphSVM, MultilabelSVM, TreeSVM
from maxmargin.inference import (
    Bounded,
    ChainPlan,
    make_cut_plan,
    make_junction_plan,
    make_tree_plan,
)
from maxmargin.inference.verbs import argmax_work
from maxmargin.solvers.presets import choose
from maxmargin.structures.verbs import argmax_cost

pytestmark = pytest.mark.usefixtures("no_compilation")


def grid(rows, columns):
    at = np.arange(rows * columns).reshape(rows, columns)
    return np.vstack(
        [np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1), np.stack([at[:-1].ravel(), at[1:].ravel()], 1)]
    )


def data(n_sites, n_labels, n_features=10, n=5):
    rng = np.random.default_rng(0)
    y = [np.resize(rng.permutation(n_labels), n_sites) for _ in range(n)]
    return [rng.normal(size=(n_sites, n_features)) for _ in range(n)], y


def strips(rows, n_labels, columns=8, n_features=10):
    X, y = data(rows * columns, n_labels, n_features)
    return GraphSVM().encode([(x, grid(rows, columns)) for x in X], y).problem


def chains(n_labels, n_features=10):
    return ChainSVM().encode(*data(20, n_labels, n_features)).problem


def trees(n_labels):
    X, y = data(20, n_labels)
    return TreeSVM().encode([(x, np.arange(20) // 2 - (np.arange(20) == 0)) for x in X], y).problem


def test_junction_trees_cost_what_their_cliques_have_labelings():
    costs = [argmax_cost(strips(rows, 6)) for rows in (1, 2, 3, 4)]
    assert np.all(np.diff(costs) > 0) and costs[3] > 10 * costs[1]
    assert argmax_cost(strips(3, 10)) > 5 * argmax_cost(strips(3, 5))
    assert argmax_cost(strips(3, 6, n_features=300)) < argmax_cost(strips(3, 6)) / 2


@pytest.mark.parametrize(
    "problem", [chains(5), chains(26), chains(60), trees(26), strips(2, 3), strips(3, 2), strips(3, 4)]
)
def test_cheap_oracles_go_without_a_cache(problem):
    assert choose(problem).cache is False


CHEAP = [(chains, 5), (chains, 26), (chains, 60), (trees, 26), (strips, 2, 3), (strips, 3, 2), (strips, 3, 4)]
EXPENSIVE = [(strips, 2, 20), (strips, 3, 9), (strips, 3, 11), (strips, 4, 6)]


@pytest.mark.parametrize("case", CHEAP + EXPENSIVE, ids=lambda case: f"{case[0].__name__}-{case[1:]}")
def test_expensive_oracles_get_a_cache(case):
    make, *sizes = case
    assert bool(choose(make(*sizes)).cache) == (case in EXPENSIVE)


def test_work_is_that_of_all_samples():
    one, two = (
        make_junction_plan(3 * np.arange(n + 1), 3 * np.arange(n + 1), [0, 1, 2] * n, [1, 2, 0] * n, 4, shared=True)
        for n in (1, 2)
    )
    assert argmax_work(two) == 2 * argmax_work(one) > 0
    assert argmax_work(ChainPlan(np.array([0, 3, 7]), np.zeros(4), np.zeros(4), 4)) == 7 * 16
    tree = make_tree_plan([0, 3, 5], [-1, 0, 0, -1, 0], 4, shared=True)
    assert argmax_work(tree) > 3 * 16
    assert argmax_work(Bounded(tree, np.zeros(4), np.zeros(4), 3)) == argmax_work(tree)
    assert argmax_work(make_cut_plan([0, 3], [0, 2], [0, 1], [1, 2], shared=True)) > 0


@pytest.mark.parametrize(("n_labels", "expected"), [(4, "BlockFrankWolfe"), (17, "GDMM")])
def test_sets_of_many_labels_that_interact_are_taken_apart(n_labels, expected):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 3)), rng.integers(2, size=(6, n_labels))
    problem = MultilabelSVM(interactions="pairwise").encode(X, Y).problem
    assert type(choose(problem)).__name__ == expected
