"""A batch of chains as kernels take it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..forests import Forest


class Asked(NamedTuple):
    """Tensors as they lie in memory, without gaps."""

    node: Tensor  # (B, T, K)
    table: Tensor  # (K, K), the first label first
    lengths: Tensor  # (B,) of int32

    @property
    def sizes(self) -> tuple[int, int, int]:
        n_samples, length, n_labels = self.node.shape
        return n_samples, length, n_labels


def fits(forest: Forest) -> bool:
    """Whether they are chains of some length in float32, whose edges all share one table."""
    node, edge = forest.node, forest.edge
    shares = edge.shape[1] == 1 and (len(edge) == 1 or edge.stride(0) == 0)
    return forest.is_chain and shares and node.shape[1] > 1 and node.dtype == torch.float32


def ask(forest: Forest) -> Asked:
    lengths = forest.sizes.int().to(forest.node.device, non_blocking=True)
    return Asked(forest.node.contiguous(), forest.edge[0, 0].contiguous(), lengths)
