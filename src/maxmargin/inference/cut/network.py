"""Scores as a network: the labelings are its cuts, nodes with label 1 on the side of the source.

A table [[a, b], [c, d]] of an edge is, up to a constant, what its ends like for themselves and a price for labels that
differ (kolmogorov04; the capacities of pillutla18, Alg. 11, can be negative):

    (c + d - a - b) / 2 * y_tail + (b + d - a - c) / 2 * y_head - (a + d - b - c) / 2 * [y_tail != y_head]

Any other split of ``a + d - b - c`` between the two arcs would do; this one sends
nothing along edges whose ends are paid alike for agreeing.
"""

from __future__ import annotations

import numpy as np

from ..._compile import helper


@helper
def difference(one, other):
    """``one - other``; of two that are forbidden the difference does not matter."""
    return 0.0 if one == other else one - other


@helper
def split_masked(a, b, c, d):
    """What `split` returns for a table with scores of -inf, but not of these alone."""
    ban = -np.inf
    if a == ban and b == ban:  # the tail has label 1
        return np.inf, difference(d, c), 0.0, 0.0
    if c == ban and d == ban:
        return ban, difference(b, a), 0.0, 0.0
    if a == ban and c == ban:  # the head has label 1
        return difference(d, b), np.inf, 0.0, 0.0
    if b == ban and d == ban:
        return difference(c, a), ban, 0.0, 0.0
    # from here on 0 and 0, and 1 and 1, are allowed, or the table is not submodular
    if b > ban:
        return difference(d, b), difference(b, a), np.inf, 0.0
    if c > ban:
        return difference(c, a), difference(d, c), 0.0, np.inf
    return difference(d, a), 0.0, np.inf, np.inf


@helper
def split(a, b, c, d):
    """What a table is to its tail, its head, and the arcs there and back."""
    if min(min(a, b), min(c, d)) == -np.inf:
        return split_masked(a, b, c, d)
    price = 0.5 * ((a + d) - (b + c))
    price = price if price > 0.0 else 0.0  # it is negative only by rounding
    return 0.5 * ((c + d) - (a + b)), 0.5 * ((b + d) - (a + c)), price, price


@helper
def like(excess, v, more):
    """Add what label 1 of node v is worth more than label 0; returns whether both are forbidden now."""
    if abs(more) == np.inf and abs(excess[v]) == np.inf:
        return excess[v] != more
    excess[v] += more
    return False


@helper
def lay_out(plan, i, node, edge, excess, residual):
    """Write the network of sample i; returns whether it is clear at once that all labelings are forbidden."""
    start = 2 * plan.edge_offsets[i]
    tails, heads, tables, arcs, backs = plan.tail, plan.head, plan.tables, plan.arc, plan.back
    clash = False
    for v in range(plan.offsets[i + 1] - plan.offsets[i]):
        excess[v] = difference(node[2 * v + 1], node[2 * v])
        clash = clash or max(node[2 * v], node[2 * v + 1]) == -np.inf
    for e in range(plan.edge_offsets[i], plan.edge_offsets[i + 1]):
        at, arc = tables[e], arcs[e]
        a, b, c, d = edge[at], edge[at + 1], edge[at + 2], edge[at + 3]
        clash = clash or max(max(a, b), max(c, d)) == -np.inf
        for_tail, for_head, there, back = split(a, b, c, d)
        residual[arc] = there
        residual[backs[start + arc]] = back
        clash = like(excess, tails[e], for_tail) or clash
        clash = like(excess, heads[e], for_head) or clash
    return clash


@helper
def score(plan, i, node, edge, labels):
    """The score of a labeling."""
    tails, heads, tables = plan.tail, plan.head, plan.tables
    total = 0.0
    for v in range(plan.offsets[i + 1] - plan.offsets[i]):
        total += node[2 * v + labels[v]]
    for e in range(plan.edge_offsets[i], plan.edge_offsets[i + 1]):
        total += edge[tables[e] + 2 * labels[tails[e]] + labels[heads[e]]]
    return total
