"""Online exponentiated gradient on the dual."""  # collins08

from __future__ import annotations

from typing import Any

from ..structures.needs import Need
from .base import Solver
from .block_coordinate import BlockFrankWolfe
from .engine import Engine
from .parts.inner_steps import ExponentiatedStep
from .parts.samplers import Sampling


class ExponentiatedGradient(Solver):
    """Online exponentiated gradient: dual variables are multiplied by ``exp(eta (L_i(y) + <w, phi_i(y)>))``.

    It asks for expectations: chains, trees, graphs of low tree-width, classes, and structures with an ``exp_oracle``.
    Each block has its own eta, halved until the dual value rises. With bounds on weights, or averages, take
    ``BlockFrankWolfe(step="exponentiated")``.

    Parameters
    ----------
    rate : float, default=0.1
        Eta at the start, relative to lam times the number of samples.
    sampling : {"uniform", "permutation"} or Sampling, default="permutation"
        Blocks drawn with replacement, or each pass a new order of all.
    gap_every : float, default=10
        Passes between two certificates.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import ExponentiatedGradient
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = ExponentiatedGradient().solve(problem, 0.1, tol=1e-3, random_state=0)
    >>> print(result.status, result.gap <= 1e-3)
    converged True
    """

    def __init__(self, rate: float = 0.1, sampling: str | Sampling = "permutation", gap_every: float = 10):
        self.rate = rate
        self.sampling = sampling
        self.gap_every = gap_every

    @property
    def family(self) -> str:  # type: ignore[override]
        return self.loop.family

    @property
    def estimates(self) -> bool:  # type: ignore[override]
        return self.loop.estimates

    @property
    def loop(self) -> BlockFrankWolfe:
        """The block loop with exponentiated steps."""
        return BlockFrankWolfe(self.sampling, gap_every=self.gap_every, step=ExponentiatedStep(self.rate))

    def requires(self) -> set[Need]:
        return self.loop.requires()

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> Engine:
        return self.loop.engine(problem, lam, n_jobs)
