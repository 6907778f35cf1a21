"""Runs over factors: passes of steps, multipliers, and a certificate from a dual point whose factors agree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...inference.maxima import new_maxima, read_maxima
from ...structures.factors import lacks_room, make_room, new_factors
from ...structures.factors.oracles import Exhaustive, Ordered, new_scratch, pair_table
from ...structures.rows import squared_norms
from ..engine import Engine, State
from ..objective import Certified, DualPoint
from .loop import factor_pass, raise_multipliers
from .rounding import rounded


class Settings(NamedTuple):
    """What a solver's parameters choose."""

    rho: float | None
    eta: float
    parts: int  # of the labels, one of which is searched
    exhaustive: bool


class FactorEngine(Engine):
    """A step is a pass over the sites and links of all samples."""

    family = "GDMM"
    kept = ("settings", "factors", "w", "mixture", "apart", "rho")

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, settings: Settings):
        super().__init__(problem, lam, box, n_jobs)
        self.settings = settings
        self.norms = site_norms(problem)

    @property
    def chunk(self) -> int:
        return self.n

    def begin(self) -> None:
        self.factors = make_room(new_factors(self.problem))
        self.w = np.zeros(self.passes.dimension)
        self.mixture = DualPoint(np.zeros(self.passes.dimension), 0.0)
        self.apart = 0.0
        self.rho = self.settings.rho if self.settings.rho is not None else float(np.mean(self.problem.weight)) / self.lam
        self.look_up()

    def resume(self, state: State) -> None:
        super().resume(state)
        self.look_up()

    def look_up(self) -> None:
        """What is found again from what is kept."""
        n_labels = self.problem.cost.shape[0]
        if self.settings.exhaustive:
            self.search: Any = Exhaustive()
        else:
            self.search = Ordered(new_maxima(n_labels))
            read_maxima(self.search.maxima, pair_table(self.problem, self.w))
        self.scratch = new_scratch(n_labels, self.longest_list)

    @property
    def longest_list(self) -> int:
        return int(max(np.diff(self.factors.first).max(), np.diff(self.factors.pair_first).max(initial=0)))

    def advance(self, n_steps: int) -> None:
        if lacks_room(self.factors):
            self.factors = make_room(self.factors)
            self.scratch = self.scratch._replace(points=np.zeros(self.longest_list))
        order = self.draws.take(self.sampling, self.n)
        n_labels, parts = self.problem.cost.shape[0], min(self.settings.parts, self.problem.cost.shape[0])
        part = self.draws.rng.integers(parts, size=len(self.norms))
        lows, highs = part * n_labels // parts, (part + 1) * n_labels // parts
        factor_pass(
            self.problem, self.factors, self.scratch, self.search, self.w, self.lam, self.rho, self.norms, order, lows, highs
        )
        self.apart = raise_multipliers(self.factors, self.settings.eta) / max(len(self.factors.ends), 1)
        self.steps += self.n
        self.oracle_calls += self.n

    def certify(self) -> list[Certified]:
        point = rounded(self.problem, self.factors, self.w, self.lam)
        self.mixture, _ = self.objective.best_between(self.mixture, point)
        value = self.objective.value(self.mixture)
        self.primals = [self.passes.primal(w, self.lam) for w in (self.w, point.vector / self.lam, self.mixture.vector / self.lam)]
        self.oracle_calls += 2 * self.n
        return [Certified(w.copy(), p, *value) for w,p in zip((self.w, point.vector/self.lam, self.mixture.vector / self.lam), self.primals)]

    def estimate(self) -> Certified:
        return Certified(self.w, np.inf, np.nan, np.nan, np.nan)

    def best_point(self) -> DualPoint:
        return self.mixture

    def extras(self) -> dict[str, float]:
        return {"violation": self.apart}


def site_norms(problem: Any) -> np.ndarray:
    """(N,) ``|phi|^2`` of sites, with the features that need no storing."""
    sites = problem.sites
    norms = squared_norms(sites.rows) + (sites.intercept_row >= 0)
    if sites.first_row >= 0:
        np.add.at(norms, sites.offsets[:-1], 1.0)
        np.add.at(norms, sites.offsets[1:] - 1, 1.0)
    return norms
