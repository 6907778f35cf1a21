"""Pairwise graphs with every labeling written out."""

import itertools

import numpy as np


def graph_scores(counts, edges, node, tables):
    """All labelings of a graph, in lexicographic order, and their scores.

    `counts`: labels of each node; `node`: their scores, one array a node; `tables`: scores of each edge, a row a label
    of its tail.
    """
    labelings = np.array(list(itertools.product(*(range(count) for count in counts))), int).reshape(-1, len(counts))
    scores = np.zeros(len(labelings))
    for v, own in enumerate(node):
        scores = scores + own[labelings[:, v]]
    for (a, b), table in zip(edges, tables, strict=True):
        scores = scores + table[labelings[:, a], labelings[:, b]]
    return labelings, scores


def graph_max_marginals(counts, labelings, scores):
    """For every label of every node, the best score of a labeling with it."""
    return np.array([scores[labelings[:, v] == k].max() for v, count in enumerate(counts) for k in range(count)])


def graph_marginals(counts, edges, labelings, scores):
    """Log-partition function, and probabilities of labels and of the pairs of each edge, flat."""
    top = scores.max()
    if top == -np.inf:
        return -np.inf, None, None
    weights = np.exp(scores - top)
    partition = weights.sum()
    weights = weights / partition
    node = [np.bincount(labelings[:, v], weights, count) for v, count in enumerate(counts)]
    pairs = [
        np.bincount(labelings[:, a] * counts[b] + labelings[:, b], weights, counts[a] * counts[b]) for a, b in edges
    ]
    return top + np.log(partition), np.concatenate([[], *node]), np.concatenate([[], *pairs])
