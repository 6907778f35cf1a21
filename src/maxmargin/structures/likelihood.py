"""Log-losses: the hinge's maximum over outputs becomes the log of a sum, as conditional random fields have it.

    P(w) = lam/2 |w|^2 + sum_i c_i [log sum_y exp <w, phi_i(y)> - <w, phi_i(y_i)>]
    D(alpha) = sum_i c_i H(alpha_i) - lam/2 |A alpha|^2

The entropy H stands where the expected loss is in the dual of the hinge, and losses count nowhere. So what a block
keeps as its `loss` is its entropy, ``b'alpha`` is ``sum_i c_i H(alpha_i)``, and where the hinge has a corner there is
the Gibbs distribution of the weights: certificates, warm starts and acceleration need not know the difference.
Entropies are concave: the mean of theirs, which mixtures are said to be worth, is no more than they are, and the dual
value stays a bound.
"""  # lafferty01; collins08, Sec. 2

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import helper, implements
from .changes import sizes_of_blocks
from .custom import CustomProblem
from .directions import ToCorner, ToExpectation
from .lines import find_potentials_on
from .needs import Need, check_needs
from .smoothing import Smoothed, Unsmoothed, Untilted, find_smoothed, new_smoothed
from .verbs import (
    accumulate,
    add_block,
    add_corner,
    add_direction,
    add_expectation,
    announce,
    announce_weights,
    block_value,
    corner_loss,
    dimension,
    find_between,
    find_corner,
    find_entry,
    find_expectation,
    find_potentials_with,
    find_support,
    forget_weights,
    inner,
    keep_expectation,
    measure,
    move,
    new_blocks,
    new_expectation,
    new_tilts,
    new_totals,
    new_work,
    offers,
    reweighs,
    settle_block,
    support_bound,
    tilt_value,
    truth_value,
    unit_of_curvature,
    with_all_room,
)


class _Wrapped(NamedTuple):
    base: Any
    weight: np.ndarray  # of the base: loops look for it here


class LogLoss(_Wrapped):
    """The same samples, learned by their likelihood: a conditional random field, or logistic regression for classes.

    The objective is ``lam/2 |w|^2 + (1/S) sum_i s_i (log Z_i(w) - <w, phi_i(y_i)>)``; losses and costs of the problem
    count nowhere. For a structure of your own take :func:`make_log_loss`.

    Parameters
    ----------
    base : PairwiseProblem or MulticlassProblem
        What is learned. It must be able to sum over outputs: chains, trees, graphs of low tree-width, classes.
    weight : None
        That of `base`; leave it None.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import LBFGS
    >>> from maxmargin.structures import LogLoss, make_multiclass_problem
    >>> problem = LogLoss(make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3, intercept=False))
    >>> result = LBFGS().solve(problem, 0.01, tol=1e-6)
    >>> print(result.status, f"{result.primal:.4f}")
    converged 0.2144
    """

    __slots__ = ()

    def __new__(cls, base: Any, weight: Any = None) -> LogLoss:
        if not hasattr(base, "_fields"):
            raise TypeError(f"{type(base).__name__} is no problem that is built in: take make_log_loss(structure)")
        check_needs("LogLoss", {Need.HINGE, Need.EXPECTATIONS}, offers(base))
        return tuple.__new__(cls, (base, base.weight))


class CustomLogLoss:
    """The same for a structure in plain Python."""

    def __init__(self, base: CustomProblem):
        check_needs("a log-loss", {Need.EXPECTATIONS}, base.offers())
        if np.isnan(base.expected(np.zeros(base.d), 0, 0.0)[2]):
            raise ValueError(
                f"a log-loss needs the log of the sum over outputs: {type(base.structure).__name__}.exp_oracle must "
                "give log(sum_y exp(emphasis loss(i, y) + <v, joint_feature(i, y)>)) as its third answer"
            )
        self.base, self.weight = base, base.weight

    def fingerprint_parts(self) -> list[np.ndarray]:
        """Arrays that tell this problem from others, and from its base."""
        return [np.array(["log loss"]), *self.base.fingerprint_parts()]


class Blocks(NamedTuple):
    base: Any  # marginals
    loss: np.ndarray  # (n,) entropies


class Work(NamedTuple):
    base: Any
    room: Any  # the Gibbs distribution that stands for the corner


class Room(NamedTuple):
    """An expectation and its entropy."""

    into: ToExpectation  # of the base
    entropy: np.ndarray  # (1,)


@implements(dimension, LogLoss, CustomLogLoss)
def _(problem):
    return dimension(problem.base)


@implements(sizes_of_blocks, LogLoss, CustomLogLoss)
def _(problem):
    return sizes_of_blocks(problem.base)


@implements(inner, LogLoss, CustomLogLoss)
def _(problem, u, v):
    return inner(problem.base, u, v)


@implements(offers, LogLoss, CustomLogLoss)
def _(problem):
    return offers(problem.base) & {Need.IN_MEMORY, Need.BOUNDS, Need.WEIGHTS} | {Need.LOG_LOSS}


@implements(new_blocks, LogLoss, CustomLogLoss)
def _(problem):
    return Blocks(with_all_room(problem.base, new_blocks(problem.base)), np.zeros(len(problem.weight)))


@implements(new_totals, LogLoss, CustomLogLoss)
def _(problem):
    return Blocks(with_all_room(problem.base, new_totals(problem.base)), np.zeros(len(problem.weight)))


@implements(new_work, LogLoss, CustomLogLoss)
def _(problem):
    return Work(new_work(problem.base), new_expectation(problem))


@implements(forget_weights, LogLoss, CustomLogLoss)
def _(problem, work):
    forget_weights(problem.base, work.base)


@implements(new_expectation, LogLoss, CustomLogLoss)
def _(problem):
    return Room(ToExpectation(new_expectation(problem.base)), np.zeros(1))


@implements(new_tilts, LogLoss, CustomLogLoss)
def _(problem):
    return new_tilts(problem.base)


@implements(reweighs, LogLoss, CustomLogLoss)
def _(problem):
    return False  # a mixture of distributions has more entropy than is known


@implements(unit_of_curvature, LogLoss, CustomLogLoss)
def _(problem, hinges):
    return np.maximum(hinges, np.finfo(float).tiny)  # logarithms of numbers of outputs


@implements(announce, LogLoss)
def _(problem, blocks, i):
    announce(problem.base, blocks.base, i)


@implements(announce_weights, LogLoss)
def _(problem, w, i):
    announce_weights(problem.base, w, i)


@implements(find_potentials_with, LogLoss, CustomLogLoss)
def _(problem, work, w, i, emphasis):
    find_potentials_with(problem.base, work.base, w, i, 0.0)


@implements(find_potentials_on, LogLoss, CustomLogLoss)
def _(problem, line, work, i, share, emphasis):
    find_potentials_on(problem.base, line, work.base, i, share, 0.0)


@helper
def find_gibbs(problem, room, work, w, i):
    """The log of the sum over outputs, of the potentials at hand; their Gibbs distribution is left in the room."""
    expectation = room.into.expectation
    value = find_expectation(problem.base, Untilted(), expectation, work.base, w, i, 1.0)
    room.entropy[0] = max(expectation.log_sum[0] - value, 0.0)
    return expectation.log_sum[0]


@implements(find_corner, LogLoss, CustomLogLoss)
def _(problem, work, w, i):
    return find_gibbs(problem, work.room, work, w, i)


@implements(truth_value, LogLoss, CustomLogLoss)
def _(problem, work, w, i):
    return truth_value(problem.base, work.base, w, i)


@implements(block_value, LogLoss, CustomLogLoss)
def _(problem, blocks, work, w, i):
    return blocks.loss[i] + block_value(problem.base, blocks.base, work.base, w, i)


@implements(corner_loss, LogLoss, CustomLogLoss)
def _(problem, work, i):
    return work.room.entropy[0]


@implements(add_corner, LogLoss, CustomLogLoss)
def _(problem, work, i, scale, w):
    add_expectation(problem.base, work.room.into.expectation, work.base, i, scale, w)


@implements(add_block, LogLoss, CustomLogLoss)
def _(problem, blocks, work, i, scale, mass, w):
    add_block(problem.base, blocks.base, work.base, i, scale, mass, w)


@implements(accumulate, LogLoss, CustomLogLoss)
def _(problem, totals, blocks, i, amount):
    accumulate(problem.base, totals.base, blocks.base, i, amount)
    totals.loss[i] += amount * blocks.loss[i]


@implements(measure, (LogLoss, ToCorner), (CustomLogLoss, ToCorner))
def _(problem, direction, blocks, work, i):
    return measure(problem.base, work.room.into, blocks.base, work.base, i)


@implements(measure, (LogLoss, ToExpectation), (CustomLogLoss, ToExpectation))
def _(problem, direction, blocks, work, i):
    return measure(problem.base, direction.expectation.into, blocks.base, work.base, i)


@implements(move, (LogLoss, ToExpectation), (CustomLogLoss, ToExpectation))
def _(problem, direction, measured, blocks, work, w, i, gamma, scale):
    room = direction.expectation
    move(problem.base, room.into, measured, blocks.base, work.base, w, i, gamma, scale)
    blocks.loss[i] += gamma * (room.entropy[0] - blocks.loss[i])


@implements(find_entry, LogLoss, CustomLogLoss)
def _(problem, base, blocks, room, work, w, i, odds):
    expectation = room.into.expectation
    value = find_entry(problem.base, base, blocks.base, expectation, work.base, w, i, odds)
    return value + settle_entropy(problem, room, i)


@implements(find_expectation, LogLoss, CustomLogLoss)
def _(problem, base, room, work, w, i, eta):
    """Eta is how much of the way from the tilt to the potentials at hand: 1 is their Gibbs distribution."""
    value = find_between(problem.base, base, room.into.expectation, work.base, w, i, eta)
    return value + settle_entropy(problem, room, i)


@helper
def settle_entropy(problem, room, i):
    expectation = room.into.expectation
    room.entropy[0] = max(expectation.log_sum[0] - tilt_value(problem.base, expectation, i), 0.0)
    return room.entropy[0]


@implements(keep_expectation, LogLoss, CustomLogLoss)
def _(problem, base, room, i, gamma):
    keep_expectation(problem.base, base, room.into.expectation, i, gamma)


@implements(add_direction, (LogLoss, ToExpectation), (CustomLogLoss, ToExpectation))
def _(problem, direction, blocks, work, i, scale, w):
    add_direction(problem.base, direction.expectation.into, blocks.base, work.base, i, scale, w)


@implements(settle_block, LogLoss, CustomLogLoss)
def _(problem, room, blocks, i):
    settle_block(problem.base, room.into.expectation, blocks.base, i)
    blocks.loss[i] = room.entropy[0]


@implements(support_bound, LogLoss, CustomLogLoss)
def _(problem):
    return support_bound(problem.base)


@implements(find_support, LogLoss, CustomLogLoss)
def _(problem, i, support):
    return find_support(problem.base, i, support)


@implements(new_smoothed, (LogLoss, Unsmoothed), (CustomLogLoss, Unsmoothed))
def _(problem, smoothing):
    return new_expectation(problem)


@implements(find_smoothed, (LogLoss, Unsmoothed), (CustomLogLoss, Unsmoothed))
def _(problem, smoothing, room, work, w, i):
    value = find_gibbs(problem, room, work, w, i)
    return Smoothed(value, value, value, True)  # the entropy is part of what the distribution is worth


def make_log_loss(structure: Any) -> Any:
    """Learn a problem, or a structure of your own, by its likelihood.

    Parameters
    ----------
    structure : object
        A problem that is built in and can sum over outputs, or a structure in plain Python whose
        ``exp_oracle(v, i, emphasis)`` gives the log of the sum over outputs as its third answer.

    Returns
    -------
    problem : LogLoss or CustomLogLoss
        What solvers take.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import LBFGS
    >>> from maxmargin.structures import make_log_loss, make_multiclass_problem
    >>> problem = make_log_loss(make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3, intercept=False))
    >>> print(LBFGS().solve(problem, 0.01, tol=1e-6).status)
    converged
    """
    if isinstance(structure, tuple):
        return LogLoss(structure)
    return CustomLogLoss(structure if isinstance(structure, CustomProblem) else CustomProblem(structure))
