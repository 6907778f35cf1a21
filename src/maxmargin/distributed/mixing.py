"""Dual states between two others: what a step of part of the way along a joint direction leads to.

Marginals are linear in the dual variables, so those in between are mixtures; of the outputs known by name, the masses
are.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from .._compile import implements, kernel, verb
from ..solvers.parts.averaging import settle_pass
from ..solvers.parts.memory import Memory, NoMemory, doubled, needs_room, remember
from ..structures.verbs import new_totals, new_work, take_corner, with_room_to_add


def mixed_blocks(problem: Any, before: Any, after: Any, share: float) -> Any:
    """``(1 - share) before + share after``."""
    mixture = new_totals(problem)
    for blocks, amount in ((before, 1.0 - share), (after, share)):
        mixture = with_room_to_add(problem, mixture, blocks)
        settle_pass(problem, mixture, blocks, np.zeros(len(problem.weight)), amount)
    return mixture


@verb
def mixed_memory(after, before, problem, share, steps):
    """What is remembered of the mixture; neither of the two is changed. For Python only."""


@implements(mixed_memory, NoMemory)
def _(after, before, problem, share, steps):
    return after


@implements(mixed_memory, Memory)
def _(after, before, problem, share, steps):
    mixture = copy.deepcopy(after)
    mixture.mass[:] *= share
    work, at = new_work(problem), 0
    while (at := add_outputs(problem, work, mixture, before, 1.0 - share, steps, at)) < before.mass.size:
        mixture = doubled(mixture, problem)
    return mixture


@kernel
def add_outputs(problem, work, mixture, before, share, steps, at):
    """The outputs of `before` join, from the place `at` among its slots on, until a block needs room; returns where."""
    n_slots = before.mass.shape[1]
    for place in range(at, before.mass.size):
        i, j = place // n_slots, place % n_slots
        if j < before.filled[i] and before.mass[i, j] > 0.0:
            if needs_room(mixture, i, 1):
                return place
            take_corner(problem, before.labelings, work, i, j)
            slot = remember(mixture, problem, work, i, steps)
            mixture.mass[i, slot] += share * before.mass[i, j]
    return before.mass.size
