"""Where a block may go: a *direction* leads from one point of its dual variables to another.

What a step needs of a direction is one contract for all of them, :func:`~.verbs.measure` and :func:`~.verbs.move`;
what a structure built of sites needs to know is how the marginals of a site change, :func:`list_change`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._compile import helper, implements, verb


class ToCorner(NamedTuple):
    """From the block's dual variables to the corner; backwards, with a negative length, it is an away step."""


class BetweenCorners(NamedTuple):
    """From the away corner to the corner."""


class ToExpectation(NamedTuple):
    """From the block's dual variables to an expectation."""

    expectation: Any  # what `new_expectation` gave; its `node` holds marginals, flat, K a site


class Measured(NamedTuple):
    """What a structure found of a direction D in feature space; it may add what :func:`~.verbs.move` can use again."""

    norm: float  # |D|^2


@helper
def plus(mass, gamma):
    """``mass + gamma``, and 0 where only rounding is left: what is exactly 0 costs nothing later."""
    total = mass + gamma
    return total if total > 1e-15 else 0.0


@helper
def list_difference(marginals, label, mass, active, values):
    """List the non-zeros of ``mass e_label - marginals``; their number is returned."""
    count = 0
    if mass > 0.0 and marginals[label] == mass:  # nothing is left for the others
        return count
    for k in range(marginals.shape[0]):
        m = marginals[k]
        if m != 0.0 or k == label:
            active[count] = k
            values[count] = (mass if k == label else 0.0) - m
            count += 1
    return count


@helper
def list_pair(corner, away, active, values):
    """List ``e_corner - e_away``; the number of entries is returned."""
    if corner == away:
        return 0
    active[0], active[1] = corner, away
    values[0], values[1] = 1.0, -1.0
    return 2


@verb
def list_change(direction, s, marginals, corner, away, active, values):
    """List the labels of site s of a sample whose marginals change, and by how much for a step of length 1.

    `marginals` (K,) are those of the site now, `corner` and `away` its labels there. Returns how many are listed.
    """


@verb
def fill_change(direction, s, marginals, corner, away, row):
    """The same as a row of all labels; returns whether anything changes, and leaves the row alone if not."""


@implements(fill_change, ToCorner)
def _(direction, s, marginals, corner, away, row):
    if marginals[corner] == 1.0:
        return False
    for k in range(marginals.shape[0]):
        row[k] = -marginals[k]
    row[corner] += 1.0
    return True


@implements(fill_change, BetweenCorners)
def _(direction, s, marginals, corner, away, row):
    if corner == away:
        return False
    for k in range(marginals.shape[0]):
        row[k] = 0.0
    row[corner], row[away] = 1.0, -1.0
    return True


@implements(fill_change, ToExpectation)
def _(direction, s, marginals, corner, away, row):
    n_labels = marginals.shape[0]
    for k in range(n_labels):
        row[k] = direction.expectation.node[s * n_labels + k] - marginals[k]
    return True


@implements(list_change, ToCorner)
def _(direction, s, marginals, corner, away, active, values):
    return list_difference(marginals, corner, 1.0, active, values)


@implements(list_change, BetweenCorners)
def _(direction, s, marginals, corner, away, active, values):
    return list_pair(corner, away, active, values)


@implements(list_change, ToExpectation)
def _(direction, s, marginals, corner, away, active, values):
    n_labels, count = marginals.shape[0], 0
    for k in range(n_labels):
        value = direction.expectation.node[s * n_labels + k] - marginals[k]
        if value != 0.0:
            active[count], values[count] = k, value
            count += 1
    return count
