"""Batch Frank-Wolfe on the dual."""  # lacoste13, Alg. 2

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._sums import dot
from .base import Passes, Solver, check_state, fingerprint
from .driver import Certified
from .passes import corner_pass


class FrankWolfe(Solver):
    """Batch Frank-Wolfe: every step asks all samples, and comes with the exact gap.

    Parameters
    ----------
    line_search : the exact step; False takes ``2 / (k + 2)``
    gap_every : passes between two records of the history
    """

    def __init__(self, line_search: bool = True, gap_every: float = 10):
        self.line_search = line_search
        self.gap_every = gap_every

    def start(self, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None) -> _Engine:
        return _Engine(self, Passes(problem, n_jobs), lam, state)


class FrankWolfeState(NamedTuple):
    w: np.ndarray
    loss: float  # b'alpha
    lam: float
    steps: int
    best: Certified | None
    fingerprint: int


class _Engine:
    def __init__(self, solver: FrankWolfe, passes: Passes, lam: float, state: FrankWolfeState | None):
        self.solver, self.passes, self.lam = solver, passes, lam
        self.n = self.chunk = passes.n
        self.oracle_calls = 0
        if state is None:
            state = FrankWolfeState(np.zeros(passes.dimension), 0.0, lam, 0, None, 0)
        else:
            check_state(state, FrankWolfeState, passes.problem)
        self.w = state.w * (state.lam / lam)  # the same alpha under another lam
        self.loss, self.steps = state.loss, state.steps
        self.best = state.best if state.lam == lam else None
        self.look()

    def look(self) -> None:
        """Ask all samples at the current w: the corner of the next step and the exact value of this one."""
        problem, n = self.passes.problem, self.n
        hinges, losses, self.corner_w = np.empty(n), np.empty(n), np.zeros_like(self.w)
        corner_pass(problem, self.passes.work, self.w, self.lam, hinges, losses, self.corner_w)
        self.oracle_calls += n
        self.corner_loss = dot(problem.weight, losses)
        self.primal = self.passes.primal(self.w, self.lam, hinges)

    def advance(self, n_steps: int) -> None:
        lam, direction = self.lam, self.w - self.corner_w
        gap = lam * dot(direction, self.w) - self.loss + self.corner_loss
        curvature = lam * dot(direction, direction)
        if not self.solver.line_search:
            gamma = 2.0 / (self.steps / self.n + 2.0)
        else:
            gamma = 1.0 if max(gap, 0.0) >= curvature else max(gap, 0.0) / curvature
        self.w = self.w - gamma * direction
        self.loss += gamma * (self.corner_loss - self.loss)
        self.steps += self.n
        self.look()

    def certify(self) -> list[Certified]:
        return [Certified(self.w.copy(), self.primal, self.loss - 0.5 * self.lam * dot(self.w, self.w))]

    def state(self) -> FrankWolfeState:
        return FrankWolfeState(self.w, self.loss, self.lam, self.steps, self.best, fingerprint(self.passes.problem))
