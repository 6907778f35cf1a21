"""Runs over factors: passes of steps, multipliers, and a certificate from a dual point whose factors agree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...inference.maxima import new_maxima, read_maxima
from ...structures.factors import factored, lacks_room, make_room, new_factors, site_norms
from ...structures.factors.oracles import Exhaustive, Ordered, new_scratch, pair_table
from ..engine import Engine, State
from ..objective import Certified, DualPoint
from .loop import factor_pass, raise_multipliers
from .rounding import rounded
from .steps import new_outputs

# The weight of consistency, in units of a factor's curvature c_i / lam. Chosen on Cantonese and on random chains, with
# lam over three decades: from 0.3 to 1 primal values differ little, beyond they fall more slowly.
RHO = 0.5


class Settings(NamedTuple):
    """What a solver's parameters choose."""

    step: Any
    rho: float | None
    eta: float
    nu: int
    orders: bool


class FactorEngine(Engine):
    """A step is a pass over the sites and links of all samples."""

    family = "GDMM or SoftBCFW"
    kept = ("settings", "factors", "w", "mixture", "apart", "rho")

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, settings: Settings):
        super().__init__(problem, lam, box, n_jobs)
        self.settings, self.parts = settings, factored(problem)
        self.n_labels, self.norms = self.parts.cost.shape[0], site_norms(self.parts)

    @property
    def chunk(self) -> int:
        return self.n

    def begin(self) -> None:
        self.factors = make_room(new_factors(self.parts))
        self.w = np.zeros(self.passes.dimension)
        self.mixture, self.apart, self.rho = DualPoint(np.zeros(self.passes.dimension), 0.0), 0.0, self.wanted_rho()
        self.look_up()

    def wanted_rho(self) -> float:
        unit = float(np.mean(self.parts.weight)) / self.lam
        return RHO * unit if self.settings.rho is None else float(self.settings.rho)

    def resume(self, state: State) -> None:
        settings = self.settings
        super().resume(state)
        self.settings, before = settings, self.rho
        self.w *= state.lam / self.lam
        self.rho = self.wanted_rho()
        self.factors.multiplier[:] *= before / self.rho  # what they weigh stays
        self.look_up()

    def look_up(self) -> None:
        """Find again what follows from what is kept."""
        if self.settings.orders:
            self.search: Any = Ordered(new_maxima(self.n_labels))
            read_maxima(self.search.maxima, pair_table(self.parts, self.w))
        else:
            self.search = Exhaustive()
        self.scratch, self.outputs = new_scratch(self.n_labels), new_outputs(self.longest_list)

    @property
    def longest_list(self) -> int:
        return int(max(np.diff(self.factors.first).max(), np.diff(self.factors.pair_first).max(initial=0)))

    def prepare(self) -> None:
        self.visit(np.empty(0, np.int64))
        self.passes.prepare_hinges()

    def visit(self, order: np.ndarray) -> None:
        """Steps on all factors of some samples, each of which looks at a part of the labels."""
        nu = min(self.settings.nu, self.n_labels)
        part = self.draws.rng.integers(nu, size=len(self.norms)) if nu > 1 else np.zeros(len(self.norms), np.int64)
        lows, highs = part * self.n_labels // nu, (part + 1) * self.n_labels // nu
        tools = self.scratch, self.outputs, self.search, self.settings.step
        factor_pass(self.parts, self.factors, *tools, self.w, self.lam, self.rho, self.norms, order, lows, highs)

    def advance(self, n_steps: int) -> None:
        if lacks_room(self.factors):
            self.factors = make_room(self.factors)
            self.outputs = new_outputs(self.longest_list)
        self.visit(self.draws.take(self.sampling, self.n))
        self.apart = raise_multipliers(self.factors, self.settings.eta) / max(len(self.factors.ends), 1)
        self.steps += self.n
        self.oracle_calls += self.n

    def certify(self) -> list[Certified]:
        point = rounded(self.parts, self.factors, self.w, self.lam)
        self.mixture, _ = self.objective.best_between(self.mixture, point)
        return [self.value_at(self.w.copy(), self.objective.value(self.mixture))]

    def estimate(self) -> Certified:
        return Certified(self.w, np.inf, np.nan, np.nan, np.nan)

    def best_point(self) -> DualPoint:
        return self.mixture

    def extras(self) -> dict[str, float]:
        """What the factors disagree by in the mean over ends of links, and the entries that searches visit."""
        in_vain, _, searches = self.scratch.visited
        return {"violation": self.apart, "visited": in_vain / max(searches, 1)}
