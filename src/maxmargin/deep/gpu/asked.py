"""A batch of chains as kernels take it."""

from __future__ import annotations

import functools
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
    return Asked(forest.node.contiguous(), forest.edge[0, 0].contiguous(), lengths_of(forest))


def lengths_of(forest: Forest) -> Tensor:
    """(B,) on the device."""
    sizes, device, most = forest.sizes, forest.node.device, forest.node.shape[1]
    # to send them takes as long as to launch a kernel, and many batches have no padding
    if int(sizes.min()) == most:
        return all_alike(len(sizes), most, device)
    return sizes.int().to(device, non_blocking=True)


@functools.lru_cache(maxsize=16)
def all_alike(count: int, length: int, device: torch.device) -> Tensor:
    return torch.full((count,), length, dtype=torch.int32).to(device)  # which waits: any stream may read it
