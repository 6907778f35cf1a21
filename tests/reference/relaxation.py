"""The linear relaxation of the best labeling of a pairwise graph, written out constraint by constraint."""

import numpy as np
from scipy.optimize import linprog

from .graph import Graph


def local_polytope(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """``A mu = b`` for mu = [shares of the labels of every node | of the pairs of every edge], which are >= 0."""
    sizes = [len(scores) for scores in graph.nodes] + [table.size for table in graph.tables]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows, right = [], []
    for v in range(len(graph.nodes)):
        row = np.zeros(starts[-1])
        row[starts[v] : starts[v + 1]] = 1.0
        rows.append(row)
        right.append(1.0)
    for e, ((tail, head), table) in enumerate(zip(graph.edges, graph.tables, strict=True), len(graph.nodes)):
        pairs = starts[e] + np.arange(table.size).reshape(table.shape)
        for end, of_label in ((tail, pairs), (head, pairs.T)):
            for x, some in enumerate(of_label):
                row = np.zeros(starts[-1])
                row[some] = 1.0
                row[starts[end] + x] = -1.0
                rows.append(row)
                right.append(0.0)
    return np.array(rows), np.array(right)


def graph_scores(graph: Graph) -> np.ndarray:
    return np.concatenate([*graph.nodes, *(table.ravel() for table in graph.tables)])


def relaxed_value(graph: Graph) -> float:
    """The most that a point of the local polytope scores."""
    matrix, right = local_polytope(graph)
    return float(-linprog(-graph_scores(graph), A_eq=matrix, b_eq=right, method="highs-ipm").fun)
