"""Where steps begin that must not begin at corners: near them, but inside the simplex."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from ..._compile import kernel
from ..._parameters import check_positive
from ...structures.verbs import find_entry, find_potentials, inner, mean_loss, measure, move, reweighs, with_all_room
from ..objective import DualPoint

# Log odds of true parts, at least: no output may have probability 0, it could hardly get another one. Blocks that have
# moved already go less far. With more than the most, probabilities would be lost among roundings.
ODDS, LATE_ODDS, MOST_ODDS = 8.0, 16.0, 100.0
TRIES = 6


class Entered(NamedTuple):
    blocks: Any
    point: DualPoint
    n_passes: int


@kernel
def enter_pass(problem, base, into, blocks, work, w, scale, odds, first):
    """All blocks from the `first` on go inside, where they are; ``w`` follows."""
    for i in range(first, problem.weight.shape[0]):
        find_potentials(problem, work, w, i)
        find_entry(problem, base, blocks, into.expectation, work, w, i, odds)
        measured = measure(problem, into, blocks, work, i)
        move(problem, into, measured, blocks, work, w, i, 1.0, scale * problem.weight[i])


def go_inside(problem: Any, work: Any, step: Any, blocks: Any, start: DualPoint, lam: float, odds: Any) -> Entered:
    """From the corners of the true outputs, or from wherever blocks are at `start`, to the inside.

    Without `odds` these are such that the dual value is not negative, if there are any.
    """

    def enter(odds: float, n_passes: int) -> Entered:
        moved, v = with_all_room(problem, copy.deepcopy(blocks)), start.vector / lam
        enter_pass(problem, step.base, step.into, moved, work, v, 1.0 / lam, odds, 0)
        return Entered(moved, DualPoint(lam * v, mean_loss(problem, moved)), n_passes)

    if odds is not None:
        check_positive("odds", odds)
        if odds > MOST_ODDS:
            raise ValueError(f"odds must be at most {MOST_ODDS:g}: others than true outputs would have no probability")
        return enter(float(odds), 1)
    begins = start.loss == 0.0 or not reweighs(problem)  # tilts begin near the truth, wherever the blocks are
    first = tried = ODDS if begins else LATE_ODDS
    for n_passes in range(1, TRIES + 1):
        found = enter(tried, n_passes)
        square, loss = inner(problem, found.point.vector, found.point.vector), found.point.loss
        if 2.0 * lam * loss >= square:  # the dual value is not negative
            return found
        # a share of the way has the highest dual value; where odds count losses, it takes more of them
        further = tried - np.log(max(lam * loss / square, np.exp(-MOST_ODDS)))
        tried = min(max(further, 0.0 if tried == first else 2.0 * tried), MOST_ODDS)
    return enter(first, TRIES + 1)
