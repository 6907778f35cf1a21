"""Which code answers for a batch: the one place that looks at devices and sizes.

CPU tensors go to the compiled kernels of `maxmargin.inference`, all others to plain PyTorch operations. Kernels for
another device belong here: a module with the five functions, and the device it is for.
"""

from __future__ import annotations

from types import ModuleType

import torch
from torch import Tensor

from . import compiled, plain, plain_top, products
from .forests import Forest

# With so many labels and one table for all, matrix products over the batch are faster than kernels that go from sample
# to sample.
MANY_LABELS = 24


def finds_by_kernels(forest: Forest) -> bool:
    return forest.node.device.type == "cpu"


def sums_by(forest: Forest) -> ModuleType:
    """The module whose `sum_up` and `spread_down` belong together."""
    by_kernels = finds_by_kernels(forest)
    if (forest.node.shape[2] >= MANY_LABELS or not by_kernels) and products.fits(forest):
        return products
    return compiled if by_kernels else plain


def find_best(forest: Forest) -> Tensor:
    """(B, N) the best labelings."""
    return (compiled if finds_by_kernels(forest) else plain).find_best(forest)


def find_top(forest: Forest, k: int) -> tuple[Tensor, Tensor]:
    """(B, k, N) the k best, best first, and their scores (B, k), -inf where there are no more."""
    return (compiled if finds_by_kernels(forest) else plain_top).find_top(forest, k)


def draw(forest: Forest, count: int, generator: torch.Generator | None) -> Tensor:
    """(B, count, N) labelings drawn in proportion to the exponentials of their scores."""
    if products.fits(forest):
        inside = products.sum_up(forest).inside.log().transpose(0, 1)
    else:
        inside = plain.sum_up(forest).inside
    return plain.draw(forest, inside, count, generator)
