"""Forests: max-product, its k best, max-marginals and sum-product over trees whose nodes may differ in their labels.

Every edge points from a child, its tail, to its parent, its head. One pass up and one pass down serve all semirings.
All is inlined, so that this costs no speed: on a chain, marginals take 1.1 times as long as the code of chains.
Against Viterbi the best labeling takes 1.5 times as long with 22 labels and 1.1 to 1.2 with 200, for views of ranges
that are not rows of a matrix. The k best labelings have code of their own, see `beam`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements
from ..beam import Beam, extend, new_beam
from ..semirings import LOG_SUM, MAX_PLUS, SCALED_SUM, begin, close, join, send, split, spread
from ..vectors import exp_scores, largest_of
from ..verbs import argmax_work, can_sum, find_best, find_marginals, find_max_marginals, find_top, is_tight, new_scratch
from .plan import TreePlan

# Of an argmax: an edge, beside its pairs of labels, see `argmax_work`.
EDGE_WORK = 500.0


class TreeScratch(NamedTuple):
    inside: np.ndarray  # as `node`: what the subtree below a label adds up to, its own score included
    outside: np.ndarray  # as `node`: what all else adds up to
    message: np.ndarray  # one after the other: see TreePlan.messages
    before: np.ndarray  # as `message`: the head before the message came
    weight: np.ndarray  # as the longest message
    table: np.ndarray  # as `edge`, exponentiated
    wanted: np.ndarray  # (N,) nodes that are labelled, for those below them
    below: np.ndarray  # (N,) how many children of a node are not
    beam: Beam


@implements(new_scratch, TreePlan)
def _(plan, k):
    n_nodes, n_labels, n_message, n_table = plan.sizes[0], plan.sizes[1], plan.sizes[2], plan.sizes[3]
    message, before, weight = np.zeros(n_message), np.zeros(n_message), np.zeros(n_labels)
    inside, outside, table = np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_table)
    wanted, below = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    return TreeScratch(inside, outside, message, before, weight, table, wanted, below, new_beam(n_nodes, k))


@helper
def labels_of(plan, i, v):
    """Where the labels of node v of sample i begin and end in `node`."""
    at = plan.offsets[i] + v
    first = plan.label_offsets[plan.offsets[i]]
    return plan.label_offsets[at] - first, plan.label_offsets[at + 1] - first


@helper
def fields_of(plan, i, e, edge, start):
    """The tail's and the head's range in `node`, the message's, and the table that begins at `start`."""
    at = plan.edge_offsets[i] + e
    a, to_a = labels_of(plan, i, plan.tail[at])
    b, to_b = labels_of(plan, i, plan.head[at])
    m = plan.messages[at]
    table = edge[start : start + (to_a - a) * (to_b - b)].reshape((to_a - a, to_b - b))
    return slice(a, to_a), slice(b, to_b), slice(m, m + to_b - b), table


@helper
def go_up(ring, plan, i, edge, starts, scratch):
    """Messages from the leaves to the roots, by tables that begin at `starts`.

    Returns the log of the factors taken out, NaN when out of range.
    """
    value = 0.0
    first = plan.edge_offsets[i]
    for at in range(first, plan.edge_offsets[i + 1]):
        e = plan.upward[at]
        tail, head, here, table = fields_of(plan, i, e, edge, starts[first + e])
        send(ring, scratch, tail, here, table)
        value += join(ring, scratch, head, here)
        if not value > -np.inf:  # out of range, or all is forbidden
            return value
    return value


@helper
def go_down(ring, plan, i, edge, starts, scratch, node_out, edge_out, ends):
    """From the roots, where `outside` is known, to the leaves; tables of pairs begin at `ends`. Returns 0, or NaN."""
    first = plan.edge_offsets[i]
    for at in range(plan.edge_offsets[i + 1] - 1, first - 1, -1):
        e = plan.upward[at]
        tail, head, here, table = fields_of(plan, i, e, edge, starts[first + e])
        start = ends[first + e]
        pairs = edge_out[start : start + table.size].reshape(table.shape)
        flaw = split(ring, scratch, head, here, node_out[head])
        flaw += spread(ring, scratch, tail, here, table, node_out[tail], pairs)
        if np.isnan(flaw):
            return flaw
    return 0.0


@helper
def find_insides(plan, i, node, edge, scratch):
    """Max-product up to the roots; returns the score of the best labeling."""
    for a in range(len(node)):
        scratch.inside[a] = node[a]
    go_up(MAX_PLUS, plan, i, edge, plan.tables, scratch)
    value = 0.0
    for r in range(plan.root_offsets[i], plan.root_offsets[i + 1]):
        a, to_a = labels_of(plan, i, plan.roots[r])
        value += largest_of(scratch.inside[a:to_a])
    return value


@implements(find_best, TreePlan)
def _(plan, i, node, edge, scratch, labels):
    value = find_insides(plan, i, node, edge, scratch)
    for r in range(plan.root_offsets[i], plan.root_offsets[i + 1]):
        a, to_a = labels_of(plan, i, plan.roots[r])
        inside, chosen = scratch.inside[a:to_a], 0
        for label in range(1, len(inside)):
            chosen = label if inside[label] > inside[chosen] else chosen
        labels[plan.roots[r]] = chosen
    first = plan.edge_offsets[i]
    for at in range(plan.edge_offsets[i + 1] - 1, first - 1, -1):  # ties go to the lowest label, roots first
        e = plan.upward[at]
        a, to_a = labels_of(plan, i, plan.tail[first + e])
        b, to_b = labels_of(plan, i, plan.head[first + e])
        cell, chosen = plan.tables[first + e] + labels[plan.head[first + e]], 0  # one column: no view of the table
        best = scratch.inside[a] + edge[cell]
        for label in range(1, to_a - a):
            cell += to_b - b
            score = scratch.inside[a + label] + edge[cell]
            if score > best:
                best, chosen = score, label
        labels[plan.tail[first + e]] = chosen
    return value


@implements(find_top, TreePlan)
def _(plan, i, node, edge, scratch, k, labels, values):
    beam, count, side, step, n_wanted = scratch.beam, 1, 0, 0, 0
    beam.score[0, 0] = find_insides(plan, i, node, edge, scratch)
    if beam.score[0, 0] == -np.inf:
        return 0
    scratch.weight[:] = 0.0
    first = plan.edge_offsets[i]
    count_children(plan, i, scratch.below)
    for r in range(plan.root_offsets[i], plan.root_offsets[i + 1]):
        a, to_a = labels_of(plan, i, plan.roots[r])
        inside, found = scratch.inside[a:to_a], 0
        best = largest_of(inside)
        for s in range(count):
            found = extend(beam, step, side, found, k, s, beam.score[side, s], best, inside, scratch.weight)
        count, side = found, 1 - side
        n_wanted = follow_slots(beam, step, count, plan.roots[r], scratch.wanted, n_wanted, scratch.below, labels)
        step += 1
    for at in range(plan.edge_offsets[i + 1] - 1, first - 1, -1):
        e, found = plan.upward[at], 0
        tail, _, here, table = fields_of(plan, i, e, edge, plan.tables[first + e])
        for s in range(count):
            given = labels[s, plan.head[first + e]]
            score, best = beam.score[side, s], scratch.message[here][given]
            found = extend(beam, step, side, found, k, s, score, best, scratch.inside[tail], table[:, given])
        count, side = found, 1 - side
        scratch.below[plan.head[first + e]] -= 1
        n_wanted = follow_slots(
            beam, step, count, plan.tail[first + e], scratch.wanted, n_wanted, scratch.below, labels
        )
        step += 1
    read_labelings(plan, i, beam, count, labels)
    for s in range(count):
        values[s] = beam.score[side, s]
    return count


@helper
def count_children(plan, i, below):
    below[: plan.offsets[i + 1] - plan.offsets[i]] = 0
    for at in range(plan.edge_offsets[i], plan.edge_offsets[i + 1]):
        below[plan.head[at]] += 1


@helper
def follow_slots(beam, step, count, v, wanted, n_wanted, below, labels):
    """Rows of `labels` follow their slots, where children will ask for them, with node v added; how many are wanted.

    Mostly slots stay where they are.
    """
    origins, moved = beam.origin[step], False
    for s in range(count):
        moved |= origins[s] != s
    if moved:
        kept, column = 0, np.empty(count, np.int32)
        for at in range(n_wanted):
            u = wanted[at]
            if below[u] > 0:
                wanted[kept] = u
                kept += 1
                for s in range(count):
                    column[s] = labels[origins[s], u]
                labels[:count, u] = column
        n_wanted = kept
    for s in range(count):
        labels[s, v] = beam.pick[step, s]
    wanted[n_wanted] = v
    return n_wanted + 1


@helper
def read_labelings(plan, i, beam, count, labels):
    """What the steps chose, from the last node labelled to the first."""
    first, n_roots = plan.edge_offsets[i], plan.root_offsets[i + 1] - plan.root_offsets[i]
    n_nodes = plan.offsets[i + 1] - plan.offsets[i]
    for s in range(count):
        slot = s
        for at in range(n_nodes):  # edges upward, and roots backwards
            step = n_nodes - 1 - at
            if step >= n_roots:
                v = plan.tail[first + plan.upward[first + at]]
            else:
                v = plan.roots[plan.root_offsets[i] + step]
            labels[s, v] = beam.pick[step, slot]
            slot = beam.origin[step, slot]


@implements(find_max_marginals, TreePlan)
def _(plan, i, node, edge, scratch, out):
    value = find_insides(plan, i, node, edge, scratch)
    if value == -np.inf:
        for a in range(len(node)):
            out[a] = value
        return
    for r in range(plan.root_offsets[i], plan.root_offsets[i + 1]):
        a, to_a = labels_of(plan, i, plan.roots[r])
        others = value - largest_of(scratch.inside[a:to_a])  # the other trees at their best
        for at in range(a, to_a):
            scratch.outside[at] = others
            out[at] = scratch.inside[at] + others
    go_down(MAX_PLUS, plan, i, edge, plan.tables, scratch, out, edge, plan.tables)


@helper
def exp_potentials(plan, i, node, edge, scratch):
    """Exponentials of all scores, divided by the largest of each node and table; returns the log of the divisors."""
    value = 0.0
    for v in range(plan.offsets[i + 1] - plan.offsets[i]):
        a, to_a = labels_of(plan, i, v)
        value += exp_scores(node[a:to_a], scratch.inside[a:to_a])
    end, shift = 0, 0.0
    for at in range(plan.edge_offsets[i], plan.edge_offsets[i + 1]):
        start = plan.tables[at]
        if start >= end:  # a table not met yet: they come in order
            a, to_a = labels_of(plan, i, plan.tail[at])
            b, to_b = labels_of(plan, i, plan.head[at])
            end = start + (to_a - a) * (to_b - b)
            shift = exp_scores(edge[start:end], scratch.table[start:end])
        value += shift
    return value


@helper
def go_both_ways(ring, plan, i, edge, starts, scratch, node_out, edge_out):
    """Sum-product, by tables that begin at `starts`; returns the log-partition function, NaN when out of range."""
    begin(ring, scratch, slice(0, len(node_out)))
    value = go_up(ring, plan, i, edge, starts, scratch)
    if not value > -np.inf:
        return value
    for r in range(plan.root_offsets[i], plan.root_offsets[i + 1]):
        a, to_a = labels_of(plan, i, plan.roots[r])
        value += close(ring, scratch, slice(a, to_a), node_out[a:to_a])
    return value + go_down(ring, plan, i, edge, starts, scratch, node_out, edge_out, plan.pairs)


@implements(argmax_work, TreePlan)
def _(plan):
    labels, first = np.diff(plan.label_offsets), np.repeat(plan.offsets[:-1], np.diff(plan.edge_offsets))
    pairs = labels[first + plan.tail] * labels[first + plan.head]
    return EDGE_WORK * len(pairs) + float(np.sum(pairs))


@implements(can_sum, TreePlan)
def _(plan):
    return True


@implements(find_marginals, TreePlan)
def _(plan, i, node, edge, scratch, node_out, edge_out):
    value = exp_potentials(plan, i, node, edge, scratch)
    if value == -np.inf:
        return value
    value += go_both_ways(SCALED_SUM, plan, i, scratch.table, plan.tables, scratch, node_out, edge_out)
    if np.isnan(value):
        for a in range(len(node)):
            scratch.inside[a] = node[a]
        value = go_both_ways(LOG_SUM, plan, i, edge, plan.tables, scratch, node_out, edge_out)
    return value


@implements(is_tight, TreePlan)
def _(plan):
    return True
