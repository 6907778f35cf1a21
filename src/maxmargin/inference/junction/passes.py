"""Messages up and beliefs down an elimination, for best scores and for sums."""

from __future__ import annotations

import numpy as np

from ..._compile import helper
from .tables import (
    ADD,
    MULTIPLY,
    PEAK,
    SUM,
    add_logarithms,
    fill,
    in_range,
    maximise,
    multiply,
    sum_products,
    walk_along,
)

MAX, SCALED, LOG = 0, 1, 2  # best scores; sums of exponentials as they are; their logarithms


@helper
def pass_up(plan, i, scratch, mode):
    """Fill tables and messages; returns the best score or the log-partition function, NaN if that left the range."""
    graph = plan.graphs[i]
    values, tables, counts = scratch.values, scratch.tables, scratch.counts
    # taken out of the plan once: a field costs the counting of references each time
    states, axes, axis_offsets, source, in_right = plan.states, plan.axes, plan.axis_offsets, plan.source, plan.in_right
    factor_offsets, table_at, message_at, is_root = plan.factor_offsets, plan.table_at, plan.message_at, plan.is_root
    total = 0.0
    for j in range(plan.bucket_offsets[graph], plan.bucket_offsets[graph + 1]):
        n_x, n_z, n_o = states[j, 0], states[j, 1], states[j, 2]
        begin, at = table_at[j], message_at[j]
        middle, end = begin + n_x * n_o, begin + n_x * (n_o + n_z)
        fill(tables, begin, end, 1.0 if mode == SCALED else 0.0)
        for f in range(factor_offsets[j], factor_offsets[j + 1]):
            a, b = (middle, end) if in_right[f] else (begin, middle)
            op = MULTIPLY if mode == SCALED else ADD
            walk_along(axes, axis_offsets[f], axis_offsets[f + 1] - 1, values, source[f], tables, a, b, counts, op)
            if mode == SCALED and not in_range(tables[a:b]):
                return np.nan
        message = values[at : at + n_z * n_o].reshape((n_z, n_o))
        lefts, rights = tables[begin:middle].reshape((n_x, n_o)), tables[middle:end].reshape((n_x, n_z))
        if mode == MAX:
            maximise(lefts, rights, message)
            total += message[0, 0] if is_root[j] else 0.0
            continue
        if mode == SCALED:
            total += sum_products(lefts, rights, message)
            total = total if in_range(values[at : at + n_z * n_o]) else np.nan
        else:
            total += add_logarithms(lefts, rights, message)
        if not total > -np.inf:
            return total
    return total


@helper
def best_beliefs(left, right, message, belief, left_out, right_out):
    """Best scores of all with the labels (x, o); of those, for each x, the best, in all of its row of `right_out`."""
    n_x, n_o = left.shape
    for z in range(right.shape[1]):
        for o in range(n_o):
            belief[z, o] = belief[z, o] - message[z, o] if message[z, o] > -np.inf else -np.inf
    maximise(belief, right.T, left_out)
    for x in range(n_x):
        best = -np.inf
        for o in range(n_o):
            left_out[x, o] += left[x, o]
            best = left_out[x, o] if left_out[x, o] > best else best
        for z in range(right.shape[1]):
            right_out[x, z] = best


@helper
def scaled_beliefs(left, right, message, belief, left_out, right_out):
    """Probabilities of the labels (x, o) and of (x, z)."""
    n_x, n_o = left.shape
    for z in range(right.shape[1]):
        for o in range(n_o):
            belief[z, o] = belief[z, o] / message[z, o] if message[z, o] > 0.0 else 0.0
    multiply(belief, right.T, left_out)
    for x in range(n_x):
        for z in range(right.shape[1]):
            total = 0.0
            for o in range(n_o):
                total += belief[z, o] * left[x, o]
            right_out[x, z] = total * right[x, z]
        for o in range(n_o):
            left_out[x, o] *= left[x, o]


@helper
def log_beliefs(left, right, belief, left_out, right_out, weights):
    """The same from logarithms. Conditional distributions are summed up anew: huge messages have lost digits."""
    n_x, n_o = left.shape
    for x in range(n_x):
        for o in range(n_o):
            left_out[x, o] = 0.0
        for z in range(right.shape[1]):
            right_out[x, z] = 0.0
    for z in range(right.shape[1]):
        for o in range(n_o):
            if belief[z, o] == 0.0:
                continue
            best, total = 0, 0.0
            for x in range(1, n_x):
                best = x if left[x, o] + right[x, z] > left[best, o] + right[best, z] else best
            for x in range(n_x):
                weights[x] = 1.0
                if x != best:
                    weights[x] = np.exp(min(left[x, o] + right[x, z] - (left[best, o] + right[best, z]), 0.0))
                total += weights[x]
            for x in range(n_x):
                left_out[x, o] += weights[x] * belief[z, o] / total
                right_out[x, z] += weights[x] * belief[z, o] / total


@helper
def reduce_to_factors(plan, j, scratch, n_targets, empty, op):
    """What bucket j found of its node, in ``scratch.outs``, becomes the beliefs of all that it took in."""
    beliefs, outs, counts, axes, at = scratch.beliefs, scratch.outs, scratch.counts, plan.axes, plan.axis_offsets
    middle, end = plan.states[j, 0] * plan.states[j, 2], plan.states[j, 0] * (plan.states[j, 2] + plan.states[j, 1])
    for f in range(plan.factor_offsets[j], plan.factor_offsets[j + 1]):
        to = plan.target[f]
        if to < n_targets:
            fill(beliefs, to, to + plan.extent[f], empty)
            a, b = (middle, end) if plan.in_right[f] else (0, middle)
            walk_along(axes, at[f], at[f + 1] - 1, beliefs, to, outs, a, b, counts, op)


@helper
def pass_down(plan, i, scratch, mode, whole):
    """Fill beliefs of nodes, messages and edges (of best scores: not of edges); `whole` is the belief of no node."""
    graph = plan.graphs[i]
    values, tables, beliefs, outs = scratch.values, scratch.tables, scratch.beliefs, scratch.outs
    states, table_at, message_at = plan.states, plan.table_at, plan.message_at
    n_targets = plan.edge_at[graph] if mode == MAX else len(beliefs)
    for j in range(plan.bucket_offsets[graph + 1] - 1, plan.bucket_offsets[graph] - 1, -1):
        n_x, n_z, n_o, begin, at = states[j, 0], states[j, 1], states[j, 2], table_at[j], message_at[j]
        middle, end = n_x * n_o, n_x * (n_o + n_z)
        left = tables[begin : begin + middle].reshape((n_x, n_o))
        right = tables[begin + middle : begin + end].reshape((n_x, n_z))
        message = values[at : at + n_z * n_o].reshape((n_z, n_o))
        belief = beliefs[at : at + n_z * n_o].reshape((n_z, n_o))
        left_out, right_out = outs[:middle].reshape((n_x, n_o)), outs[middle:end].reshape((n_x, n_z))
        if plan.is_root[j]:
            belief[0, 0] = whole
        if mode == MAX:
            best_beliefs(left, right, message, belief, left_out, right_out)
        elif mode == SCALED:
            scaled_beliefs(left, right, message, belief, left_out, right_out)
        else:
            log_beliefs(left, right, belief, left_out, right_out, scratch.weights)
        reduce_to_factors(plan, j, scratch, n_targets, -np.inf if mode == MAX else 0.0, PEAK if mode == MAX else SUM)
