"""Runs without dual values: they report primal values of their weights and averages, and no gap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..box import truncate
from ..engine import Engine, State
from ..objective import Certified
from ..parts.samplers import Sampling
from ..passes import hinge_pass
from .rules import MASS, SCALE, TOTAL, descend, importance, shrinkage, step_length


class Descent(NamedTuple):
    """What a solver's parameters choose."""

    rule: Any
    sampling: Sampling
    averages: bool


class StochasticEngine(Engine):
    """Steps on one block each; weights and averages are kept as `rules` says."""

    family = "Subgradient or Perceptron"
    kept = ("u", "late", "scales", "rule", "by_batches")
    certifies = False
    by_batches = False  # whether a step asks all samples

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, descent: Descent):
        super().__init__(problem, lam, box, n_jobs)
        self.box, self.rule, self.sampling = box, descent.rule, descent.sampling
        self.averages = descent.averages

    def begin(self) -> None:
        self.restart(np.zeros(self.passes.dimension))

    def restart(self, w: np.ndarray) -> None:
        """From given weights on, with averages of what comes."""
        self.u = truncate(self.box, w)[0]
        self.late = np.zeros(self.passes.dimension if self.averages else 0)
        self.scales = np.array([1.0, 0.0, 0.0])

    def continues(self, state: State) -> bool:
        same_averages, same_steps = bool(len(state.late)) == self.averages, state.by_batches == self.by_batches
        return super().continues(state) and type(state.rule) is type(self.rule) and same_averages and same_steps

    def resume(self, state: State) -> None:
        if self.continues(state):
            self.u, self.late, self.scales = state.u, state.late, state.scales
        else:
            self.restart(state.scales[SCALE] * state.u)

    def carried(self, state: State | None) -> Certified | None:
        return state.best if state is not None and self.continues(state) else None

    def prepare(self) -> None:
        descend(
            self.problem,
            self.passes.work,
            self.rule,
            self.box,
            self.u,
            self.late,
            self.scales,
            np.empty(0, np.int64),
            self.lam,
            self.steps,
        )
        hinge_pass(self.problem, self.passes.work, self.u, 0, 0, np.empty(0))

    def advance(self, n_steps: int) -> None:
        order = self.draws.take(self.sampling, n_steps)
        while len(order) > 0:
            parts = self.problem, self.passes.work, self.rule, self.box
            taken = descend(*parts, self.u, self.late, self.scales, order, self.lam, self.steps)
            self.steps += taken
            self.oracle_calls += taken
            order = order[taken:]
            if len(order) > 0:
                self.multiply_out()

    def multiply_out(self) -> None:
        """The factor of the weights becomes 1; sums begin anew, or their parts would outgrow them and cancel."""
        if len(self.late) > 0:
            self.late -= self.scales[TOTAL] * self.u
        self.u *= self.scales[SCALE]
        self.scales[:MASS] = 1.0, 0.0

    def weights(self) -> np.ndarray:
        return self.scales[SCALE] * self.u

    def average(self) -> np.ndarray:
        mean = (self.scales[TOTAL] * self.u - self.late) / self.scales[MASS]
        return truncate(self.box, mean)[0]  # rounding may lead out of the box

    def estimate(self) -> Certified:
        return self.uncertified(self.u, np.inf)

    def uncertified(self, w: np.ndarray, primal: float) -> Certified:
        return Certified(w, primal, np.nan, np.nan, np.nan)

    def candidates(self) -> list[np.ndarray]:
        """Weights worth returning: the last ones, and the average."""
        averaged = len(self.late) > 0 and self.scales[MASS] > 0.0
        return [self.weights(), self.average()] if averaged else [self.weights()]

    def certify(self) -> list[Certified]:
        candidates = self.candidates()
        self.oracle_calls += len(candidates) * self.n
        return [self.uncertified(w, self.passes.primal(w, self.lam)) for w in candidates]


class BatchStochasticEngine(StochasticEngine):
    """The same rules with all samples a step."""

    by_batches = True

    @property
    def chunk(self) -> int:
        return self.n

    def prepare(self) -> None:
        self.passes.prepare_corners()

    def advance(self, n_steps: int) -> None:
        k = self.steps // self.n
        _, corner = self.passes.corners(self.u)
        self.steps += self.n
        self.oracle_calls += self.n
        moved = shrinkage(self.rule, self.lam, k) * self.u + step_length(self.rule, self.lam, k) * corner.vector
        moved = truncate(self.box, moved)[0]
        if len(self.late) > 0:
            self.late += self.scales[TOTAL] * (moved - self.u)
        self.u = moved
        self.scales[TOTAL:] += importance(self.rule, k)
