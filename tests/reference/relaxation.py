"""The linear relaxation of the best labeling of a pairwise graph, written out constraint by constraint."""

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from .enumeration import _clarabel
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


def relaxed_optimum(graphs: list[Graph], maps: list[np.ndarray], truth: list[np.ndarray], lam: float) -> float:
    """The optimum of the SVM whose outputs are all points mu of the local polytopes, from an independent QP solver.

    Sample i has the loss ``<graph_scores(graphs[i]), mu>`` and the joint feature ``maps[i] @ mu``, that of its true
    labeling is ``truth[i]``. Solved in the dual: min lam/2 |w|^2 - mean loss, lam w = mean (truth - joint feature).
    """
    n, d = len(graphs), len(truth[0])
    polytopes = [local_polytope(graph) for graph in graphs]
    loss = np.concatenate([graph_scores(graph) for graph in graphs]) / n
    matrix = sparse.block_diag([matrix for matrix, _ in polytopes])
    quadratic = sparse.diags(np.concatenate([np.full(d, lam), np.zeros(len(loss))]))
    linear = np.concatenate([np.zeros(d), -loss])
    feature = sparse.csc_matrix(np.hstack(maps) / n)
    constraints = sparse.bmat(
        [[lam * sparse.identity(d), feature], [None, matrix], [None, -sparse.identity(len(loss))]]
    )
    right = np.concatenate([np.mean(truth, axis=0), *(right for _, right in polytopes)])
    bounds = np.concatenate([right, np.zeros(len(loss))])
    x, _ = _clarabel(
        quadratic, linear, constraints, bounds, [clarabel.ZeroConeT(len(right)), clarabel.NonnegativeConeT(len(loss))]
    )
    return float(-(0.5 * lam * x[:d] @ x[:d] + linear @ x))
