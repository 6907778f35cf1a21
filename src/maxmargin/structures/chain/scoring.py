"""Weights to potentials, and decoding under them."""

from __future__ import annotations

from ..._compile import helper, kernel
from ...inference.chain import max_marginals, viterbi
from ..rows import add_scores


@helper
def node_weights(chains, n_labels, w):
    return w[: chains.n_rows * n_labels].reshape((chains.n_rows, n_labels))


@helper
def edge_weights(chains, n_labels, w):
    return w[chains.n_rows * n_labels :].reshape((n_labels, n_labels))


@helper
def score_nodes(chains, weights, begin, length, node):
    """Node scores of a block, extras included."""
    n_labels = node.shape[1]
    for t in range(length):
        if chains.intercept_row >= 0:
            for k in range(n_labels):
                node[t, k] = weights[chains.intercept_row, k]
        else:
            for k in range(n_labels):
                node[t, k] = 0.0
        add_scores(chains.rows, begin + t, weights, node[t])
    if chains.first_row >= 0:
        for k in range(n_labels):
            node[0, k] += weights[chains.first_row, k]
            node[length - 1, k] += weights[chains.last_row, k]


@helper
def score_edges(chains, transitions, masked):
    """Edge scores: the transitions themselves, or a masked copy."""
    if chains.edge_mask.shape[0] == 0:
        return transitions
    for a in range(masked.shape[0]):
        for b in range(masked.shape[1]):
            masked[a, b] = transitions[a, b] + chains.edge_mask[a, b]
    return masked


@kernel(n_parts=2)
def decode(chains, work, w, first, last, labels, values):
    """Best labelings of sequences `first` to `last` under w, and their scores."""
    n_labels = work.node.shape[1]
    weights, transitions = node_weights(chains, n_labels, w), edge_weights(chains, n_labels, w)
    edge = score_edges(chains, transitions, work.edge)
    for i in range(first, last):
        begin, end = chains.offsets[i], chains.offsets[i + 1]
        score_nodes(chains, weights, begin, end - begin, work.node)
        values[i] = viterbi(
            work.node, edge, chains.start_mask, chains.end_mask, work.table, end - begin, labels[begin:end]
        )


@kernel(n_parts=2)
def decode_max_marginals(chains, work, w, first, last, out):
    """Max-marginals of every position of sequences `first` to `last` under w."""
    n_labels = work.node.shape[1]
    weights, transitions = node_weights(chains, n_labels, w), edge_weights(chains, n_labels, w)
    edge = score_edges(chains, transitions, work.edge)
    for i in range(first, last):
        begin, end = chains.offsets[i], chains.offsets[i + 1]
        score_nodes(chains, weights, begin, end - begin, work.node)
        max_marginals(work.node, edge, chains.start_mask, chains.end_mask, work.table, end - begin, out[begin:end])
