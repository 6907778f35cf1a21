"""Two ways to weights for many lam: where they are needed, or where you say."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._parameters import check_positive
from ...structures import as_problem
from ...structures.fingerprint import fingerprint
from ..base import Solver
from ..keeping import EVERY, identity_of, keeper_of
from ..presets import get_solver
from ..tolerance import Absolute, Relative
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
    relative: bool = True,
    kappa: float | None = None,
    lam_min: float | None = None,
    heuristic: bool = False,
    max_passes: float = 1000,
    max_seconds: float | None = None,
    callbacks: Iterable[Callback] = (),
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    checkpoint: Any = None,
    checkpoint_every: float = EVERY,
) -> Path:
    """Weights for every lam, at most `eps` times their objective above the optimum.

    Parameters
    ----------
    problem : object
        A structure over data, built in or of your own.
    solver : str or Solver, default="auto"
        A solver with certificates, or the name of a preset.
    eps : float, default=0.1
        How far above the optimum the objective may be, for any lam: a share of the objective, and no less than that of
        a hundredth of the one without weights.
    relative : bool, default=True
        Whether eps is such a share; False takes it as it is, as Osokin et al. 2016 do.
    kappa : float or None, default=None
        A breakpoint is solved to kappa times the gap allowed; what is left of it is how far its weights serve. None
        means 0.9, or 0.7 with `heuristic`.
    lam_min : float or None, default=None
        Where to end, unless the training hinge loss is as small as the gap may be before. None: at 1e-6 times the first
        breakpoint.
    heuristic : bool, default=False
        Let stale gaps decide that a breakpoint is solved. There is no guarantee then before ``path.certify()``.
    max_passes : float, default=1000
        At most so many passes over the data for each breakpoint.
    max_seconds : float or None, default=None
        At most so many seconds for the whole path.
    callbacks : iterable of callables, default=()
        Called with each `Breakpoint` but the first; a true answer stops.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Threads, for exact passes and, where that is known, for steps; -1 for all cores.
    verbose : int, default=0
        1 shows a progress bar.
    checkpoint : str, path or None, default=None
        A file to keep the path in, now and then and at its end; where there is one already of the same path, it goes on
        from there. See ``docs/continued_training.md``.
    checkpoint_every : float, default=60.0
        Seconds between two writes, at least.

    Returns
    -------
    path : Path
        Ask it for the weights of a lam with ``path.coef_at(lam)``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import regularization_path
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> path = regularization_path(problem, "bcpfw", eps=0.1, lam_min=0.01, random_state=0)
    >>> path.ended, bool(path.worst_relative_gap <= 0.1)
    ('hinge', True)
    >>> path.coef_at(0.05).shape  # weights for any lam
    (15,)
    """
    rule, run = approximately(eps, relative, kappa, lam_min, heuristic)
    problem, effort = as_problem(problem), Effort(max_passes, max_seconds, random_state, n_jobs)
    solver = get_solver(solver, problem)
    keeper = keeper_of_path(checkpoint, checkpoint_every, problem, solver, effort, rule, run, True)
    return Path(problem, solver, rule, run, effort, keeper=keeper).walk(callbacks, verbose)


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
    checkpoint: Any = None,
    checkpoint_every: float = EVERY,
) -> Path:
    """Solve for given values of lam, from the largest to the smallest, each to a gap of `tol`.

    The result is a `Path` with these breakpoints. Nothing is promised between them, but ``path.gap_at(lam)`` knows.

    Parameters
    ----------
    problem : object
        A structure over data, built in or of your own.
    solver : str or Solver, default="auto"
        A solver with certificates, or the name of a preset.
    lams : iterable of float, default=(2**15, 2**14, ..., 2**-15)
        The values, in any order.
    tol : float, default=0.1
        The certified gap each is solved to.
    warm_start : bool, default=True
        Whether each begins with the dual variables of the one before.
    max_passes : float, default=1000
        At most so many passes over the data for each breakpoint.
    max_seconds : float or None, default=None
        At most so many seconds for the whole path.
    callbacks : iterable of callables, default=()
        Called with each `Breakpoint`; a true answer stops.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Threads, for exact passes and, where that is known, for steps; -1 for all cores.
    verbose : int, default=0
        1 shows a progress bar.
    checkpoint : str, path or None, default=None
        A file to keep the path in, now and then and at its end; where there is one already of the same path, it goes on
        from there. See ``docs/continued_training.md``.
    checkpoint_every : float, default=60.0
        Seconds between two writes, at least.

    Returns
    -------
    path : Path
        With the values as its breakpoints.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import lam_grid
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> path = lam_grid(problem, "bcpfw", lams=[0.01, 0.1, 1.0], tol=1e-3, random_state=0)
    >>> path.breakpoints.tolist(), bool(path.gaps.max() <= 1e-3)
    ([1.0, 0.1, 0.01], True)
    """
    problem, rule = as_problem(problem), on_grid(lams, tol)
    solver, effort = get_solver(solver, problem), Effort(max_passes, max_seconds, random_state, n_jobs)
    keeper = keeper_of_path(checkpoint, checkpoint_every, problem, solver, effort, rule, certified, warm_start)
    return Path(problem, solver, rule, certified, effort, warm=warm_start, keeper=keeper).walk(callbacks, verbose)


def keeper_of_path(
    path: Any, every: float, problem: Any, solver: Solver, effort: Effort, rule: Any, run: Run, warm: bool
) -> Any:
    """What keeps a path on its way, given all that tells it from others."""
    words = {"rule": rule, "way": run.__name__, "warm_start": warm}
    return keeper_of(
        path, every, lambda: identity_of("path", solver, fingerprint(problem), effort.random_state, **words)
    )


def approximately(
    eps: float, relative: bool, kappa: float | None, lam_min: float | None, heuristic: bool
) -> tuple[ApproximatePath, Run]:
    """The rule of an eps-approximate path, and how it is solved at a breakpoint."""
    if kappa is None:
        kappa = STALE_KAPPA if heuristic else EXACT_KAPPA
    check_positive("eps", eps)
    if not isinstance(kappa, numbers.Real) or not 0 < kappa <= LARGEST_KAPPA:
        raise ValueError(f"kappa must be a number between 0 and {LARGEST_KAPPA}, got {kappa!r}")
    if lam_min is not None:
        check_positive("lam_min", lam_min)
    allowed = Relative(float(eps)) if relative else Absolute(float(eps))
    return ApproximatePath(allowed, float(kappa), lam_min), unchecked if heuristic else certified


def on_grid(lams: Iterable[float], tol: float) -> Grid:
    given = list(lams) if isinstance(lams, Iterable) else []
    are_numbers = all(isinstance(lam, numbers.Real) and not isinstance(lam, bool) and 0 < lam < np.inf for lam in given)
    if not given or not are_numbers:
        raise ValueError(f"lams must be finite numbers > 0, got {lams!r}")
    values = np.unique(np.asarray(given, np.float64))[::-1]
    check_positive("tol", tol)
    return Grid(tuple(values.tolist()), Absolute(float(tol)))
