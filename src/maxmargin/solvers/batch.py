"""Runs whose steps ask all samples."""

from __future__ import annotations

import numpy as np

from .engine import Engine, State
from .objective import Certified, DualPoint


class BatchEngine(Engine):
    """Steps that ask all samples, and so come with exact values."""

    point: DualPoint
    primal: float

    @property
    def chunk(self) -> int:
        return self.n

    def resume(self, state: State) -> None:
        super().resume(state)
        self.look()

    def look(self) -> None:
        """Ask all samples at the weights of the current point: the corner of the next step, and the exact value."""
        self.w, _ = self.objective.weights(self.point)
        hinges, self.corner = self.corners()
        self.oracle_calls += self.n
        self.primal = self.passes.primal(self.w, self.lam, hinges)

    def corners(self) -> tuple[np.ndarray, DualPoint]:
        return self.passes.corners(self.w)

    def hinges(self, w: np.ndarray) -> np.ndarray:
        return self.passes.corners(w)[0]

    def best_point(self) -> DualPoint:
        return self.point

    def estimate(self) -> Certified:
        return self.objective.certified(self.w, self.primal, self.point)

    def certify(self) -> list[Certified]:
        return [self.estimate()]  # a step ends with an exact pass
