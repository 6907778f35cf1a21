"""Exact inference on graphs of low tree-width by bucket elimination; elimination.py says what the tables are.

All scores of a sample are copied into ``scratch.values``, where its messages are too, so that everything a bucket takes
in is a *factor*: a place in `values` and strides. Messages go up in the order of elimination (`pass_up`); beliefs, what
the whole graph says of a message's nodes, come down in reverse (`pass_down`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._compile import helper, implements
from .elimination import JunctionPlan
from .verbs import find_best, new_scratch

MAX, SCALED, LOG = 0, 1, 2  # best scores; sums of exponentials, as they are; and their logarithms


class JunctionScratch(NamedTuple):
    values: np.ndarray  # node scores, messages and edge tables of a sample
    beliefs: np.ndarray  # alike, with a table for each edge
    tables: np.ndarray  # left and right of every bucket
    counts: np.ndarray  # labels of the axes, while a factor is walked through


@implements(new_scratch, JunctionPlan)
def _(plan, k):
    room = plan.room
    return JunctionScratch(
        np.zeros(room[0]),
        np.zeros(room[1]),
        np.zeros(room[2]),
        np.zeros(room[5], np.int64),
    )


@helper
def load(plan, i, node, edge, values):
    """Copy the scores of sample i, tables that edges share once."""
    n_labels = plan.label_offsets[plan.offsets[i + 1]] - plan.label_offsets[plan.offsets[i]]
    values[:n_labels] = node[:n_labels]
    at = plan.edge_at[plan.graphs[i]]
    done = 0
    for e in range(plan.edge_offsets[i], plan.edge_offsets[i + 1]):
        if plan.tables[e] >= done:
            done = plan.tables[e] + table_size(plan, i, e)
    values[at : at + done] = edge[:done]


@helper
def table_size(plan, i, e):
    tail, head = plan.offsets[i] + plan.tail[e], plan.offsets[i] + plan.head[e]
    offsets = plan.label_offsets
    return (offsets[tail + 1] - offsets[tail]) * (offsets[head + 1] - offsets[head])


@helper
def next_run(plan, first, last, counts, at):
    """Where the next run along the last axis begins in a factor; `counts` are 0 again after the last one."""
    for a in range(last - 1, first - 1, -1):
        counts[a - first] += 1
        at += plan.axes[a, 1]
        if counts[a - first] < plan.axes[a, 0]:
            break
        counts[a - first] = 0
        at -= plan.axes[a, 0] * plan.axes[a, 1]
    return at


@helper
def add_factor(plan, f, values, table, counts):
    """Add a factor to a table with more axes."""
    first, last = plan.axis_offsets[f], plan.axis_offsets[f + 1] - 1
    n, stride = plan.axes[last, 0], plan.axes[last, 1]
    at = plan.source[f]
    for start in range(0, len(table), n):
        run = table[start : start + n]
        if stride == 1:
            of = values[at : at + n]
            for t in range(n):
                run[t] += of[t]
        else:
            for t in range(n):
                run[t] += values[at + t * stride]
        at = next_run(plan, first, last, counts, at)


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
def pass_up(plan, i, scratch):
    total = 0.0
    graph = plan.graphs[i]
    for j in range(plan.bucket_offsets[graph], plan.bucket_offsets[graph + 1]):
        n_x, n_z, n_o = plan.states[j]
        begin = plan.table_at[j]
        middle, end = begin + n_x * n_o, begin + n_x * (n_o + n_z)
        left, right = scratch.tables[begin:middle], scratch.tables[middle:end]
        scratch.tables[begin:end] = 0.0
        for f in range(plan.factor_offsets[j], plan.factor_offsets[j + 1]):
            add_factor(plan, f, scratch.values, right if plan.in_right[f] else left, scratch.counts)
        message = scratch.values[plan.message_at[j] : plan.message_at[j] + n_z * n_o].reshape((n_z, n_o))
        maximise(left.reshape((n_x, n_o)), right.reshape((n_x, n_z)), message)
        if plan.is_root[j]:
            total += message[0, 0]
    return total


@helper
def column(plan, j, labels):
    """Where the labels of a bucket's neighbours are in its message."""
    at = 0
    for s in range(plan.scope_offsets[j], plan.scope_offsets[j + 1]):
        at += labels[plan.scope[s, 0]] * plan.scope[s, 1]
    return at


@implements(find_best, JunctionPlan)
def _(plan, i, node, edge, scratch, labels):
    load(plan, i, node, edge, scratch.values)
    value = pass_up(plan, i, scratch)
    graph = plan.graphs[i]
    for j in range(plan.bucket_offsets[graph + 1] - 1, plan.bucket_offsets[graph] - 1, -1):
        n_x, n_z, n_o = plan.states[j]
        at = column(plan, j, labels)
        left, right = plan.table_at[j] + at % n_o, plan.table_at[j] + n_x * n_o + at // n_o
        chosen, best = 0, -np.inf
        for x in range(n_x):
            score = scratch.tables[left + x * n_o] + scratch.tables[right + x * n_z]
            if score > best:
                chosen, best = x, score
        labels[plan.own[j]] = chosen
    return value
