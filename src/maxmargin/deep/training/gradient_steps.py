"""Stochastic steps on batches: `GradientSteps`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from ..._parameters import check_choice, check_count, check_finite, check_positive
from ..smoothing import as_smoothing
from .risk import Risk

OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
POWERS = {"constant": 0.0, "sqrt": 0.5, "linear": 1.0}  # of t that rates are divided by


class GradientSteps(BaseEstimator):
    """Steps along gradients of batches, an epoch at a time, by an optimiser of PyTorch.

    With ``optimizer="sgd"``, the stochastic subgradient methods that prox-linear steps are compared with.

    Parameters
    ----------
    optimizer : {"adam", "sgd"} or callable, default="adam"
        What steps are taken by; or what makes an optimiser of parameters and a rate, such as `torch.optim.AdamW`.
    rate : float, default=0.01
        Length of steps.
    schedule : {"constant", "sqrt", "linear"}, default="constant"
        Whether step t has that rate, or it divided by the root of t, or by t.
    batch_size : int, default=16
        Samples of a step.
    smoothing : {"l2", "entropy"} or None, default=None
        How hinges are smoothed; None: they are not.
    mu : float, default=1.0
        How strongly, in units of the loss.
    top_k : int, default=5
        For "l2": how many of the best outputs may share.

    See Also
    --------
    ProxLinear : Steps that make the objective smaller each time.

    Examples
    --------
    >>> from maxmargin.deep import GradientSteps
    >>> method = GradientSteps("sgd", rate=0.1, schedule="sqrt")  # SGD-t^-1/2
    """

    def __init__(
        self,
        optimizer: str | Callable[..., torch.optim.Optimizer] = "adam",
        rate: float = 0.01,
        schedule: str = "constant",
        *,
        batch_size: int = 16,
        smoothing: str | None = None,
        mu: float = 1.0,
        top_k: int = 5,
    ):
        self.optimizer = optimizer
        self.rate = rate
        self.schedule = schedule
        self.batch_size = batch_size
        self.smoothing = smoothing
        self.mu = mu
        self.top_k = top_k

    def start(self, risk: Risk, rng: np.random.Generator) -> GradientRun:
        """A run on a risk, from the weights that its network has.

        Parameters
        ----------
        risk : Risk
            What is to become small.
        rng : numpy Generator
            What batches are drawn with.

        Returns
        -------
        run : GradientRun
        """
        check_positive("rate", self.rate)
        check_finite("rate", self.rate)
        check_choice("schedule", self.schedule, POWERS)
        check_count("batch_size", self.batch_size)
        make = self.optimizer
        if isinstance(make, str):
            check_choice("optimizer", make, OPTIMIZERS)
            make = OPTIMIZERS[make]
        return GradientRun(self, make(list(risk.trained.values()), lr=self.rate), risk, rng)


class GradientRun:
    """Where stochastic steps are."""

    def __init__(self, method: GradientSteps, optimizer: Any, risk: Risk, rng: np.random.Generator):
        self.method, self.optimizer, self.risk, self.rng = method, optimizer, risk, rng
        self.smoothing = as_smoothing(method.smoothing, method.mu, method.top_k)
        self.steps = 0

    def advance(self) -> dict[str, float]:
        """An epoch; what is to be told of it."""
        order, size = self.rng.permutation(self.risk.n), self.method.batch_size
        self.risk.network.train()
        for first in range(0, self.risk.n, size):
            self.step(order[first : first + size])
        return {"objective": self.risk.value()}

    def step(self, indices: np.ndarray) -> None:
        self.steps += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.method.rate * self.steps ** -POWERS[self.method.schedule]
        self.optimizer.zero_grad()
        hinge = self.risk.hinge(self.risk.outputs(indices), indices, self.smoothing)
        square = sum(one.square().sum() for one in self.risk.trained.values())
        # a batch stands for all samples
        loss = hinge * (self.risk.n / len(indices)) + 0.5 * self.risk.lam * square
        loss.backward()
        self.optimizer.step()

    def state(self) -> dict[str, Any]:
        """What a run goes on from."""
        own = self.optimizer.state_dict()["state"]
        moments = [[number, sorted(values)] for number, values in own.items()]
        tensors = [np.array(as_numpy(own[number][name])) for number, names in moments for name in names]
        return {
            "weights": self.risk.weights().cpu().numpy(),
            "oracle_calls": self.risk.oracle_calls,
            "steps": self.steps,
            "moments": moments,
            "tensors": tensors,
            "buffers": [as_numpy(one) for one in self.risk.network.buffers()],
        }

    def resume(self, state: dict[str, Any]) -> None:
        self.risk.take(torch.from_numpy(np.array(state["weights"])).to(self.risk.weights()))
        self.risk.oracle_calls, self.steps = state["oracle_calls"], state["steps"]
        tensors = iter(state["tensors"])
        own = {
            number: {name: torch.from_numpy(np.array(next(tensors))) for name in names}
            for number, names in state["moments"]
        }
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": own})
        for one, kept in zip(self.risk.network.buffers(), state["buffers"], strict=True):
            one.copy_(torch.from_numpy(np.array(kept)))


def as_numpy(value: Any) -> np.ndarray:
    return value.detach().cpu().numpy() if isinstance(value, Tensor) else np.asarray(value)
