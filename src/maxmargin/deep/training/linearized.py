"""The prox-linear model: the network's outputs, linear in its weights, under the hinges as they are."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.func import jvp, vjp

from .risk import Risk


class Block(NamedTuple):
    """Some samples, and the gradients of their hinges by outputs at the last full gradient."""

    indices: np.ndarray
    gradients: tuple[Tensor, ...]


class Snapshot(NamedTuple):
    """A full gradient."""

    value: float  # of the model
    gradient: Tensor  # of its smoothed hinges
    blocks: list[Block]


@contextlib.contextmanager
def without_fused_kernels() -> Iterator[None]:
    """Fused recurrent layers know no forward derivatives; the plain ones do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about settings of other devices
        with torch.backends.mkldnn.flags(enabled=False), torch.backends.cudnn.flags(enabled=False):
            yield


class LinearModel:
    """``sum_i c_i H_i(g_i + J_i v) + lam/2 |w + v|^2 + 1/(2 eta) |v|^2``, hinges smoothed, as a function of v.

    g_i are the outputs at w, and J_i their Jacobian, of which only products with vectors are ever made.
    """  # pillutla18, (61)

    def __init__(self, risk: Risk, w: Tensor, eta: float, smoothing: Any):
        self.risk, self.w, self.eta, self.smoothing = risk, w, eta, smoothing

    @property
    def stiff(self) -> float:
        """How strongly convex it is."""
        return self.risk.lam + 1.0 / self.eta

    def pull(self, v: Tensor) -> Tensor:
        """The gradient of the quadratic terms."""
        return self.risk.lam * (self.w + v) + v / self.eta

    def look(self, indices: np.ndarray, v: Tensor) -> tuple[float, tuple[Tensor, ...]]:
        """Smoothed hinges of some samples at v, and their gradients by outputs."""
        inputs = self.risk.samples.inputs(indices)
        with torch.no_grad():
            given, change = jvp(lambda w: self.risk.outputs_at(w, inputs), (self.w,), (v,))[:2]
        outputs = tuple((one + more).detach().requires_grad_() for one, more in zip(given, change, strict=True))
        with torch.enable_grad():
            value = self.risk.hinge(outputs, indices, self.smoothing)
            gradients = torch.autograd.grad(value, outputs, allow_unused=True, materialize_grads=True)
        return value.item(), gradients

    def by_weights(self, indices: np.ndarray, gradients: tuple[Tensor, ...]) -> Tensor:
        """Gradients by outputs of some samples, as one by weights."""
        inputs = self.risk.samples.inputs(indices)
        with torch.enable_grad():
            back = vjp(lambda w: self.risk.outputs_at(w, inputs), self.w)[1]
        return back(gradients)[0].detach()

    def snapshot(self, v: Tensor, parts: list[np.ndarray]) -> Snapshot:
        """The full gradient at v, of samples in these parts."""
        total, gradient, blocks = 0.0, torch.zeros_like(v), []
        for indices in parts:
            value, gradients = self.look(indices, v)
            total += value
            gradient += self.by_weights(indices, gradients)
            blocks.append(Block(indices, gradients))
        quadratic = 0.5 * self.risk.lam * square(self.w + v) + 0.5 / self.eta * square(v)
        return Snapshot(total + quadratic, gradient, blocks)

    def change(self, block: Block, v: Tensor) -> Tensor:
        """How much the gradient of a block's hinges is another at v than at the snapshot."""
        _, now = self.look(block.indices, v)
        differences = tuple(one - other for one, other in zip(now, block.gradients, strict=True))
        return self.by_weights(block.indices, differences)


def square(v: Tensor) -> float:
    return float(v.double().square().sum())
