"""Solve a problem whose samples lie in partitions."""

from __future__ import annotations

import numbers
from typing import Any

from sklearn.base import clone

from .._parameters import check_positive
from ..solvers import BlockFrankWolfe, Solver, get_solver
from ..solvers.engine import Engine
from ..solvers.parts.steps import traits
from .engine import RoundsEngine
from .pace import Pace
from .problem import Partitioned


class Rounds(Solver):
    """Block steps on every partition of the samples by itself, which meet in rounds: CoCoA+ with an exact line search.

    Parameters
    ----------
    steps : BlockFrankWolfe or None, default=None
        The steps that partitions take: any sampling, step, cache and acceleration. None: what ``solver="auto"`` takes.
    sigma : float, "partitions" or None, default=None
        How careful partitions are of each other, from 1, as if each were alone, to their number, "partitions", with
        which their changes always add up. None follows what the changes have in common.
    passes : float or "clock", default=1.0
        Passes of a partition over its samples in a round. "clock" follows the time that a meeting takes beside that of
        a pass, so that a seed alone does not reproduce the run.
    gap_every : float, default=10
        Passes between two certificates.
    lower : float, array or None, default=None
        Lower bounds on w.
    upper : float, array or None, default=None
        Upper bounds on w.
    positive : indices, mask, slice or None, default=None
        Weights that must be >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.distributed import Partitioned, Rounds
    >>> from maxmargin.structures import make_multiclass_problem
    >>> x, y = np.eye(6), np.array([0, 1, 2, 0, 1, 2])
    >>> halves = [make_multiclass_problem(x[some], y[some], 3) for some in (slice(0, 3), slice(3, 6))]
    >>> problem = Partitioned.of_problems(halves, [3, 3])
    >>> result = Rounds(sigma="partitions").solve(problem, 0.1, tol=1e-4, random_state=0)
    >>> print(result.status, result.history["sigma"][-1])
    converged 2.0
    """

    family = RoundsEngine.family

    def __init__(
        self,
        steps: BlockFrankWolfe | None = None,
        *,
        sigma: Any = None,
        passes: Any = 1.0,
        gap_every: float = 10,
        lower: Any = None,
        upper: Any = None,
        positive: Any = None,
    ):
        self.steps = steps
        self.sigma = sigma
        self.passes = passes
        self.gap_every = gap_every
        self.lower = lower
        self.upper = upper
        self.positive = positive

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> Engine:
        if not isinstance(problem, Partitioned):
            raise TypeError(f"Rounds is for samples in partitions, a Partitioned problem, not {type(problem).__name__}")
        k = len(problem.parts)
        return RoundsEngine(problem, lam, self.box(problem), self.chosen_steps(problem), self.pace(k))

    def chosen_steps(self, problem: Partitioned) -> BlockFrankWolfe:
        """The steps on a partition."""
        if self.steps is None:
            return whole_samples(problem.parts[0].solver)
        if not isinstance(self.steps, BlockFrankWolfe):
            raise ValueError(f"steps must be a BlockFrankWolfe or None, got {self.steps!r}")
        self.steps.check_together()
        refusals = {
            "working sets": self.steps.working_set,
            "pieces of chains": self.steps.pieces is not None,
            "lengths without line_search": not self.steps.line_search,
            "steps that begin inside": traits(self.steps.chosen_step()).begins_inside,
        }
        for what, refused in refusals.items():
            if refused:
                raise ValueError(f"{what} do not go with partitions: take others, not {self.steps!r}")
        for name in ("lower", "upper", "positive"):
            if getattr(self.steps, name) is not None:
                raise ValueError(f"bounds are those of all partitions: give {name} to Rounds, not to its steps")
        return self.steps

    def pace(self, n_partitions: int) -> Pace:
        if isinstance(self.passes, str) and self.passes == "clock":
            passes = None
        else:
            check_positive("passes", self.passes)
            passes = float(self.passes)
        return Pace(self.chosen_sigma(n_partitions), passes, n_partitions)

    def chosen_sigma(self, n_partitions: int) -> float | None:
        if self.sigma is None:
            return None
        if isinstance(self.sigma, str) and self.sigma == "partitions":
            return float(n_partitions)
        is_number = isinstance(self.sigma, numbers.Real) and not isinstance(self.sigma, bool)
        if not (is_number and self.sigma >= 1):
            raise ValueError(f'sigma must be a number >= 1, "partitions" or None, got {self.sigma!r}')
        return min(float(self.sigma), float(n_partitions))


def whole_samples(solver: Solver) -> BlockFrankWolfe:
    """What "auto" takes for a partition, as far as its steps are those of whole samples."""
    if not isinstance(solver, BlockFrankWolfe):
        return BlockFrankWolfe("gap", "weighted", step="pairwise", acceleration="catalyst")
    return clone(solver).set_params(pieces=None, working_set=False)


def as_rounds(solver: Any) -> Rounds:
    """The solver in rounds that a parameter means, which may name one for a single machine."""
    if isinstance(solver, Rounds):
        return solver
    if isinstance(solver, str) and solver == "auto":
        return Rounds()
    steps = get_solver(solver)
    if not isinstance(steps, BlockFrankWolfe):
        raise ValueError(
            f'partitions take block steps: solver must be "auto", "bcfw", "bcpfw", "bcafw", a BlockFrankWolfe or a '
            f"maxmargin.distributed.Rounds, not {solver!r}"
        )
    return Rounds(steps)
