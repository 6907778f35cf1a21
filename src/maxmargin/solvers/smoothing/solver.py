"""SVRG and Casimir: their parameters, checked, and what runs need of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._parameters import check_choice, check_finite, check_positive
from ...structures.needs import Need
from ...structures.smoothing import EntropySmoothing, L2Smoothing, Unsmoothed, check_smoothing
from ..base import Solver
from ..engine import Engine
from .engine import EpochEngine
from .passes import needs_of
from .sequences import SCHEDULES, WARM_STARTS, OneProblem, ProximalProblems

# Where mu is not given, smoothing adds this share of the hinge loss at w = 0; chosen on OCR-small and WNUT-17. One that
# gets weaker may begin with more.
SHARE, FIRST_SHARE = 0.01, 0.05

WEAK = 0.1

SMOOTHINGS = ("entropy", "l2")


@dataclass(frozen=True)
class Steady:
    """One smoothed problem."""

    smoothing: Any
    share: float | None  # of the hinge loss at w = 0, where mu is to be found
    lipschitz: float | None

    def problems(self, smoothing: Any, lam: float, n: int, lipschitz: float, w: np.ndarray) -> Any:
        """What epochs work on, smoothed so at first, where gradients change so fast."""
        # weights that nothing holds: a proximal term so weak that it shortens no step
        return OneProblem(smoothing, 0.0 if lam > 0.0 else WEAK * least_kappa(n, lipschitz))


@dataclass(frozen=True)
class Accelerated(Steady):
    """A sequence of proximal ones."""

    schedule: str
    kappa: float | None
    budget: float  # epochs of a problem
    by_gradient: bool  # whether one is over when its gradient is small enough
    warm_start: str

    def found_kappa(self, lam: float, n: int, lipschitz: float) -> float | None:
        """For the next problem; without regularisation the first one's stays, as its multiples are what theory has."""
        return best_kappa(lam, n, lipschitz) if self.kappa is None and lam > 0.0 else None

    def problems(self, smoothing: Any, lam: float, n: int, lipschitz: float, w: np.ndarray) -> Any:
        kappa = best_kappa(lam, n, lipschitz) if self.kappa is None else self.kappa
        schedule = SCHEDULES[self.schedule](lam, smoothing.mu, kappa)
        return ProximalProblems(smoothing, schedule, self.budget, self.by_gradient, self.warm_start, w)


def best_kappa(lam: float, n: int, lipschitz: float) -> float:
    """With which all problems together take the fewest steps."""  # pillutla18, Prop. 29 and 31
    if lam == 0.0:
        return least_kappa(n, lipschitz)
    return lipschitz / n - lam if lipschitz > 4.0 * lam * n else lam


def least_kappa(n: int, lipschitz: float) -> float:
    return max(lipschitz, np.finfo(float).tiny) / (n + 1)


class SVRG(Solver):
    """Stochastic gradients of the smoothed objective, whose variance is reduced by full gradients.

    An epoch is a full gradient and a pass of steps, two passes of oracle calls; the mean of its iterates is where the
    next one begins. Steps touch the weights of their sample alone. The full gradient's distributions are a dual point:
    there is a certificate, whose gap does not fall below what smoothing adds, at most ``mu / 2`` for "l2" and mu times
    the logarithm of the number of outputs for "entropy". Without regularisation (``lam=0``) there is no certificate,
    and the status is "uncertified". See ``docs/smoothing.md``.

    Parameters
    ----------
    smoothing : {"l2", "entropy"}, EntropySmoothing, L2Smoothing or None, default="l2"
        How hinges are smoothed: by the squares of a distribution over the best few outputs, or by the entropy of one
        over all. None is for log-losses, which are smooth.
    mu : float or None, default=None
        How strongly, in units of the loss. None: such that it adds a hundredth of the hinge loss at w = 0.
    top_k : int, default=5
        For "l2": how many of the best outputs share. With 1 nothing is smoothed.
    lipschitz : float or None, default=None
        How fast gradients of samples change: steps are one over it, and lam. None: looked for before each epoch.
    gap_every : float, default=10
        Passes between two certificates; between them a run stops where the full gradient shows the goal reached.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import SVRG
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = SVRG(mu=0.01).solve(problem, 0.1, tol=1e-2, random_state=0)
    >>> print(result.status, result.gap <= 1e-2)
    converged True
    """  # johnson13; pillutla18, Sec. 7.2

    family = EpochEngine.family
    estimates = False
    allows_zero = True
    first_share = SHARE

    def __init__(
        self,
        smoothing: Any = "l2",
        mu: float | None = None,
        top_k: int = 5,
        *,
        lipschitz: float | None = None,
        gap_every: float = 10,
    ):
        self.smoothing = smoothing
        self.mu = mu
        self.top_k = top_k
        self.lipschitz = lipschitz
        self.gap_every = gap_every

    @property
    def kind(self) -> Need:  # type: ignore[override]
        return Need.LOG_LOSS if self.smoothing is None else Need.HINGE

    def requires(self) -> set[Need]:
        return super().requires() | needs_of(self.as_smoothing())

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> Engine:
        return EpochEngine(problem, lam, self.box(problem), n_jobs, self.settings())

    def settings(self) -> Steady:
        return Steady(**self.shared_settings())

    def shared_settings(self) -> dict[str, Any]:
        if self.lipschitz is not None:
            check_positive("lipschitz", self.lipschitz)
            check_finite("lipschitz", self.lipschitz)
        smoothing = self.as_smoothing()
        finds_mu = self.mu is None and isinstance(self.smoothing, str)
        return {
            "smoothing": smoothing,
            "share": self.first_share if finds_mu else None,
            "lipschitz": None if self.lipschitz is None else float(self.lipschitz),
        }

    def as_smoothing(self) -> Any:
        """The part; where mu is to be found, it is 1 there."""
        given = self.smoothing
        if given is None:
            if self.mu is not None:
                raise ValueError("mu is for smoothing, and smoothing=None smooths nothing")
            return Unsmoothed()
        if isinstance(given, str):
            check_choice("smoothing", given, SMOOTHINGS)
            mu = 1.0 if self.mu is None else self.mu
            given = EntropySmoothing(mu) if given == "entropy" else L2Smoothing(mu, self.top_k)
        check_smoothing(given)
        if self.mu is not None and self.mu != given.mu:
            raise ValueError(f"mu is given twice: {self.mu!r}, and in {given!r}")
        return given._replace(mu=float(given.mu))


class Casimir(SVRG):
    """SVRG on a sequence of proximal problems, whose centres are extrapolated: accelerated, and smoothed ever less.

    Without regularisation (``lam=0``) there is no certificate, and the status is "uncertified". Where problems get a
    budget, smoothing gets weaker only while it adds a good part of the gap.

    Parameters
    ----------
    schedule : {"adaptive", "constant"}, default="adaptive"
        Whether each problem is smoothed less than the last one, or all alike.
    smoothing : {"l2", "entropy"}, EntropySmoothing, L2Smoothing or None, default="l2"
        How hinges are smoothed: by the squares of a distribution over the best few outputs, or by the entropy of one
        over all. None is for log-losses, which are smooth.
    mu : float or None, default=None
        How strongly, in units of the loss; at first, if it is to become less. None: such that it adds a hundredth of
        the hinge loss at w = 0, or a twentieth if it is to become less.
    top_k : int, default=5
        For "l2": how many of the best outputs share. With 1 nothing is smoothed.
    kappa : float or None, default=None
        Weight of the proximal term, in the units of lam. None: from lam and how steep gradients are, for each problem.
    warm_start : {"prox-center", "extrapolation", "previous"}, default="prox-center"
        Where a problem is begun: at its centre, at an extrapolated solution, or at the last solution.
    inner_budget : float or None, default=None
        Epochs for each problem, at most. None: 1, or no limit with ``stop="gradient"``.
    stop : {"budget", "gradient"}, default="budget"
        Go on to the next problem after that many epochs, or as soon as the gradient of this one is small enough.
    lipschitz : float or None, default=None
        How fast gradients of samples change: steps are one over it, lam and kappa. None: looked for before each epoch.
    gap_every : float, default=10
        Passes between two certificates; between them a run stops where the full gradient shows the goal reached.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import Casimir
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = Casimir().solve(problem, 0.1, tol=1e-2, random_state=0)
    >>> print(result.status, result.gap <= 1e-2)
    converged True
    """  # pillutla18, Alg. 4

    def __init__(
        self,
        schedule: str = "adaptive",
        smoothing: Any = "l2",
        mu: float | None = None,
        top_k: int = 5,
        *,
        kappa: float | None = None,
        warm_start: str = "prox-center",
        inner_budget: float | None = None,
        stop: str = "budget",
        lipschitz: float | None = None,
        gap_every: float = 10,
    ):
        super().__init__(smoothing, mu, top_k, lipschitz=lipschitz, gap_every=gap_every)
        self.schedule = schedule
        self.kappa = kappa
        self.warm_start = warm_start
        self.inner_budget = inner_budget
        self.stop = stop

    @property
    def first_share(self) -> float:  # type: ignore[override]
        return FIRST_SHARE if self.schedule == "adaptive" else SHARE

    def settings(self) -> Accelerated:
        check_choice("schedule", self.schedule, SCHEDULES)
        check_choice("warm_start", self.warm_start, WARM_STARTS)
        check_choice("stop", self.stop, ("budget", "gradient"))
        if self.smoothing is None and self.schedule != "constant":
            raise ValueError('schedule must be "constant" where smoothing is None: there is nothing to get weaker')
        by_gradient = self.stop == "gradient"
        budget = (np.inf if by_gradient else 1.0) if self.inner_budget is None else self.inner_budget
        check_positive("inner_budget", budget)
        if self.inner_budget is not None:
            check_finite("inner_budget", self.inner_budget)
        if self.kappa is not None:
            check_positive("kappa", self.kappa)
            check_finite("kappa", self.kappa)
        return Accelerated(
            **self.shared_settings(),
            schedule=self.schedule,
            kappa=None if self.kappa is None else float(self.kappa),
            budget=float(budget),
            by_gradient=by_gradient,
            warm_start=self.warm_start,
        )
