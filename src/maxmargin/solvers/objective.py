"""The problem as posed, and the value of a dual point for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..structures.verbs import inner
from .box import cut_off, truncate


class DualPoint(NamedTuple):
    """All that matters of dual variables alpha; it does not depend on lam."""

    vector: np.ndarray  # lam A alpha = sum_i c_i sum_y alpha_i(y) psi_i(y)
    loss: float  # b'alpha


@dataclass(frozen=True)
class Objective:
    """``lam/2 |w|^2 + sum_i c_i H_i(w)`` over a box."""

    problem: Any
    lam: float
    box: Any

    def weights(self, point: DualPoint) -> tuple[np.ndarray, Any]:
        """The weights of a dual point, and what truncation cut off."""
        return truncate(self.box, point.vector / self.lam)

    def dual(self, point: DualPoint) -> float:
        w, box = self.weights(point)
        return point.loss - self.lam * (0.5 * self.inner(w, w) + cut_off(box, w))

    def inner(self, u: np.ndarray, v: np.ndarray) -> float:
        return float(inner(self.problem, u, v))

    def best_between(self, start: DualPoint, end: DualPoint) -> tuple[DualPoint, float]:
        """The point with the highest dual value on a segment, and how far along the segment it lies."""
        direction, gain = end.vector - start.vector, end.loss - start.loss

        def along(share: float) -> DualPoint:
            return DualPoint(start.vector + share * direction, start.loss + share * gain)

        def slope(share: float) -> float:
            return gain - self.inner(self.weights(along(share))[0], direction)

        first = slope(0.0)
        if first <= 0.0:
            return start, 0.0
        curvature = self.inner(direction, direction) / self.lam
        share = 1.0 if first >= curvature else first / curvature
        # weights that stay on their bounds have no curvature: where some do, the way still leads up there
        if share < 1.0 and slope(share) > 1e-9 * first:
            share = _last_ascent(slope, share, 1.0)
        return along(share), share


def _last_ascent(slope: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling slope, positive at `low`, becomes 0; at most `high`."""
    if slope(high) >= 0.0:
        return high
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return low
