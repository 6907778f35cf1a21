"""Maxima over outputs, smoothed: values of a batch, differentiable."""  # pillutla18, Sec. 2

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..structures.smoothing import EntropySmoothing, L2Smoothing, check_smoothing
from .batches import Batch


class Smoothed(NamedTuple):
    """What was found of a batch."""

    values: Tensor  # (B,)
    exact: Tensor  # (B,) whether the best few outputs were enough to know it


def smoothed_max(batch: Batch, smoothing: Any) -> Smoothed:
    """The maximum over the outputs of each sample, smoothed by an EntropySmoothing or an L2Smoothing, or not (None)."""
    return _BY_KIND[type(smoothing)](batch, smoothing)


def as_smoothing(smoothing: Any, mu: float, top_k: int) -> Any:
    """The part that names and numbers mean."""
    if smoothing is None:
        return None
    if not isinstance(smoothing, str) or smoothing not in _NAMED:
        raise ValueError(f'smoothing must be None, "entropy" or "l2", got {smoothing!r}')
    made = _NAMED[smoothing](mu, top_k)
    check_smoothing(made)
    return made


def _not_at_all(batch: Batch, smoothing: None) -> Smoothed:
    values = batch.max()
    return Smoothed(values, torch.ones_like(values, dtype=torch.bool))


def _by_entropy(batch: Batch, smoothing: EntropySmoothing) -> Smoothed:
    values = smoothing.mu * batch.times(1.0 / smoothing.mu).log_partition()
    return Smoothed(values, torch.ones_like(values, dtype=torch.bool))


def _by_squares(batch: Batch, smoothing: L2Smoothing) -> Smoothed:
    values, there = batch.top_values(smoothing.top_k + 1)  # one more, to know whether it would share
    weights, exact = project(values.detach(), there, smoothing.mu)
    shared = torch.where(weights > 0.0, weights * torch.where(weights > 0.0, values, 0.0), 0.0).sum(dim=1)
    # where the gradient goes, u is a constant: it is the maximiser
    return Smoothed(shared + 0.5 * smoothing.mu * (1.0 - weights.square().sum(dim=1)), exact)


def project(scores: Tensor, there: Tensor, mu: float) -> tuple[Tensor, Tensor]:
    """Weights u of the best k of k + 1 outputs, best first, and whether they are those of all outputs.

    They are the projection of ``scores / mu`` on the simplex, from differences of scores alone.
    """  # pillutla18, Prop. 3 and 4
    behind = torch.where(there, scores[:, :1] - scores, 0.0)  # of the best one
    ranks = torch.arange(scores.shape[1], device=scores.device, dtype=scores.dtype)
    short = torch.cumsum(behind, dim=1)
    # what the first j lack to the j-th: it gets weight while that is less than mu
    slack = ranks * behind - (short - behind)
    shares = (slack < mu) & there
    exact = ~shares[:, -1]
    shares = shares & (ranks < scores.shape[1] - 1)
    size = shares.sum(dim=1, keepdim=True).clamp(min=1)
    mean = short.gather(1, size - 1) / size
    weights = torch.where(shares, size.to(scores.dtype).reciprocal() + (mean - behind) / mu, 0.0)
    return weights.clamp(min=0.0), exact


_BY_KIND: dict[type, Callable[..., Smoothed]] = {
    type(None): _not_at_all,
    EntropySmoothing: _by_entropy,
    L2Smoothing: _by_squares,
}
_NAMED: dict[str, Callable[[float, int], Any]] = {
    "entropy": lambda mu, top_k: EntropySmoothing(mu),
    "l2": L2Smoothing,
}
