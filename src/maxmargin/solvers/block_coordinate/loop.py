"""The one loop of every block-coordinate Frank-Wolfe variant."""

from __future__ import annotations

from ..._compile import kernel
from ...structures.verbs import block_value, direction_norm, find_corner, move
from .parts import before_change, pick, step_size


@kernel(n_parts=6)
def block_steps(problem, blocks, work, sampler, step, averaging, w, lam, first, last, done, n):
    """Steps `first` to `last` of a pass; `done` steps were taken before the pass began."""  # lacoste13, Alg. 4
    for position in range(first, last):
        i = pick(sampler, position)
        scale = problem.weight[i] / lam
        gap = problem.weight[i] * (find_corner(problem, work, w, i) - block_value(problem, blocks, work, w, i))
        if gap > 0.0:
            norm = direction_norm(problem, blocks, work, i)
            k = done + position
            gamma = step_size(step, gap, norm, scale, lam, k, n)
            before_change(averaging, problem, blocks, i, k)
            move(problem, blocks, work, w, i, gamma, scale)
