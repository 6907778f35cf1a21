"""What is minimised: ``lam/2 |w|^2`` and the mean hinge of the outputs that a network gives for its samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from ..checks import NoNumbers


class Samples(Protocol):
    """Samples of one structure, on the device of the network."""

    weight: Tensor  # (n,) that add up to 1
    sizes: np.ndarray  # (n,) how large each is, to put alike ones together

    def inputs(self, indices: np.ndarray) -> tuple[Any, ...]:
        """What the network is called with for some samples."""

    def hinges(self, outputs: tuple[Tensor, ...], indices: np.ndarray, smoothing: Any) -> Tensor:
        """(B,) the hinges, smoothed or not, of what the network gave for them; differentiable."""


class Risk:
    """The regularised risk of a network, ``F(w) = lam/2 |w|^2 + sum_i c_i H_i(w)``; w are all weights that it trains.

    Parameters
    ----------
    network : torch.nn.Module
        Gives a tensor, or a tuple of tensors, for the inputs of samples.
    samples : Samples
        What it is trained with: its `inputs`, `hinges`, `weight` and `sizes`.
    lam : float
        Regularisation, >= 0.
    at_once : int, default=256
        Samples of a batch in passes over all of them.

    Attributes
    ----------
    oracle_calls : int
        Samples whose hinges were asked for, those of `value` not counted.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from maxmargin.deep.training import Risk
    >>> class Squares:  # any hinges will do: here that of a number to be large
    ...     weight, sizes = torch.full((2,), 0.5), np.ones(2)
    ...     def inputs(self, indices):
    ...         return (torch.ones(len(indices), 1),)
    ...     def hinges(self, outputs, indices, smoothing):
    ...         return torch.relu(1.0 - outputs[0][:, 0])
    >>> network = torch.nn.Linear(1, 1)
    >>> risk = Risk(network, Squares(), lam=1.0)
    >>> risk.take(torch.tensor([0.5, 0.25]))
    >>> risk.value()  # (0.5 ** 2 + 0.25 ** 2) / 2 + 0.25
    0.40625
    """

    def __init__(self, network: nn.Module, samples: Samples, lam: float, at_once: int = 256):
        self.network, self.samples, self.lam, self.at_once = network, samples, float(lam), at_once
        self.trained = {name: one for name, one in network.named_parameters() if one.requires_grad}
        if not self.trained:
            raise ValueError("the network has no weights to train")
        self.oracle_calls = 0

    @property
    def n(self) -> int:
        return len(self.samples.weight)

    def weights(self) -> Tensor:
        """w as it is now, flat: a copy."""
        return torch.cat([one.detach().reshape(-1) for one in self.trained.values()])

    def take(self, w: Tensor) -> None:
        """Make w the weights of the network."""
        with torch.no_grad():
            for one, own in zip(self.trained.values(), self._parts(w).values(), strict=True):
                one.copy_(own)

    def _parts(self, w: Tensor) -> dict[str, Tensor]:
        sizes = [one.numel() for one in self.trained.values()]
        split = torch.split(w, sizes)
        return {name: own.view_as(one) for (name, one), own in zip(self.trained.items(), split, strict=True)}

    def outputs(self, indices: np.ndarray) -> tuple[Tensor, ...]:
        """Of the network as it is, for some samples."""
        return as_tuple(self.network(*self.samples.inputs(indices)))

    def outputs_at(self, w: Tensor, inputs: tuple[Any, ...]) -> tuple[Tensor, ...]:
        """Of the network with other weights."""
        return as_tuple(functional_call(self.network, self._parts(w), inputs))

    def hinge(self, outputs: tuple[Tensor, ...], indices: np.ndarray, smoothing: Any) -> Tensor:
        """``sum_i c_i H_i`` over some samples, which count as oracle calls."""
        self.oracle_calls += len(indices)
        return self._mean(outputs, indices, smoothing)

    def _mean(self, outputs: tuple[Tensor, ...], indices: np.ndarray, smoothing: Any) -> Tensor:
        hinges = self.samples.hinges(outputs, indices, smoothing)
        return (hinges * self.samples.weight[torch.from_numpy(indices)].to(hinges)).sum()

    def passes(self) -> Iterator[np.ndarray]:
        """All samples, those of like size together."""
        order = np.argsort(self.samples.sizes, kind="stable")
        yield from (order[first : first + self.at_once] for first in range(0, self.n, self.at_once))

    def value(self) -> float:
        """Find F of the network as it is, hinges not smoothed; dropout and the like are switched off for it.

        Returns
        -------
        value : float
            NaN where the network gives no numbers.
        """
        trained = self.network.training
        self.network.eval()
        with torch.no_grad():
            try:
                hinges = sum(float(self._mean(self.outputs(indices), indices, None)) for indices in self.passes())
            except NoNumbers:
                hinges = float("nan")
            square = sum(float(one.double().square().sum()) for one in self.trained.values())
        self.network.train(trained)
        return 0.5 * self.lam * square + hinges


def as_tuple(outputs: Any) -> tuple[Tensor, ...]:
    return tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)
