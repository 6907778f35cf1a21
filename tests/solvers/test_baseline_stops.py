"""The same solvers: histories, oracle calls counted, why they stop, paths, compiled runs."""

import os
import signal
import time

import numpy as np
import pytest

from maxmargin.solvers import lam_grid, regularization_path
from maxmargin.solvers.result import COLUMNS
from structures.pairs import interpreted

from .conftest import EXACT, LAM, Complete, named_pair, optimum
from .test_baselines import SOLVERS, each_solver, plain, run
from .test_two_speeds import assert_close, assert_equal


def solve(structure, kind, **options):
    tol = 1e-9 if "slack" in kind else 0.0
    return SOLVERS[kind].solve(structure, LAM, **{"tol": tol, "max_passes": 8, "random_state": 0} | options)


EXTRAS = {
    "effective_passes",
    "cache_hits",
    "cache_misses",
    "constraints",
    "remembered",
    "kappa",
    "inner_passes",
    "restarts",
}


@plain
@each_solver
def test_histories_are_comparable(kind):
    records = []
    result = solve(Complete(), kind, callbacks=[records.append])
    assert list(result.history)[: len(COLUMNS)] == list(COLUMNS)
    assert set(result.history) - set(COLUMNS) <= EXTRAS
    assert len({len(column) for column in result.history.values()}) == 1
    assert np.all(np.diff(result.history["oracle_calls"]) > 0)
    assert np.all(np.diff(result.history["passes"]) > 0)
    for column, values in result.history.items():
        if column in COLUMNS:
            np.testing.assert_array_equal(values, [getattr(record, column) for record in records])
    assert result.w is records[-1].w


@plain
@each_solver
def test_every_oracle_call_is_counted(kind):
    structure = Complete()
    first = solve(structure, kind)
    assert (
        first.n_oracle_calls
        == structure.asked.total()
        == structure.calls + structure.asked["decode"] + (structure.asked["exp_oracle"])
    )
    structure.asked.clear()
    second = solve(structure, kind, state=first.state)
    assert second.n_oracle_calls == structure.asked.total()


class Watched(Complete):
    """Calls `at(call number)` from within each oracle."""

    def __init__(self, at):
        super().__init__()
        self.at = at

    def max_oracle(self, w, i):
        y = super().max_oracle(w, i)
        self.at(self.asked.total())
        return y

    def decode(self, w, i):
        y = super().decode(w, i)
        self.at(self.asked.total())
        return y

    def exp_oracle(self, v, i, emphasis):
        found = super().exp_oracle(v, i, emphasis)
        self.at(self.asked.total())
        return found


def is_certified(result, kind):
    return SOLVERS[kind].certifies and np.isfinite(result.dual)


@plain
@each_solver
def test_ctrl_c(kind):
    handler = signal.getsignal(signal.SIGINT)
    structure = Watched(lambda call: os.kill(os.getpid(), signal.SIGINT) if call == 12 else None)
    result = solve(structure, kind, max_passes=10**6)
    assert result.status == "interrupted"
    assert structure.asked.total() <= 12 + 30  # the rest of the step or certificate, and the closing certificate
    assert signal.getsignal(signal.SIGINT) is handler
    assert np.isfinite(result.primal)
    gone_on = solve(Watched(lambda call: None), kind, state=result.state, max_passes=3)
    assert np.isfinite(gone_on.primal)
    if is_certified(result, kind):
        assert gone_on.dual >= result.dual - 1e-12


@plain
@each_solver
def test_callback(kind):
    seen = []

    def stop_at_second(record):
        seen.append(record)
        return len(seen) == 2

    result = solve(Complete(), kind, max_passes=200, callbacks=[stop_at_second])
    assert (result.status, len(seen)) == ("callback", 2)
    assert np.isnan(result.dual) == (not SOLVERS[kind].certifies)


@plain
@each_solver
def test_max_seconds(kind):
    structure = Watched(lambda call: time.sleep(0.004))
    result = solve(structure, kind, max_passes=10**6, max_seconds=0.15, tol=0)
    assert result.status == "max_seconds" or (result.status == "converged" and "slack" in kind)
    assert result.history["seconds"][-1] < 1.0
    assert result.gap == np.inf or SOLVERS[kind].certifies


@plain
@pytest.mark.parametrize("kind", ["subgradient", "subgradient batch", "perceptron"])
@pytest.mark.parametrize("tol", [0.0, 1e300])
def test_a_tolerance_stops_nothing_where_there_are_no_gaps(kind, tol):
    result = solve(Complete(), kind, tol=tol)
    assert (result.status, result.n_passes, result.gap) == ("uncertified", 8, np.inf)


@plain
@pytest.mark.parametrize("kind", ["subgradient", "perceptron"])
def test_paths_need_certificates(kind):
    for call in (
        lambda: regularization_path(Complete(), solver=SOLVERS[kind], eps=0.1),
        lambda: lam_grid(Complete(), lams=[1.0, 0.1], solver=SOLVERS[kind]),
    ):
        with pytest.raises(ValueError, match="needs certificates"):
            call()


@plain
@pytest.mark.parametrize("kind", ["one slack", "n slacks", "expectations"])
def test_paths_by_solvers_with_certificates(kind):
    grid = lam_grid(Complete(1), lams=[1.0, 0.3], solver=SOLVERS[kind], tol=0.05, random_state=0)
    for lam in (1.0, 0.3):
        assert grid.gap_at(lam) <= 0.05
        primal = named_pair("complete").reference.primal(grid.coef_at(lam), lam)
        assert -EXACT <= primal - optimum("complete", lam) <= 0.05 + EXACT


@plain
@pytest.mark.parametrize("kind", ["one slack", "n slacks"])
def test_a_path_by_cutting_planes(kind):
    path = regularization_path(Complete(1), solver=SOLVERS[kind], eps=0.2, relative=False, lam_min=0.1, random_state=0)
    for lam in path.breakpoints:
        w = path.coef_at(lam)
        primal = named_pair("complete").reference.primal(w, lam)
        assert -EXACT <= primal - optimum("complete", float(lam)) <= 0.2 + EXACT


@pytest.mark.parametrize("kind", ["subgradient", "subgradient batch", "perceptron", "expectations"])
def test_compiled_agrees_with_interpreted(kind):
    compiled = run("chain", kind, 5, random_state=0)
    with interpreted():
        expected = run("chain", kind, 5, random_state=0)
    if not SOLVERS[kind].certifies:
        for result in (compiled, expected):
            assert np.all(np.isnan(result.history.pop("dual")))
    assert_close(compiled, expected)


@pytest.mark.parametrize("kind", ["one slack"])  # n slacks run the compiled loops of blocks
def test_compiled_constraints_lead_to_the_same_optimum(kind):
    # outputs in use have equal values where the problem with the constraints known is solved: rounding chooses
    compiled = run("chain", kind, 1000, random_state=0)
    assert compiled.status == "converged"
    assert -EXACT <= compiled.primal - optimum("chain") <= 1e-4
    assert compiled.dual <= optimum("chain") + EXACT
    again = run("chain", kind, 1000, random_state=0, n_jobs=2)
    assert_equal(compiled, again)
