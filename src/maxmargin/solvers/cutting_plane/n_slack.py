"""A slack for each sample: constraints are outputs of single samples."""  # tsochantaridis05

from __future__ import annotations

from typing import Any

import numpy as np

from ..block_coordinate.engine import BlockEngine
from ..block_coordinate.memory import doubled
from ..block_coordinate.samplers import Order
from ..objective import Certified
from .passes import memory_pass, oracle_pass

# The restricted problem counts as solved at this share of the last gap; that is looked at after so many passes over it.
WORTH, PASSES, MOST_LOOKS = 0.1, 5, 20


class NSlackEngine(BlockEngine):
    """Passes of the oracle, between them passes of pairwise block steps that know only the outputs found so far.

    These outputs are the working sets; the steps over them solve the restricted quadratic program by coordinates.
    """

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.chunk = self.n
        self.look()

    def advance(self, n_steps: int) -> None:
        self.solve_restricted()
        self.steps += self.n
        self.look()

    def solve_restricted(self) -> None:
        goal = WORTH * (self.primal - self.dual())
        for _ in range(MOST_LOOKS):
            for _ in range(PASSES):
                self.take_steps(Order(self.rng.permutation(self.n)), self.n, self.parts.cache)
            if self.restricted_gap() <= goal:
                return

    def restricted_gap(self) -> float:
        hinges, losses, vector = np.empty(self.n), np.empty(self.n), np.zeros_like(self.w)
        memory_pass(self.problem, self.passes.work, self.memory, self.w, hinges, losses, vector)
        return self.passes.primal(self.w, self.lam, hinges) - self.dual()

    def dual(self) -> float:
        return self.objective.dual(self.dual_point())

    def look(self) -> None:
        """Ask all samples at the current w: new constraints, and the exact value."""
        if self.memory.mass.shape[1] < self.memory.limit and np.any(np.all(self.memory.mass > 0.0, axis=1)):
            self.memory = doubled(self.memory, self.problem)
        hinges, losses, vector = np.empty(self.n), np.empty(self.n), np.zeros_like(self.w)
        oracle_pass(self.problem, self.passes.work, self.memory, self.w, self.steps, hinges, losses, vector)
        self.oracle_calls += self.n
        self.primal = self.passes.primal(self.w, self.lam, hinges)

    def prepare(self) -> None:
        self.run_loop(Order(np.empty(0, np.int64)), self.parts.cache, 0, 0)

    def estimate(self) -> Certified:
        return self.objective.certified(self.w.copy(), self.primal, self.dual_point())

    def certify(self) -> list[Certified]:
        return [self.estimate()]  # a step ends with an exact pass
