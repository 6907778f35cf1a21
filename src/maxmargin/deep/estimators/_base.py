"""What estimators that train a network share."""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import nn

from ..._parameters import check_choice, check_finite, check_not_negative
from ...solvers.keeping import described
from ...structures.fingerprint import fingerprint
from ..training import GradientSteps, Risk, train
from ..training.runs import own_draws

DTYPES = {"float32": torch.float32, "float64": torch.float64}

AT_ONCE = 256  # samples of a batch that nothing is learned from


class DeepEstimator(BaseEstimator):
    """Base of estimators that train a copy of a network."""

    module: Any
    lam: float | None
    method: Any
    max_iterations: int
    max_seconds: float | None
    tol: float
    device: Any
    dtype: str
    deterministic: bool
    random_state: Any
    verbose: int
    warm_start: bool
    checkpoint: Any
    checkpoint_every: float
    module_: nn.Module
    history_: dict[str, np.ndarray]

    def _keep(self, given: dict[str, Any]) -> None:
        for name in inspect.signature(type(self)).parameters:
            setattr(self, name, given[name])

    def _lam_for(self, n: int) -> float:
        if self.lam is None:
            return 1.0 / n
        check_not_negative("lam", self.lam)
        check_finite("lam", self.lam)
        return float(self.lam)

    def _dtype(self) -> torch.dtype:
        check_choice("dtype", self.dtype, DTYPES)
        return DTYPES[self.dtype]

    def _new_network(self, make: Callable[[nn.Module], nn.Module], *sizes: int) -> nn.Module:
        """A copy of the module, or one that is made for these sizes, made into what scores; on the device."""
        if self.warm_start and hasattr(self, "module_"):
            return copy.deepcopy(self.module_)
        with seeded(self.random_state, torch.device(self.device)):
            module = copy.deepcopy(self.module) if isinstance(self.module, nn.Module) else self._made(*sizes)
            return make(module).to(torch.device(self.device), self._dtype())

    def _made(self, *sizes: int) -> nn.Module:
        if not callable(self.module):
            raise ValueError(f"module must be a torch.nn.Module or a function that makes one, got {self.module!r}")
        made = self.module(*sizes)
        if not isinstance(made, nn.Module):
            raise ValueError(f"module must make a torch.nn.Module, but made a {type(made).__name__}")
        return made

    def _train(self, network: nn.Module, samples: Any, fitted: dict[str, Any], mark: Callable[[], int]) -> Self:
        """Train, and become what was trained: nothing changes where that fails."""
        n = len(samples.weight)
        risk = Risk(network, samples, self._lam_for(n), AT_ONCE)
        method = GradientSteps() if self.method is None else self.method
        if not hasattr(method, "start"):
            raise ValueError(f"method must be a ProxLinear or a GradientSteps, got {method!r}")

        def identity() -> dict[str, str]:
            words = {"run": type(self).__name__, "method": described(method), "lam": repr(risk.lam)}
            return {**words, "data": str(mark()), "network": str(fingerprint((risk.weights().cpu().numpy(),)))}

        with as_asked(self.deterministic):
            trained = train(
                method,
                risk,
                max_iterations=self.max_iterations,
                max_seconds=self.max_seconds,
                tol=self.tol,
                random_state=self.random_state,
                verbose=self.verbose,
                checkpoint=self.checkpoint,
                checkpoint_every=self.checkpoint_every,
                identity=identity,
            )
        for name, value in fitted.items():
            setattr(self, name, value)
        self.module_, self.lam_ = network, risk.lam
        self.history_, self.status_ = trained.history, trained.status
        self.objective_ = float(trained.history["objective"][-1]) if trained.history else risk.value()
        self.n_oracle_calls_ = risk.oracle_calls
        return self

    def _in_batches(self, sizes: np.ndarray, ask: Callable[[np.ndarray], list[Any]]) -> list[Any]:
        """Answers for all samples, those of like size asked for together, without gradients."""
        check_is_fitted(self, "module_")
        self.module_.eval()
        found: list[Any] = [None] * len(sizes)
        order = np.argsort(sizes, kind="stable")
        with torch.no_grad():
            for first in range(0, len(order), AT_ONCE):
                indices = order[first : first + AT_ONCE]
                for i, one in zip(indices, ask(indices), strict=True):
                    found[i] = one
        return found


@contextlib.contextmanager
def seeded(random_state: Any, device: torch.device) -> Iterator[None]:
    """What PyTorch draws follows from the seed, if it is a number; nobody else's drawing changes."""
    with own_draws(device):
        if isinstance(random_state, (int, np.integer)):
            torch.manual_seed(int(random_state))
        yield


@contextlib.contextmanager
def as_asked(deterministic: bool) -> Iterator[None]:
    """Only operations that give the same each time, or a warning where PyTorch has none."""
    before, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(bool(deterministic) or before, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warns)
