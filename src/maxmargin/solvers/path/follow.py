"""Two ways to weights for many lam: where they are needed, or where you say."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._parameters import check_positive
from .path import Callback, Path
from .rules import ApproximatePath, Grid
from .runs import Effort, Run, certified, unchecked

LARGEST_KAPPA = 1 - 1e-6  # steps would be lost in rounding
EXACT_KAPPA, STALE_KAPPA = 0.9, 0.7  # osokin16, App. K
PAPER_GRID = tuple(2.0**k for k in range(15, -16, -1))  # osokin16, Section 5.2


def regularization_path(
    problem: Any,
    solver: Any = "auto",
    *,
    eps: float = 0.1,
    kappa: float | None = None,
    lam_min: float | None = None,
    heuristic: bool = False,
    max_passes: float = 1000,
    max_seconds: float | None = None,
    callbacks: Iterable[Callback] = (),
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Path:
    """Weights for every lam, at most `eps` above the optimum.

    Parameters
    ----------
    problem : a structure over data, built in or of your own
    solver : a solver or the name of a preset
    eps : how far above the optimum the objective may be, for any lam
    kappa : a breakpoint is solved to a gap of ``kappa eps``; what is left of eps is how far its weights serve. None
        means 0.9, or 0.7 with `heuristic`
    lam_min : where to end, unless the training hinge loss reaches eps before; None: at 1e-6 times the first breakpoint
    heuristic : let stale gaps decide that a breakpoint is solved. There is no guarantee then before ``path.certify()``
    max_passes : at most, for each breakpoint
    max_seconds : at most, for the whole path
    callbacks : called with each `Breakpoint` but the first; a true answer stops
    random_state, n_jobs : as in ``Solver.solve``
    verbose : 1 shows a progress bar
    """
    rule, run = approximately(eps, kappa, lam_min, heuristic)
    path = Path(problem, solver, rule, run, Effort(max_passes, max_seconds, random_state, n_jobs))
    return path.walk(callbacks, verbose)


def lam_grid(
    problem: Any,
    solver: Any = "auto",
    *,
    lams: Iterable[float] = PAPER_GRID,
    tol: float = 0.1,
    warm_start: bool = True,
    max_passes: float = 1000,
    max_seconds: float | None = None,
    callbacks: Iterable[Callback] = (),
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Path:
    """Solve for given values of lam, from the largest to the smallest, each to a gap of `tol`.

    The result is a `Path` with these breakpoints. Nothing is promised between them, but ``path.gap_at(lam)`` knows.

    Parameters
    ----------
    lams : the values; 2^15 ... 2^-15 if not given
    warm_start : whether each begins with the dual variables of the one before
    others : as in `regularization_path`
    """
    effort = Effort(max_passes, max_seconds, random_state, n_jobs)
    return Path(problem, solver, on_grid(lams, tol), certified, effort, warm=warm_start).walk(callbacks, verbose)


def approximately(
    eps: float, kappa: float | None, lam_min: float | None, heuristic: bool
) -> tuple[ApproximatePath, Run]:
    """The rule of an eps-approximate path, and how it is solved at a breakpoint."""
    if kappa is None:
        kappa = STALE_KAPPA if heuristic else EXACT_KAPPA
    check_positive("eps", eps)
    if not isinstance(kappa, numbers.Real) or not 0 < kappa <= LARGEST_KAPPA:
        raise ValueError(f"kappa must be a number between 0 and {LARGEST_KAPPA}, got {kappa!r}")
    if lam_min is not None:
        check_positive("lam_min", lam_min)
    return ApproximatePath(float(eps), float(kappa), lam_min), unchecked if heuristic else certified


def on_grid(lams: Iterable[float], tol: float) -> Grid:
    given = list(lams) if isinstance(lams, Iterable) else []
    are_numbers = all(isinstance(lam, numbers.Real) and not isinstance(lam, bool) and 0 < lam < np.inf for lam in given)
    if not given or not are_numbers:
        raise ValueError(f"lams must be finite numbers > 0, got {lams!r}")
    values = np.unique(np.asarray(given, np.float64))[::-1]
    check_positive("tol", tol)
    return Grid(tuple(values.tolist()), float(tol))
