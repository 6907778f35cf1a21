"""What a run returns that stops with a gap: the best scale, never nothing where there is something, and its own gap."""

import time

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, CuttingPlane, FrankWolfe, Perceptron, Subgradient
from maxmargin.solvers.driver import Limits, drive
from maxmargin.solvers.ending import PATIENT, Ray, _scales, best_scaled
from maxmargin.solvers.kept import kept
from maxmargin.solvers.objective import Certified
from maxmargin.solvers.tolerance import Absolute
from maxmargin.structures import make_multiclass_problem
from structures.pairs import Subsets

from .conftest import LAM, named_pair

plain = pytest.mark.usefixtures("no_compilation")

AVERAGED = BlockFrankWolfe("permutation", "weighted", step="pairwise")
EARLY = {
    "block": (BlockFrankWolfe("permutation"), 0.2),
    "averaged": (AVERAGED, 0.3),
    "accelerated": (BlockFrankWolfe("permutation", "weighted", step="pairwise", acceleration="catalyst"), 0.3),
    "batch": (FrankWolfe(), 0.2),
    "cuts": (CuttingPlane(cache=False), 0.15),
    "subgradient": (Subgradient(), 0.3),
}


def noisy(n=300, d=12, n_classes=12, noise=3.0, seed=0):
    """Labels that are wrong so often that no weights have a lower objective than none, and that can be learned."""
    rng = np.random.default_rng(seed)
    X, directions = rng.normal(size=(n, d)), rng.normal(size=(d, n_classes))
    y = np.argmax(X @ directions + noise * rng.gumbel(size=(n, n_classes)), axis=1)
    return X, y, make_multiclass_problem(X, y, n_classes)


def share_right(X, y, w, n_classes=12):
    scores = X @ w[: X.shape[1] * n_classes].reshape(X.shape[1], n_classes)
    return np.mean(scores.argmax(axis=1) == y) if np.any(w) else 0.0


def exact_primal(solver, problem, w, lam):
    engine = solver.start(problem, lam, None, 0, None)
    return 0.5 * lam * engine.objective.inner(w, w) + engine.hinge_loss(w)


@pytest.mark.parametrize("kind", EARLY)
def test_noisy_labels_are_learned_though_zeros_have_the_lowest_objective(kind):
    solver, least = EARLY[kind]
    X, y, problem = noisy()
    result = solver.solve(problem, 1 / len(y), tol=1e-6, max_passes=6, random_state=0)
    assert result.status in ("max_passes", "uncertified")
    assert np.any(result.w)
    assert share_right(X, y, result.w) > least
    nothing = exact_primal(solver, problem, np.zeros_like(result.w), 1 / len(y))
    assert result.primal <= nothing + 0.01 * min(result.gap, nothing)
    assert result.primal == pytest.approx(exact_primal(solver, problem, result.w, 1 / len(y)), rel=1e-12)


def test_weights_that_err_least_are_chosen():
    X, y, problem = noisy(n=600)
    last, averaged = (
        solver.solve(problem, 1 / 600, tol=1e-3, max_passes=10, random_state=0)
        for solver in (BlockFrankWolfe("permutation", step="pairwise"), AVERAGED)
    )
    assert share_right(X, y, averaged.w) > share_right(X, y, last.w) + 0.05


def test_converged_at_nothing_returns_something_within_tol():
    X, y, problem = noisy()
    result = AVERAGED.solve(problem, 1 / len(y), tol=0.05, max_passes=500, random_state=0)
    assert result.status == "converged"
    assert result.gap == result.primal - result.dual <= 0.05
    assert share_right(X, y, result.w) > 0.3


@plain
@pytest.mark.parametrize("name", ["chain", "multiclass", "custom"])
@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 30.0, 1e4])
def test_search_along_a_ray_against_a_fine_grid(name, scale):
    rng = np.random.default_rng(3)
    problem, solver = named_pair(name).problem, FrankWolfe()
    engine = solver.start(problem, LAM, None, 0, None)
    engine.advance(1)
    for towards in (engine.w, engine.w + 0.3 * rng.normal(size=engine.w.shape), rng.normal(size=engine.w.shape)):
        w = scale * towards
        primal = exact_primal(solver, problem, w, LAM)
        nothing = exact_primal(solver, problem, np.zeros_like(w), LAM)
        ray = Ray(engine, Certified(kept(w), primal, 0.0, 0.0, 0.0), nothing)
        ray.search(12)
        found = ray.at(ray.best_scale())
        grid = np.append(np.geomspace(1e-6, 1e4, 400) / scale, 1.0)
        best = min(exact_primal(solver, problem, c * w, LAM) for c in grid)
        assert found.primal == pytest.approx(exact_primal(solver, problem, found.w.weights(), LAM), rel=1e-12)
        assert min(found.primal, nothing) <= best + 0.01 * nothing


@plain
def test_a_search_takes_no_more_passes_than_it_may():
    problem = named_pair("chain").problem
    engine = FrankWolfe().start(problem, LAM, None, 0, None)
    engine.advance(1)
    w = 1e6 * engine.w
    found = Certified(kept(w), exact_primal(FrankWolfe(), problem, w, LAM), 0.0, 0.0, 0.0)
    before = engine.oracle_calls
    scaled = best_scaled(engine, found, [found], PATIENT)
    assert engine.oracle_calls - before <= (1 + 1 + PATIENT) * engine.n
    assert scaled.primal < found.primal


def test_scales_within_bounds():
    def box(**bounds):
        return BlockFrankWolfe(**bounds).box(named_pair("multiclass").problem)

    d = len(FrankWolfe().start(named_pair("multiclass").problem, LAM, None, 0, None).w)
    w = np.linspace(0.5, 1.0, d)
    assert _scales(box(), w) == (0.0, np.inf)
    assert _scales(box(positive=slice(None)), w) == (0.0, np.inf)
    assert _scales(box(upper=2.0), w) == (0.0, 2.0)
    assert _scales(box(lower=-1.0, upper=2.0), -0.5 * w) == (0.0, 2.0)
    assert _scales(box(lower=0.25), w) == (0.5, np.inf)


@plain
def test_bounds_hold_for_what_is_returned():
    problem = named_pair("multiclass").problem
    for bounds in ({"lower": -0.01, "upper": 0.02}, {"lower": 0.1}, {"positive": slice(None)}):
        solver = FrankWolfe(**bounds)
        result = solver.solve(problem, 1e-3, tol=0, max_passes=2)
        box = solver.box(problem)
        assert np.all((result.w >= box.lower) & (result.w <= box.upper))
        assert result.gap == result.primal - result.dual >= 0


@plain
def test_stops_by_callbacks_return_something_too():
    _, _, problem = noisy(n=60, d=4, n_classes=6)
    told = []
    solver = BlockFrankWolfe("permutation", "weighted", gap_every=1)
    result = solver.solve(
        problem, 1 / 60, tol=0, callbacks=lambda one: told.append(one) or len(told) == 4, random_state=0
    )
    assert (result.status, len(result.history["gap"])) == ("callback", 4)
    assert not np.any(told[-1].w)
    assert np.any(result.w)
    assert result.history["primal"][-1] == result.primal <= told[-1].primal + 0.01 * told[-1].gap
    assert result.history["oracle_calls"][-1] == result.n_oracle_calls


@plain
def test_a_run_goes_on_as_if_it_had_not_been_improved():
    _, _, problem = noisy(n=60, d=4, n_classes=6)
    options = {"tol": 0, "random_state": 0}
    solver = BlockFrankWolfe("permutation", "weighted", step="pairwise", acceleration="catalyst")
    whole = solver.solve(problem, 1 / 60, max_passes=40, **options)
    half = solver.solve(problem, 1 / 60, max_passes=20, **options)
    rest = solver.solve(problem, 1 / 60, max_passes=20, tol=0, state=half.state)
    assert np.array_equal(rest.w, whole.w)
    assert rest.dual == whole.dual


@plain
def test_a_perceptron_returns_what_it_learned():
    _, _, problem = noisy(n=60, d=4, n_classes=6)
    result = Perceptron().solve(problem, 1 / 60, max_passes=3, random_state=0)
    assert result.primal > 1.0  # and w = 0 has 1


@plain
def test_where_no_candidate_has_weights_there_is_nothing_to_return():
    result = BlockFrankWolfe().solve(Subsets(), LAM, tol=0, max_seconds=1e-9)
    assert (result.status, result.n_passes, result.n_oracle_calls) == ("max_seconds", 0, 5)
    assert not np.any(result.w)


class Slow(Subsets):
    """An oracle that takes its time, and labels that teach little."""

    def max_oracle(self, w, i):
        time.sleep(0.02)
        return super().max_oracle(w, i)


def test_slow_oracles_get_one_pass_more_when_time_is_over():
    solver = BlockFrankWolfe("permutation", "weighted", gap_every=np.inf)
    result = solver.solve(Slow(), 1e-4, tol=0, max_passes=np.inf, max_seconds=0.6, random_state=0)
    assert result.status == "max_seconds"
    assert np.any(result.w)
    assert result.n_oracle_calls <= 5 + round(5 * result.n_passes) + 2 * 5 + 5
    assert result.primal <= result.history["primal"][0] + 0.01 * result.history["gap"][0]


@plain
def test_second_ctrl_c_during_the_search_returns_what_is_certified():
    _, _, problem = noisy(n=60, d=4, n_classes=6)
    engine = BlockFrankWolfe("permutation", "weighted").start(problem, 1 / 60, None, 0, None)

    def break_off(w):
        raise KeyboardInterrupt

    engine.hinge_loss = break_off
    result = drive(engine, Limits(Absolute(0.0), 5, None, 10))
    assert (result.status, result.n_passes, result.primal) == ("max_passes", 5, 1.0)
    assert result.gap == result.primal - result.dual


@plain
def test_history_tells_what_was_paid():
    result = BlockFrankWolfe().solve(Subsets(), LAM, tol=0, max_passes=20, random_state=0)
    paid = result.history["effective_passes"]
    assert np.array_equal(paid, result.history["oracle_calls"] / 5)
    assert np.all(paid > result.history["passes"])
