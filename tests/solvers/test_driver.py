"""Why a run stops, and that it stops there with a certificate that holds."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, FrankWolfe, Status, get_solver
from maxmargin.solvers.tolerance import as_goal
from maxmargin.structures import make_multiclass_problem
from structures.pairs import Subsets, subsets_pair

from .conftest import LAM, named_pair, of_the_package, optimum

SOLVERS = [BlockFrankWolfe(gap_every=1), BlockFrankWolfe(averaging="weighted", gap_every=1), FrankWolfe(gap_every=1)]
each_solver = pytest.mark.parametrize("solver", SOLVERS, ids=["block", "averaged", "batch"])


class Watched(Subsets):
    """Calls `at(call number)` from within the oracle."""

    def __init__(self, at):
        super().__init__()
        self.at = at

    def max_oracle(self, w, i):
        y = super().max_oracle(w, i)
        self.at(self.calls)
        return y


def ctrl_c(*calls):
    """Ctrl-C while the oracle is at these calls."""
    return lambda call: os.kill(os.getpid(), signal.SIGINT) if call in calls else None


def assert_certified(result):
    pair = subsets_pair()  # the same samples
    best = pair.reference.solve(LAM)[1]
    assert result.primal == pytest.approx(pair.reference.primal(result.w, LAM), abs=1e-12)
    assert result.dual - 1e-8 <= best <= result.primal + 1e-8
    assert result.gap == result.primal - result.dual == result.history["gap"][-1]


@each_solver
def test_tol(solver):
    result = solver.solve(Subsets(), LAM, tol=0.05, random_state=0)
    gaps = result.history["gap"]
    assert result.status == "converged"
    assert gaps[-1] <= 0.05 < gaps[:-1].min()
    assert_certified(result)


def test_nothing_to_learn_is_converged_at_once():
    structure = Subsets()
    structure.price[:] = 0.0
    with pytest.raises(ValueError, match=r"at w = 0, Subsets\.max_oracle answers outputs of loss 0 for all samples"):
        BlockFrankWolfe().solve(structure, LAM, tol=0)
    # of a user's structure it is a mistake; the oracles of the package are right, so that there is nothing to learn
    result = BlockFrankWolfe().solve(of_the_package(structure), LAM, tol=0)
    assert (result.status, result.n_passes, result.gap) == ("converged", 0, 0.0)
    assert not result.w.any()


@each_solver
@pytest.mark.parametrize("max_passes", [1, 3])
def test_max_passes(solver, max_passes):
    result = solver.solve(Subsets(), LAM, tol=0, max_passes=max_passes)
    assert (result.status, result.n_passes) == ("max_passes", max_passes)
    assert_certified(result)


@pytest.mark.parametrize("solver", [BlockFrankWolfe(gap_every=3), FrankWolfe(gap_every=3)], ids=["block", "batch"])
def test_max_passes_between_two_certificates(solver):
    result = solver.solve(Subsets(), LAM, tol=0, max_passes=7)
    assert result.history["passes"].tolist() == [0, 3, 6, 7]


@pytest.mark.parametrize(
    ("max_passes", "gap_every"), [(1.05, 10), (0.05, 10), (0.5, 10), (2, 0.05), (2, 0.5), (3, np.inf), (np.inf, 10)]
)
def test_fractions_of_a_pass_and_infinity_end(max_passes, gap_every):
    rows = []

    def give_up(record):
        rows.append(record.passes)
        assert len(rows) < 200, "certifies without end"

    options = {"tol": 0.0 if max_passes < np.inf else 0.5, "max_passes": max_passes, "callbacks": [give_up]}
    result = BlockFrankWolfe(gap_every=gap_every).solve(Subsets(), LAM, random_state=0, **options)
    assert result.status in ("max_passes", "converged")
    assert np.all(np.diff(rows) > 0)
    assert max_passes == np.inf or abs(result.n_passes - max_passes) <= 1 / 5


def test_only_the_clock():
    result = BlockFrankWolfe(gap_every=np.inf).solve(
        Subsets(), LAM, tol=0, max_passes=np.inf, max_seconds=0.1, random_state=0
    )
    assert result.status == "max_seconds"
    assert len(result.history["gap"]) == 2
    assert_certified(result)


@each_solver
def test_max_seconds(solver):
    structure = Watched(lambda call: time.sleep(0.002))
    result = solver.solve(structure, LAM, tol=0, max_passes=10**6, max_seconds=0.3)
    assert result.status == "max_seconds"
    assert result.n_passes > 0
    assert 0.1 < result.history["seconds"][-1] < 1.0
    assert_certified(result)


def test_max_seconds_too_short_for_a_step():
    structure = Watched(lambda call: time.sleep(0.002))
    result = BlockFrankWolfe().solve(structure, LAM, tol=0, max_seconds=1e-3)
    assert (result.status, result.n_passes, structure.calls) == ("max_seconds", 0, 5)
    assert_certified(result)


@each_solver
def test_callback(solver):
    seen = []

    def stop_at_third(record):
        seen.append(record)
        return len(seen) == 3

    also = []
    result = solver.solve(Subsets(), LAM, tol=0, callbacks=[stop_at_third, also.append])
    assert result.status == "callback"
    assert len(result.history["gap"]) == len(seen) == len(also) == 3
    assert_certified(result)


@each_solver
def test_ctrl_c(solver):
    handler = signal.getsignal(signal.SIGINT)
    structure = Watched(ctrl_c(32))
    result = solver.solve(structure, LAM, tol=0, random_state=0)
    assert result.status == "interrupted"
    assert 0 < result.n_passes <= 6
    # the rest of the step or certificate, the closing certificate, and passes for weights that are not 0
    assert structure.calls <= 32 + 15 + 25
    assert signal.getsignal(signal.SIGINT) is handler
    assert_certified(result)
    gone_on = solver.solve(Watched(lambda call: None), LAM, tol=0, max_passes=3, state=result.state)
    assert gone_on.dual >= result.dual - 1e-12
    assert_certified(gone_on)


def test_second_ctrl_c_returns_what_is_certified():
    # calls: 5 of the first certificate, steps until the first Ctrl-C, then the closing certificate
    handler = signal.getsignal(signal.SIGINT)
    structure = Watched(ctrl_c(8, 10))
    result = BlockFrankWolfe(gap_every=10).solve(structure, LAM, tol=0)
    assert result.status == "interrupted"
    assert (structure.calls, len(result.history["gap"])) == (10, 1)
    assert signal.getsignal(signal.SIGINT) is handler
    assert_certified(result)


def test_second_ctrl_c_before_anything_is_certified():
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        BlockFrankWolfe().solve(Watched(ctrl_c(1, 2)), LAM)
    assert signal.getsignal(signal.SIGINT) is handler


def test_handler_is_restored_after_an_error():
    handler = signal.getsignal(signal.SIGINT)

    def fail(call):
        if call == 12:
            raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user"):
        BlockFrankWolfe().solve(Watched(fail), LAM, tol=0)
    assert signal.getsignal(signal.SIGINT) is handler


def test_runs_in_a_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(BlockFrankWolfe().solve(Subsets(), LAM, max_passes=3)))
    thread.start()
    thread.join()
    assert_certified(found[0])


def test_progress_bar_is_shown_on_request_only(capsys):
    for verbose in (0, 1):
        BlockFrankWolfe().solve(Subsets(), LAM, max_passes=2, tol=0, verbose=verbose)
        assert ("passes" in capsys.readouterr().err) == bool(verbose)


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("lam", [1e-3, 1e3])
def test_extreme_lam(lam):
    for solver in SOLVERS:
        result = solver.solve(named_pair("chain").problem, lam, tol=1e-9, max_passes=30, random_state=0)
        assert result.dual - 1e-7 <= optimum("chain", lam) <= result.primal + 1e-7


BAD = {
    "lam": [0, -1, np.nan, np.inf, "1", True, None],
    "tol": [-1, np.nan, "1"],
    "max_passes": [0, -1, np.nan, "1", None],
    "max_seconds": [0, -1, np.nan, "1"],
    "n_jobs": [0, 1.5, "2"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_bad_parameters_are_named(name, value):
    options = {"lam": LAM} | {name: value}
    problem = named_pair("multiclass").problem
    with pytest.raises(ValueError, match=f"{name} must be"):
        BlockFrankWolfe().solve(problem, **options)


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (
            BlockFrankWolfe(sampling="best"),
            r"sampling must be one of \['active', 'gap', 'permutation', 'ranges', 'uniform'\], got 'best'",
        ),
        (BlockFrankWolfe(averaging="mean"), "averaging must be None or \"weighted\", got 'mean'"),
        (BlockFrankWolfe(gap_every=0), "gap_every must be a number > 0, got 0"),
        (FrankWolfe(gap_every=-1), "gap_every must be a number > 0, got -1"),
    ],
)
def test_bad_solver_parameters_are_named(solver, message):
    with pytest.raises(ValueError, match=message):
        solver.solve(Subsets(), LAM)


@pytest.mark.parametrize("callbacks", [3, [3], ["a"], None, [None]])
def test_bad_callbacks_are_named(callbacks):
    with pytest.raises(TypeError, match="callbacks must be"):
        BlockFrankWolfe().solve(Subsets(), LAM, callbacks=callbacks)


def test_one_function_is_a_callback():
    told = []
    BlockFrankWolfe().solve(Subsets(), LAM, tol=0, max_passes=3, callbacks=told.append)
    assert len(told) == 2


def test_get_solver():
    solver = FrankWolfe()
    assert get_solver(solver) is solver
    assert isinstance(get_solver("bcfw"), BlockFrankWolfe)
    for unknown in ("newton", None, FrankWolfe):
        with pytest.raises(ValueError, match=r"one of \['auto', .*'svrg'\] or a solver object"):
            get_solver(unknown)


def test_the_goal_may_follow_the_objective():
    sensible = as_goal(None)
    assert [sensible.at(value) for value in (1.0, 0.1, 1e-4)] == [0.01, pytest.approx(0.005), 0.001]
    assert as_goal(0.5).at(1e-4) == 0.5
    for tol in (-1.0, np.nan, "small"):
        with pytest.raises(ValueError, match="tol must be"):
            as_goal(tol)


def test_where_the_objective_is_small_the_default_goes_on_to_a_share_of_it():
    problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    plain = BlockFrankWolfe(gap_every=1).solve(problem, 1e-3, tol=1e-2, random_state=0)
    found = BlockFrankWolfe(gap_every=1).solve(problem, 1e-3, tol=None, random_state=0)
    assert found.status == Status.CONVERGED
    assert plain.gap > max(0.05 * plain.primal, 1e-3)
    assert found.gap <= max(0.05 * found.primal, 1e-3) < 1e-2
