"""The problem as posed, and the value of a dual point for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..structures.verbs import inner
from .box import cut_off, is_cone, truncate


class DualPoint(NamedTuple):
    """All that matters of dual variables alpha; it does not depend on lam."""

    vector: np.ndarray  # lam A alpha = sum_i c_i sum_y alpha_i(y) psi_i(y)
    loss: float  # b'alpha


class Certified(NamedTuple):
    """Weights with their exact primal value, and the value of a dual point with its loss."""

    w: np.ndarray
    primal: float
    dual: float
    loss: float  # b'alpha
    dual_square: float  # |vector|^2 of the dual point, truncated to the cone; lam does not matter


class Bracket(NamedTuple):
    """Weights and a dual point as far as their values under any lam depend on them; without bounds or over a cone.

    Of the dual points on the way to the one with all mass on the true outputs, whose dual value is 0, the best one
    counts: it has a share rho of both loss and vector, so its value is ``rho loss - rho^2 dual_square / (2 lam)``.
    """

    square: float  # |w|^2
    hinge: float  # sum_i c_i H_i(w)
    loss: float  # b'alpha
    dual_square: float  # |vector|^2 of the dual point, truncated to the cone

    def primal(self, lam: float) -> float:
        return 0.5 * lam * self.square + self.hinge

    def share(self, lam: float) -> float:
        return 1.0 if lam * self.loss >= self.dual_square else max(lam * self.loss / self.dual_square, 0.0)

    def dual(self, lam: float) -> float:
        if self.dual_square == 0.0:
            return max(self.loss, 0.0)
        rho = self.share(lam)
        return rho * (self.loss - 0.5 * rho * self.dual_square / lam) if rho > 0.0 else 0.0

    def gap(self, lam: float) -> float:
        """Convex in lam: primal values are linear, dual ones concave."""
        return self.primal(lam) - self.dual(lam)

    def reach(self, eps: float) -> float:
        """The lowest lam at which the gap is at most eps; infinite if there is none.

        Below ``lam = dual_square / loss`` the gap is linear in lam, and it is the hinge at 0. Above, the condition is
        ``lam square/2 + dual_square/(2 lam) <= loss + eps - hinge``, which is quadratic.
        """
        if self.hinge <= eps or (self.dual_square == 0.0 and self.hinge - self.loss <= eps):
            return 0.0
        if self.loss <= 0.0 or self.dual_square == 0.0:
            return np.inf
        between = self.dual_square / self.loss
        if self.gap(between) <= eps:
            return 2.0 * (self.hinge - eps) / (self.loss**2 / self.dual_square - self.square)
        spare = self.loss + eps - self.hinge
        square_root = spare**2 - self.square * self.dual_square
        if spare <= 0.0 or square_root < 0.0:
            return np.inf
        lowest = self.dual_square / (spare + np.sqrt(square_root))
        return float(lowest) if lowest >= between else np.inf


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
        return self.certified(point.vector, 0.0, point).dual

    def certified(self, w: np.ndarray, primal: float, point: DualPoint) -> Certified:
        own, box = self.weights(point)
        square, scaled = self.inner(own, own), self.lam * own  # lam^2 alone may be no number
        dual = point.loss - self.lam * (0.5 * square + cut_off(box, own))
        return Certified(w, primal, dual, point.loss, self.inner(scaled, scaled))

    def bracket(self, found: Certified) -> Bracket:
        square = self.inner(found.w, found.w)
        # rounding may leave -1e-17
        hinge = max(found.primal - 0.5 * self.lam * square, 0.0)
        return Bracket(square, hinge, found.loss, found.dual_square)

    def carried(self, found: Certified | None, lam: float) -> Certified | None:
        """What was found under another lam and the same bounds, for this one; None if its dual point has no value."""
        if found is None or not is_cone(self.box):
            return None
        bracket = replace(self, lam=lam).bracket(found)
        share = bracket.share(self.lam)
        values = bracket.primal(self.lam), bracket.dual(self.lam)
        return Certified(found.w, *values, share * found.loss, share**2 * found.dual_square)

    def improved(self, found: Certified | None, point: DualPoint) -> Certified | None:
        """What was found, with a dual point if that is better."""
        if found is None or self.dual(point) <= found.dual:
            return found
        return self.certified(found.w, found.primal, point)

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
