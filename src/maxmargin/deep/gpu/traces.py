"""Labelings from the scores that a pass forward left."""

from __future__ import annotations

import torch
from torch import Tensor

from .asked import Asked
from .sources import Machine

MOST_LABELINGS = 16  # whose scores a thread holds


def trace_best(machine: Machine, asked: Asked, inside: Tensor) -> Tensor:
    n_samples, length, n_labels = asked.sizes
    labels = torch.empty(n_samples, length, dtype=torch.int64, device=inside.device)
    args = (inside, asked.table.T.contiguous(), asked.lengths, labels, length, n_labels)
    machine.launch("traces", "trace_best", {"TOP": 1}, (n_samples, 1), 32, 0, args)
    return labels


def trace_top(machine: Machine, asked: Asked, inside: Tensor, k: int) -> tuple[Tensor, Tensor]:
    n_samples, length, n_labels = asked.sizes
    labels = torch.empty(n_samples, k, length, dtype=torch.int64, device=inside.device)
    values = torch.empty(n_samples, k, device=inside.device)
    ways = torch.empty(n_samples, length, k, dtype=torch.int32, device=inside.device)
    across = asked.table.T.contiguous()
    args = (asked.node, inside, across, asked.lengths, ways, labels, values, length, n_labels)
    machine.launch("traces", "trace_top", {"TOP": k}, (n_samples, 1), 32, 0, args)
    return labels, values
