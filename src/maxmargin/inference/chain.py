"""Linear chains: the best labeling and max-marginals, from node scores (T, K) and edge scores (K, K).

Forbidden labels and transitions are scores of -inf. `start` and `end` (K,) are added at the first and last position.
"""

from __future__ import annotations

import numpy as np

from .._compile import helper
from .semirings import max_step


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
    chosen = 0
    value = table[length - 1, 0] + end[0]
    for b in range(1, n_labels):
        score = table[length - 1, b] + end[b]
        if score > value:
            chosen, value = b, score
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
