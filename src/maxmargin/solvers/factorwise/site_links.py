"""Runs over sites and links."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...structures.factors import Factors, lacks_room, make_room, new_factors, site_norms
from ...structures.factors.oracles import Exhaustive, new_scratch, ordered_search
from ..objective import DualPoint
from .engine import FactorEngine
from .loop import factor_pass, raise_multipliers
from .rounding import rounded
from .settling import new_ease
from .steps import new_outputs


class SiteLinkEngine(FactorEngine):
    """Of chains, trees and relaxed graphs."""

    kept = (*FactorEngine.kept, "ease")
    counted = (*FactorEngine.counted, "scratch.visited")

    def new_duals(self) -> Factors:
        duals = make_room(new_factors(self.parts))
        self.ease = new_ease(len(duals.size), len(duals.pair_size))
        return duals

    def look_up(self) -> None:
        self.n_labels, self.norms = self.parts.cost.shape[0], site_norms(self.parts)
        self.search: Any = ordered_search(self.parts, self.w) if self.settings.orders else Exhaustive()
        self.ease = self.ease._replace(lent=self.settings.lent)
        self.scratch, self.outputs = new_scratch(self.n_labels), new_outputs(self.longest_list)

    @property
    def longest_list(self) -> int:
        return int(max(np.diff(self.factors.first).max(), np.diff(self.factors.pair_first).max(initial=0)))

    def make_room(self) -> None:
        if lacks_room(self.factors):
            self.factors = make_room(self.factors)
            self.outputs = new_outputs(self.longest_list)

    def visit(self, order: np.ndarray) -> None:
        """Of the labels, a site looks at one part, drawn anew."""
        nu, part = min(self.settings.nu, self.n_labels), np.zeros(len(self.norms), np.int64)
        if nu > 1 and len(order):  # nobody visited draws nothing: a run that goes on draws as if it had not stopped
            part = self.draws.rng.integers(nu, size=len(self.norms))
        lows, highs = part * self.n_labels // nu, (part + 1) * self.n_labels // nu
        tools = self.ease, self.scratch, self.outputs, self.search, self.settings.step
        factor_pass(self.parts, self.factors, *tools, self.w, self.lam, self.rho, self.norms, order, nu, lows, highs)

    def pull_together(self) -> float:
        return raise_multipliers(self.factors, self.settings.eta) / max(len(self.factors.ends), 1)

    def agreeing(self) -> DualPoint:
        return rounded(self.parts, self.factors, self.w, self.lam)

    def visited(self) -> float:
        """Where neither label of a pair is listed."""
        entries, _, searches = self.scratch.visited
        return entries / max(searches, 1)
