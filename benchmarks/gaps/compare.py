"""Effort of one run against another's: passes to a gap, passes to a dual value, and which rate a gap falls at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .._report import effort_to
from .runs import Run

GOAL = 0.01  # of the first gap


class Leads(NamedTuple):
    """By how much a run is ahead of another after the same oracle calls; primal and dual add up to the gap's lead."""

    primal: float  # lower by
    dual: float  # higher by
    rms_hinge: float  # lower by


class Comparison(NamedTuple):
    """Two solvers over the same seeds; ratios are other / base."""

    goal: float  # the gap both go to
    base: float  # effective passes to it, median over seeds
    other: float
    ratios: np.ndarray  # of each seed
    cpu_ratio: float
    dual_ratio: float  # of passes to the highest dual value that both reach
    leads: Leads  # medians over seeds

    @property
    def ratio(self) -> float:
        return float(np.median(self.ratios))


def compare(base: list[Run], other: list[Run]) -> Comparison:
    goal = common_goal([*base, *other])
    pairs = list(zip(base, other, strict=True))
    passes = np.array([(effort(one, goal), effort(two, goal)) for one, two in pairs])
    seconds = np.array([(effort(one, goal, "seconds"), effort(two, goal, "seconds")) for one, two in pairs])
    return Comparison(
        goal,
        base=float(np.median(passes[:, 0])),
        other=float(np.median(passes[:, 1])),
        ratios=passes[:, 1] / passes[:, 0],
        cpu_ratio=float(np.median(seconds[:, 1] / seconds[:, 0])),
        dual_ratio=float(np.median([dual_effort_ratio(one, two) for one, two in pairs])),
        leads=Leads(*np.median([leads_at_equal_calls(one, two) for one, two in pairs], axis=0)),
    )


def common_goal(runs: Iterable[Run]) -> float:
    """1 % of the first gap, or the lowest gap that all runs reach."""
    return max(max(GOAL * run.gap[0], run.gap[-1]) for run in runs)


def effort(run: Run, goal: float, axis: str = "passes") -> float:
    """Effective passes (or seconds) to a gap."""
    return effort_to(goal, run.gap, getattr(run, axis))


def dual_effort_ratio(base: Run, other: Run) -> float:
    goal = min(base.dual[-1], other.dual[-1])
    return float(np.interp(goal, other.dual, other.passes) / np.interp(goal, base.dual, base.passes))


def leads_at_equal_calls(base: Run, other: Run) -> Leads:
    passes = min(base.passes[-1], other.passes[-1])
    primal, dual, rms_hinge = (
        np.interp(passes, other.passes, getattr(other, name)) - np.interp(passes, base.passes, getattr(base, name))
        for name in Leads._fields
    )
    return Leads(-primal, dual, -rms_hinge)


class Rate(NamedTuple):
    """How the gap of a run fell over the second half of its passes."""

    halving: float  # passes, if the rate is linear
    linear: float  # share of the variance of the log gap that a straight line in the passes explains
    power: float  # the exponent, if the gap falls like a power of the passes
    sublinear: float  # share explained then

    @property
    def is_linear(self) -> bool:
        return self.linear > max(0.99, self.sublinear)


def late_rate(run: Run) -> Rate:
    late = (run.passes >= 0.5 * run.passes[-1]) & (run.gap > 0)
    x, y = run.passes[late], np.log(run.gap[late])
    (slope, linear), (power, sublinear) = straight_line(x, y), straight_line(np.log(x), y)
    return Rate(np.log(0.5) / slope, linear, power, sublinear)


def straight_line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope of a straight line through the points, and the share of the variance it explains."""
    slope, offset = np.polyfit(x, y, 1)
    return float(slope), float(1 - np.var(y - slope * x - offset) / np.var(y))


def passes_a_decade(run: Run) -> np.ndarray:
    """Passes for each factor of 10 from a gap of 0.1 on: at a linear rate all the same in the end."""
    efforts = np.array([effort(run, goal) for goal in 10.0 ** -np.arange(1, 9)])
    return np.diff(efforts[np.isfinite(efforts)])
