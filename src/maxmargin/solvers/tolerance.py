"""How large the gap of weights may be: a number, a share of their primal value, or what leaves scores alone."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Any

from .objective import Bracket

# A relative gap is that of an objective of this share of the one without weights, at least: where the hinge loss is
# practically 0, all there is to learn has been learned.
LEAST = 1e-2


@dataclass(frozen=True)
class Absolute:
    """A gap of `eps`, under every lam."""  # osokin16, Section 4

    eps: float

    def begin(self, at_zero: float) -> Absolute:
        return self

    def at(self, value: float) -> float:
        return self.eps

    def reach(self, bracket: Bracket, lam: float, share: float) -> float:
        """The lowest lam down to which weights serve that serve at `lam`; `share` of the gap is used up."""
        return bracket.reach(share * self.eps)


@dataclass(frozen=True)
class Relative:
    """A gap of `eps` times the primal value, or of `least` where that is more.

    ``gap(lam) <= eps primal(lam)`` says that ``(1 - eps) primal(lam) - dual(lam) <= 0``: the gap of weights with
    1 - eps times their square and hinge loss, against 0. So it holds on an interval of lam, too, and its lower end is
    the root of the same quadratic; see docs/path.md.
    """

    eps: float
    least: float | None = None  # None: set where the path begins

    def begin(self, at_zero: float) -> Relative:
        return self if self.least is not None else replace(self, least=LEAST * self.eps * at_zero)

    def at(self, value: float) -> float:
        return max(self.eps * value, self.least or 0.0)

    def reach(self, bracket: Bracket, lam: float, share: float) -> float:
        """As far as the share of the primal value goes, and from there on as far as `least` does."""
        kept, least, lowest = 1.0 - share * self.eps, share * (self.least or 0.0), lam
        if kept * bracket.primal(lam) <= bracket.dual(lam):
            shrunk = bracket._replace(square=kept * bracket.square, hinge=kept * bracket.hinge)
            lowest = min(shrunk.reach(0.0), lam)
        return min(bracket.reach(least), lowest) if lowest > 0.0 and bracket.gap(lowest) <= least else lowest


Tolerance = Absolute | Relative


@dataclass(frozen=True)
class Sensible:
    """A gap of `most`, or of a `share` of the primal value where that is less, but never less than `least`.

    With a hinge loss of 0.05 a gap of 0.01 leaves scores to chance; where all of it is 0.001, there is nothing to gain.
    """

    share: float = 0.05
    most: float = 1e-2
    least: float = 1e-3

    def at(self, value: float) -> float:
        return min(max(self.share * value, self.least), self.most)


Goal = Tolerance | Sensible


def as_goal(tol: Any) -> Goal:
    """What a user's `tol` means; None is a rule, and a goal is what it is."""
    if tol is None:
        return Sensible()
    if isinstance(tol, Goal):
        return tol
    if isinstance(tol, bool) or not isinstance(tol, numbers.Real) or not float(tol) >= 0:
        raise ValueError(f"tol must be a number >= 0 or None, got {tol!r}")
    return Absolute(float(tol))
