"""Runs without dual values: they report primal values of their weights and averages, and no gap."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from .._compile import runs_compiled
from .._parameters import as_generator
from ..structures.fingerprint import fingerprint
from .base import Passes, check_state
from .block_coordinate.samplers import Draw, draw_blocks
from .box import same_bounds, truncate
from .descent import MASS, SCALE, TOTAL, descend, importance, shrinkage, step_length
from .objective import Certified
from .passes import corner_pass, hinge_pass
from .result import Record

# Beside this many steps, entering a compiled loop costs nothing.
COMPILED_CHUNK = 500


class DescentState(NamedTuple):
    """Everything a run needs to go on as if it had not stopped."""

    u: np.ndarray
    late: np.ndarray
    scales: np.ndarray
    steps: int
    rng: np.random.Generator
    order: np.ndarray  # blocks drawn but not yet visited
    best: Certified | None
    lam: float
    rule: Any
    box: Any
    fingerprint: int


class StochasticEngine:
    """See :class:`~.driver.Engine`. Steps on one block each; weights and averages are kept as `descent` says."""

    certifiable, doubt = False, 1

    def __init__(
        self, passes: Passes, lam: float, rule: Any, draw: Draw, box: Any, averages: bool, state: Any, random_state: Any
    ):
        self.passes, self.problem, self.lam, self.n = passes, passes.problem, lam, passes.n
        self.rule, self.draw, self.box = rule, draw, box
        self.chunk = COMPILED_CHUNK if runs_compiled(self.problem) else 1
        self.oracle_calls, self.steps = 0, 0
        self.best: Certified | None = None
        self.u = truncate(box, np.zeros(passes.dimension))[0]
        self.late = np.zeros(passes.dimension if averages else 0)
        self.scales = np.array([1.0, 0.0, 0.0])
        self.order = np.empty(0, np.int64)
        if state is not None:
            check_state(state, DescentState, self.problem)
            self.resume(state)
        if state is None or random_state is not None:
            self.rng, self.order = as_generator(random_state), np.empty(0, np.int64)

    def resume(self, state: DescentState) -> None:
        self.steps, self.rng, self.order = state.steps, copy.deepcopy(state.rng), state.order
        same = state.lam == self.lam and type(state.rule) is type(self.rule) and same_bounds(state.box, self.box)
        if same and len(state.late) == len(self.late):
            self.u, self.late, self.scales = state.u.copy(), state.late.copy(), state.scales.copy()
            self.best = state.best
        else:
            self.u = truncate(self.box, state.scales[SCALE] * state.u)[0]

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
        order, self.order = draw_blocks(self.draw, self.rng, self.n, self.order, n_steps)
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

    def extras(self) -> dict[str, float]:
        return {}

    def reconsider(self, record: Record) -> None:
        return None

    def candidates(self) -> list[np.ndarray]:
        """Weights worth returning: the last ones, and the average."""
        averaged = len(self.late) > 0 and self.scales[MASS] > 0.0
        return [self.weights(), self.average()] if averaged else [self.weights()]

    def certify(self) -> list[Certified]:
        candidates = self.candidates()
        self.oracle_calls += len(candidates) * self.n
        return [self.uncertified(w, self.passes.primal(w, self.lam)) for w in candidates]

    def state(self) -> DescentState:
        rng, mark = copy.deepcopy(self.rng), fingerprint(self.problem)
        kept = self.u, self.late, self.scales, self.steps, rng, self.order, self.best
        return DescentState(*kept, self.lam, self.rule, self.box, mark)


class BatchEngine(StochasticEngine):
    """The same rules with all samples a step."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.chunk = self.n
        if self.scales[SCALE] != 1.0:  # of a run by single samples
            self.multiply_out()

    def prepare(self) -> None:
        nothing = np.empty(0)
        corner_pass(self.problem, self.passes.work, self.u, nothing, nothing, self.u)

    def advance(self, n_steps: int) -> None:
        k, n = self.steps // self.n, self.n
        hinges, losses, vector = np.empty(n), np.empty(n), np.zeros_like(self.u)
        corner_pass(self.problem, self.passes.work, self.u, hinges, losses, vector)
        self.steps += n
        self.oracle_calls += n
        moved = shrinkage(self.rule, self.lam, k) * self.u + step_length(self.rule, self.lam, k) * vector
        moved = truncate(self.box, moved)[0]
        if len(self.late) > 0:
            self.late += self.scales[TOTAL] * (moved - self.u)
        self.u = moved
        self.scales[TOTAL:] += importance(self.rule, k)
