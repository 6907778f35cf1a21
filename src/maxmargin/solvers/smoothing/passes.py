"""Full passes over smoothed maxima: the smoothed objective, its gradient, and the dual point behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, kernel, verb
from ..._parameters import check_not_negative
from ..._sums import dot
from ...structures import as_problem
from ...structures.directions import ToExpectation
from ...structures.needs import Need, check_needs
from ...structures.smoothing import NEEDS, check_smoothing, find_smoothed, new_smoothed
from ...structures.verbs import (
    add_direction,
    check_weights,
    dimension,
    find_corner,
    find_potentials,
    inner,
    new_blocks,
    offers,
    settle_block,
    truth_value,
    upper_value,
    with_all_room,
)
from ..objective import DualPoint
from ..passes import Passes, Share

HINGE, VALUE, MEAN, INEXACT = range(4)  # rows of what a pass finds of all blocks


class Look(NamedTuple):
    """Blocks stay where they are."""


class Arrive(NamedTuple):
    """Blocks become the expectations found."""


@verb
def after_look(mode, problem, into, blocks, i):
    """What becomes of block i when its expectation is found."""


@implements(after_look, Look)
def _(mode, problem, into, blocks, i):
    return None


@implements(after_look, Arrive)
def _(mode, problem, into, blocks, i):
    settle_block(problem, into.expectation, blocks, i)


@helper
def largest_value(problem, work, w, i, found):
    """The maximum that is smoothed: where that does not tell it, the oracle is asked."""
    if found.largest > -np.inf:
        return found.largest
    return upper_value(problem, work, w, i, find_corner(problem, work, w, i))


@kernel
def smoothed_pass(problem, smoothing, mode, into, blocks, work, w, first, last, vector, seen):
    """Hinges, smoothed ones and means of all blocks at w.

    What ``lam A alpha`` of the distributions u is more than that of the blocks is added to `vector`.
    """
    for i in range(first, last):
        find_potentials(problem, work, w, i)
        found = find_smoothed(problem, smoothing, into.expectation, work, w, i)
        truth = truth_value(problem, work, w, i)
        seen[VALUE, i], seen[MEAN, i] = found.value - truth, found.mean - truth
        seen[INEXACT, i] = 0.0 if found.exact else 1.0
        add_direction(problem, into, blocks, work, i, -problem.weight[i], vector)
        after_look(mode, problem, into, blocks, i)
        seen[HINGE, i] = largest_value(problem, work, w, i, found) - truth


class Seen(NamedTuple):
    """What a full pass at w found."""

    hinges: np.ndarray  # (n,)
    value: float  # sum_i c_i of the smoothed hinges
    point: DualPoint  # of the distributions u
    inexact: float  # share of samples whose best few outputs were not enough


class Snapshot(NamedTuple):
    """Distributions of all blocks, and what is made of them."""

    blocks: Any
    vector: np.ndarray  # lam A alpha


def first_snapshot(problem: Any) -> Snapshot:
    """All mass on the true outputs."""
    return Snapshot(with_all_room(problem, new_blocks(problem)), np.zeros(dimension(problem)))


def look(passes: Passes, smoothing: Any, snapshot: Snapshot, w: np.ndarray) -> Seen:
    """A full pass at w."""
    return _pass(passes, smoothing, Look(), snapshot, w)


def arrive(passes: Passes, smoothing: Any, snapshot: Snapshot, w: np.ndarray) -> tuple[Seen, Snapshot]:
    """A full pass at w; the snapshot, whose memory is used again, becomes the distributions u there."""
    found = _pass(passes, smoothing, Arrive(), snapshot, w)
    return found, snapshot._replace(vector=found.point.vector)


def _pass(passes: Passes, smoothing: Any, mode: Any, snapshot: Snapshot, w: np.ndarray) -> Seen:
    problem, seen = passes.problem, np.empty((4, passes.n))

    def on_shares(work: Any, shares: Iterator[Share]) -> None:
        into = ToExpectation(new_smoothed(problem, smoothing))
        for share in shares:
            first, last, vector = share.first, share.last, share.new_vector()
            smoothed_pass(passes.given, smoothing, mode, into, snapshot.blocks, work, w, first, last, vector, seen)

    vector, weight = snapshot.vector + passes.summed(on_shares), problem.weight
    # sum_i c_i E_u H_i = b'alpha - <w, lam A alpha>
    loss = dot(weight, seen[MEAN]) + float(inner(problem, w, vector))
    return Seen(seen[HINGE], dot(weight, seen[VALUE]), DualPoint(vector, loss), float(np.mean(seen[INEXACT])))


class SmoothedObjective(NamedTuple):
    """The smoothed objective at some weights, as :func:`smoothed_objective` finds it.

    Parameters
    ----------
    value : float
        ``lam/2 |w|^2`` and the smoothed hinges; NaN where a structure's `exp_oracle` does not tell the log of the sum.
    gradient : array of shape (d,)
        Its gradient.
    inexact : float
        Share of the samples whose `top_k` best outputs were not enough to know the smoothed hinge.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import smoothed_objective
    >>> from maxmargin.structures import L2Smoothing, make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> smoothed_objective(problem, np.zeros(15), 0.1, L2Smoothing(mu=0.1, top_k=1)).inexact  # two outputs are as good
    1.0
    """

    value: float
    gradient: np.ndarray
    inexact: float


def calls_of(smoothing: Any) -> int:
    """Oracle calls of a sample in a full pass: the best few outputs tell the maximum, an expectation does not."""
    return 2 if NEEDS[type(smoothing)] is Need.EXPECTATIONS else 1


def needs_of(smoothing: Any) -> set[Need]:
    """What a structure must offer to be smoothed so."""
    return {NEEDS[type(smoothing)], Need.WEIGHTS}


def smoothed_objective(problem: Any, w: np.ndarray, lam: float, smoothing: Any) -> SmoothedObjective:
    """``lam/2 |w|^2`` and all hinges, smoothed, with the gradient.

    Parameters
    ----------
    problem : object
        A structure over data.
    w : array of shape (d,)
        Weights.
    lam : float
        Regularisation, >= 0.
    smoothing : EntropySmoothing or L2Smoothing
        How hinges are smoothed.

    Returns
    -------
    SmoothedObjective
        Value and gradient, and how often the best few outputs were not enough.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import smoothed_objective
    >>> from maxmargin.structures import L2Smoothing, make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> found = smoothed_objective(problem, np.zeros(15), 0.1, L2Smoothing(mu=0.1, top_k=3))
    >>> found.value, found.gradient.shape, found.inexact
    (1.025, (15,), 0.0)
    """
    problem = as_problem(problem)
    check_smoothing(smoothing)
    check_not_negative("lam", lam)
    check_needs("smoothed_objective", {NEEDS[type(smoothing)], Need.BOUNDS}, offers(problem))
    w = np.ascontiguousarray(w, np.float64)
    if w.shape != (dimension(problem),) or not (np.all(np.isfinite(w)) and lam < np.inf):
        raise ValueError(f"w must be {dimension(problem)} finite numbers, and lam finite, got {w.shape} and {lam!r}")
    check_weights(problem, w)
    found = look(Passes(problem, None), smoothing, first_snapshot(problem), w)
    value = 0.5 * lam * float(inner(problem, w, w)) + found.value
    return SmoothedObjective(value, lam * w - found.point.vector, found.inexact)
