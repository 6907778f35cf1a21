"""Proximal problems over the weights that are not 0: the same runs, whatever is kept."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.solvers import BlockFrankWolfe, few_weights, posing
from maxmargin.solvers.few_weights import FewWeights, list_others
from maxmargin.structures import make_chain_problem

pytestmark = pytest.mark.usefixtures("no_compilation")

LAM = 0.02
PARTS = [{"sampling": "gap", "step": "pairwise", "averaging": "weighted"}, {"step": "fw", "sampling": "permutation"}]


def some_chains():
    """Many features, few of which a sample has."""
    rng = np.random.default_rng(0)
    X = sp.random_array((12, 30), density=0.1, rng=rng, format="csr") + sp.csr_array(np.eye(12, 30))
    return make_chain_problem(sp.csr_matrix(X), np.array([0, 3, 5, 9, 12]), rng.integers(4, size=12), 4)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(posing, "MANY_WEIGHTS", 1)


def solve(parts, **options):
    solver = BlockFrankWolfe(acceleration="catalyst", **parts)
    return solver.solve(some_chains(), LAM, **({"tol": 1e-9, "max_passes": 40, "random_state": 0} | options))


@pytest.mark.parametrize("parts", PARTS)
def test_runs_are_those_of_all_weights(parts, monkeypatch):
    every = solve(parts)
    monkeypatch.setattr(posing, "MANY_WEIGHTS", 1)
    found = solve(parts)
    assert isinstance(found.state.outer, FewWeights) and not isinstance(every.state.outer, FewWeights)
    assert found.w == pytest.approx(every.w, abs=1e-9)
    for column in ("primal", "dual", "kappa", "inner_passes"):
        assert found.history[column] == pytest.approx(every.history[column], abs=1e-9)
    assert len(found.state.outer.places) < len(found.w)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("lam", [LAM, 0.5 * LAM])
@pytest.mark.parametrize("parts", PARTS)
def test_runs_go_on(parts, lam):
    """Under the same lam with the same places, and under another one from all weights."""
    first = solve(parts, max_passes=10)
    solver = BlockFrankWolfe(acceleration="catalyst", **parts)
    second = solver.solve(some_chains(), lam, tol=1e-9, max_passes=10, state=first.state)
    assert isinstance(second.state.outer, FewWeights)
    assert second.history["dual"][0] > 0.0 and second.gap <= second.history["gap"][0]
    if lam == LAM:
        whole = solve(parts, max_passes=20)
        assert second.w == pytest.approx(whole.w, abs=1e-9)


@pytest.mark.usefixtures("few")
def test_bounds_are_told_by_their_places():
    bounded = solve({**PARTS[0], "upper": 0.1}, max_passes=5)
    assert not isinstance(bounded.state.outer, FewWeights)


@pytest.mark.usefixtures("few")
def test_a_restart_where_other_weights_are_not_0():
    engine = BlockFrankWolfe(acceleration="catalyst", **PARTS[0]).start(some_chains(), LAM, None, 0, None)
    for _ in range(12):
        engine.advance(1)
    w = np.zeros_like(engine.w)
    w[np.setdiff1d(np.arange(len(w)), engine.outer.places)[:2]] = 0.1
    engine.outer.restarts_at, before = w, engine.outer.whole(engine.dual_point())
    engine.restart()
    assert engine.outer.spread(engine.outer.sequence.centre) == pytest.approx(w)
    after = engine.outer.whole(engine.dual_point())
    assert after.vector == pytest.approx(before.vector, abs=1e-12) and after.loss == before.loss
    assert engine.best_point().vector.shape == w.shape


@pytest.mark.usefixtures("few")
def test_weights_are_written_over_and_looked_at_once(monkeypatch):
    """A new proximal problem makes no new vector of all weights, and nobody sweeps twice over the same ones."""
    engine = BlockFrankWolfe(acceleration="catalyst", **PARTS[0]).start(some_chains(), LAM, None, 0, None)
    looks, learn = [], FewWeights.learn_places
    monkeypatch.setattr(FewWeights, "learn_places", lambda self, w: looks.append(engine.steps) or learn(self, w))
    w, problems = engine.w, 0
    for _ in range(60):
        posed = engine.outer.begun
        engine.advance(1)
        engine.estimate()
        problems += engine.outer.begun != posed
        found = engine.outer.weights(engine.objective, engine.dual_point())[0]
        assert engine.w is w and found == pytest.approx(w, abs=1e-12)
    assert problems > 3 and len(looks) == len(set(looks))


def test_more_places_than_there_is_room_for_take_a_second_look(monkeypatch):
    monkeypatch.setattr(posing, "MANY_WEIGHTS", 1)
    found = solve(PARTS[0])
    monkeypatch.setattr(few_weights, "ROOM", 1)
    assert np.array_equal(solve(PARTS[0]).w, found.w)


def test_places_are_listed_once():
    w, room = np.array([0.0, 1.0, 0.0, -2.0, 3.0]), np.empty(2, np.int64)
    assert list_others(w, np.array([0, 3]), room) == 2 and room.tolist() == [1, 4]
    assert list_others(w, np.array([1, 3, 4]), room) == 0
    assert list_others(w, np.empty(0, np.int64), np.empty(0, np.int64)) == 3
