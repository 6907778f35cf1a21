"""Which code answers for a batch: the one place that looks at devices and sizes.

CPU tensors go to the compiled kernels of `maxmargin.inference`, chains on a CUDA device to those of `gpu/` where they
fit and are trusted, all others to plain PyTorch operations.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from . import compiled, plain, plain_top, products
from .forests import Forest

# With so many labels and one table for all, matrix products over the batch are faster than kernels that go from sample
# to sample.
MANY_LABELS = 24


class Sums(Protocol):
    """What belongs together: a pass that sums, and the one back that takes what it left."""

    def sum_up(self, forest: Forest) -> Any: ...

    def spread_down(self, forest: Forest, summed: Any, weight: Tensor) -> tuple[Tensor, Tensor]: ...


def finds_by_kernels(forest: Forest) -> bool:
    return forest.node.device.type == "cpu"


def cuda_kernels(forest: Forest, kind: str, k: int = 1) -> Any:
    """Those of `gpu/` that are trusted with it, or None."""
    if forest.node.device.type != "cuda":
        return None
    from .gpu import trust  # of no use on other devices

    return trust.kernels_for(forest, kind, k)


def sums_by(forest: Forest) -> Sums:
    """What sums and spreads down again."""
    by_kernels = finds_by_kernels(forest)
    on_cuda = cuda_kernels(forest, "sums")
    if on_cuda is not None:
        return on_cuda
    if (forest.node.shape[2] >= MANY_LABELS or not by_kernels) and products.fits(forest):
        return products
    return compiled if by_kernels else plain


def find_best(forest: Forest) -> Tensor:
    """(B, N) the best labelings."""
    on_cuda = cuda_kernels(forest, "best")
    if on_cuda is not None:
        return on_cuda.find_best(forest)
    return (compiled if finds_by_kernels(forest) else plain).find_best(forest)


def find_top(forest: Forest, k: int) -> tuple[Tensor, Tensor]:
    """(B, k, N) the k best, best first, and their scores (B, k), -inf where there are no more."""
    on_cuda = cuda_kernels(forest, "top", k)
    if on_cuda is not None:
        return on_cuda.find_top(forest, k)
    return (compiled if finds_by_kernels(forest) else plain_top).find_top(forest, k)


def draw(forest: Forest, count: int, generator: torch.Generator | None) -> Tensor:
    """(B, count, N) labelings drawn in proportion to the exponentials of their scores."""
    if products.fits(forest):
        inside = products.sum_up(forest).inside.log().transpose(0, 1)
    else:
        inside = plain.sum_up(forest).inside
    return plain.draw(forest, inside, count, generator)
