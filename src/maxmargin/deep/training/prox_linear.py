"""The prox-linear algorithm: `ProxLinear`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator

from ..._parameters import check_choice, check_count, check_finite, check_positive
from ...solvers.smoothing.pace import Pace
from ...solvers.smoothing.sequences import WARM_STARTS
from ..checks import NoNumbers
from ..smoothing import as_smoothing
from .casimir import CasimirEpochs, SVRGEpochs
from .linearized import LinearModel, square, without_fused_kernels
from .risk import Risk

# Where mu is not given: this share of the objective at the beginning, of smoothing that stays and of one that fades.
SHARE, FIRST_SHARE = 0.02, 0.2

# Where eta is not given: at first so many times the length of a gradient step that would bring a linear objective to 0,
# then it follows what happens, after steps that were taken and after those that were not. Chosen on blood cells and
# dates, where the first one has room for 30 to 3,000 times.
FIRST, LONGER, SHORTER = 100.0, 2.0, 0.25

HALF = 0.5  # of an eta that was given, after a step that was not taken


class ProxLinear(BaseEstimator):
    """Prox-linear steps: each minimises the risk of the network linear in its weights, held near where it is.

    The linear model is minimised by SVRG or Casimir on smoothed hinges, through products with Jacobians
    (`torch.func.jvp` and `vjp`). A step is taken only if the objective, hinges not smoothed, becomes no larger. Dropout
    and the like are switched off: the objective is that of the network as it predicts.

    Parameters
    ----------
    inner_solver : {"casimir", "svrg"}, default="casimir"
        What minimises the linear model.
    eta : float or None, default=None
        Steps are held by ``1/(2 eta) |v|^2``; halved after one that was not taken. None: found at the first gradient,
        then longer after steps that are taken and shorter after those that are not.
    mu : float or None, default=None
        How strongly hinges are smoothed, in units of the loss; at first, if it fades. None: a share of the objective.
    mu_schedule : {"adaptive", "constant"}, default="adaptive"
        Whether step k is smoothed by mu / k or by mu.
    budget : int, default=5
        Epochs of the inner solver a step; each is two passes of oracle calls.
    smoothing : {"l2", "entropy"}, default="l2"
        How hinges are smoothed.
    top_k : int, default=5
        For "l2": how many of the best outputs may share.
    batch_size : int, default=16
        Samples of a step of the inner solver.
    warm_start : {"prox-center", "extrapolation", "previous"}, default="prox-center"
        Where "casimir" begins its problems.
    lipschitz : float or None, default=None
        How fast gradients change, for the lengths of inner steps: 1 over it; times k where smoothing fades. None:
        looked for.

    See Also
    --------
    GradientSteps : Stochastic subgradient steps.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from maxmargin.deep import DeepChainSVM, ProxLinear
    >>> X, y = [np.eye(2), np.eye(2)[::-1]], [["a", "b"], ["b", "a"]]
    >>> network = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ELU(), torch.nn.Linear(4, 2))
    >>> model = DeepChainSVM(network, lam=0.01, method=ProxLinear(), max_iterations=3, random_state=0).fit(X, y)
    >>> bool(np.all(np.diff(model.history_["objective"]) <= 0.0))
    True
    """  # pillutla18, Alg. 5

    def __init__(
        self,
        inner_solver: str = "casimir",
        eta: float | None = None,
        mu: float | None = None,
        mu_schedule: str = "adaptive",
        budget: int = 5,
        *,
        smoothing: str = "l2",
        top_k: int = 5,
        batch_size: int = 16,
        warm_start: str = "prox-center",
        lipschitz: float | None = None,
    ):
        self.inner_solver = inner_solver
        self.eta = eta
        self.mu = mu
        self.mu_schedule = mu_schedule
        self.budget = budget
        self.smoothing = smoothing
        self.top_k = top_k
        self.batch_size = batch_size
        self.warm_start = warm_start
        self.lipschitz = lipschitz

    def start(self, risk: Risk, rng: np.random.Generator) -> ProxLinearRun:
        """A run on a risk, from the weights that its network has.

        Parameters
        ----------
        risk : Risk
            What is to become small.
        rng : numpy Generator
            What batches are drawn with.

        Returns
        -------
        run : ProxLinearRun
        """
        return ProxLinearRun(self, self._checked_epochs(), risk, rng)

    def _checked_epochs(self) -> SVRGEpochs:
        check_choice("inner_solver", self.inner_solver, ("casimir", "svrg"))
        check_choice("mu_schedule", self.mu_schedule, ("adaptive", "constant"))
        check_choice("warm_start", self.warm_start, WARM_STARTS)
        if self.smoothing is None:
            raise ValueError('smoothing must be "l2" or "entropy": the inner solver needs gradients that do not jump')
        as_smoothing(self.smoothing, 1.0 if self.mu is None else self.mu, self.top_k)
        check_count("batch_size", self.batch_size)
        for name in ("eta", "lipschitz"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
                check_finite(name, getattr(self, name))
        budget = check_count("budget", self.budget)
        if self.inner_solver == "svrg":
            return SVRGEpochs(budget, self.lipschitz)
        return CasimirEpochs(budget, self.lipschitz, self.warm_start)


class ProxLinearRun:
    """Where prox-linear steps are."""

    def __init__(self, method: ProxLinear, epochs: SVRGEpochs, risk: Risk, rng: np.random.Generator):
        self.method, self.epochs, self.risk, self.rng = method, epochs, risk, rng
        self.k, self.value = 0, risk.value()
        share = FIRST_SHARE if method.mu_schedule == "adaptive" else SHARE
        self.mu = float(method.mu or share * (self.value or 1.0))
        self.eta = float(method.eta or 0.0)
        self.pace = Pace(1.0)
        if method.lipschitz is not None:
            self.pace.mu = self.mu

    def advance(self) -> dict[str, float]:
        """One step; what is to be told of it."""
        self.k += 1
        mu = self.mu / self.k if self.method.mu_schedule == "adaptive" else self.mu
        smoothing = as_smoothing(self.method.smoothing, mu, self.method.top_k)
        self.risk.network.eval()
        w = self.risk.weights()
        with without_fused_kernels():
            self.eta = self.eta or self.first_eta(w, smoothing)
            eta = self.eta
            model = LinearModel(self.risk, w, eta, smoothing)
            v = self.solution(model, mu)
        self.risk.take(w + v)
        value = self.risk.value()
        self.risk.oracle_calls += self.risk.n
        taken = value <= self.value  # never where it is NaN
        if taken:
            self.value = value
        else:
            self.risk.take(w)
        self.follow(taken)
        return {
            "objective": self.value,
            "prox_gradient": square(v) ** 0.5 / eta,
            "mu": mu,
            "eta": eta,
            "taken": float(taken),
        }

    def solution(self, model: LinearModel, mu: float) -> torch.Tensor:
        """What the inner solver finds; not a number where its steps were far too long."""
        try:
            return self.epochs.solve(model, self.parts(), mu, self.pace, self.rng)
        except NoNumbers:
            return torch.full_like(model.w, torch.nan)

    def follow(self, taken: bool) -> None:
        """Another eta after a step."""
        if self.method.eta is None:
            self.eta *= LONGER if taken else SHORTER
        elif not taken:
            self.eta *= HALF

    def parts(self) -> list[np.ndarray]:
        """All samples in batches, drawn anew."""
        order, size = self.rng.permutation(self.risk.n), self.method.batch_size
        return [order[first : first + size] for first in range(0, self.risk.n, size)]

    def first_eta(self, w: torch.Tensor, smoothing: Any) -> float:
        """A multiple of the length of a gradient step that would bring the objective to 0, were it linear."""
        model = LinearModel(self.risk, w, 1.0, smoothing)
        nowhere = torch.zeros_like(w)
        gradient = model.snapshot(nowhere, self.parts()).gradient + self.risk.lam * w
        return FIRST * max(self.value, 1e-12) / max(square(gradient), 1e-12)

    def state(self) -> dict[str, Any]:
        """What a run goes on from."""
        return {
            "weights": self.risk.weights().cpu().numpy(),
            "oracle_calls": self.risk.oracle_calls,
            "numbers": [self.k, self.value, self.mu, self.eta],
            "pace": dict(vars(self.pace)),
        }

    def resume(self, state: dict[str, Any]) -> None:
        self.risk.take(torch.from_numpy(np.array(state["weights"])).to(self.risk.weights()))
        self.risk.oracle_calls = state["oracle_calls"]
        self.k, self.value, self.mu, self.eta = state["numbers"]
        vars(self.pace).update(state["pace"])
