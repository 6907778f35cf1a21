"""Steps of SVRG on one block each, that touch the weights of that block and no others.

Between two full gradients, at the *snapshot*, a step on block i is

    w <- w - gamma (n c_i (grad f_i(w) - grad f_i(snapshot)) + g + lam w + kappa (w - z)),

with g the full gradient there. All but the first term shrinks w towards one point, the *anchor*
``q = (kappa z - g) / (lam + kappa)``, by the factor ``a = 1 - gamma (lam + kappa)``: so a weight that m steps did not
touch is ``q + a^m (w - q)``, and is brought up to date when a block needs it. The first term comes from the blocks,
which are the distributions at the snapshot: their oracle is asked once for all.

The mean of the iterates is kept beside it in the same way: with ``w_t = q + a^t u_t`` and changes delta_s of u,
``sum_t a^t u_t = S_T u_T - sum_s S_s delta_s``, where ``S_s = sum_{t <= s} a^t``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, kernel
from ...structures.smoothing import find_smoothed
from ...structures.verbs import add_block, add_direction, announce, find_potentials, find_support

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
    w: np.ndarray
    anchor: np.ndarray
    late: np.ndarray  # sum_s S_s delta_s
    seen: np.ndarray  # (d, 2) where a range of weights begins: the step it is up to date for, and its end
    support: np.ndarray  # ranges of the weights of a block
    powers: np.ndarray  # a^t
    sums: np.ndarray  # S_t
    length: float  # gamma


@helper
def catch_up(epoch, begin, end, now):
    """Bring a range of weights up to date."""
    missed = now - epoch.seen[begin, 0]
    epoch.seen[begin, 0], epoch.seen[begin, 1] = now, end
    if missed > 0:
        power, w, anchor = epoch.powers[missed], epoch.w, epoch.anchor
        for p in range(begin, end):
            w[p] = anchor[p] + power * (w[p] - anchor[p])


@kernel
def epoch_steps(problem, epoch, order, done):
    """Steps on the blocks in `order`, which follow `done` others since the snapshot."""
    n, support = problem.weight.shape[0], epoch.support
    for position in range(order.shape[0]):
        i, now = order[position], done + position
        if position + 1 < order.shape[0]:
            announce(problem, epoch.blocks, order[position + 1])
        for r in range(find_support(problem, i, support)):
            catch_up(epoch, support[r, 0], support[r, 1], now)
        find_potentials(problem, epoch.work, epoch.w, i)
        find_smoothed(problem, epoch.smoothing, epoch.into.expectation, epoch.work, epoch.w, i)
        # before it shrinks: what is added now is multiplied by a with the rest
        change = -epoch.length * n * problem.weight[i] / epoch.powers[1]
        add_direction(problem, epoch.into, epoch.blocks, epoch.work, i, change, epoch.w)
        share = change * epoch.sums[now] / epoch.powers[now]
        add_direction(problem, epoch.into, epoch.blocks, epoch.work, i, share, epoch.late)


@kernel
def finish_epoch(w, anchor, late, seen, powers, sums, taken, mean):
    """Bring all weights up to date after so many steps; `mean` becomes that of the iterates.

    It takes arrays of an epoch and no more: it runs compiled, once for all, over structures in plain Python, too.
    """
    begin, total = 0, sums[taken] / powers[taken]
    while begin < w.shape[0]:
        end, missed = seen[begin, 1], taken - seen[begin, 0]
        if end == 0:  # no block needed it
            end = begin + 1
        power = powers[missed]
        for p in range(begin, end):
            w[p] = anchor[p] + power * (w[p] - anchor[p])
            mean[p] = anchor[p] + (total * (w[p] - anchor[p]) - late[p]) / taken
        begin = end


@helper
def distinct_support(problem, i, support, seen, stamp):
    """The support of block i, each range once; returns how many there are."""
    count = 0
    for r in range(find_support(problem, i, support)):
        begin, end = support[r, 0], support[r, 1]
        if seen[begin, 0] != stamp:
            seen[begin, 0] = stamp
            support[count, 0], support[count, 1] = begin, end
            count += 1
    return count


@helper
def squared_norm(support, count, vector):
    """Of a vector over some ranges."""
    total = 0.0
    for r in range(count):
        for p in range(support[r, 0], support[r, 1]):
            total += vector[p] * vector[p]
    return total


@helper
def drain_ranges(support, count, vector):
    """Squared norm of a vector over some ranges; leaves it zero there."""
    total = 0.0
    for r in range(count):
        for p in range(support[r, 0], support[r, 1]):
            total += vector[p] * vector[p]
            vector[p] = 0.0
    return total


@helper
def moves_less(problem, epoch, i, count, rate, gradient, probe, change):
    """Whether a step of 1 / rate against the gradient of block i, from the snapshot, leaves a good part of it."""
    for r in range(count):
        for p in range(epoch.support[r, 0], epoch.support[r, 1]):
            probe[p] = epoch.w[p] + gradient[p] / rate
    find_potentials(problem, epoch.work, probe, i)
    find_smoothed(problem, epoch.smoothing, epoch.into.expectation, epoch.work, probe, i)
    add_direction(problem, epoch.into, epoch.blocks, epoch.work, i, 1.0, change)
    return drain_ranges(epoch.support, count, change) <= LESS * squared_norm(epoch.support, count, gradient)


@kernel
def find_lipschitz(problem, epoch, some, guess, probe, gradient, change, found):
    """How fast the gradients of some blocks change at the snapshot, within powers of 2; returns the oracle calls.

    `probe` is a copy of the weights, `gradient` and `change` are zero, and all are so again.
    """  # as schmidt17 do for single samples, but by gradients alone
    calls = 0
    for j in range(some.shape[0]):
        i, rate = some[j], guess
        count = distinct_support(problem, i, epoch.support, epoch.seen, j + 1)
        add_block(problem, epoch.blocks, epoch.work, i, 1.0, 1.0, gradient)
        if squared_norm(epoch.support, count, gradient) == 0.0:
            found[j] = 0.0
            continue
        holds = moves_less(problem, epoch, i, count, rate, gradient, probe, change)
        factor, tries = (0.5 if holds else 2.0), 1
        while tries < TRIES:
            now = moves_less(problem, epoch, i, count, factor * rate, gradient, probe, change)
            tries += 1
            if now != holds:
                break
            rate *= factor
        found[j] = rate if holds else factor * rate
        calls += tries
        for r in range(count):
            for p in range(epoch.support[r, 0], epoch.support[r, 1]):
                probe[p] = epoch.w[p]
        drain_ranges(epoch.support, count, gradient)
    return calls
