"""The one loop of every block-coordinate Frank-Wolfe variant."""

from __future__ import annotations

from ..._compile import kernel
from ...structures.verbs import announce, block_value, find_corner
from .parts import before_change, change_block, pick


@kernel(n_parts=6)
def block_steps(problem, blocks, work, sampler, step, averaging, w, lam, first, last, done, n):
    """Steps `first` to `last` of a pass; `done` steps were taken before the pass began."""  # lacoste13, Alg. 4
    for position in range(first, last):
        i = pick(sampler, position)
        announce(problem, blocks, pick(sampler, min(position + 1, last - 1)))
        gap = problem.weight[i] * (find_corner(problem, work, w, i) - block_value(problem, blocks, work, w, i))
        if gap > 0.0:
            k = done + position
            before_change(averaging, problem, blocks, i, k)
            change_block(step, problem, blocks, work, w, i, gap, lam, k, n)
