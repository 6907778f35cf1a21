"""Where a path begins: from some lam on, no weights but those of the largest losses are needed."""  # osokin16, Alg. 6

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..._sums import dot
from ..objective import Certified, DualPoint, Objective
from ..passes import Passes

TRIES = 30
AIM, GOOD_ENOUGH = 0.9, 0.5  # of the gap allowed: exactly at it, rounding would decide

TOO_LOOSE = (
    "no weights were found to be within {:.3g} of the optimum under any lam: the oracle's upper bounds are too loose; "
    "raise eps"
)


class Start(NamedTuple):
    lam: float
    found: Certified | None  # None: to be solved
    oracle_calls: int


def largest_losses(passes: Passes) -> tuple[DualPoint, float]:
    """The dual point with all mass on the outputs of the largest losses, and the hinge loss without weights."""
    hinges, point = passes.corners(np.zeros(passes.dimension))
    return point, dot(passes.problem.weight, hinges)


def find_start(passes: Passes, objective: Objective, point: DualPoint, tol: Callable[[float], float]) -> Start:
    """The lowest lam, about, from which on the weights of the point of largest losses have a gap that is small enough.

    That is at most `tol` of their primal value, a constant or a share of it. With ``u = 1/lam`` the gap is convex, and
    0 at u = 0, and so is what a share of the primal value leaves of it, below 0 there. So the gap is small enough for
    all u up to one where it is, and the chord between two points lies above it. osokin16 bounds it from above instead,
    with an oracle without losses: that saves two passes or so, and gives a larger lam.
    """
    weights, _ = replace(objective, lam=1.0).weights(point)
    square, calls = objective.inner(weights, weights), 0
    if not point.loss > 0.0 or square == 0.0:  # no weights do any good, under any lam
        nothing = np.zeros_like(weights)
        found = Certified(nothing, passes.primal(nothing, 1.0), max(point.loss, 0.0), max(point.loss, 0.0), 0.0)
        if found.primal - found.dual > tol(found.primal):
            raise ValueError(TOO_LOOSE.format(tol(found.primal)))
        return Start(1.0, found, passes.n)

    def gap_at(u: float) -> tuple[float, Certified]:
        primal = passes.primal(u * weights, 1.0 / u)
        found = Certified(u * weights, primal, point.loss - 0.5 * u * square, point.loss, square)
        return found.primal - found.dual, found

    best, low, gap_low, high = None, 0.0, 0.0, np.inf
    u = point.loss / square
    for _ in range(TRIES):
        gap, found = gap_at(u)
        calls += passes.n
        small = tol(found.primal)
        if gap <= small:
            best, low, gap_low = Start(1.0 / u, found, calls), u, gap
            if gap >= GOOD_ENOUGH * small:
                break
            u = 2.0 * u if high == np.inf else 0.5 * (low + high)
        else:
            high = u
            # where the share of a smaller primal value is below the gap that was small enough, the chord says nothing
            share = (AIM * small - gap_low) / (gap - gap_low)
            u = low + (u - low) * (share if share > 0.0 else 0.5)
    if best is None:
        raise ValueError(TOO_LOOSE.format(small))
    return best._replace(oracle_calls=calls)
