"""Runs over factors: passes of steps, multipliers, and a certificate from a dual point whose factors agree."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...structures.factors import factored
from ..engine import Engine, State
from ..objective import Certified, DualPoint


class Settings(NamedTuple):
    """What a solver's parameters choose."""

    step: Any
    rho: float | None
    eta: float
    nu: int
    orders: bool

    @property
    def lent(self) -> float:
        """The share of margins that multipliers may move, see :mod:`.settling`."""
        return 1.0 if self.eta > 0.0 else 0.0


class FactorEngine(Engine):
    """A step is a pass over the factors of all samples."""

    family = "GDMM or SoftBCFW"
    kept: ClassVar[tuple[str, ...]] = ("factors", "w", "mixture", "apart", "rho")
    factors: Any  # the dual state
    # The weight of consistency, in units of a factor's curvature c_i / lam. Chosen on Cantonese and on random chains,
    # with lam over three decades: from 0.3 to 1 primal values differ little, beyond they fall more slowly.
    unit_of_rho = 0.5

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, settings: Settings):
        super().__init__(problem, lam, box, n_jobs)
        self.settings, self.parts = settings, factored(problem)

    @abstractmethod
    def new_duals(self) -> Any:
        """All mass on the true outputs."""

    @abstractmethod
    def look_up(self) -> None:
        """Find again what follows from what is kept."""

    @abstractmethod
    def make_room(self) -> None:
        """Before a pass, for what that may list."""

    @abstractmethod
    def visit(self, order: np.ndarray) -> None:
        """Steps on all factors of some samples."""

    @abstractmethod
    def pull_together(self) -> float:
        """Raise the multipliers; returns what a factor and a site of it disagree by in the mean."""

    @abstractmethod
    def agreeing(self) -> DualPoint:
        """A dual point whose factors agree, near to what they are."""

    @abstractmethod
    def visited(self) -> float:
        """Entries that a search looks at, in the mean."""

    @property
    def chunk(self) -> int:
        return self.n

    def begin(self) -> None:
        self.factors, self.w = self.new_duals(), np.zeros(self.passes.dimension)
        self.mixture, self.apart, self.rho = DualPoint(np.zeros(self.passes.dimension), 0.0), 0.0, self.wanted_rho()
        self.look_up()

    def wanted_rho(self) -> float:
        unit = float(np.mean(self.parts.weight)) / self.lam
        return self.unit_of_rho * unit if self.settings.rho is None else float(self.settings.rho)

    def resume(self, state: State) -> None:
        super().resume(state)
        before, self.rho = self.rho, self.wanted_rho()
        self.w *= state.lam / self.lam
        self.factors.multiplier[:] *= before / self.rho  # what they weigh stays
        self.look_up()

    def prepare(self) -> None:
        self.visit(np.empty(0, np.int64))
        self.passes.prepare_hinges()

    def advance(self, n_steps: int) -> None:
        self.make_room()
        self.visit(self.draws.take(self.sampling, self.n))
        self.apart = self.pull_together()
        self.steps += self.n
        self.oracle_calls += self.n

    def certify(self) -> list[Certified]:
        self.mixture = self.objective.best_into(self.mixture, self.agreeing())
        w = self.w.copy()
        return [self.value_at(w, self.objective.value(self.mixture), self.hinges(w))]

    def estimate(self) -> Certified:
        return Certified(self.w, np.inf, np.nan, np.nan, np.nan)

    def best_point(self) -> DualPoint:
        return self.mixture

    def extras(self) -> dict[str, float]:
        return {"violation": self.apart, "visited": self.visited()}
