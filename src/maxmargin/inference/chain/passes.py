"""Linear chains: the k best labelings, max-marginals and marginals, from node scores (T, K) and edge scores (K, K).

Only the first `length` positions are read and written. Forbidden labels and transitions are scores of -inf. `start` and
`end` (K,) are added at the first and last position.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper
from ..beam import extend, least_of
from ..given import add_log_given, multiply_given
from ..semirings import LOG_SUM, SCALED_SUM, begin, close, join, send, split, spread
from ..vectors import exp_scores, max_step
from ..verbs import FLOOR


@helper
def forward_max(node, edge, start, table, length):
    """Fill ``table[t, b]`` with the best score of a prefix that ends in label b at position t (node scores included).

    The argmax is not stored: the maximum alone vectorises, and the backtrace looks at one column per position.
    """
    n_labels = edge.shape[0]
    for b in range(n_labels):
        table[0, b] = node[0, b] + start[b]
    for t in range(1, length):
        here = table[t]
        max_step(table[t - 1], edge, here)
        for b in range(n_labels):
            here[b] += node[t, b]


@helper
def viterbi(node, edge, start, end, table, length, labels):
    """Write the best labeling into `labels` and return its score; ties go to the lowest label, last position first."""
    n_labels = edge.shape[0]
    forward_max(node, edge, start, table, length)
    chosen, value = best_end(table[length - 1], end)
    labels[length - 1] = chosen
    for t in range(length - 1, 0, -1):
        best = table[t - 1, 0] + edge[0, chosen]
        previous = 0
        for a in range(1, n_labels):
            score = table[t - 1, a] + edge[a, chosen]
            if score > best:
                previous, best = a, score
        chosen = previous
        labels[t - 1] = chosen
    return value


@helper
def best_end(last, end):
    """The last label of the best labeling, and its score."""
    chosen, value = 0, last[0] + end[0]
    for b in range(1, len(end)):
        score = last[b] + end[b]
        if score > value:
            chosen, value = b, score
    return chosen, value


@helper
def top_viterbi(node, edge, start, end, table, length, k, beam, labels, values):
    """The k best labelings, distinct, best first, into the rows of `labels` and `values`; returns how many there are.

    Labelings of score -inf do not count. `beam` is for at least so many positions and k.
    """
    forward_max(node, edge, start, table, length)
    count, side = extend(beam, 0, 0, 0, k, 0, 0.0, 0.0, table[length - 1], end, -np.inf), 1
    for s in range(count):
        beam.rest[1, s] = end[beam.pick[0, s]]
    for t in range(length - 1, 0, -1):
        step = length - t
        for s in range(count):
            beam.rest[side, s] += node[t, beam.pick[step - 1, s]]
        found = label_before(beam, step, side, count, k, table[t - 1], edge, least_of(beam, side, count, k))
        if found < count:
            # Scores are summed anew at each step, with an error of up to 2T roundings of the largest partial sum. Where
            # potentials cancel, that is far more than the sum itself tells, and prefixes fall below the floor. It is a
            # shortcut only: k that pass it are the k best, whatever it is. So look again without one.
            found = label_before(beam, step, side, count, k, table[t - 1], edge, -np.inf)
        count, side = found, 1 - side
        for s in range(count):
            origin = beam.origin[step, s]
            beam.rest[side, s] = beam.rest[1 - side, origin] + edge[beam.pick[step, s], beam.pick[step - 1, origin]]
    for s in range(count):
        values[s], at = beam.score[side, s], s
        for t in range(length):
            labels[s, t] = beam.pick[length - 1 - t, at]
            at = beam.origin[length - 1 - t, at]
    return count


@helper
def label_before(beam, step, side, count, k, scores, edge, least):
    """Add a label before each slot, of prefixes with these scores; returns how many slots there are then."""
    found = 0
    for s in range(count):
        column = edge[:, beam.pick[step - 1, s]]
        found = extend(beam, step, side, found, k, s, beam.rest[side, s], 0.0, scores, column, least)
    return found


@helper
def max_marginals(node, edge, start, end, table, length, out):
    """``out[t, k]``: the best score of a labeling with label k at position t."""
    n_labels = edge.shape[0]
    forward_max(node, edge, start, table, length)
    for k in range(n_labels):
        out[length - 1, k] = end[k]
    for t in range(length - 2, -1, -1):  # out holds the best score of the suffix after t
        for a in range(n_labels):
            best = -np.inf
            for b in range(n_labels):
                score = edge[a, b] + node[t + 1, b] + out[t + 1, b]
                best = score if score > best else best
            out[t, a] = best
    for t in range(length):
        for k in range(n_labels):
            out[t, k] += table[t, k]


class ChainSums(NamedTuple):
    """Working memory of `forward_backward`. What it means in which ring: `semirings`."""

    inside: np.ndarray  # (T, K) as are the next three
    outside: np.ndarray
    message: np.ndarray  # row t: from t - 1 to t
    before: np.ndarray
    weight: np.ndarray  # (K,)
    table: np.ndarray  # (K, K)


@helper
def new_chain_sums(length, n_labels):
    shape = (length, n_labels)
    table = np.zeros((n_labels, n_labels))
    return ChainSums(np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(n_labels), table)


@helper
def forward_backward(node, edge, start, end, sums, length, node_out, edge_out):
    """Probabilities under ``p(y) ~ exp(score(y))`` of labels and of pairs; returns the log-partition function.

    `edge_out` (T - 1, K, K) has a table for every pair of neighbours. Where all labelings are forbidden -inf is
    returned and nothing is written.
    """
    value = add_ends(node, start, end, length, sums.inside)
    for t in range(length):
        value += exp_scores(sums.inside[t], sums.inside[t])
    if length > 1:
        size = edge.shape[0] * edge.shape[1]
        value += (length - 1) * exp_scores(edge.reshape(size), sums.table.reshape(size))
    if value == -np.inf:
        return value
    value += sum_chain(SCALED_SUM, shared(sums.table), sums, length, node_out, edge_out)
    if np.isnan(value):  # more range than doubles hold
        value = add_ends(node, start, end, length, sums.inside)
        value += sum_chain(LOG_SUM, shared(edge), sums, length, node_out, edge_out)
    return value


@helper
def shared(table):
    """One table for all edges."""
    return table.reshape((1, table.shape[0], table.shape[1]))


@helper
def add_ends(node, start, end, length, out):
    """Copy the node scores, with `start` and `end`; returns 0."""
    for t in range(length):
        for b in range(len(start)):
            out[t, b] = node[t, b]
    for b in range(len(start)):
        out[0, b] += start[b]
        out[length - 1, b] += end[b]
    return 0.0


@helper
def sum_chain(ring, tables, sums, length, node_out, edge_out):
    """Forward and backward over ``sums.inside``; returns the log-partition function, NaN when out of range.

    `tables` are one for all edges, or one for each, which `edge_out` may be, too.
    """
    value, stride = 0.0, 1 if tables.shape[0] > 1 else 0
    begin(ring, sums, 0)
    for t in range(1, length):
        begin(ring, sums, t)
        send(ring, sums, t - 1, t, tables[(t - 1) * stride])
        value += join(ring, sums, t, t)
        if not value > -np.inf:  # out of range, or all is forbidden
            return value
    value += close(ring, sums, length - 1, node_out[length - 1])
    for t in range(length - 1, 0, -1):
        value += split(ring, sums, t, t, node_out[t])
        value += spread(ring, sums, t - 1, t, tables[(t - 1) * stride], node_out[t - 1], edge_out[t - 1])
        if np.isnan(value):
            return value
    return value


@helper
def reweighted(pairs, last, node, edge, start, end, sums, length, node_out, edge_out):
    """Probabilities under ``p(y) ~ q(y) exp(score(y))``; q by its marginals of pairs (T - 1, K, K) and last labels."""
    value = add_ends(node, start, end, length, sums.inside)
    for t in range(length):
        value += exp_scores(sums.inside[t], sums.inside[t])
    inside, size = sums.inside[length - 1], edge.shape[0] * edge.shape[1]
    for b in range(len(last)):
        inside[b] *= last[b] + FLOOR
    if length > 1:
        value += (length - 1) * exp_scores(edge.reshape(size), sums.table.reshape(size))
    if value == -np.inf:
        return value
    for t in range(length - 1):
        multiply_given(pairs[t], sums.table, sums.weight, edge_out[t])
    value += sum_chain(SCALED_SUM, edge_out, sums, length, node_out, edge_out)
    if np.isnan(value):
        value = add_ends(node, start, end, length, sums.inside)
        for b in range(len(last)):
            inside[b] += np.log(last[b] + FLOOR)
        for t in range(length - 1):
            add_log_given(pairs[t], edge, sums.weight, edge_out[t])
        value += sum_chain(LOG_SUM, edge_out, sums, length, node_out, edge_out)
    return value
