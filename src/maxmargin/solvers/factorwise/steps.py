"""How the outputs of a factor share its mass anew, from their scores.

A factor's part of the problem is ``<scores, q> - curvature/2 |q' - q|^2`` over the simplex, where the curvature of a
change d is ``own |d|^2 + rho (sum_a d_a^2 + sum_b d_b^2)`` with d_a and d_b its sums over outputs that share a row, or
a column: pairs with the same label of the tail, or of the head. A site has no rows and columns, its rho is 0 here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements, verb

# An output with all but so little of the mass has nothing to be left for.
MOST = 1.0 - 1e-12


class Outputs(NamedTuple):
    """Of one factor, by their places in a list."""

    mass: np.ndarray  # as it is
    score: np.ndarray
    row: np.ndarray  # numbers below their count
    column: np.ndarray
    wanted: np.ndarray  # the masses after the step
    sums: np.ndarray  # (2, outputs) of rows and columns, zero between calls


def new_outputs(longest: int) -> Outputs:
    return Outputs(
        mass=np.zeros(longest),
        score=np.zeros(longest),
        row=np.zeros(longest, np.int64),
        column=np.zeros(longest, np.int64),
        wanted=np.zeros(longest),
        sums=np.zeros((2, longest + 1)),
    )


class Projected(NamedTuple):
    """One projected step for all of them, with a bound on the curvature: exact for sites."""


class ToBest(NamedTuple):
    """Towards the best output, as far as the problem wants."""


class AwayOrToBest(NamedTuple):
    """Towards the best output or away from the worst that has mass, whichever promises more."""


@verb
def share_mass(step, outputs, count, own, rho):
    """Find the masses wanted of the first outputs."""


@implements(share_mass, Projected)
def _(step, outputs, count, own, rho):  # yen16, eq. 25
    stiff = own if rho == 0.0 else own + rho * crowd(outputs, count)
    for p in range(count):
        outputs.wanted[p] = outputs.mass[p] + outputs.score[p] / stiff
    level = simplex_level(outputs.wanted, count)
    for p in range(count):
        outputs.wanted[p] = max(outputs.wanted[p] - level, 0.0)


@helper
def crowd(outputs, count):
    """The most outputs in one row, and in one column: no more do their squares of sums weigh."""
    rows, columns, sums = 0.0, 0.0, outputs.sums
    for p in range(count):
        sums[0, outputs.row[p]] += 1.0
        sums[1, outputs.column[p]] += 1.0
        rows, columns = max(rows, sums[0, outputs.row[p]]), max(columns, sums[1, outputs.column[p]])
    for p in range(count):
        sums[0, outputs.row[p]], sums[1, outputs.column[p]] = 0.0, 0.0
    return rows + columns


@helper
def simplex_level(points, count):
    """What is taken off the first points, none of which becomes less than 0, so that they sum to 1."""  # michelot86
    level, left = -np.inf, count + 1
    while True:
        total, above = -1.0, 0
        for p in range(count):
            if points[p] > level:
                total += points[p]
                above += 1
        if above >= left:  # more only by rounding
            return level
        level, left = total / above, above


@helper
def best_and_worst(outputs, count):
    """Places of the best output, and of the worst that has mass."""
    best, worst = 0, -1
    for p in range(count):
        if outputs.score[p] > outputs.score[best]:
            best = p
        if outputs.mass[p] > 0.0 and (worst < 0 or outputs.score[p] < outputs.score[worst]):
            worst = p
    return best, worst


@helper
def mean_score(outputs, count):
    total = 0.0
    for p in range(count):
        total += outputs.mass[p] * outputs.score[p]
    return total


@helper
def curvature_to(outputs, count, own, rho, place):
    """Of the change from the masses to all of it at one place."""
    total, sums = 0.0, outputs.sums
    for p in range(count):
        change = (1.0 if p == place else 0.0) - outputs.mass[p]
        total += own * change * change
        sums[0, outputs.row[p]] += change
        sums[1, outputs.column[p]] += change
    for p in range(count):
        total += rho * (sums[0, outputs.row[p]] ** 2 + sums[1, outputs.column[p]] ** 2)
        sums[0, outputs.row[p]], sums[1, outputs.column[p]] = 0.0, 0.0
    return total


@helper
def go(outputs, count, place, gamma):
    """A share of the way to one place; less than nothing leads away from it."""
    for p in range(count):
        mass = (1.0 - gamma) * outputs.mass[p] + (gamma if p == place else 0.0)
        outputs.wanted[p] = mass if mass > 1e-15 else 0.0


@implements(share_mass, ToBest)
def _(step, outputs, count, own, rho):
    best, _ = best_and_worst(outputs, count)
    slope, bend = outputs.score[best] - mean_score(outputs, count), curvature_to(outputs, count, own, rho, best)
    go(outputs, count, best, 1.0 if slope >= bend else max(slope, 0.0) / bend)


@implements(share_mass, AwayOrToBest)
def _(step, outputs, count, own, rho):  # yen16, eq. 15-17, of one factor
    best, worst = best_and_worst(outputs, count)
    mean = mean_score(outputs, count)
    to_best, away = outputs.score[best] - mean, mean - outputs.score[worst]
    if to_best >= away or outputs.mass[worst] > MOST:
        bend = curvature_to(outputs, count, own, rho, best)
        go(outputs, count, best, 1.0 if to_best >= bend else max(to_best, 0.0) / bend)
    else:
        bend, mass = curvature_to(outputs, count, own, rho, worst), outputs.mass[worst]
        most = mass / (1.0 - mass)  # not `mass`, as printed: then nothing ever drops
        go(outputs, count, worst, -most if away >= most * bend else -away / bend)
