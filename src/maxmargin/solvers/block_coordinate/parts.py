"""The loop's exchangeable parts: which block comes next, how far to step, what is averaged.

Each part is a NamedTuple with functions registered on the verbs below; "none" is a part too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, verb
from ...structures.verbs import accumulate, direction_norm, move
from ..passes import settle_pass


@verb
def pick(sampler, k):
    """Block of the k-th step of the pass."""


@verb
def change_block(step, problem, blocks, work, w, i, gap, lam, k, n):
    """Improve block i, whose corner and gap > 0 are at hand, in step k."""


@verb
def before_change(averaging, problem, blocks, i, k):
    """Called when block i is about to change in step k (counted from 0 over the whole run)."""


@verb
def settle(averaging, problem, blocks, k):
    """Sums of the blocks over the first k steps and the weight they hold, or None where nothing is averaged."""


class Order(NamedTuple):
    """Blocks in an order drawn outside the kernel: uniform, a permutation, or given."""

    blocks: np.ndarray


@implements(pick, Order)
def _(sampler, k):
    return sampler.blocks[k]


class LineSearch(NamedTuple):
    """Frank-Wolfe step to the minimiser on the segment between alpha_i and the corner."""

    upper: float


@implements(change_block, LineSearch)
def _(step, problem, blocks, work, w, i, gap, lam, k, n):
    scale = problem.weight[i] / lam
    curvature = lam * scale * scale * direction_norm(problem, blocks, work, i)
    # lacoste13, Alg. 4: gap / (lam |w_i - w_s|^2), clipped to [0, 1]
    gamma = step.upper if gap >= step.upper * curvature else gap / curvature
    move(problem, blocks, work, w, i, gamma, scale)


class FixedStep(NamedTuple):
    """``2n / (k + 2n)``."""  # lacoste13, Alg. 3

    start: float


@implements(change_block, FixedStep)
def _(step, problem, blocks, work, w, i, gap, lam, k, n):
    direction_norm(problem, blocks, work, i)
    move(problem, blocks, work, w, i, 2.0 * n / (k + step.start + 2.0 * n), problem.weight[i] / lam)


class NoAveraging(NamedTuple):
    nothing: float


@implements(before_change, NoAveraging)
def _(averaging, problem, blocks, i, k):
    return 0.0


@implements(settle, NoAveraging)
def _(averaging, problem, blocks, k):
    return None


class WeightedAveraging(NamedTuple):
    """Iterates averaged with weights 1, 2, 3, …, lazily: a block is added up when it is about to change.

    The recursion ``w_bar = k/(k+2) w_bar + 2/(k+2) w`` of lacoste13, Alg. 4 is the mean of ``w^(t)`` with weight t.
    """

    totals: Any  # the structure's block state, summed with weights
    counted: np.ndarray  # (n,) weight up to which the block is added up
    origin: float  # weight of the iterates before averaging began


@helper
def weight_until(k):
    """Weight of the iterates w^(1) … w^(k); the start w^(0) has weight 0."""
    return 0.5 * k * (k + 1.0)


@implements(before_change, WeightedAveraging)
def _(averaging, problem, blocks, i, k):
    weight = weight_until(k)
    accumulate(problem, averaging.totals, blocks, i, weight - averaging.counted[i])
    averaging.counted[i] = weight
    return weight


@implements(settle, WeightedAveraging)
def _(averaging, problem, blocks, k):
    weight = weight_until(k)
    settle_pass(problem, averaging.totals, blocks, averaging.counted, weight)
    return (averaging.totals, weight - averaging.origin) if weight > averaging.origin else None
