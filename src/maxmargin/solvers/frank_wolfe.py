"""Batch Frank-Wolfe on the dual."""  # lacoste13, Alg. 2

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Solver
from .batch import BatchEngine
from .objective import DualPoint


class FrankWolfeEngine(BatchEngine):
    family = "FrankWolfe"
    kept = ("point",)

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, line_search: bool):
        super().__init__(problem, lam, box, n_jobs)
        self.line_search = line_search

    def begin(self) -> None:
        self.point = DualPoint(np.zeros(self.passes.dimension), 0.0)
        self.look()

    def advance(self, n_steps: int) -> None:
        direction, gain = self.corner.vector - self.point.vector, self.corner.loss - self.point.loss
        slope = max(gain - self.objective.inner(direction, self.w), 0.0)
        curvature = self.objective.inner(direction, direction) / self.lam
        if not self.line_search:
            gamma = 2.0 / (self.steps / self.n + 2.0)
        else:
            gamma = 1.0 if slope >= curvature else slope / curvature
        self.point = DualPoint(self.point.vector + gamma * direction, self.point.loss + gamma * gain)
        self.steps += self.n
        self.look()


class FrankWolfe(Solver):
    """Batch Frank-Wolfe: every step asks all samples, and comes with the exact gap.

    Parameters
    ----------
    line_search : bool, default=True
        The exact step; False takes ``2 / (k + 2)``.
    gap_every : float, default=10
        Passes between two records of the history.
    lower : float, array or None, default=None
        Lower bounds on w, a number or one for each weight.
    upper : float, array or None, default=None
        Upper bounds on w.
    positive : indices, mask, slice or None, default=None
        Weights that must be >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import FrankWolfe
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = FrankWolfe().solve(problem, 0.1, tol=1e-2)
    >>> print(result.status, result.gap <= 1e-2)
    converged True
    """

    family = FrankWolfeEngine.family

    def __init__(
        self,
        line_search: bool = True,
        gap_every: float = 10,
        *,
        lower: Any = None,
        upper: Any = None,
        positive: Any = None,
    ):
        self.line_search = line_search
        self.gap_every = gap_every
        self.lower = lower
        self.upper = upper
        self.positive = positive

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> FrankWolfeEngine:
        return FrankWolfeEngine(problem, lam, self.box(problem), n_jobs, bool(self.line_search))
