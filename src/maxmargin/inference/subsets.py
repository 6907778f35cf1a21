"""The best set of items that have gains and, in pairs, interactions: ``sum_k gain_k y_k + sum_{k<m} pair_km y_k y_m``.

A binary quadratic function. Its linear relaxation has an optimum of zeros, ones and halves, see :mod:`.roof`. What is 0
or 1 there is so in a best set, too, so that only the halves are left to try out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._compile import helper, kernel
from .roof import relax, sums_of_pairs

# Items up to which all sets are tried: a millisecond.
MOST_TRIED = 16
LEAST_GAIN = 1e-12  # of a change: less is rounding, which could go on forever


class RelaxedSubset(NamedTuple):
    """A solution of the relaxation.

    Attributes
    ----------
    shares : ndarray of shape (L,)
        0, 1 or a half of each item.
    value : float
        What they are worth, pairs at the shares that suit them best: the smaller of two shares where an interaction is
        positive, what two shares exceed 1 by where it is negative.
    bound : float
        No set is worth more; `value` up to rounding.

    Examples
    --------
    >>> from maxmargin.inference import RelaxedSubset
    >>> RelaxedSubset._fields
    ('shares', 'value', 'bound')
    """

    shares: np.ndarray
    value: float
    bound: float


class Subset(NamedTuple):
    """A set of items.

    Attributes
    ----------
    labels : ndarray of uint8 of shape (L,)
        1 for items of the set.
    value : float
        What it is worth.
    bound : float
        No set is worth more: `value` itself where it is the best for sure.
    integral : float
        The share of items that the relaxation was sure of.

    Examples
    --------
    >>> from maxmargin.inference import Subset
    >>> Subset._fields
    ('labels', 'value', 'bound', 'integral')
    """

    labels: np.ndarray
    value: float
    bound: float
    integral: float


def relax_subset(gains, pairs) -> RelaxedSubset:
    """Solve the relaxation by a minimum cut.

    Parameters
    ----------
    gains : array_like of shape (L,)
        What each item is worth by itself, finite.
    pairs : array_like of shape (L, L)
        What two items are worth together, beside that: finite, symmetric; the diagonal is not looked at.

    Returns
    -------
    RelaxedSubset
        Shares of the items, their value, and a bound on that of sets.

    Examples
    --------
    Three items that are good by themselves and bad together: one is worth 1, two 0, and the relaxation takes halves.

    >>> import numpy as np
    >>> from maxmargin.inference import relax_subset
    >>> found = relax_subset(np.ones(3), -2.0 * (1.0 - np.eye(3)))
    >>> found.shares.tolist(), round(found.value, 9), round(found.bound, 9)
    ([0.5, 0.5, 0.5], 1.5, 1.5)
    """
    gains, pairs = _checked(gains, pairs)
    shares = np.empty(len(gains))
    bound = float(cut_subset(gains, pairs, shares))
    return RelaxedSubset(shares, float(gains @ shares + np.sum(np.triu(pairs, 1) * pair_shares(pairs, shares))), bound)


def pair_shares(pairs: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Shares (L, L) of pairs of items that suit interactions best."""
    smaller = np.minimum.outer(shares, shares)
    return np.where(pairs > 0.0, smaller, np.maximum(np.add.outer(shares, shares) - 1.0, 0.0))


def best_subset(gains, pairs) -> Subset:
    """Find a set of the highest value: for sure where the relaxation leaves at most `MOST_TRIED` items open.

    Where it leaves more, the best is taken that single changes lead to, and `bound` says how good it is.

    Parameters
    ----------
    gains : array_like of shape (L,)
        What each item is worth by itself, finite.
    pairs : array_like of shape (L, L)
        What two items are worth together, beside that: finite, symmetric; the diagonal is not looked at.

    Returns
    -------
    Subset
        The set, its value, a bound, and the share of items that the relaxation was sure of.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import best_subset
    >>> found = best_subset([1.0, 1.5, 1.0], -2.0 * (1.0 - np.eye(3)))
    >>> found.labels.tolist(), float(found.value), found.bound == found.value
    ([0, 1, 0], 1.5, True)
    """
    gains, pairs = _checked(gains, pairs)
    labels = np.zeros(len(gains), np.uint8)
    bound, n_open = find_subset(gains, pairs, MOST_TRIED, labels)
    value = float(gains @ labels + 0.5 * (labels @ pairs @ labels))
    is_best = n_open <= MOST_TRIED
    return Subset(labels, value, value if is_best else max(float(bound), value), 1.0 - n_open / max(1, len(gains)))


def _checked(gains, pairs) -> tuple[np.ndarray, np.ndarray]:
    gains, pairs = np.array(gains, np.float64), np.array(pairs, np.float64)
    if not (np.all(np.isfinite(gains)) and np.all(np.isfinite(pairs))):
        raise ValueError("gains and interactions must be finite")
    np.fill_diagonal(pairs, 0.0)
    return gains, pairs


@kernel
def cut_subset(gains, pairs, shares):
    """Write the shares of the items; returns the bound that the flow proves."""
    return relax(gains, pairs, *sums_of_pairs(pairs), shares)


@kernel
def find_subset(gains, pairs, most_tried, labels):
    """Write the best set that is found; returns the bound of the relaxation, and how many items it left open."""
    n, n_open = len(gains), 0
    shares, fields, items = np.zeros(n), gains.copy(), np.zeros(n, np.int64)
    bound = relax(gains, pairs, *sums_of_pairs(pairs), shares)
    for k in range(n):
        labels[k] = 0
        if shares[k] == 0.5:
            items[n_open] = k
            n_open += 1
    for k in range(n):
        if shares[k] == 1.0:
            flip(k, items[:n_open], labels, fields, pairs)
    if n_open <= most_tried:
        try_all(items[:n_open], fields, pairs, labels)
    else:
        climb(items[:n_open], fields, pairs, labels)
    return bound, n_open


@helper
def gain_of(k, labels, fields):
    """What it adds to the value to put item k in, or to take it out."""
    return -fields[k] if labels[k] else fields[k]


@helper
def flip(k, items, labels, fields, pairs):
    """Put item k in or take it out; `fields`, what an item adds to the set, follow for those that are open."""
    sign = -1.0 if labels[k] else 1.0
    labels[k] = 1 - labels[k]
    for at in range(len(items)):
        fields[items[at]] += sign * pairs[k, items[at]]


@helper
def try_all(items, fields, pairs, labels):
    """Change these items as is best: all ways are tried, which follow each other by one change each."""
    best, value, highest = labels.copy(), 0.0, 0.0
    for turn in range(1, 2 ** len(items)):
        at = 0
        while (turn >> at) & 1 == 0:
            at += 1
        value += gain_of(items[at], labels, fields)
        flip(items[at], items, labels, fields, pairs)
        if value > highest:
            highest = value
            best[:] = labels
    labels[:] = best


@helper
def climb(items, fields, pairs, labels):
    """Change the one of these items that gains most, until none does."""
    while True:
        best, most = -1, LEAST_GAIN
        for at in range(len(items)):
            gain = gain_of(items[at], labels, fields)
            if gain > most:
                best, most = items[at], gain
        if best < 0:
            break
        flip(best, items, labels, fields, pairs)
