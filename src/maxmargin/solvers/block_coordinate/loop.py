"""The one loop of every block-coordinate method."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, kernel
from ...structures.verbs import announce, find_potentials_before
from ..parts.memory import A_VISIT, announce_outputs
from ..parts.samplers import peek, pick
from ..parts.steps import change_block, lacks_any_room


class Run(NamedTuple):
    """What the steps of a chunk work with. Which algorithm of the papers this is, the parts say."""

    blocks: Any  # dual state
    work: Any  # scratch
    w: np.ndarray
    lam: float  # of the problem the steps work on
    box: Any
    sampler: Any
    step: Any
    memory: Any
    cache: Any
    averaging: Any
    gaps: np.ndarray  # (n,) the last known block gaps
    total_gap: float  # an exact sum of them
    tally: np.ndarray  # (2,) outputs that were remembered, and that the oracle was asked for
    gains: np.ndarray  # the first of them is what the dual gained in all steps; empty where nobody asks
    telling: Any  # whom steps tell what they change


@kernel
def block_steps(problem, run, at, end, done):
    """Go on from step `at` of a chunk, which follows `done` others, to its `end`, or to where a block needs room first.

    Returns how far it came.
    """
    for position in range(at, end):
        i = pick(run.sampler, position)
        if lacks_any_room(problem, run, i, A_VISIT):
            return position
        visit(problem, run, i, peek(run.sampler, position), done + position)
    return end


@helper
def visit(problem, run, i, following, k):
    """Step k of the run, on block i; the one that follows, if it is known, is not negative."""
    if following >= 0:
        announce(problem, run.blocks, following)
        announce_outputs(run.memory, problem, following)
    find_potentials_before(problem, run.work, run.w, i, following)
    change_block(run.step, problem, run, i, k)
