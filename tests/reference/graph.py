"""Inference on pairwise graphs by looking at every labeling.

score(y) = sum_v node[v][y_v] + sum_e table_e[y_tail, y_head]

Nodes may differ in their numbers of labels; entries of -inf forbid. Labelings come in lexicographic order, those of
score -inf included.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


class Graph(NamedTuple):
    nodes: list[Array]  # (K_v,) each
    edges: list[tuple[int, int]]  # (tail, head)
    tables: list[Array]  # (K_tail, K_head) each


def score_graph_labelings(graph: Graph) -> tuple[Labels, Array]:
    """Every labeling (m, N) with its score (m,)."""
    ranges = [range(len(scores)) for scores in graph.nodes]
    labelings = np.array(list(itertools.product(*ranges)), dtype=np.int64).reshape(-1, len(graph.nodes))
    scores = np.zeros(len(labelings))
    for v, node in enumerate(graph.nodes):
        scores += node[labelings[:, v]]
    for (tail, head), table in zip(graph.edges, graph.tables, strict=True):
        scores += table[labelings[:, tail], labelings[:, head]]
    return labelings, scores


def graph_max_marginals(graph: Graph) -> list[Array]:
    """For every node (K_v,): the largest score among the labelings with each label there."""
    labelings, scores = score_graph_labelings(graph)
    return [
        np.array([np.max(scores[labelings[:, v] == label], initial=-np.inf) for label in range(len(node))])
        for v, node in enumerate(graph.nodes)
    ]


def graph_log_partition(graph: Graph) -> float:
    _, scores = score_graph_labelings(graph)
    largest = np.max(scores)
    return float(largest if largest == -np.inf else largest + np.log(np.sum(np.exp(scores - largest))))


def graph_marginals(graph: Graph) -> tuple[list[Array], list[Array]]:
    """Probabilities of labels (K_v,) and of pairs (K_tail, K_head), where some labeling is allowed."""
    labelings, scores = score_graph_labelings(graph)
    shares = np.exp(scores - np.max(scores))
    shares /= np.sum(shares)
    nodes = [np.bincount(labelings[:, v], shares, len(node)) for v, node in enumerate(graph.nodes)]
    tables = []
    for (tail, head), table in zip(graph.edges, graph.tables, strict=True):
        pairs = labelings[:, tail] * table.shape[1] + labelings[:, head]
        tables.append(np.bincount(pairs, shares, table.size).reshape(table.shape))
    return nodes, tables


def chain_graph(node: Array, edge: Array, start: Array, end: Array) -> Graph:
    """A chain as a graph: `start` and `end` go to the nodes at its ends."""
    nodes: Sequence[Array] = np.array(node, dtype=float)
    nodes[0] += start
    nodes[-1] += end
    pairs = [(t, t + 1) for t in range(len(node) - 1)]
    return Graph(list(nodes), pairs, [np.asarray(edge, dtype=float)] * len(pairs))
