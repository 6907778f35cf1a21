"""How a block changes, given its corner."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements, verb
from ...structures.verbs import (
    block_value,
    direction_norm,
    move,
    move_pair,
    pair_norm,
    slot_value,
    take_away,
    take_corner,
)
from ..box import clip, release
from .memory import has_nameless_mass, shift_mass, worst_slot


@verb
def change_block(step, memory, box, problem, blocks, work, w, i, slot, value, gap, lam, k, n):
    """Improve block i, whose corner (in `slot`, with its value) and gap > 0 are at hand, in step k."""


@helper
def best_length(gap, curvature, longest):
    """Minimiser of ``-gamma gap + gamma^2/2 curvature`` over [0, longest]."""
    return longest if gap >= longest * curvature else gap / curvature


@helper
def gain(gap, curvature, gamma):
    return gamma * (gap - 0.5 * gamma * curvature)


@helper
def to_corner(memory, box, problem, blocks, work, w, i, slot, gamma, scale):
    release(box, w)
    move(problem, blocks, work, w, i, gamma, scale)
    clip(box, w)
    shift_mass(memory, i, slot, gamma)


@helper
def toward_corner(memory, box, problem, blocks, work, w, i, slot, gap, lam):
    """Frank-Wolfe step with line search."""
    scale = problem.weight[i] / lam
    curvature = lam * scale * scale * direction_norm(problem, blocks, work, i)
    gamma = best_length(gap, curvature, 1.0)  # lacoste13, Alg. 4
    to_corner(memory, box, problem, blocks, work, w, i, slot, gamma, scale)


class LineSearch(NamedTuple):
    """Frank-Wolfe step to the minimiser on the segment between alpha_i and the corner."""

    nothing: float


@implements(change_block, LineSearch)
def _(step, memory, box, problem, blocks, work, w, i, slot, value, gap, lam, k, n):
    toward_corner(memory, box, problem, blocks, work, w, i, slot, gap, lam)


class FixedStep(NamedTuple):
    """``2n / (k + 2n)``."""  # lacoste13, Alg. 3

    nothing: float


@implements(change_block, FixedStep)
def _(step, memory, box, problem, blocks, work, w, i, slot, value, gap, lam, k, n):
    direction_norm(problem, blocks, work, i)
    gamma = 2.0 * n / (k + 2.0 * n)
    to_corner(memory, box, problem, blocks, work, w, i, slot, gamma, problem.weight[i] / lam)


class AwayStep(NamedTuple):
    """A step to the corner or away from the worst active one, whichever descends more steeply."""  # osokin16, Alg. 4

    nothing: float


@implements(change_block, AwayStep)
def _(step, memory, box, problem, blocks, work, w, i, slot, value, gap, lam, k, n):
    scale = problem.weight[i] / lam
    worst = worst_slot(memory, problem, work, w, i)
    if worst >= 0:
        current = block_value(problem, blocks, work, w, i)
        away_gap = problem.weight[i] * (current - slot_value(problem, memory.labelings, work, w, i, worst))
        mass = memory.mass[i, worst]
        if gap <= away_gap and mass < 1.0:
            take_corner(problem, memory.labelings, work, i, worst)
            curvature = lam * scale * scale * direction_norm(problem, blocks, work, i)
            longest = mass / (1.0 - mass)  # at which the corner is dropped
            gamma = best_length(away_gap, curvature, longest)
            to_corner(memory, box, problem, blocks, work, w, i, worst, -gamma, scale)
            if gamma == longest:
                memory.mass[i, worst] = 0.0
            return
    toward_corner(memory, box, problem, blocks, work, w, i, slot, gap, lam)


class PairwiseStep(NamedTuple):
    """Mass goes from the worst active corner to the new one."""  # osokin16, Alg. 3

    safeguard: bool  # take the Frank-Wolfe step where it gains more


@implements(change_block, PairwiseStep)
def _(step, memory, box, problem, blocks, work, w, i, slot, value, gap, lam, k, n):
    scale = problem.weight[i] / lam
    worst = worst_slot(memory, problem, work, w, i)
    pair_gain, pair_length = -np.inf, 0.0
    if worst >= 0 and worst != slot:
        take_away(problem, memory.labelings, work, i, worst)
        pair_gap = problem.weight[i] * (value - slot_value(problem, memory.labelings, work, w, i, worst))
        curvature = lam * scale * scale * pair_norm(problem, blocks, work, i)
        pair_length = best_length(pair_gap, curvature, memory.mass[i, worst])
        pair_gain = gain(pair_gap, curvature, pair_length)
    if pair_gain == -np.inf or step.safeguard or has_nameless_mass(memory, i):
        curvature = lam * scale * scale * direction_norm(problem, blocks, work, i)
        gamma = best_length(gap, curvature, 1.0)
        if gain(gap, curvature, gamma) > pair_gain:
            to_corner(memory, box, problem, blocks, work, w, i, slot, gamma, scale)
            return
        pair_norm(problem, blocks, work, i)  # what move_pair follows
    release(box, w)
    move_pair(problem, blocks, work, w, i, pair_length, scale)
    clip(box, w)
    dropped = pair_length == memory.mass[i, worst]
    memory.mass[i, worst] = 0.0 if dropped else memory.mass[i, worst] - pair_length
    memory.mass[i, slot] += pair_length
