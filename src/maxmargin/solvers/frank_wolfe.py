"""Batch Frank-Wolfe on the dual."""  # lacoste13, Alg. 2

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._sums import dot
from ..structures.fingerprint import fingerprint
from .base import Passes, Solver, check_state
from .box import same_bounds
from .objective import Certified, DualPoint, Objective
from .passes import corner_pass
from .result import Record


class FrankWolfe(Solver):
    """Batch Frank-Wolfe: every step asks all samples, and comes with the exact gap.

    Parameters
    ----------
    line_search : the exact step; False takes ``2 / (k + 2)``
    gap_every : passes between two records of the history
    lower, upper : bounds on w, numbers or arrays of its length
    positive : indices, mask or slice of w whose weights must be >= 0
    """

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

    def start(self, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None) -> _Engine:
        return _Engine(self, Passes(problem, n_jobs), lam, state)


class FrankWolfeState(NamedTuple):
    point: DualPoint
    lam: float
    box: Any
    steps: int
    best: Certified | None
    fingerprint: int


class _Engine:
    def __init__(self, solver: FrankWolfe, passes: Passes, lam: float, state: FrankWolfeState | None):
        self.solver, self.passes = solver, passes
        self.n = self.chunk = passes.n
        self.oracle_calls, self.doubt = 0, 1
        self.certifiable = passes.certifiable
        self.objective = Objective(passes.problem, lam, solver.box(passes.problem))
        self.point, self.steps = DualPoint(np.zeros(passes.dimension), 0.0), 0
        self.best: Certified | None = None
        if state is not None:
            check_state(state, FrankWolfeState, passes.problem)
            self.point, self.steps = state.point, state.steps
            if same_bounds(state.box, self.objective.box):
                found = state.best if state.lam == lam else self.objective.carried(state.best, state.lam)
                self.best = self.objective.improved(found, self.point)
        self.look()

    def look(self) -> None:
        """Ask all samples at the current w: the corner of the next step and the exact value of this one."""
        problem, n = self.passes.problem, self.n
        self.w, _ = self.objective.weights(self.point)
        hinges, losses, vector = np.empty(n), np.empty(n), np.zeros_like(self.w)
        corner_pass(problem, self.passes.work, self.w, hinges, losses, vector)
        self.oracle_calls += n
        self.corner = DualPoint(vector, dot(problem.weight, losses))
        self.primal = self.passes.primal(self.w, self.objective.lam, hinges)

    def prepare(self) -> None:
        return None  # the first look, which every run begins with, did that

    def advance(self, n_steps: int) -> None:
        direction, gain = self.corner.vector - self.point.vector, self.corner.loss - self.point.loss
        slope = max(gain - self.objective.inner(direction, self.w), 0.0)
        curvature = self.objective.inner(direction, direction) / self.objective.lam
        if not self.solver.line_search:
            gamma = 2.0 / (self.steps / self.n + 2.0)
        else:
            gamma = 1.0 if slope >= curvature else slope / curvature
        self.point = DualPoint(self.point.vector + gamma * direction, self.point.loss + gamma * gain)
        self.steps += self.n
        self.look()

    def estimate(self) -> Certified:
        return self.objective.certified(self.w, self.primal, self.point)

    def extras(self) -> dict[str, float]:
        return {}

    def reconsider(self, record: Record) -> None:
        return None

    def certify(self) -> list[Certified]:
        return [self.estimate()]  # a step ends with an exact pass

    def state(self) -> FrankWolfeState:
        mark = fingerprint(self.passes.problem)
        return FrankWolfeState(self.point, self.objective.lam, self.objective.box, self.steps, self.best, mark)
