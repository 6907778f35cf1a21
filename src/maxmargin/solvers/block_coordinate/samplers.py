"""Which block comes next."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..._compile import implements, verb

Draw = Callable[[np.random.Generator, int], np.ndarray]

# How the blocks of a pass are drawn.
DRAWS: dict[str, Draw] = {
    "uniform": lambda rng, n: rng.integers(n, size=n),
    "permutation": lambda rng, n: rng.permutation(n),
}


def draw_blocks(
    draw: Draw, rng: np.random.Generator, n: int, left: np.ndarray, wanted: int
) -> tuple[np.ndarray, np.ndarray]:
    """So many blocks, first those left of an earlier pass; and what is left of the last one."""
    missing = -(-(wanted - len(left)) // n)
    if missing > 0:
        left = np.concatenate([left, *(draw(rng, n) for _ in range(missing))])
    return left[:wanted], left[wanted:]


@verb
def pick(sampler, k):
    """Block of the k-th step of the chunk."""


@verb
def peek(sampler, k):
    """The block after that if it is known already, else -1."""


@verb
def observe(sampler, i, gap):
    """The exact gap of block i was just seen."""


class Order(NamedTuple):
    """Blocks in an order drawn outside the kernel: uniform, a permutation, or given."""

    blocks: np.ndarray


@implements(pick, Order)
def _(sampler, k):
    return sampler.blocks[k]


@implements(peek, Order)
def _(sampler, k):
    return sampler.blocks[k + 1] if k + 1 < sampler.blocks.shape[0] else -1


@implements(observe, Order)
def _(sampler, i, gap):
    return None


class GapSampler(NamedTuple):
    """Blocks with probability proportional to their last known gaps, in O(log n)."""  # osokin16, Alg. 2

    tree: np.ndarray  # (2m,) node p is the sum of nodes 2p and 2p + 1; leaf m + i is the gap of block i
    n: int
    first: np.ndarray  # blocks to visit before any is drawn
    uniforms: np.ndarray  # drawn outside the kernel

    @classmethod
    def over(cls, gaps: np.ndarray, first: np.ndarray, uniforms: np.ndarray) -> GapSampler:
        leaves = 1 << max(len(gaps) - 1, 0).bit_length()
        level = np.zeros(leaves)
        level[: len(gaps)] = np.maximum(gaps, 0.0)
        levels = [level]
        while len(level) > 1:
            level = level[::2] + level[1::2]
            levels.append(level)
        return cls(np.concatenate([[0.0], *levels[::-1]]), len(gaps), first, uniforms)


@implements(pick, GapSampler)
def _(sampler, k):
    n_first = sampler.first.shape[0]
    if k < n_first:
        return sampler.first[k]
    leaves = sampler.tree.shape[0] // 2
    uniform = sampler.uniforms[k - n_first]
    if sampler.tree[1] <= 0.0:  # no block is known to have a gap: any may
        return int(uniform * sampler.n)
    rest = uniform * sampler.tree[1]
    p = 1
    while p < leaves:
        p *= 2
        # rounding must not lead into a branch that holds nothing
        if rest >= sampler.tree[p] and sampler.tree[p + 1] > 0.0:
            rest -= sampler.tree[p]
            p += 1
    return p - leaves


@implements(peek, GapSampler)
def _(sampler, k):
    return -1


@implements(observe, GapSampler)
def _(sampler, i, gap):
    p = i + sampler.tree.shape[0] // 2
    sampler.tree[p] = max(gap, 0.0)
    p //= 2
    while p > 0:
        sampler.tree[p] = sampler.tree[2 * p] + sampler.tree[2 * p + 1]
        p //= 2
