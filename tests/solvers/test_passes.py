"""Sums over all samples have the same bits for any number of threads."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

from maxmargin.solvers import LBFGS, SVRG, CuttingPlane, FrankWolfe, passes
from maxmargin.solvers.passes import Passes
from maxmargin.solvers.smoothing.passes import first_snapshot, look
from maxmargin.structures import EntropySmoothing, LogLoss, make_chain_problem, make_multiclass_problem

from .test_two_speeds import assert_equal

LAM = 0.02


def chains(n=60, n_features=50):
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 7, n)
    X = sparse.random(lengths.sum(), n_features, 3.0 / n_features, format="csr", random_state=0)
    return make_chain_problem(X, np.concatenate([[0], np.cumsum(lengths)]), rng.integers(4, size=X.shape[0]), 4)


def classes(n=60):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 5))
    return make_multiclass_problem(X, rng.integers(3, size=n), 3)


PROBLEMS = {
    "chains": chains,
    "far more weights than samples": lambda: chains(n_features=100_000),
    "fewer samples than shares": lambda: chains(3),
    "one sample": lambda: chains(1),
    "classes": classes,
}
each_problem = pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)


@pytest.fixture(params=[passes.SITES, 16], ids=["few shares", "many shares"], autouse=True)
def sites(request, monkeypatch):
    monkeypatch.setattr(passes, "SITES", request.param)


def sums(problem, n_jobs):
    """Of corners, of Gibbs distributions and of smoothed maxima."""
    w = np.random.default_rng(2).normal(size=Passes(problem, 1).dimension)
    smoothed = look(Passes(problem, n_jobs), EntropySmoothing(0.5), first_snapshot(problem), w)
    found = [(smoothed.hinges, smoothed.point)]
    found += [Passes(problem, n_jobs).corners(w), Passes(problem, n_jobs).gradient(w)]
    likely = Passes(LogLoss(problem), n_jobs)
    found += [likely.corners(w), likely.gradient(w)]
    return [(*point, hinges) for hinges, point in found]


@each_problem
def test_sums_have_the_same_bits(make):
    problem = make()
    one, *others = (sums(problem, n_jobs) for n_jobs in (1, 2, 3))
    for other in others:
        assert all(
            np.array_equal(a, b)
            for mine, theirs in zip(one, other, strict=True)
            for a, b in zip(mine, theirs, strict=True)
        )


@each_problem
def test_shares_change_sums_by_rounding_alone(make, monkeypatch):
    problem = make()
    shared = sums(problem, 1)
    monkeypatch.setattr(passes, "FEWEST_SHARES", 1)
    monkeypatch.setattr(passes, "MOST_SHARES", 1)
    whole = sums(problem, 1)
    for mine, theirs in zip(shared, whole, strict=True):
        assert all(a == pytest.approx(b, abs=1e-12) for a, b in zip(mine, theirs, strict=True))


@each_problem
def test_corners_within_ranges_of_weights_are_the_same(make, monkeypatch):
    problem, w = make(), np.random.default_rng(2).normal(size=Passes(make(), 1).dimension)
    (hinges, shared), _ = Passes(problem, 1).corners(w), monkeypatch.setattr(passes, "BEYOND_A_CACHE", 1)
    found = [Passes(problem, n_jobs).corners(w) for n_jobs in (1, 2, 3)]
    for its_hinges, (vector, loss) in found:
        assert np.array_equal(its_hinges, hinges) and loss == shared.loss
        assert np.array_equal(vector, found[0][1].vector)  # the same bits for any number of threads
        assert vector == pytest.approx(shared.vector, abs=1e-12)


def few_features(matrix, **extras):
    offsets = np.arange(len(matrix) + 1)
    return make_chain_problem(sparse.csr_matrix(matrix), offsets, np.arange(len(matrix)) % 3, 3, **extras)


@pytest.mark.parametrize("extras", [{}, {"intercept": False, "boundary": False}], ids=["with", "without"])
@pytest.mark.parametrize(
    "matrix", [np.eye(6)[:, [0, 5, 5, 5]], np.ones((6, 1)), np.zeros((6, 2)), np.zeros((6, 0))], ids=str
)
def test_ranges_of_few_features(matrix, extras, monkeypatch):
    problem = few_features(matrix, **extras)
    w = np.random.default_rng(2).normal(size=Passes(problem, 1).dimension)
    expected = Passes(problem, 1).corners(w)[1].vector
    monkeypatch.setattr(passes, "BEYOND_A_CACHE", 0)
    first = Passes(problem, 1).corners(w)[1].vector
    assert first == pytest.approx(expected, abs=1e-12)
    for n_jobs in (2, 3, 8, 16):
        found = Passes(problem, n_jobs)
        assert found.weight_ranges[0] == 0 and found.weight_ranges[-1] == problem.sites.n_rows
        assert np.array_equal(found.corners(w)[1].vector, first)


@each_problem
def test_passes_can_be_pickled_and_copied(make):
    problem = make()
    one, w = Passes(problem, 2), np.random.default_rng(2).normal(size=Passes(problem, 1).dimension)
    before = one.corners(w)[1].vector
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert other.n_threads == 2 and np.array_equal(other.corners(w)[1].vector, before)


@each_problem
def test_corners_are_gradients(make):
    problem = make()
    _, corners, gradient, *_ = sums(problem, 2)
    assert all(a == pytest.approx(b, abs=1e-12) for a, b in zip(corners, gradient, strict=True))


@each_problem
def test_shares_depend_on_the_problem_alone(make):
    problem = make()
    one, two = (Passes(problem, n_jobs).shares for n_jobs in (1, 2))
    assert np.array_equal(one, two)
    assert one[0] == 0 and one[-1] == len(problem.weight) and np.all(np.diff(one) >= 0)
    assert len(one) - 1 >= min(4, len(problem.weight))


@pytest.mark.parametrize("solver", [LBFGS(), LBFGS(l1=0.01)], ids=["LBFGS", "OWL-QN"])
@pytest.mark.parametrize("make", [chains, classes])
def test_runs_by_gradients_are_the_same(make, solver):
    problem = LogLoss(make())
    one, *others = (solver.solve(problem, LAM, tol=0.0, max_passes=15, n_jobs=n_jobs) for n_jobs in (1, 2, 3))
    for other in others:
        assert_equal(one, other)


@pytest.mark.parametrize("solver", [FrankWolfe(), CuttingPlane(), SVRG()], ids=repr)
def test_runs_by_passes_are_the_same(solver):
    problem = chains()
    one, *others = (
        solver.solve(problem, LAM, tol=0.0, max_passes=12, random_state=0, n_jobs=n_jobs) for n_jobs in (1, 2, 3)
    )
    for other in others:
        assert_equal(one, other)
