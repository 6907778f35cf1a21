"""SVRG and Casimir on log-losses, which are smooth as they are: against the optimum, and at both speeds."""

import numpy as np
import pytest

from maxmargin.solvers import LBFGS, SVRG, Casimir, get_solver
from maxmargin.structures import make_log_loss

from .smoothing_cases import case

SOLVERS = [SVRG(None, gap_every=20), Casimir("constant", None, gap_every=20)]
NAMES = ["chain weighted", "chain masked", "tree featured", "cycle", "multiclass weighted", "ranked"]


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("solver", SOLVERS, ids=["svrg", "casimir"])
@pytest.mark.parametrize("name", NAMES)
def test_the_optimum_is_reached_and_certified(name, solver):
    problem = make_log_loss(case(name).problem)
    best = LBFGS().solve(problem, 0.3, tol=1e-9, max_passes=500)
    result = solver.solve(problem, 0.3, tol=1e-6, max_passes=2000, random_state=0)
    assert result.status == "converged"
    assert best.dual - 1e-12 <= result.primal <= best.primal + 1e-6
    assert np.all(result.history["gap"] >= result.history["primal"] - best.primal - 1e-12)


def test_compiled_agrees_with_interpreted(monkeypatch):
    problem = make_log_loss(case("multiclass weighted").problem)  # the smallest kernels, and that is what takes time
    compiled = SVRG(None).solve(problem, 0.3, tol=0, max_passes=8, random_state=0)
    monkeypatch.setattr("maxmargin._compile.kernels.runs_compiled", lambda *parts: False)
    assert SVRG(None).solve(problem, 0.3, tol=0, max_passes=8, random_state=0).w == pytest.approx(compiled.w, abs=1e-9)


def test_names_mean_what_a_problem_needs():
    hinge = case("multiclass").problem
    assert get_solver("svrg", make_log_loss(hinge)).smoothing is None and get_solver("svrg", hinge).smoothing == "l2"
    with pytest.raises(TypeError, match="log-loss"):
        SVRG().solve(make_log_loss(hinge), 0.1)
    with pytest.raises(TypeError, match="LogLoss"):
        SVRG(None).solve(hinge, 0.1)
    with pytest.raises(ValueError, match="schedule"):
        Casimir(smoothing=None).solve(make_log_loss(hinge), 0.1)
    with pytest.raises(ValueError, match="mu"):
        SVRG(None, mu=0.5).solve(make_log_loss(hinge), 0.1)
