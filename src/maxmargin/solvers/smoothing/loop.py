"""Steps of SVRG on one block each, that touch the weights of that block and no others.

Between two full gradients, at the *snapshot*, a step on block i is

    w <- w - gamma (n c_i (grad f_i(w) - grad f_i(snapshot)) + g + lam w + kappa (w - z)),

with g the full gradient there. All but the first term shrinks w towards one point, the *anchor*
``q = (kappa z - g) / (lam + kappa)``, by the factor ``a = 1 - gamma (lam + kappa)``. So with ``w_t = q + a^t u_t``
nothing but the first term changes u, and that only where the block has weights. It comes from the blocks, which are
the distributions at the snapshot: their oracle is asked once for all.

The mean of the iterates is kept in the same way: with changes delta_s of u,
``sum_t a^t u_t = S_T u_T - sum_s S_s delta_s``, where ``S_s = sum_{t <= s} a^t``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, kernel
from ...structures.lines import Line, find_potentials_on
from ...structures.smoothing import find_smoothed
from ...structures.verbs import add_block, add_direction, announce, find_support

# A local Lipschitz constant is looked for in this many doublings or halvings of a guess.
TRIES = 40

# A step that is short enough changes a gradient by no more than the root of this share. Gradients are bounded: however
# long a step is that leads to the true output, it changes one by no more than it is.
LESS = 0.5


class Epoch(NamedTuple):
    """What steps between two full gradients work with."""

    blocks: Any  # the distributions at the snapshot
    work: Any  # scratch
    into: Any  # the direction to the expectation at w
    smoothing: Any
    line: Line  # from q along u
    late: np.ndarray  # sum_s S_s delta_s
    powers: np.ndarray  # a^t
    sums: np.ndarray  # S_t
    length: float  # gamma


@kernel
def epoch_steps(problem, epoch, order, done):
    """Steps on the blocks in `order`, which follow `done` others since the snapshot."""
    n, line = problem.weight.shape[0], epoch.line
    for position in range(order.shape[0]):
        i, now = order[position], done + position
        if position + 1 < order.shape[0]:
            announce(problem, epoch.blocks, order[position + 1])
        find_potentials_on(problem, line, epoch.work, i, epoch.powers[now], 1.0)
        find_smoothed(problem, epoch.smoothing, epoch.into.expectation, epoch.work, line.w, i)
        change = -epoch.length * n * problem.weight[i] / epoch.powers[now + 1]
        add_direction(problem, epoch.into, epoch.blocks, epoch.work, i, change, line.offset)
        add_direction(problem, epoch.into, epoch.blocks, epoch.work, i, change * epoch.sums[now], epoch.late)


@helper
def drain_ranges(support, count, vector):
    """Squared norm of a vector over some ranges, of which some may be listed twice; leaves it zero there."""
    total = 0.0
    for r in range(count):
        some = vector[support[r, 0] : support[r, 1]]  # loops from 0 vectorise
        for p in range(some.shape[0]):
            total += some[p] * some[p]
            some[p] = 0.0
    return total


@helper
def moves_less(problem, epoch, i, square, rate, change):
    """Whether a step of 1 / rate against the gradient of block i, from the snapshot, leaves a good part of it.

    The gradient is the offset of the line, of the squared norm `square`; `change` is zero, and is so again.
    """
    line = epoch.line
    find_potentials_on(problem, line, epoch.work, i, 1.0 / rate, 1.0)
    find_smoothed(problem, epoch.smoothing, epoch.into.expectation, epoch.work, line.w, i)
    add_direction(problem, epoch.into, epoch.blocks, epoch.work, i, 1.0, change)
    return drain_ranges(line.support, find_support(problem, i, line.support), change) <= LESS * square


@kernel
def find_lipschitz(problem, epoch, some, guess, change, found):
    """How fast the gradients of some blocks change at the snapshot, within powers of 2; returns the oracle calls.

    The line of the epoch begins there; its offset is zero, and is so again.
    """  # as schmidt17 do for single samples, but by gradients alone
    calls, line = 0, epoch.line
    for j in range(some.shape[0]):
        i, rate = some[j], guess
        count = find_support(problem, i, line.support)
        add_block(problem, epoch.blocks, epoch.work, i, 1.0, 1.0, change)
        square = drain_ranges(line.support, count, change)
        if square == 0.0:
            found[j] = 0.0
            continue
        add_block(problem, epoch.blocks, epoch.work, i, 1.0, 1.0, line.offset)
        holds = moves_less(problem, epoch, i, square, rate, change)
        factor, tries = (0.5 if holds else 2.0), 1
        while tries < TRIES:
            now = moves_less(problem, epoch, i, square, factor * rate, change)
            tries += 1
            if now != holds:
                break
            rate *= factor
        found[j] = rate if holds else factor * rate
        calls += tries
        drain_ranges(line.support, find_support(problem, i, line.support), line.offset)
    return calls
