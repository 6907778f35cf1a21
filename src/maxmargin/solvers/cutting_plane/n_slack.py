"""A slack for each sample: constraints are outputs of single samples."""  # tsochantaridis05

from __future__ import annotations

from typing import Any

import numpy as np

from ..block_coordinate.engine import BlockEngine
from ..block_coordinate.memory import Remembered
from ..block_coordinate.samplers import Order
from .passes import memory_pass

# The restricted problem counts as solved at this share of the last gap; that is looked at after so many passes over it.
WORTH, PASSES, MOST_LOOKS = 0.1, 5, 20


class NSlackEngine(BlockEngine):
    """Passes of the oracle, between them passes that know only the outputs found so far, the working sets.

    Both are pairwise block steps, which solve the restricted quadratic program by coordinates: a new constraint is
    used as soon as it is found. Asking all samples first, as the textbook does, takes three times the passes on OCR.
    """

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.chunk = self.n

    def prepare(self) -> None:
        super().prepare()
        self.run_loop(Order(np.empty(0, np.int64)), Remembered(0.0), 0, 0)

    def advance(self, n_steps: int) -> None:
        super().advance(n_steps)
        goal = WORTH * float(np.sum(self.gaps))
        for _ in range(MOST_LOOKS):
            for _ in range(PASSES):
                self.take_steps(Order(self.rng.permutation(self.n)), self.n, Remembered(0.0))
            if self.restricted_gap() <= goal:
                return

    def restricted_gap(self) -> float:
        hinges, losses, vector = np.empty(self.n), np.empty(self.n), np.zeros_like(self.w)
        memory_pass(self.problem, self.passes.work, self.memory, self.w, hinges, losses, vector)
        return self.passes.primal(self.w, self.lam, hinges) - self.objective.dual(self.dual_point())
