"""The one loop of every block-coordinate Frank-Wolfe variant."""

from __future__ import annotations

import numpy as np

from ..._compile import kernel
from ...structures.verbs import announce, block_value, find_corner, find_potentials
from .averaging import before_change
from .memory import corner_from_cache, needs_room, remember
from .samplers import observe, peek, pick
from .steps import change_block

HITS, MISSES = 0, 1


@kernel(n_parts=9)
def block_steps(
    problem, blocks, work, sampler, cache, memory, step, averaging, box, w, lam, gaps, total_gap, tally, at, end, done
):
    """Go on from step `at` of a chunk, which follows `done` others, to its `end`, or to where a block needs room first.

    Returns how far it came. `gaps` are the last known block gaps, `total_gap` an exact sum. Which algorithm of the
    papers this is, the parts say.
    """
    n = gaps.shape[0]
    for position in range(at, end):
        i = pick(sampler, position)
        if needs_room(memory, i):
            return position
        following = peek(sampler, position)
        if following >= 0:
            announce(problem, blocks, following)
        find_potentials(problem, work, w, i)
        current = block_value(problem, blocks, work, w, i)
        value = corner_from_cache(cache, memory, problem, work, w, i, current, gaps[i], total_gap, n)
        if value > -np.inf:
            tally[HITS] += 1
            gap = problem.weight[i] * (value - current)
        else:
            tally[MISSES] += 1
            value = find_corner(problem, work, w, i)
            gap = problem.weight[i] * (value - current)
            gaps[i] = gap
            observe(sampler, i, gap)
        if gap > 0.0:
            k = done + position
            slot = remember(memory, problem, work, i, k)
            before_change(averaging, problem, blocks, i, k)
            change_block(step, memory, box, problem, blocks, work, w, i, slot, value, gap, lam, k, n)
    return end
