"""Batch Frank-Wolfe on the dual."""  # lacoste13, Alg. 2

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._sums import dot
from ..structures.verbs import inner
from .base import Passes, Solver, check_state, fingerprint
from .box import box_for, cut_off, same_bounds, truncate
from .driver import Certified
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
    v: np.ndarray  # A alpha
    loss: float  # b'alpha
    lam: float
    box: Any
    steps: int
    best: Certified | None
    fingerprint: int


class _Engine:
    def __init__(self, solver: FrankWolfe, passes: Passes, lam: float, state: FrankWolfeState | None):
        self.solver, self.passes, self.lam = solver, passes, lam
        self.n = self.chunk = passes.n
        self.oracle_calls, self.doubt = 0, 1
        self.certifiable = passes.certifiable
        self.box = box_for(passes.problem, solver.lower, solver.upper, solver.positive)
        if state is None:
            state = FrankWolfeState(np.zeros(passes.dimension), 0.0, lam, self.box, 0, None, 0)
        else:
            check_state(state, FrankWolfeState, passes.problem)
        self.v = state.v * (state.lam / lam)  # the same alpha under another lam
        self.loss, self.steps = state.loss, state.steps
        self.best = state.best if state.lam == lam and same_bounds(state.box, self.box) else None
        self.look()

    def look(self) -> None:
        """Ask all samples at the current w: the corner of the next step and the exact value of this one."""
        problem, n = self.passes.problem, self.n
        self.w, self.box = truncate(self.box, self.v)
        hinges, losses, self.corner_v = np.empty(n), np.empty(n), np.zeros_like(self.v)
        corner_pass(problem, self.passes.work, self.w, self.lam, hinges, losses, self.corner_v)
        self.oracle_calls += n
        self.corner_loss = dot(problem.weight, losses)
        self.primal = self.passes.primal(self.w, self.lam, hinges)

    def prepare(self) -> None:
        return None  # the first look, which every run begins with, did that

    def advance(self, n_steps: int) -> None:
        lam, direction = self.lam, self.v - self.corner_v
        gap = max(self.promise(), 0.0)
        curvature = lam * inner(self.passes.problem, direction, direction)
        if not self.solver.line_search:
            gamma = 2.0 / (self.steps / self.n + 2.0)
        else:
            gamma = 1.0 if gap >= curvature else gap / curvature
        self.v = self.v - gamma * direction
        self.loss += gamma * (self.corner_loss - self.loss)
        self.steps += self.n
        self.look()

    def promise(self) -> float:
        slope = inner(self.passes.problem, self.v - self.corner_v, self.w)
        return self.lam * slope - self.loss + self.corner_loss

    def extras(self) -> dict[str, float]:
        return {}

    def reconsider(self, record: Record) -> None:
        return None

    def certify(self) -> list[Certified]:
        square = inner(self.passes.problem, self.w, self.w)
        dual = self.loss - self.lam * (0.5 * square + cut_off(self.box, self.w))
        return [Certified(self.w, self.primal, dual)]

    def state(self) -> FrankWolfeState:
        mark = fingerprint(self.passes.problem)
        return FrankWolfeState(self.v, self.loss, self.lam, self.box, self.steps, self.best, mark)
