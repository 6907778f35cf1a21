"""What epochs of SVRG work on: the smoothed problem, or proximal ones, each smoothed less than the last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..catalyst import Extrapolation

# Smoothing is never weaker than this times what it began with: scores over mu must be numbers.
WEAKEST = 1e-12


@dataclass(frozen=True)
class Constant:
    """All problems are smoothed alike, and held alike near their centres."""  # pillutla18, Prop. 29 and 31

    lam: float
    mu: float
    kappa: float

    def mu_of(self, k: int) -> float:
        """Of problem k, counted from 1."""
        return self.mu

    def kappa_of(self, k: int) -> float:
        return self.kappa

    def accuracy_of(self, k: int) -> float:
        """How well a problem is to be solved, relative to how far its solution is from the centre."""  # delta of (26)
        if self.lam == 0.0:
            return 1.0 / (k + 1.0) ** 2
        root = np.sqrt(self.lam / (self.lam + self.kappa))
        return root / (2.0 - root)


@dataclass(frozen=True)
class Adaptive(Constant):
    """Each problem is smoothed less than the last one; where lam is 0, it is held nearer to its centre, too."""

    # pillutla18, Prop. 30 and 32
    def mu_of(self, k: int) -> float:
        if self.lam == 0.0:
            return self.mu / k
        decay = 1.0 - 0.5 * np.sqrt(self.lam / (self.lam + self.kappa))
        return self.mu * max(decay ** (0.5 * k), WEAKEST)

    def kappa_of(self, k: int) -> float:
        return self.kappa * k if self.lam == 0.0 else self.kappa


SCHEDULES: dict[str, type[Constant]] = {"constant": Constant, "adaptive": Adaptive}


class OneProblem:
    """The smoothed problem itself; an epoch's proximal term, if there is one, holds it near where it begins."""

    def __init__(self, smoothing: Any, kappa: float):
        self.smoothing, self.kappa = smoothing, kappa

    def centre_at(self, here: np.ndarray) -> np.ndarray:
        """Of the proximal term, for an epoch that begins here."""
        return here

    def is_over(self, epochs: float) -> bool:
        """Whether a problem had its epochs; this one has all."""
        return False

    def restart(self, w: np.ndarray) -> None:
        """Forget the momentum; here there is none."""

    def is_solved(self, w: np.ndarray, square: float) -> bool:
        """Whether a problem is, where its gradient at w has that squared norm; this one can be solved better."""
        return False

    def extras(self) -> dict[str, float]:
        return {"mu": self.smoothing.mu}


def at_centre(before: Any, after: Extrapolation) -> np.ndarray:
    return after.centre


def extrapolated(before: np.ndarray, after: Extrapolation) -> np.ndarray:
    return after.previous + after.kappa / (after.kappa + after.lam) * (after.centre - before)


def at_solution(before: np.ndarray, after: Extrapolation) -> np.ndarray:
    return after.previous


# Where a problem is begun, given the centre of the one before.  # pillutla18, Sec. 7.3.1
WARM_STARTS: dict[str, Callable[[np.ndarray, Extrapolation], np.ndarray]] = {
    "prox-center": at_centre,
    "extrapolation": extrapolated,
    "previous": at_solution,
}


class ProximalProblems:
    """Problems ``min_w F_mu(w) + kappa/2 |w - z|^2``, one after the other."""  # pillutla18, Alg. 4

    def __init__(
        self,
        smoothing: Any,
        schedule: Constant,
        budget: float,
        by_gradient: bool,
        warm_start: str,
        w: np.ndarray,
    ):
        self.schedule, self.budget, self.by_gradient = schedule, budget, by_gradient
        self.warm_start, self.k = warm_start, 1
        self.level = 1  # k as far as smoothing follows
        self.smoothing = smoothing._replace(mu=schedule.mu_of(1))
        self.sequence = Extrapolation(schedule.lam, schedule.kappa_of(1), w)

    @property
    def kappa(self) -> float:
        return self.sequence.kappa

    def centre_at(self, here: np.ndarray) -> np.ndarray:
        return self.sequence.centre

    def is_over(self, epochs: float) -> bool:
        return epochs >= self.budget

    def restart(self, w: np.ndarray) -> None:
        self.sequence.restart(w)

    def is_solved(self, w: np.ndarray, square: float) -> bool:  # pillutla18, (26) by the norm of the gradient
        kappa, apart = self.kappa, w - self.sequence.centre
        goal = (self.schedule.lam + kappa) * self.schedule.accuracy_of(self.k) * kappa * float(apart @ apart)
        return self.by_gradient and square <= goal

    def advance(self, w: np.ndarray, weakens: bool, kappa: float | None) -> np.ndarray:
        """Problem k is solved by w: pose the next one, smoothed less if that may be. Returns where to begin it.

        A kappa that was found for it takes the place of the schedule's own.
        """
        before, self.k = self.sequence.centre, self.k + 1
        self.level += weakens or self.by_gradient
        if kappa is not None:
            self.schedule = replace(self.schedule, kappa=kappa)
        self.sequence.advance(w, self.schedule.kappa_of(self.k))
        self.smoothing = self.smoothing._replace(mu=self.schedule.mu_of(self.level))
        return WARM_STARTS[self.warm_start](before, self.sequence)

    def extras(self) -> dict[str, float]:
        return {"mu": self.smoothing.mu, "kappa": self.kappa}
