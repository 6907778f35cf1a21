"""One slack for all samples: a constraint is one output of each, summed."""  # joachims09, Alg. 3

from __future__ import annotations

from typing import Any

import numpy as np

from ..batch import BatchEngine
from ..box import same_bounds
from ..engine import State
from ..objective import DualPoint
from ..parts.memory import Memory, NoMemory, Remembered, taken_over
from .cuts import Cuts

# A constraint made of remembered outputs is taken if it cuts off this share of the last gap; so many in a row at most.
WORTH, MOST_REMEMBERED = 0.1, 50

# The restricted problem is solved to this share of the gap.
PRECISION = 1e-5


class OneSlackEngine(BatchEngine):
    """Ask all samples for a constraint, and find the best mixture of those known."""

    family = "CuttingPlane with one slack"
    kept = ("cuts", "memory", "point")
    counted = (*BatchEngine.counted, "n_remembered")

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, memory: Memory | NoMemory):
        super().__init__(problem, lam, box, n_jobs)
        self.memory, self.n_remembered, self.gap = memory, 0, np.inf

    def begin(self) -> None:
        self.cuts = Cuts(self.objective.box, self.passes.dimension)
        self.solve()
        self.look()

    def resume(self, state: State) -> None:
        self.cuts = state.cuts
        if not same_bounds(state.bounds, self.objective.box):
            self.cuts = state.cuts.under(self.objective)
        if type(state.memory) is type(self.memory):
            self.memory = taken_over(self.memory, state.memory, self.problem)
        if self.continues(state):
            self.take(state.point)
        else:
            self.solve()
        self.look()

    def advance(self, n_steps: int) -> None:
        self.cuts.add(self.corner, self.objective)
        self.solve()
        if isinstance(self.memory, Memory):
            self.use_memory()
        self.steps += self.n
        self.look()

    def use_memory(self) -> None:
        for _ in range(MOST_REMEMBERED):
            hinges, corner = self.passes.corners(self.w, Remembered(), self.memory)
            if self.passes.primal(self.w, self.lam, hinges) - self.dual <= WORTH * self.gap:
                return
            self.n_remembered += 1
            self.cuts.add(corner, self.objective)
            self.solve()

    def solve(self) -> None:
        """The best mixture of the constraints known, and its weights."""
        self.take(self.cuts.solve(self.lam, PRECISION * min(self.gap, 1.0)))

    def take(self, point: DualPoint) -> None:
        self.point = point
        self.w, _ = self.objective.weights(self.point)
        self.dual = self.objective.dual(self.point)

    def look(self) -> None:
        super().look()
        self.gap = self.primal - self.dual

    def corners(self) -> tuple[np.ndarray, DualPoint]:
        return self.passes.corners(self.w, memory=self.memory, k=self.steps)

    def extras(self) -> dict[str, float]:
        return {"constraints": len(self.cuts.losses) - 1, "remembered": self.n_remembered}
