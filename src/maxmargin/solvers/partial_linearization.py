"""Partial linearization of the dual: block steps to expectations."""  # mohapatra16

from __future__ import annotations

from typing import Any

from ..structures.needs import Need
from .base import Solver
from .block_coordinate import BlockFrankWolfe
from .catalyst import Catalyst
from .engine import Engine
from .parts.inner_steps import ExpectationStep
from .parts.samplers import Sampling


class PartialLinearization(Solver):
    """Block-coordinate partial linearization: block Frank-Wolfe whose steps lead to expectations at temperature tau.

    It asks for expectations: chains, trees, graphs of low tree-width, classes, and structures with an ``exp_oracle``.
    Of every block that moved it keeps the distribution: the marginals of all links, K^2 numbers each. See
    ``docs/partial_linearization.md``.

    Parameters
    ----------
    tau : float or None, default=None
        The temperature, in units of the loss: towards 0 the steps become those of block Frank-Wolfe. None: 0.05 times
        the mean largest loss.
    sampling : {"uniform", "permutation", "gap", "active"} or Sampling, default="permutation"
        How blocks are drawn. By gaps: those of the last certificate, and since then what an expectation gains, which is
        less; with `safeguard` they are exact.
    averaging : {None, "weighted"}, default=None
        Whether to keep the average of the iterates, too.
    safeguard : bool, default=False
        Ask for the corner, too, and go there where that gains more; of a structure of your own, for the sake of exact
        gaps alone.
    acceleration : {None, "catalyst"} or Catalyst, default=None
        Solve a sequence of proximal problems; with exact gaps, as with `safeguard`.
    gap_every : float, default=10
        Passes between two certificates.
    lower : float, array or None, default=None
        Lower bounds on w, a number or one for each weight.
    upper : float, array or None, default=None
        Upper bounds on w.
    positive : indices, mask, slice or None, default=None
        Weights that must be >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import PartialLinearization
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = PartialLinearization(tau=0.1).solve(problem, 0.1, tol=1e-3, random_state=0)
    >>> print(result.status, result.gap <= 1e-3)
    converged True
    """

    def __init__(
        self,
        tau: float | None = None,
        sampling: str | Sampling = "permutation",
        averaging: str | None = None,
        *,
        safeguard: bool = False,
        acceleration: str | Catalyst | None = None,
        gap_every: float = 10,
        lower: Any = None,
        upper: Any = None,
        positive: Any = None,
    ):
        self.tau = tau
        self.sampling = sampling
        self.averaging = averaging
        self.safeguard = safeguard
        self.acceleration = acceleration
        self.gap_every = gap_every
        self.lower = lower
        self.upper = upper
        self.positive = positive

    @property
    def family(self) -> str:  # type: ignore[override]
        return self.loop.family

    @property
    def estimates(self) -> bool:  # type: ignore[override]
        return self.loop.estimates

    @property
    def loop(self) -> BlockFrankWolfe:
        """The block loop with expectation steps."""
        parameters = self.get_params(deep=False)
        step = ExpectationStep(parameters.pop("tau"))
        return BlockFrankWolfe(step=step, **parameters)

    def requires(self) -> set[Need]:
        return self.loop.requires()

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> Engine:
        return self.loop.engine(problem, lam, n_jobs)
