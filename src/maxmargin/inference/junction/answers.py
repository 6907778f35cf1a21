"""Exact inference on graphs of low tree-width by bucket elimination; elimination.py says what the tables are.

The scores of a sample are copied into ``scratch.values``, where its messages are too, so that all that a bucket takes
in are *factors*: a place in `values`, and strides. Messages go up in the order of elimination. Beliefs, what the whole
graph says of the nodes of a message or of an edge, come down in reverse: a bucket's belief is that of its message's
nodes times the conditional distribution of its own node, which is ``left[x, o] right[x, z] / message[z, o]``.

Sums run over exponentials as they are (scores of a table less their maximum, messages rescaled) as long as every entry
is 0, because forbidden, or at least `TINY`: then no product underflows, and nothing that a later factor might raise
again is lost. Otherwise they are done over in log space, ten to twenty times slower.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements
from ..verbs import argmax_work, can_sum, find_best, find_marginals, find_max_marginals, find_top, new_scratch
from .passes import LOG, MAX, SCALED, pass_down, pass_up
from .plan import JunctionPlan
from .tables import copy, copy_exponentials, copy_scores, fill

# Of an argmax: a bucket, and an entry of the tables that its factors are spread over, see `argmax_work`.
BUCKET_WORK, TABLE_WORK = 800.0, 9.0


class JunctionScratch(NamedTuple):
    values: np.ndarray  # node scores, messages and edge tables of a sample
    beliefs: np.ndarray  # alike, but a table for each edge
    tables: np.ndarray  # left and right of every bucket
    outs: np.ndarray  # beliefs of one bucket
    weights: np.ndarray  # of the labels of one node
    counts: np.ndarray  # steps along the axes, while a factor is walked through
    waiting: np.ndarray  # (k,): scores of labelings that differ from one found, best of their kind ...
    differs: np.ndarray  # (k, 3): ... from which, first at which bucket, and the label there


@implements(new_scratch, JunctionPlan)
def _(plan, k):
    room = plan.room
    return JunctionScratch(
        np.zeros(room[0]),
        np.zeros(room[1]),
        np.zeros(room[2]),
        np.zeros(room[3]),
        np.zeros(room[4]),
        np.zeros(room[5], np.int64),
        np.zeros(k),
        np.zeros((k, 3), np.int64),
    )


@helper
def wait_at(scratch, at, value, found, j, x):
    scratch.waiting[at] = value
    scratch.differs[at, 0], scratch.differs[at, 1], scratch.differs[at, 2] = found, j, x


@helper
def walk_back(plan, i, end, scratch, labels, found, bound, wanted, n_waiting):
    """Choose the best labels in row `found` for the buckets before `end`, given those of the others; ties: the lowest.

    Labelings that take another label at one of them have a score of `bound` less what is lost there. Of these and of
    those that wait already, the `wanted` best wait on; returns how many.
    """
    tables, waiting = scratch.tables, scratch.waiting
    states, own, table_at, scope, scope_offsets = plan.states, plan.own, plan.table_at, plan.scope, plan.scope_offsets
    for j in range(end - 1, plan.bucket_offsets[plan.graphs[i]] - 1, -1):
        n_x, n_z, n_o = states[j, 0], states[j, 1], states[j, 2]
        at = 0  # of the neighbours' labels in the message
        for s in range(scope_offsets[j], scope_offsets[j + 1]):
            at += labels[found, scope[s, 0]] * scope[s, 1]
        left, right = table_at[j] + at % n_o, table_at[j] + n_x * n_o + at // n_o
        chosen, best = 0, -np.inf
        for x in range(n_x):
            score = tables[left + x * n_o] + tables[right + x * n_z]
            if score > best:
                chosen, best = x, score
        labels[found, own[j]] = chosen
        if wanted == 0:
            continue
        for x in range(n_x):
            value = bound - (best - (tables[left + x * n_o] + tables[right + x * n_z]))
            value = value if value < bound else bound  # sums may be reordered, but what comes later is no better
            if x == chosen or value == -np.inf:
                continue
            at = n_waiting
            if n_waiting < wanted:
                n_waiting += 1
            else:
                at = np.argmin(waiting[:n_waiting])
                if value <= waiting[at]:
                    continue
            wait_at(scratch, at, value, found, j, x)
    return n_waiting


@implements(find_best, JunctionPlan)
def _(plan, i, node, edge, scratch, labels):
    copy_scores(plan, i, node, edge, scratch.values)
    value = pass_up(plan, i, scratch, MAX)
    n_nodes = plan.offsets[i + 1] - plan.offsets[i]
    rows = labels[:n_nodes].reshape((1, n_nodes))
    walk_back(plan, i, plan.bucket_offsets[plan.graphs[i] + 1], scratch, rows, 0, value, 0, 0)
    return value


@implements(find_top, JunctionPlan)
def _(plan, i, node, edge, scratch, k, labels, values):
    """One pass up and k walks back: a labeling differs from one found before, first (last eliminated first) at a bucket
    where it came to wait, and is the best that does. So no two are equal, and none is missed."""
    copy_scores(plan, i, node, edge, scratch.values)
    bound = pass_up(plan, i, scratch, MAX)
    if bound == -np.inf:
        return 0
    waiting, differs = scratch.waiting, scratch.differs
    n_waiting, place = 0, plan.bucket_offsets[plan.graphs[i] + 1]
    for found in range(k):
        if found > 0:
            if n_waiting == 0:
                return found
            c = np.argmax(waiting[:n_waiting])
            bound, place = waiting[c], differs[c, 1]
            for v in range(labels.shape[1]):
                labels[found, v] = labels[differs[c, 0], v]
            labels[found, plan.own[place]] = differs[c, 2]
            n_waiting -= 1
            wait_at(scratch, c, waiting[n_waiting], differs[n_waiting, 0], differs[n_waiting, 1], differs[n_waiting, 2])
        values[found] = bound
        n_waiting = walk_back(plan, i, place, scratch, labels, found, bound, k - found - 1, n_waiting)
    return k


@implements(find_max_marginals, JunctionPlan)
def _(plan, i, node, edge, scratch, out):
    n_labels = copy_scores(plan, i, node, edge, scratch.values)
    value = pass_up(plan, i, scratch, MAX)
    if value == -np.inf:
        fill(out, 0, n_labels, value)
        return
    pass_down(plan, i, scratch, MAX, value)
    copy(scratch.beliefs, 0, out, 0, n_labels)


@implements(argmax_work, JunctionPlan)
def _(plan):
    n_x, n_z, n_o = plan.states.T.astype(float)
    of_buckets = BUCKET_WORK + TABLE_WORK * n_x * (n_z + n_o) + n_x * n_z * n_o
    of_graphs = np.diff(np.concatenate([[0.0], np.cumsum(of_buckets)])[plan.bucket_offsets])
    return float(np.sum(of_graphs[plan.graphs]))


@implements(can_sum, JunctionPlan)
def _(plan):
    return True


@implements(find_marginals, JunctionPlan)
def _(plan, i, node, edge, scratch, node_out, edge_out):
    mode = SCALED
    value = copy_exponentials(plan, i, node, edge, scratch.values)
    if value == value:
        value += pass_up(plan, i, scratch, mode)
    if value != value:  # out of the range of doubles
        mode = LOG
        copy_scores(plan, i, node, edge, scratch.values)
        value = pass_up(plan, i, scratch, mode)
    if value == -np.inf:
        return value
    pass_down(plan, i, scratch, mode, 1.0)
    n_labels = plan.label_offsets[plan.offsets[i + 1]] - plan.label_offsets[plan.offsets[i]]
    copy(scratch.beliefs, 0, node_out, 0, n_labels)
    copy(scratch.beliefs, plan.edge_at[plan.graphs[i]], edge_out, 0, plan.edge_sizes[plan.graphs[i]])
    return value
