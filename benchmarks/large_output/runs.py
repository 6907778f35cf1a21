"""Solvers on the clock, values off it."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from maxmargin.solvers import GDMM, BlockFrankWolfe, SoftBCFW, Subgradient, get_solver
from maxmargin.solvers.kept import Kept, kept

from .._report import effort_to
from .tasks import Task, dense

GDMM_SUB, GDMM_ALL, GDMM_EXACT = "GDMM-subFMO", "GDMM exhaustive", "GDMM"
BCFW, BCFW_DENSE, AUTO, SSG = "BCFW", "BCFW dense", "auto", "SSG"
SOFT, SOFT_RHOS = "Soft-BCFW {:g}", (1.0, 10.0)  # rho in units of 1 / (lam n)
NU = 10  # parts of the labels, one of which a site's search looks at


class Run(NamedTuple):
    """What a solver reached, and when."""

    seconds: np.ndarray  # CPU seconds of steps
    passes: np.ndarray
    primal: np.ndarray  # the lowest so far
    error: np.ndarray
    extras: dict[str, float]
    w: Kept  # the last that were looked at: of many labels few have weights

    def after(self, passes: float) -> float:
        """The lowest primal value after so many passes."""
        return float(self.primal[self.passes <= passes + 1e-9][-1])

    def time_to(self, value: float) -> float:
        """Seconds to a primal value; infinite if it is not reached."""
        return effort_to(1e-12, np.maximum(self.primal - value, 0.0) + 1e-13, self.seconds)


def solvers(task: Task) -> dict[str, tuple[Any, Any]]:
    """The solvers by name, with the problem in the form that each takes."""
    unit = 1.0 / (task.lam * task.n)
    plain, all_pairs = task.problem, dense(task.problem)
    return {
        GDMM_SUB: (GDMM(nu=NU), plain),
        GDMM_EXACT: (GDMM(), plain),
        GDMM_ALL: (GDMM(search="exhaustive"), plain),
        **{SOFT.format(rho): (SoftBCFW(rho=rho * unit, nu=NU), plain) for rho in SOFT_RHOS},
        BCFW: (BlockFrankWolfe(averaging="weighted"), plain),
        BCFW_DENSE: (BlockFrankWolfe(averaging="weighted"), all_pairs),
        AUTO: (get_solver("auto", plain), plain),
        SSG: (Subgradient(), plain),
    }


def follow(solver: Any, problem: Any, task: Task, *, limit: float, most: int, goal: float = 0.0) -> Run:
    """Run a solver until it is out of seconds or passes, or has reached a primal value.

    Values are looked at after every pass up to ten, then after a tenth more each time.
    """
    engine = solver.start(problem, task.lam, None, 0, None)
    engine.prepare()
    spent, rows, done, beat, error = 0.0, [(0.0, 0.0, 1.0, np.nan)], 0, engine.n, np.nan
    while done < most and spent < limit and rows[-1][2] > goal:
        target = max(done + 1, int(done * 1.1))
        while engine.steps < min(target, most) * beat and spent < limit:
            before = time.process_time()
            engine.advance(min(beat, max(engine.chunk, beat // 20)))
            spent += time.process_time() - before
        done, found = target, None  # whose weights may be a third of a gigabyte
        found = min(engine.certify(), key=lambda one: one.primal)
        if task.error is not None:
            error = task.error(found.w)
        rows.append((spent, engine.steps / beat, min(found.primal, rows[-1][2]), error))
    seconds, passes, primal, errors = np.array(rows).T
    return Run(seconds, passes, primal, errors, engine.extras(), kept(found.w))


def optimum(task: Task, tol: float = 2e-3) -> float:
    """A primal value within a share of the optimum, by what converges surely."""
    result = get_solver("auto", task.problem).solve(
        task.problem, task.lam, tol=tol, max_passes=200, max_seconds=40, random_state=0
    )
    return result.primal
