"""GDMM."""

from __future__ import annotations
from typing import Any
from ..base import Solver
from .engine import FactorEngine, Settings


class GDMM(Solver):
    family = FactorEngine.family
    estimates = False

    def __init__(self, rho: float | None = None, eta: float = 1.0, parts: int = 1, search: str = "ordered", gap_every: float = 5):
        self.rho = rho
        self.eta = eta
        self.parts = parts
        self.search = search
        self.gap_every = gap_every

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> FactorEngine:
        return FactorEngine(problem, lam, self.box(problem), n_jobs, Settings(self.rho, self.eta, self.parts, self.search == "exhaustive"))
