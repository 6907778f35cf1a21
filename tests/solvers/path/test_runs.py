"""Paths that stop early and go on, and those that stale gaps steer."""

import copy
import os
import pickle
import signal
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin.solvers import BlockFrankWolfe, regularization_path
from maxmargin.solvers.path import store
from structures.pairs import Subsets

from ..path.checks import LAMS, PAIRWISE, SOLVERS, check_lam, check_path, pair_of, same_paths, served
from ..test_driver import Watched, ctrl_c

pytestmark = pytest.mark.usefixtures("no_compilation")

FEW = LAMS[:40]
each_solver = pytest.mark.parametrize("kind", ["batch", "pairwise", "cached", "averaged", "catalyst", "auto"])
quietly = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def follow(name, solver=PAIRWISE, **options):
    options = {"eps": 0.1, "relative": False, "lam_min": 0.05, "random_state": 0} | options
    return regularization_path(pair_of(name).problem, solver, **options)


def after(n):
    """A callback that stops at the n-th breakpoint it is told of."""
    seen = []
    return lambda told: seen.append(told) or len(seen) == n


class TestCallbacks:
    def test_are_told_of_every_breakpoint_but_the_first(self):
        told, also = [], []
        path = follow("chain", callbacks=[told.append, also.append])
        assert len(told) == len(also) == len(path) - 1
        for j, one in enumerate(told, 1):
            assert one.lam == path.breakpoints[j]
            assert np.array_equal(one.w, path.weights(j))
            assert one.primal - one.dual == pytest.approx(one.gap, abs=1e-12)
            assert one.primal == pytest.approx(path.primal_at(one.lam), abs=1e-12)
            assert (one.passes, one.oracle_calls) == (path.passes[j], path.oracle_calls[j])

    @pytest.mark.parametrize("n", [1, 3])
    def test_stop(self, n):
        path = follow("chain", callbacks=[after(n)])
        assert (path.ended, len(path)) == ("callback", n + 1)
        assert "stopped early: callback" in repr(path)
        check_path(path, "chain", 0.1, FEW)
        with pytest.raises(ValueError, match=r"\(callback\).*resume"):
            path.coef_at(path.lam_end * 0.99)

    def test_errors_pass_through(self):
        def fail(told):
            raise ZeroDivisionError("of the user")

        handler = signal.getsignal(signal.SIGINT)
        with pytest.raises(ZeroDivisionError, match="of the user"):
            follow("chain", callbacks=[fail])
        assert signal.getsignal(signal.SIGINT) is handler

    def test_may_do_what_they_want_with_the_weights(self):
        def spoil(told):
            told.w[:] = 0.0

        path = follow("custom", BlockFrankWolfe(), lam_min=0.01, callbacks=[spoil])
        check_path(path, "custom", 0.1, FEW)
        assert same_paths(path, follow("custom", BlockFrankWolfe(), lam_min=0.01))

    def test_errors_of_callbacks_leave_a_path_that_goes_on(self):
        def fail(told):
            raise ZeroDivisionError("of the user")

        path = follow("chain", callbacks=[after(1)])
        with pytest.raises(ZeroDivisionError):
            path.resume(callbacks=[fail])
        assert len(path) == 3
        assert "None" not in repr(path) + path.ended
        assert same_paths(path.resume(), follow("chain"))


class TestGoingOn:
    @each_solver
    @pytest.mark.parametrize("name", ["chain", "custom"])
    def test_after_a_callback(self, name, kind):
        solver, whole = SOLVERS[kind](), follow(name, SOLVERS[kind]())
        path = follow(name, solver, callbacks=[after(2)])
        assert path.resume(callbacks=[after(1)]) is path
        assert (path.ended, len(path)) == ("callback", 4)
        assert same_paths(path.resume(), whole)
        assert path.ended == whole.ended
        assert path.passes.tolist() == whole.passes.tolist()

    def test_after_ctrl_c_between_breakpoints(self):
        handler = signal.getsignal(signal.SIGINT)

        def press(told, seen=[]):  # noqa: B006
            seen.append(told)
            if len(seen) == 2:
                os.kill(os.getpid(), signal.SIGINT)

        with pytest.warns(ConvergenceWarning, match=r"interrupted.*resume") as caught:
            path = follow("chain", callbacks=[press])
        assert caught[0].filename.startswith(os.path.dirname(__file__)) or "follow" not in caught[0].filename
        assert (path.ended, len(path)) == ("interrupted", 3)
        assert signal.getsignal(signal.SIGINT) is handler
        check_path(path, "chain", 0.1, FEW)
        assert same_paths(path.resume(), follow("chain"))

    @quietly
    def test_after_ctrl_c_between_steps(self):
        solver = BlockFrankWolfe(gap_every=20)
        options = {"eps": 1e-3, "relative": False, "lam_min": 0.8, "random_state": 0}
        structure = Watched(lambda call: None)
        calls = regularization_path(structure, solver, **options).oracle_calls
        path = regularization_path(Watched(ctrl_c(calls[0] + calls[1] // 2)), solver, **options)
        assert path.ended == "interrupted"
        check_path(path, "custom", 1e-3, FEW)
        check_path(path.resume(), "custom", 1e-3, FEW)
        assert path.ended == "lam_min"

    @quietly
    def test_no_ctrl_c_is_lost(self):
        structure = Watched(lambda call: None)
        first = regularization_path(structure, PAIRWISE, relative=False, lam_min=1e-3, random_state=0).oracle_calls[0]
        for call in range(first + 1, structure.calls - 40, 7):
            path = regularization_path(Watched(ctrl_c(call)), PAIRWISE, relative=False, lam_min=1e-3, random_state=0)
            assert path.ended == "interrupted", call

    @quietly
    def test_no_ctrl_c_is_lost_on_a_heuristic_path(self):
        structure = Watched(lambda call: None)
        options = {"relative": False, "lam_min": 1e-2, "heuristic": True, "random_state": 0}
        first = regularization_path(structure, PAIRWISE, **options).oracle_calls[0]
        for call in range(first + 1, structure.calls - 20, 7):
            path = regularization_path(Watched(ctrl_c(call)), PAIRWISE, **options)
            assert path.ended == "interrupted", call

    @pytest.mark.parametrize("kind", ["batch", "cached", "auto"])
    def test_after_max_passes(self, kind):
        with pytest.warns(ConvergenceWarning, match=r"max_passes.*resume"):
            path = follow("chain", SOLVERS[kind](), eps=0.02, max_passes=2)
        assert path.ended == "max_passes"
        assert np.all(path.passes <= 2)
        check_path(path, "chain", 0.02, FEW)
        check_path(path.resume(max_passes=1000), "chain", 0.02, FEW)
        assert path.ended == "lam_min"

    @quietly
    def test_after_max_seconds(self):
        path = regularization_path(
            Watched(lambda call: time.sleep(0.001)),
            PAIRWISE,
            eps=0.01,
            relative=False,
            lam_min=0.2,
            max_seconds=0.1,
            random_state=0,
        )
        assert path.ended == "max_seconds"
        assert len(path) >= 1
        check_path(path, "custom", 0.01, FEW)
        path.problem.structure.at = lambda call: None
        check_path(path.resume(), "custom", 0.01, FEW)
        assert path.ended == "lam_min"

    @pytest.mark.parametrize("kind", ["batch", "pairwise", "auto"])
    def test_further_down(self, kind):
        path, whole = (follow("chain", SOLVERS[kind](), lam_min=lam_min) for lam_min in (1.0, 0.05))
        end = path.lam_end
        assert end < 1.0
        path.resume(lam_min=0.05)
        assert path.lam_end < 0.05 < end
        assert same_paths(path, whole)

    def test_a_path_at_its_end_stays_as_it_is(self):
        for name in ("chain", "multiclass"):
            path, whole = follow(name), follow(name)
            for _ in range(2):
                assert same_paths(path.resume(), whole)
            assert same_paths(path.resume(lam_min=1e3), whole)
            assert path.ended == whole.ended

    @pytest.mark.parametrize("lam_min", [0, -1, np.nan, True, "1"])
    def test_bad_lam_min_is_named(self, lam_min):
        path = follow("chain", lam_min=1.0)
        with pytest.raises(ValueError, match="lam_min must be"):
            path.resume(lam_min=lam_min)
        assert same_paths(path, follow("chain", lam_min=1.0))


class TestPickle:
    @each_solver
    @pytest.mark.parametrize("place", ["in memory", "on disk"])
    def test_half_way(self, kind, place, monkeypatch):
        if place == "on disk":
            monkeypatch.setattr(store, "IN_MEMORY", 64)
        path, whole = follow("chain", SOLVERS[kind](), callbacks=[after(3)]), follow("chain", SOLVERS[kind]())
        twin = pickle.loads(pickle.dumps(path))
        assert same_paths(twin, path)
        assert np.array_equal(twin.gaps, path.gaps)
        assert same_paths(twin.resume(), whole)
        assert len(path) == 4  # on its own
        assert same_paths(path.resume(), whole)

    def test_deep_copies_are_on_their_own(self):
        path = follow("chain", callbacks=[after(3)])
        twin = copy.deepcopy(path)
        assert same_paths(twin.resume(), follow("chain"))
        assert len(path) == 4

    def test_a_structure_of_ones_own(self):
        path = regularization_path(Subsets(), PAIRWISE, lam_min=0.05, random_state=0, callbacks=[after(2)])
        twin = pickle.loads(pickle.dumps(path))
        assert same_paths(twin.resume(), path.resume())


@each_solver
def test_the_same_seed_the_same_path(kind):
    one, other = (follow("chain", SOLVERS[kind](), random_state=3, n_jobs=n_jobs) for n_jobs in (None, 2))
    assert same_paths(one, other)
    if kind != "batch":
        assert not same_paths(one, follow("chain", SOLVERS[kind](), random_state=4))


def test_a_generator_of_the_users():
    one, other = (follow("chain", random_state=np.random.default_rng(3)) for _ in range(2))
    assert same_paths(one, other)


def test_progress_is_shown_on_request_only(capsys):
    for verbose in (0, 1):
        follow("multiclass", verbose=verbose)
        assert ("breakpoints" in capsys.readouterr().err) == bool(verbose)


class TestHeuristic:
    @each_solver
    @pytest.mark.parametrize("name", ["chain", "multiclass", "custom"])
    def test_certified_afterwards(self, name, kind):
        path = follow(name, SOLVERS[kind](), heuristic=True)
        assert np.all(np.diff(path.breakpoints) < 0)
        assert path.gaps[0] <= 0.1  # where a path begins is always certified
        assert np.all(path.gaps[1:] == np.inf)
        assert path.worst_gap == np.inf == path.gap_at(path.breakpoints[-1])
        calls = path.oracle_calls.sum()
        worst = path.certify()
        assert worst == path.worst_gap < np.inf
        assert path.oracle_calls.sum() == calls + (len(path) - 1) * pair_of(name).reference.n
        for lam in served(path, FEW):
            check_lam(path, name, lam)
        assert path.certify() == worst
        assert path.oracle_calls.sum() == calls + (len(path) - 1) * pair_of(name).reference.n

    def test_breakpoints_are_solved_to_seven_tenths_of_eps(self):
        default, same, other = (follow("custom", heuristic=True, **own) for own in ({}, {"kappa": 0.7}, {"kappa": 0.9}))
        assert same_paths(default, same)
        assert not same_paths(default, other)

    def test_callbacks_are_told_that_nothing_is_certified(self):
        told = []
        follow("chain", heuristic=True, callbacks=[told.append])
        assert all(one.gap == np.inf for one in told)

    def test_goes_on(self):
        path, whole = follow("chain", heuristic=True, callbacks=[after(3)]), follow("chain", heuristic=True)
        assert same_paths(path.resume(), whole)

    def test_lower_bounds_need_no_certificate(self):
        path = follow("chain", heuristic=True)
        before = [path.dual_at(lam) for lam in path.breakpoints]
        path.certify()
        assert [path.dual_at(lam) for lam in path.breakpoints] == before

    @pytest.mark.parametrize("seed", range(4))
    def test_certified_half_way(self, seed):
        path = follow("chain", SOLVERS["gap"](), heuristic=True, kappa=0.9, random_state=seed, callbacks=[after(4)])
        path.certify()
        path.resume()
        assert np.all(np.diff(path.breakpoints) < 0)
        path.certify()
        for lam in served(path, FEW):
            check_lam(path, "chain", lam)

    def test_certified_and_then_further_down(self):
        solver = BlockFrankWolfe("gap", step="pairwise")
        path = follow("chain with costs", solver, heuristic=True, kappa=0.9, lam_min=0.1, random_state=1)
        path.certify()
        path.resume(lam_min=0.01)
        assert np.all(np.diff(path.breakpoints) < 0)
