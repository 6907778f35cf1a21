"""Scores into tables, and tables into messages: the arithmetic of one bucket."""

from __future__ import annotations

import numpy as np

from ..._compile import helper

ADD, MULTIPLY, SUM, PEAK = 0, 1, 2, 3  # a factor goes into a table; or a table, reduced, into a factor
TINY = 1e-150  # the product of two is a normal number


@helper
def copy(source, start, target, to, n):
    """By hand: an assignment of slices takes seconds to compile."""
    for a in range(n):
        target[to + a] = source[start + a]


@helper
def fill(table, start, end, value):
    for a in range(start, end):
        table[a] = value


@helper
def copy_scores(plan, i, node, edge, values):
    """Copy the scores of sample i to where its factors are; returns the number of its node scores."""
    graph = plan.graphs[i]
    n_labels = plan.label_offsets[plan.offsets[i + 1]] - plan.label_offsets[plan.offsets[i]]
    copy(node, 0, values, 0, n_labels)
    copy(edge, 0, values, plan.edge_at[graph], plan.table_sizes[graph])
    return n_labels


@helper
def exponentials(scores, out):
    """``exp(scores - shift)`` and the shift, their maximum: NaN where one would be less than TINY."""
    shift = -np.inf
    for score in scores:
        shift = score if score > shift else shift
    if shift == -np.inf:
        return shift
    for a in range(len(scores)):
        out[a] = np.exp(scores[a] - shift)
        if out[a] < TINY and scores[a] > -np.inf:
            return np.nan
    return shift


@helper
def copy_exponentials(plan, i, node, edge, values):
    """The same of exponentials; returns what the shifts add to the logarithm of any product."""
    label_offsets, first = plan.label_offsets, plan.offsets[i]
    total = 0.0
    for v in range(first, plan.offsets[i + 1]):
        a, b = label_offsets[v] - label_offsets[first], label_offsets[v + 1] - label_offsets[first]
        total += exponentials(node[a:b], values[a:b])
    at, done, shift = plan.edge_at[plan.graphs[i]], 0, 0.0
    for e in range(plan.edge_offsets[i], plan.edge_offsets[i + 1]):
        a, tail, head = plan.tables[e], first + plan.tail[e], first + plan.head[e]
        if a >= done:  # otherwise all edges share the one table
            n_columns = label_offsets[head + 1] - label_offsets[head]
            done = a + (label_offsets[tail + 1] - label_offsets[tail]) * n_columns
            shift = exponentials(edge[a:done], values[at + a : at + done])
        total += shift
    return total


@helper
def run_along(table, start, factor, at, n, stride, op):
    """`op` for one run of a table's last axis. Indices are unsigned: checks for negative ones hinder vectorising."""
    if op == ADD:
        for t in range(n):
            table[start + t] += factor[at + t * stride]
    elif op == MULTIPLY:
        for t in range(n):
            table[start + t] *= factor[at + t * stride]
    elif op == SUM:
        for t in range(n):
            factor[at + t * stride] += table[start + t]
    else:
        for t in range(n):
            here, there = table[start + t], factor[at + t * stride]
            factor[at + t * stride] = here if here > there else there


@helper
def walk_along(axes, first, last, factor, at, table, begin, end, counts, op):
    """`op` for the entries `begin` to `end` of a table and the factor, of fewer axes, that begins at `at`."""
    n, stride = np.uint64(axes[last, 0]), np.uint64(axes[last, 1])
    n_runs, jump = np.uint64(1), np.uint64(0)
    if last > first:
        n_runs, jump = np.uint64(axes[last - 1, 0]), np.uint64(axes[last - 1, 1])
    start = np.uint64(begin)
    while start < np.uint64(end):
        here = np.uint64(at)
        for _ in range(n_runs):
            run_along(table, start, factor, here, n, stride, op)
            start += n
            here += jump
        for a in range(last - 2, first - 1, -1):  # to the next labels of the other axes; the counts end as 0
            counts[a - first] += 1
            at += axes[a, 1]
            if counts[a - first] < axes[a, 0]:
                break
            counts[a - first] = 0
            at -= axes[a, 0] * axes[a, 1]


@helper
def maximise(left, right, message):
    """``message[z, o] = max_x left[x, o] + right[x, z]``, four x a sweep: a quarter of the loads and stores."""
    n_x, n_o = left.shape
    for z in range(right.shape[1]):
        p = right[0, z]
        for o in range(n_o):
            message[z, o] = left[0, o] + p
        x = 1
        while x + 3 < n_x:
            p, q, r, s = right[x, z], right[x + 1, z], right[x + 2, z], right[x + 3, z]
            for o in range(n_o):
                one = left[x, o] + p
                two = left[x + 1, o] + q
                one = one if one > two else two
                two = left[x + 2, o] + r
                one = one if one > two else two
                two = left[x + 3, o] + s
                one = one if one > two else two
                message[z, o] = one if one > message[z, o] else message[z, o]
            x += 4
        while x < n_x:
            p = right[x, z]
            for o in range(n_o):
                one = left[x, o] + p
                message[z, o] = one if one > message[z, o] else message[z, o]
            x += 1


@helper
def multiply(left, right, message):
    """``message[z, o] = sum_x left[x, o] right[x, z]``, in the same way."""
    n_x, n_o = left.shape
    for z in range(right.shape[1]):
        p = right[0, z]
        for o in range(n_o):
            message[z, o] = left[0, o] * p
        x = 1
        while x + 3 < n_x:
            p, q, r, s = right[x, z], right[x + 1, z], right[x + 2, z], right[x + 3, z]
            for o in range(n_o):
                message[z, o] += left[x, o] * p + left[x + 1, o] * q + (left[x + 2, o] * r + left[x + 3, o] * s)
            x += 4
        while x < n_x:
            p = right[x, z]
            for o in range(n_o):
                message[z, o] += left[x, o] * p
            x += 1


@helper
def sum_products(left, right, message):
    """``message[z, o] = sum_x left[x, o] right[x, z]``, rescaled to a sum of 1; returns the logarithm of the scale.

    It is -inf if all are forbidden, and NaN if it is out of range.
    """
    n_x, n_o = left.shape
    multiply(left, right, message)
    scale = 0.0
    for z in range(right.shape[1]):
        for o in range(n_o):
            scale += message[z, o]
    if scale == 0.0:
        return -np.inf
    for z in range(right.shape[1]):
        for o in range(n_o):
            message[z, o] *= 1 / scale
        for x in range(n_x):
            right[x, z] *= 1 / scale  # so that the message remains what left and right sum to
    return np.log(scale) if scale >= TINY else np.nan


@helper
def in_range(table):
    """Whether every entry is 0 or at least TINY."""
    n_small = 0  # counted, since a minimum does not vectorise
    for a in range(len(table)):
        n_small += (table[a] > 0.0) & (table[a] < TINY)
    return n_small == 0


@helper
def add_logarithms(left, right, message):
    """``message[z, o] = log sum_x exp(left[x, o] + right[x, z])``, shifted to a maximum of 0; returns the shift."""
    n_x, n_o = left.shape
    maximise(left, right, message)
    shift = -np.inf
    for z in range(right.shape[1]):
        for o in range(n_o):
            total, top = 0.0, message[z, o]
            if top > -np.inf:
                for x in range(n_x):
                    total += np.exp(min(left[x, o] + right[x, z] - top, 0.0))
                message[z, o] += np.log(max(total, 1.0))  # bounds that only huge scores, rounded, may pass
                shift = max(shift, message[z, o])
    for z in range(right.shape[1]):
        for o in range(n_o):
            message[z, o] -= shift if shift > -np.inf else 0.0
    return shift
