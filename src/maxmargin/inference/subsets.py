"""The best set of items that have gains and, in pairs, interactions: ``sum_k gain_k y_k + sum_{k<m} pair_km y_k y_m``.

A binary quadratic function. Its linear relaxation has an optimum of zeros, ones and halves, which one minimum cut finds
(roof duality, hammer84): every item k is there twice, as y_k and as 1 - y_k. With both, an interaction > 0 joins like
items and one < 0 unlike ones, so that all edges are submodular; they all cut at half their size, and the two items of k
have opposite gains, those of k in the mean of all sets. What the relaxation has as 0 or 1 is so in a best set, too, so
that only the halves are left to try out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._compile import helper, kernel
from .cut.flow import send_flow

# Items up to which all sets are tried: a millisecond.
MOST_TRIED = 16


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
    shares = np.empty(len(gains))
    bound = float(cut_subset(gains, pairs, shares))
    labels = (shares == 1.0).astype(np.uint8)
    free = np.flatnonzero(shares == 0.5)
    if len(free):
        among = np.ascontiguousarray(pairs[np.ix_(free, free)])
        found = np.zeros(len(free), np.uint8)
        search = try_all if len(free) <= MOST_TRIED else climb
        search(gains[free] + pairs[free] @ labels, among, found)
        labels[free] = found
    value = float(gains @ labels + 0.5 * (labels @ pairs @ labels))
    is_best = len(free) <= MOST_TRIED
    return Subset(labels, value, value if is_best else max(bound, value), 1.0 - len(free) / max(1, len(gains)))


def _checked(gains, pairs) -> tuple[np.ndarray, np.ndarray]:
    gains, pairs = np.array(gains, np.float64), np.array(pairs, np.float64)
    if not (np.all(np.isfinite(gains)) and np.all(np.isfinite(pairs))):
        raise ValueError("gains and interactions must be finite")
    np.fill_diagonal(pairs, 0.0)
    return gains, pairs


@helper
def rank_neighbours(pairs, rank, first):
    """Number the neighbours of every item; the arcs of the items, then those of their opposites, begin at `first`."""
    n = len(pairs)
    for k in range(n):
        count = 0
        for m in range(n):
            rank[k, m] = count
            count += pairs[k, m] != 0.0
        first[k + 1] = count
        first[n + k + 1] = count
    for v in range(2 * n):
        first[v + 1] += first[v]


@helper
def lay_out(gains, pairs, rank, first, to, back, residual, excess):
    """Write the network of items and their opposites; returns twice the value of the best cut before flow is sent."""
    n, total = len(gains), 0.0
    for k in range(n):
        total += gains[k]
        excess[k] = gains[k]
        for m in range(n):
            pair = pairs[k, m]
            if pair == 0.0:
                continue
            total += 0.5 * max(pair, 0.0)  # a pair is met twice
            excess[k] += 0.5 * pair
            for opposite in range(2):
                here = opposite * n + k
                there = (opposite if pair > 0.0 else 1 - opposite) * n + m
                arc = first[here] + rank[k, m]
                to[arc], back[arc], residual[arc] = there, first[there] + rank[m, k], 0.5 * abs(pair)
        excess[n + k] = -excess[k]
        total += abs(excess[k])
    return total


@kernel
def cut_subset(gains, pairs, shares):
    """Write the shares of the items; returns the bound that the flow proves."""
    n = len(gains)
    rank, first = np.zeros((n, n), np.int64), np.zeros(2 * n + 1, np.int64)
    rank_neighbours(pairs, rank, first)
    to, back = np.zeros((2, first[2 * n]), np.int64)
    residual, excess = np.zeros(first[2 * n]), np.zeros(2 * n)
    total = lay_out(gains, pairs, rank, first, to, back, residual, excess)
    level, turn, queue, path = np.zeros((4, 2 * n), np.int64)
    flow = send_flow(first, to, back, residual, excess, 1, -1, np.inf, level, turn, queue, path)
    for k in range(n):
        is_in, is_out = level[k] > 0, level[n + k] > 0
        shares[k] = 0.5 if is_in == is_out else (1.0 if is_in else 0.0)
    return 0.5 * (total - flow)


@helper
def flip(k, labels, fields, pairs):
    """Put item k in or take it out; `fields` are what items add to the set."""
    sign = -1.0 if labels[k] else 1.0
    labels[k] = 1 - labels[k]
    for m in range(len(labels)):
        fields[m] += sign * pairs[k, m]


@kernel
def try_all(gains, pairs, best):
    """Write the best of all sets, which follow each other by one change each."""
    n = len(gains)
    labels, fields = np.zeros(n, np.uint8), gains.copy()
    value, highest = 0.0, 0.0
    best[:] = 0
    for turn in range(1, 2**n):
        k = 0
        while (turn >> k) & 1 == 0:
            k += 1
        value += -fields[k] if labels[k] else fields[k]
        flip(k, labels, fields, pairs)
        if value > highest:
            highest = value
            best[:] = labels


@kernel
def climb(gains, pairs, labels):
    """Change the one item that gains most, until none does, from `labels` on."""
    fields = gains.copy()
    for k in range(len(gains)):
        for m in range(len(gains)):
            fields[k] += pairs[k, m] * labels[m]
    while True:
        best, most = -1, 1e-12
        for k in range(len(gains)):
            gain = -fields[k] if labels[k] else fields[k]
            if gain > most:
                best, most = k, gain
        if best < 0:
            break
        flip(best, labels, fields, pairs)
