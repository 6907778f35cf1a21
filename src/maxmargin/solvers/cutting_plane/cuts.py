"""The aggregated constraints of the one-slack formulation."""  # joachims09

from __future__ import annotations

from typing import Any

import numpy as np

from ..box import bounds_of
from ..objective import DualPoint, Objective
from .simplex import best_mixture

# The restricted problem is solved in at most so many steps, and not beyond rounding relative to the losses.
MOST_STEPS, ROUNDING = 100_000, 1e-14

# A constraint that the last so many solutions did not need is dropped.
PATIENCE = 30


class Cuts:
    """Corners of the dual, all blocks together, as vectors and losses; the first is the truth, which is all zero."""

    def __init__(self, box: Any, dimension: int):
        self.indices, self.lower, self.upper = bounds_of(box)
        self.vectors: list[Any] = [_thin(np.zeros(dimension))]
        self.losses, self.beta, self.unused = np.zeros(1), np.ones(1), np.zeros(1, np.int64)
        self.gram, self.bounded = np.zeros((1, 1)), np.zeros((1, len(self.indices)))
        self.dimension = dimension

    def under(self, objective: Objective) -> Cuts:
        """The same constraints for other bounds."""
        moved = Cuts(objective.box, self.dimension)
        for thin, loss in zip(self.vectors[1:], self.losses[1:], strict=True):
            moved.add(DualPoint(_thick(thin, self.dimension), float(loss)), objective)
        moved.beta, moved.unused = self.beta.copy(), self.unused.copy()
        return moved

    def add(self, point: DualPoint, objective: Objective) -> None:
        entries = point.vector[self.indices]
        free = point.vector.copy()
        free[self.indices] = 0.0
        products = np.array([objective.inner(_thick(one, self.dimension), free) for one in self.vectors])
        m = len(self.losses)
        gram = np.empty((m + 1, m + 1))
        gram[:m, :m], gram[m, :m], gram[:m, m] = self.gram, products, products
        gram[m, m] = objective.inner(free, free)
        self.vectors.append(_thin(point.vector))
        self.gram, self.bounded = gram, np.vstack([self.bounded, entries])
        self.losses, self.beta = np.append(self.losses, point.loss), np.append(self.beta, 0.0)
        self.unused = np.append(self.unused, 0)

    def solve(self, lam: float, tol: float) -> DualPoint:
        """The best mixture of the cuts; those that are not needed for long are dropped."""
        best_mixture(
            self.losses,
            self.gram,
            self.bounded,
            self.lower,
            self.upper,
            lam,
            max(tol, ROUNDING * np.max(self.losses)),
            MOST_STEPS,
            self.beta,
        )
        self.beta /= self.beta.sum()
        self.unused = np.where(self.beta > 0.0, 0, self.unused + 1)
        self.drop()
        vector = np.zeros(self.dimension)
        for share, (indices, values) in zip(self.beta, self.vectors, strict=True):
            if share > 0.0:
                vector[indices] += share * values
        return DualPoint(vector, float(self.beta @ self.losses))

    def drop(self) -> None:
        kept = np.flatnonzero(self.unused <= PATIENCE)
        kept = np.union1d([0], kept)
        if len(kept) < len(self.losses):
            self.vectors = [self.vectors[j] for j in kept]
            self.losses, self.beta, self.unused = self.losses[kept], self.beta[kept], self.unused[kept]
            self.gram, self.bounded = np.ascontiguousarray(self.gram[np.ix_(kept, kept)]), self.bounded[kept]


def _thin(vector: np.ndarray) -> tuple[Any, np.ndarray]:
    """Indices and values; all of them where most are not zero."""
    indices = np.flatnonzero(vector)
    return (indices, vector[indices]) if 2 * len(indices) < len(vector) else (slice(None), vector.copy())


def _thick(thin: tuple[Any, np.ndarray], dimension: int) -> np.ndarray:
    vector = np.zeros(dimension)
    vector[thin[0]] = thin[1]
    return vector
