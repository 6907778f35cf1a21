"""Subgradient methods on the primal."""  # shalev10; lacoste12

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._parameters import check_positive
from ..base import Solver
from ..parts.averaging import check_averaging
from ..parts.samplers import Sampling, as_sampling
from .engine import BatchStochasticEngine, Descent, StochasticEngine
from .rules import Decaying, Pegasos


@dataclass(frozen=True)
class Decay:
    """Steps of length ``gamma0 / (1 + k / t0)``, for :class:`Subgradient`.

    Parameters
    ----------
    gamma0 : float
        Length of the first step, below 1/lam.
    t0 : float, default=1.0
        Passes after which steps are half as long.

    Examples
    --------
    >>> from maxmargin.solvers import Decay, Subgradient
    >>> Subgradient(Decay(gamma0=0.5, t0=10))
    Subgradient(length=Decay(gamma0=0.5, t0=10))
    """

    gamma0: float
    t0: float = 1.0


class Subgradient(Solver):
    """Stochastic subgradient descent, projected where there are bounds; without a certificate.

    It knows no dual values: ``dual`` is NaN, ``gap`` infinite, and the status of a run to its end "uncertified".

    Parameters
    ----------
    length : "pegasos" or Decay, default="pegasos"
        Steps of ``1 / (lam (k + 1))``, or as a `Decay` says.
    averaging : {None, "weighted"}, default="weighted"
        Whether to keep the average of the iterates, too, weighted towards the late ones. The iterate or the average is
        returned, whichever has the lower primal value.
    batch : bool, default=False
        All samples a step instead of one.
    sampling : {"uniform", "permutation"} or Sampling, default="uniform"
        Samples drawn with replacement, or each pass a new order of all.
    gap_every : float, default=10
        Passes between two records of the history.
    lower : float, array or None, default=None
        Lower bounds on w, a number or one for each weight.
    upper : float, array or None, default=None
        Upper bounds on w.
    positive : indices, mask, slice or None, default=None
        Weights that must be >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import Subgradient
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = Subgradient().solve(problem, 0.1, max_passes=20, random_state=0)
    >>> print(result.status, result.gap)
    uncertified inf
    """

    certifies = False
    family = StochasticEngine.family

    def __init__(
        self,
        length: str | Decay = "pegasos",
        averaging: str | None = "weighted",
        *,
        batch: bool = False,
        sampling: str | Sampling = "uniform",
        gap_every: float = 10,
        lower: Any = None,
        upper: Any = None,
        positive: Any = None,
    ):
        self.length = length
        self.averaging = averaging
        self.batch = batch
        self.sampling = sampling
        self.gap_every = gap_every
        self.lower = lower
        self.upper = upper
        self.positive = positive

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> StochasticEngine:
        check_averaging(self.averaging)
        engine = BatchStochasticEngine if self.batch else StochasticEngine
        descent = Descent(
            self.rule(lam, 1 if self.batch else len(problem.weight)),
            as_sampling(self.sampling, knows_gaps=False),
            self.averaging is not None,
        )
        return engine(problem, lam, self.box(problem), n_jobs, descent)

    def rule(self, lam: float, steps: int) -> Pegasos | Decaying:
        """What `length` means where a pass is so many steps."""
        if isinstance(self.length, str) and self.length == "pegasos":
            return Pegasos()
        if not isinstance(self.length, Decay):
            raise ValueError(f'length must be "pegasos" or a Decay, got {self.length!r}')
        check_positive("gamma0", self.length.gamma0)
        check_positive("t0", self.length.t0)
        if self.length.gamma0 * lam >= 1.0:
            raise ValueError(f"gamma0 must be below 1/lam = {1 / lam:g}, got {self.length.gamma0:g}")
        return Decaying(float(self.length.gamma0), float(self.length.t0) * steps)
