"""The log-partition function as PyTorch differentiates it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from . import dispatch
from .forests import Forest


class LogPartition(torch.autograd.Function):
    """Of trees and chains; its gradient is made of marginals, and has no gradient of its own."""

    @staticmethod
    def forward(ctx: Any, node: Tensor, edge: Tensor, sizes: Tensor, parents: Tensor | None) -> Tensor:
        forest = Forest(node.detach(), edge.detach(), sizes, parents)
        by = dispatch.sums_by(forest)
        summed = by.sum_up(forest)
        ctx.made = by, forest, summed
        return summed.values

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, weight: Tensor) -> tuple[Tensor, Tensor, None, None]:
        by, forest, summed = ctx.made
        return *by.spread_down(forest, summed, weight), None, None
