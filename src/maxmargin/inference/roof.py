"""The linear relaxation of the best set of items with gains and interactions, by bounds and one minimum cut.

Items that gain, or lose, whatever the others do are settled first: with ``gain_k + sum_m max(pair_km, 0) <= 0`` item k
is out in some optimum of the relaxation, since to lower its share costs no more than that, and likewise in with
``gain_k + sum_m min(pair_km, 0) >= 0``. In problems learned from data that are nearly all.

A minimum cut finds the shares of the others (roof duality, hammer84): every item k is there twice, as y_k and as 1 -
y_k. With both, an interaction > 0 joins like items and one < 0 unlike ones, so that all edges are submodular; they all
cut at half their size, and the two items of k have opposite gains, those of k in the mean of all sets. The flow is a
reparametrisation, messages from pairs to items that add up to nothing, and what it leaves is the bound of yen16, eq. 8,
with the best messages there are.
"""

from __future__ import annotations

import numpy as np

from .._compile import helper
from .cut.flow import send_flow

OPEN = 0.5  # the share of an item that is not settled


@helper
def sums_of_pairs(pairs):
    """What all interactions > 0 add to each item, and all < 0."""
    rises, falls = np.zeros((2, len(pairs)))
    for k in range(len(pairs)):
        for m in range(len(pairs)):
            rises[k] += max(pairs[k, m], 0.0)
            falls[k] += min(pairs[k, m], 0.0)
    return rises, falls


@helper
def relax(gains, pairs, rises, falls, shares):
    """Write the shares of the items, whose sums of interactions are given; returns the bound that the flow proves."""
    items, fields = np.zeros(len(gains), np.int64), gains.copy()
    n_open, value = settle_alone(pairs, rises, falls, shares, items, fields)
    n_open, more = settle_together(pairs, shares, items, n_open, fields)
    if n_open == 0:
        return value + more
    own, among, of_open = np.zeros(n_open), np.zeros((n_open, n_open)), np.zeros(n_open)
    for x in range(n_open):
        own[x] = fields[items[x]]
        for y in range(n_open):
            among[x, y] = pairs[items[x], items[y]]
    bound = cut(own, among, of_open)
    for x in range(n_open):
        shares[items[x]] = of_open[x]
    return value + more + bound


@helper
def settle_alone(pairs, rises, falls, shares, items, fields):
    """Settle items by what all others could add; returns how many are left, which are listed, and what those in add.

    `fields`, the gains at first, then count what items in add to those left.
    """
    n, n_open, n_in, value = len(fields), 0, 0, 0.0
    inside = np.zeros(n, np.int64)
    for k in range(n):
        if fields[k] + rises[k] <= 0.0:
            shares[k] = 0.0
        elif fields[k] + falls[k] >= 0.0:
            shares[k], inside[n_in] = 1.0, k
            n_in += 1
        else:
            shares[k], items[n_open] = OPEN, k
            n_open += 1
    for x in range(n_in):
        value += fields[inside[x]]
        for y in range(x):
            value += pairs[inside[x], inside[y]]
        for y in range(n_open):
            fields[items[y]] += pairs[inside[x], items[y]]
    return n_open, value


@helper
def settle_together(pairs, shares, items, n_open, fields):
    """Settle items by what those could add that are left, until no more are; returns as :func:`settle_alone` does."""
    rises, falls = np.zeros((2, n_open))
    value, before = 0.0, n_open + 1
    for x in range(n_open):
        for y in range(n_open):
            pair = pairs[items[x], items[y]]
            rises[x] += max(pair, 0.0)
            falls[x] += min(pair, 0.0)
    left = n_open
    while left < before:
        before = left
        for x in range(n_open):
            k = items[x]
            is_out, is_in = fields[k] + rises[x] <= 0.0, fields[k] + falls[x] >= 0.0
            if shares[k] != OPEN or not (is_out or is_in):
                continue
            left -= 1
            shares[k] = 0.0 if is_out else 1.0
            value += shares[k] * fields[k]
            for y in range(n_open):
                m = items[y]
                if shares[m] == OPEN:
                    pair = pairs[k, m]
                    rises[y] -= max(pair, 0.0)
                    falls[y] -= min(pair, 0.0)
                    fields[m] += shares[k] * pair
    kept = 0
    for x in range(n_open):
        if shares[items[x]] == OPEN:
            items[kept] = items[x]
            kept += 1
    return kept, value


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


@helper
def cut(gains, pairs, shares):
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
