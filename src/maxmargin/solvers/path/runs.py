"""One solver run at one lam of a path: certified, or as far as stale gaps tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..base import Solver
from ..driver import Limits, Snapshot, drive_unchecked
from ..keeping import NOT_KEPT
from ..objective import Certified
from ..result import Status
from ..tolerance import Absolute


class Effort(NamedTuple):
    """What a run may take; the names are those of ``Solver.solve``."""

    max_passes: float
    max_seconds: float | None
    random_state: Any
    n_jobs: int | None


class Solved(NamedTuple):
    found: Certified
    status: Status
    state: Any
    passes: float
    oracle_calls: int


def is_done(solved: Solved) -> bool:
    """Whether the tolerance is reached, as far as the run can tell."""
    return solved.status in (Status.CONVERGED, Status.UNCERTIFIED)


Run = Callable[[Solver, Any, float, float, Any, Effort, Any, Snapshot | None], Solved]


def certified(
    solver: Solver,
    problem: Any,
    lam: float,
    tol: float,
    state: Any,
    effort: Effort,
    keeper: Any = NOT_KEPT,
    begun: Snapshot | None = None,
) -> Solved:
    limits = Limits(Absolute(tol), effort.max_passes, effort.max_seconds, solver.gap_every)
    result = solver.run(problem, lam, limits, state, effort.random_state, effort.n_jobs, keeper=keeper, found=begun)
    found = Certified(result.w, result.primal, result.dual, result.dual_loss, result.dual_square)
    return Solved(found, result.status, result.state, result.n_passes, result.n_oracle_calls)


def unchecked(
    solver: Solver,
    problem: Any,
    lam: float,
    tol: float,
    state: Any,
    effort: Effort,
    keeper: Any = NOT_KEPT,
    begun: Snapshot | None = None,
) -> Solved:
    """Stale gaps decide that the tolerance is reached."""  # osokin16, App. K
    if not solver.estimates:
        raise ValueError(
            f"heuristic=True goes with steps that find corners: add safeguard=True to {solver!r}, if it can"
        )
    start, seed = (state, effort.random_state) if begun is None else (begun.state, None)
    engine = solver.start(problem, lam, start, seed, effort.n_jobs)
    limits = Limits(Absolute(tol), effort.max_passes, effort.max_seconds, solver.gap_every)
    status, passes, reached = drive_unchecked(engine, limits, state, keeper, begun)
    found = engine.estimate()
    return Solved(found._replace(w=found.w.copy()), status, reached, passes, engine.oracle_calls)
