"""Which lam comes next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from ..objective import Bracket, DualPoint, Objective
from ..passes import Passes
from ..tolerance import Tolerance
from .start import Start, find_start

DEFAULT_RANGE = 1e-6  # lam_min over the first breakpoint

# Rounding must not lift the gap at the next breakpoint above eps.
ROUNDING = 1e-9


class PathEnd(StrEnum):
    """How a path ends by itself; a solver's `Status` says what else may have ended it."""

    HINGE = "hinge"  # the training hinge loss is as small as a gap may be: the last weights serve every smaller lam
    LAM_MIN = "lam_min"  # the smallest lam asked for is reached


class Step(NamedTuple):
    lam: float  # the next breakpoint, or, at the end, how far down the last weights serve
    ended: PathEnd | None


@dataclass(frozen=True)
class ApproximatePath:
    """The lowest lam for which the gap of the weights at hand is allowed; where they are, kappa times that is.

    This goes further than osokin16, (12), whose dual point is the one with the same weights: see docs/path.md.
    """

    allowed: Tolerance
    kappa: float
    lam_min: float | None  # None: set where the path begins

    def tol(self, value: float) -> float:
        """The gap a breakpoint is solved to where the objective is `value`."""
        return self.kappa * self.allowed.at(value)

    def begin(self, passes: Passes, objective: Objective, point: DualPoint, at_zero: float) -> tuple[Any, Start]:
        """What is set where the path begins, and where that is; `at_zero` is the objective without weights."""
        begun = replace(self, allowed=self.allowed.begin(at_zero))
        start = find_start(passes, objective, point, begun.tol)
        return begun if self.lam_min is not None else begun.down_to(DEFAULT_RANGE * start.lam), start

    def down_to(self, lam_min: float) -> ApproximatePath:
        return replace(self, lam_min=lam_min)

    def after(self, lam: float, bracket: Bracket) -> Step:
        lowest = min(self.allowed.reach(bracket, lam, 1.0 - ROUNDING), (1.0 - ROUNDING) * lam)
        if lowest <= 0.0:  # osokin16, Alg. 7, l. 10; its line 7 is printed the wrong way round
            return Step(0.0, PathEnd.HINGE)
        return Step(lowest, PathEnd.LAM_MIN if lowest < (self.lam_min or 0.0) else None)


@dataclass(frozen=True)
class Grid:
    """Given values."""

    lams: tuple[float, ...]  # descending
    allowed: Tolerance

    def tol(self, value: float) -> float:
        return self.allowed.at(value)

    def begin(self, passes: Passes, objective: Objective, point: DualPoint, at_zero: float) -> tuple[Any, Start]:
        return replace(self, allowed=self.allowed.begin(at_zero)), Start(self.lams[0], None, 0)

    def down_to(self, lam_min: float) -> Grid:
        raise ValueError("a grid ends at its smallest value: lam_min does not apply")

    def after(self, lam: float, bracket: Bracket) -> Step:
        smaller = [value for value in self.lams if value < lam]
        return Step(smaller[0], None) if smaller else Step(lam, PathEnd.LAM_MIN)
