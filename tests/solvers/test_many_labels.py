"""Chains of many labels: what the oracle knows of weights is true whenever it is asked, whatever changes them."""

import numpy as np
import pytest

from maxmargin import ChainSVM
from maxmargin.inference import ChainPlan, SparseChainPlan
from maxmargin.inference.chain import sparse
from maxmargin.inference.verbs import find_best
from maxmargin.solvers import (
    SVRG,
    BlockFrankWolfe,
    Cache,
    Casimir,
    CuttingPlane,
    ExponentiatedGradient,
    FrankWolfe,
    PartialLinearization,
    Perceptron,
    Subgradient,
)
from maxmargin.structures import L2Smoothing, TransitionMask, make_chain_problem
from maxmargin.structures.pairwise import chain
from structures.pairs import interpreted

K, LENGTHS, LAM = 7, (3, 1, 4, 2, 5), 0.02
N_WEIGHTS = (3 + 3) * K + K * K
BOUNDS = {"lower": np.r_[np.full(N_WEIGHTS - 9, -np.inf), np.full(9, 0.05)], "upper": 0.2}
SOLVERS = [
    BlockFrankWolfe(averaging="weighted"),
    BlockFrankWolfe("gap", "weighted", step="pairwise", cache=Cache(F=0.5), acceleration="catalyst"),
    BlockFrankWolfe("permutation", step="away"),
    BlockFrankWolfe("gap", step="pairwise", pieces=2),
    BlockFrankWolfe(averaging="weighted", **BOUNDS),
    FrankWolfe(),
    FrankWolfe(**BOUNDS),
    CuttingPlane(),
    PartialLinearization(),
    ExponentiatedGradient(),
    Subgradient(averaging="weighted"),
    Subgradient(**BOUNDS),
    Perceptron(),
    Casimir("constant", L2Smoothing(mu=0.1, top_k=3)),
    SVRG(L2Smoothing(mu=0.1, top_k=3)),
]


@pytest.fixture
def asked(monkeypatch):
    """How often the oracle is asked; each time what it goes by is compared with the scores it is given."""
    usual, count = find_best.table[SparseChainPlan], []

    def checked(plan, i, node, edge, scratch, labels):
        value = usual(plan, i, node, edge, scratch, labels)
        lists, scores, gains = scratch.lists, edge.reshape(K, K), np.zeros((K, K))
        for a in range(K):
            columns = lists.columns[a, : lists.listed[a]]
            assert set(np.flatnonzero(scores[a])) <= set(columns)
            assert lists.place[a, columns].tolist() == list(range(1, len(columns) + 1))
            some = slice(lists.first[a], lists.first[a] + lists.n_gains[a])
            gains[a, lists.heads[some]] = lists.scores[some]
        assert np.array_equal(gains, np.maximum(scores, 0.0))
        assert np.all(gains <= np.maximum(lists.bound, 0.0)[:, None])
        count.append(i)
        return value

    monkeypatch.setitem(find_best.table, SparseChainPlan, checked)
    monkeypatch.setattr(sparse, "SCATTERED", 1)  # few labels have room for all their gains, too
    return count


def some_chains(kind):
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    labels = rng.integers(K - 1, size=offsets[-1])  # one label never occurs
    cost = rng.random((K, K)) * (1.0 - np.eye(K))  # no ties, which rounding would decide
    problem = make_chain_problem(rng.normal(size=(len(labels), 3)), offsets, labels, K, cost=cost)
    return problem._replace(plan=kind(*problem.plan))


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_runs_are_the_same_to_the_last_bit(solver, asked):
    with interpreted():
        plain, sparse = (
            solver.solve(some_chains(kind), LAM, tol=0, max_passes=6, random_state=0)
            for kind in (ChainPlan, SparseChainPlan)
        )
    assert np.array_equal(plain.w, sparse.w)
    assert plain.primal == sparse.primal
    assert asked


def test_compiled_runs_are_those_of_the_dense_way():
    solver = BlockFrankWolfe(averaging="weighted")
    plain, sparse = (
        solver.solve(some_chains(kind), LAM, tol=0, max_passes=20, random_state=0)
        for kind in (ChainPlan, SparseChainPlan)
    )
    assert sparse.w == pytest.approx(plain.w, abs=1e-9)  # products and sums are fused in one of them
    assert sparse.primal == pytest.approx(plain.primal, abs=1e-9)


def test_a_run_goes_on_from_a_state(asked):
    solver, found = BlockFrankWolfe(step="pairwise"), []
    with interpreted():
        for kind in (ChainPlan, SparseChainPlan):
            first = solver.solve(some_chains(kind), LAM, tol=0, max_passes=3, random_state=0)
            found.append(solver.solve(some_chains(kind), LAM / 2, tol=0, max_passes=3, state=first.state).w)
    assert np.array_equal(*found)


def test_many_labels_choose_the_plan_unless_transitions_are_forbidden(monkeypatch):
    monkeypatch.setattr(chain, "MANY_LABELS", K)
    rng, labels = np.random.default_rng(0), np.arange(K)
    given = rng.normal(size=(K, 2)), np.array([0, K]), labels

    def plan(n_labels, mask=None):
        return type(make_chain_problem(*given, n_labels, mask=mask).plan)

    assert plan(K) is plan(K + 1) is SparseChainPlan
    everything = TransitionMask.everything(K)
    ends = everything._replace(start=labels < 3, end=labels > 2)
    forbidden = everything._replace(allowed=np.tri(K, k=1, dtype=bool))
    assert plan(K, ends) is SparseChainPlan
    assert plan(K, forbidden) is ChainPlan
    monkeypatch.setattr(chain, "MANY_LABELS", K + 1)
    assert plan(K) is ChainPlan


@pytest.mark.filterwarnings("ignore:stopped after")
def test_an_estimator_predicts_as_it_does_the_dense_way(monkeypatch, asked):
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(t, 3)) for t in LENGTHS]
    y = [rng.integers(K, size=t) for t in LENGTHS]
    y[0][:] = range(len(y[0]))
    found = []
    for threshold in (2, 1000):
        monkeypatch.setattr(chain, "MANY_LABELS", threshold)
        with interpreted():
            model = ChainSVM(solver="bcfw", lam=0.01, max_passes=5, tol=0, random_state=0)
            found.append(np.concatenate(model.fit(X, y).predict(X)).tolist())
        assert asked and model.transitions_.any()
    assert found[0] == found[1]
