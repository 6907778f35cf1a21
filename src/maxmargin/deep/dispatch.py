"""Which code answers for a batch: the one place that looks at devices and sizes.

CPU tensors go to the compiled kernels of `maxmargin.inference`, all others to plain PyTorch operations. Kernels for
another device belong here: a module with the five functions, and the device it is for.
"""

from __future__ import annotations

from types import ModuleType

import torch
from torch import Tensor

from . import compiled, plain, plain_top
from .forests import Forest

# With so many labels and one table for all, a matrix product a step over the batch is faster than kernels that go from
# sample to sample.
MANY_LABELS = 96


def finds_by_kernels(forest: Forest) -> bool:
    return forest.node.device.type == "cpu"


def sums_by(forest: Forest) -> ModuleType:
    """The module whose `sum_up` and `spread_down` belong together."""
    shared = forest.edge.shape[0] * forest.edge.shape[1] == 1
    many = shared and forest.node.shape[2] >= MANY_LABELS
    return compiled if finds_by_kernels(forest) and not many else plain


def find_best(forest: Forest) -> Tensor:
    """(B, N) the best labelings."""
    return (compiled if finds_by_kernels(forest) else plain).find_best(forest)


def find_top(forest: Forest, k: int) -> tuple[Tensor, Tensor]:
    """(B, k, N) the k best, best first, and their scores (B, k), -inf where there are no more."""
    return (compiled if finds_by_kernels(forest) else plain_top).find_top(forest, k)


def draw(forest: Forest, count: int, generator: torch.Generator | None) -> Tensor:
    """(B, count, N) labelings drawn in proportion to the exponentials of their scores."""
    return plain.draw(forest, count, generator)
