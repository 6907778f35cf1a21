"""The problem as posed, and the value of a dual point for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._compile import implements, verb
from .._sums import mix_into, mixed, way_products
from ..structures.needs import Need
from ..structures.verbs import inner, offers
from .box import Box, NoBox, clip_all, cut_off, is_cone


class DualPoint(NamedTuple):
    """All that matters of dual variables alpha; it does not depend on lam."""

    vector: np.ndarray  # lam A alpha = sum_i c_i sum_y alpha_i(y) psi_i(y)
    loss: float  # b'alpha


class DualValue(NamedTuple):
    """The value of a dual point, and what it becomes under another lam from."""

    dual: float
    loss: float  # b'alpha
    dual_square: float  # |vector|^2 of the dual point, truncated to the cone; lam does not matter


class Certified(NamedTuple):
    """Weights with their exact primal value, and the value of a dual point, see :class:`DualValue`."""

    w: Any  # an array; in the driver, and what it asks at the end, as they are kept there: `Whole` or `Few`
    primal: float
    dual: float
    loss: float
    dual_square: float


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
        w = point.vector / self.lam
        return w, clip_all(self.box, w)

    def dual(self, point: DualPoint) -> float:
        return self.value(point).dual

    def value(self, point: DualPoint) -> DualValue:
        square, multipliers = penalties(self.box, self, point)
        return DualValue(point.loss - (0.5 * square / self.lam + multipliers), point.loss, square)

    def certified(self, w: np.ndarray, primal: float, point: DualPoint) -> Certified:
        return Certified(w, primal, *self.value(point))

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

    @cached_property
    def products(self) -> Callable[[np.ndarray, np.ndarray], tuple[float, float, float]]:
        """``|start|^2``, ``<start, way>`` and ``|way|^2``, of the way from `start` to `end`."""
        # what can be bounded are coordinates, and their inner product is the plain one
        return way_products if Need.BOUNDS in offers(self.problem) else self.inner_products

    def inner_products(self, start: np.ndarray, end: np.ndarray) -> tuple[float, float, float]:
        way = end - start
        return self.inner(start, start), self.inner(start, way), self.inner(way, way)

    def best_between(self, start: DualPoint, end: DualPoint) -> tuple[DualPoint, float]:
        """The point with the highest dual value on a segment, and how far along the segment it lies."""
        share, _ = best_share(self.box, self, start, end)
        return (start, 0.0) if share == 0.0 else (along(start, end, share), share)

    def best_into(self, start: DualPoint, end: DualPoint) -> DualPoint:
        """The same point, which takes the place of `start`: there may be millions of weights."""
        share, _ = best_share(self.box, self, start, end)
        rest = 1.0 - share
        if share > 0.0:
            mix_into(start.vector, rest, start.vector, share, end.vector)
        return start._replace(loss=rest * start.loss + share * end.loss)

    def best_value(self, start: DualPoint, end: DualPoint) -> DualValue:
        """The highest dual value on a segment."""
        return best_share(self.box, self, start, end)[1]


def along(start: DualPoint, end: DualPoint, share: float) -> DualPoint:
    rest = 1.0 - share
    return DualPoint(mixed(rest, start.vector, share, end.vector), rest * start.loss + share * end.loss)


@verb
def penalties(box, objective, point):
    """``|vector|^2`` of a dual point, truncated to the box, and what the multipliers of the bounds take off its value.

    No weights are made where there is nothing to truncate.
    """


@implements(penalties, NoBox)
def _(box, objective, point):
    return objective.inner(point.vector, point.vector), 0.0


@implements(penalties, Box)
def _(box, objective, point):
    w, own = objective.weights(point)
    scaled, on_bounds = point.vector.copy(), box.indices[own.cut != 0.0]
    scaled[on_bounds] = objective.lam * w[on_bounds]
    return objective.inner(scaled, scaled), objective.lam * cut_off(own, w)


@verb
def best_share(box, objective, start, end):
    """How much of the way from a dual point to another leads to the highest dual value, and that."""


@implements(best_share, NoBox)
def _(box, objective, start, end):
    lam, gain = objective.lam, end.loss - start.loss
    square, slope, curvature = objective.products(start.vector, end.vector)
    rise, share = gain - slope / lam, 0.0
    if rise > 0.0:
        share = 1.0 if rise >= curvature / lam else rise / (curvature / lam)
    loss, square = start.loss + share * gain, max(square + share * (2.0 * slope + share * curvature), 0.0)
    return share, DualValue(loss - 0.5 * square / lam, loss, square)


@implements(best_share, Box)
def _(box, objective, start, end):
    way = end.vector - start.vector

    def slope(share: float) -> float:
        return end.loss - start.loss - objective.inner(objective.weights(along(start, end, share))[0], way)

    first, share = slope(0.0), 0.0
    if first > 0.0:
        curvature = objective.inner(way, way) / objective.lam
        share = 1.0 if first >= curvature else first / curvature
        # weights that stay on their bounds have no curvature: where some do, the way still leads up there
        if share < 1.0 and slope(share) > 1e-9 * first:
            share = _last_ascent(slope, share, 1.0)
    return share, objective.value(along(start, end, share))


def _last_ascent(slope: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling slope, positive at `low`, becomes 0; at most `high`."""
    if slope(high) >= 0.0:
        return high
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return low
