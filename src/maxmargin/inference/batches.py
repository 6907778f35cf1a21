"""Many samples at once, padded to one shape: the verbs of plans in one kernel.

Node scores are (B, N K), a row a sample, of which the first labels are read that its nodes have; edge scores are
(1 or B, M), tables in a row. Ranges of samples may go to threads, each with a scratch of its own.
"""

from __future__ import annotations

import numpy as np

from .._compile import kernel
from .verbs import find_best, find_marginals, find_top


@kernel
def best_of_range(plan, node, edge, scratch, n_labels, first, last, labels):
    """The best labelings of samples `first` to `last` into the rows of `labels` (B, N)."""
    for i in range(first, last):
        size = plan.offsets[i + 1] - plan.offsets[i]
        find_best(plan, i, node[i, : size * n_labels], edge[i % len(edge)], scratch, labels[i])


@kernel
def top_of_range(plan, node, edge, scratch, n_labels, k, first, last, labels, values, counts):
    """The k best into `labels` (B, k, N) and `values` (B, k), and how many there are into `counts` (B,)."""
    for i in range(first, last):
        size = plan.offsets[i + 1] - plan.offsets[i]
        scores = node[i, : size * n_labels]
        counts[i] = find_top(plan, i, scores, edge[i % len(edge)], scratch, k, labels[i], values[i])


@kernel
def sums_of_range(plan, node, edge, scratch, n_labels, pairs, places, first, last, values, node_out, edge_out):
    """Log-partition functions into `values` (B,), marginals of labels into `node_out`, laid out as `node`.

    Those of the pairs of edge e are added to ``edge_out[i, places[i, e]]`` (K K,), which must be 0 at first. `pairs` is
    room for those of a sample, one table an edge. Where all labelings are forbidden, there are no marginals.
    """
    table = n_labels * n_labels
    for i in range(first, last):
        size = plan.offsets[i + 1] - plan.offsets[i]
        scores, shares = node[i, : size * n_labels], node_out[i, : size * n_labels]
        values[i] = find_marginals(plan, i, scores, edge[i % len(edge)], scratch, shares, pairs)
        if values[i] == -np.inf:
            continue
        for e in range(places.shape[1]):
            if places[i, e] < 0:
                break
            into = edge_out[i, places[i, e]]
            for p in range(table):
                into[p] += pairs[e * table + p]
