"""Tiny data for the CRFs, and the same models by enumeration of all labelings."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from maxmargin import ChainCRF, Graph, GraphCRF, Tree, TreeCRF

LABELS = np.array(["a", "b", "c"])
K, F, E = len(LABELS), 2, 2


class Case(NamedTuple):
    """An estimator with data, and for every sample the pairs of sites (tail, head) that it links."""

    cls: Any
    X: list[Any]
    y: list[Any]
    nodes: list[np.ndarray]
    links: list[list[tuple[int, int]]]
    edge_features: list[np.ndarray] | None
    ends: bool  # whether first and last sites have biases of their own

    def model(self, **params: Any) -> Any:
        return self.cls(**{"lam": 0.1, "tol": 1e-9, "random_state": 0, **params})

    def joint_feature(self, i: int, labels: Any) -> np.ndarray:
        """In the order coef, intercept, boundary, transitions, edge_coef."""
        coef, intercept, boundary = np.zeros((K, F)), np.zeros(K), np.zeros((2, K))
        edge_coef = np.zeros((1 + (0 if self.edge_features is None else E), K, K))
        for x, k in zip(self.nodes[i], labels, strict=True):
            coef[k] += x
            intercept[k] += 1.0
        for e, (tail, head) in enumerate(self.links[i]):
            edge_coef[0, labels[tail], labels[head]] += 1.0
            if self.edge_features is not None:
                edge_coef[1:, labels[tail], labels[head]] += self.edge_features[i][e]
        if self.ends:
            boundary[0, labels[0]], boundary[1, labels[-1]] = 1.0, 1.0
        return np.concatenate([part.ravel() for part in (coef, intercept, boundary[: 2 * self.ends], edge_coef)])

    def outputs(self, i: int) -> np.ndarray:
        return np.array(list(product(range(K), repeat=len(self.nodes[i]))))

    def features(self, i: int) -> np.ndarray:
        """Of all outputs, one a row."""
        return np.array([self.joint_feature(i, labels) for labels in self.outputs(i)])

    def truth(self, i: int) -> int:
        """Which of the outputs is the true one."""
        codes = np.searchsorted(LABELS, self.y[i])
        return int(np.flatnonzero((self.outputs(i) == codes).all(axis=1))[0])

    def weights_of(self, model: Any) -> np.ndarray:
        names = ["coef_", "intercept_", *(["boundary_"] if self.ends else []), "transitions_", "edge_coef_"]
        return np.concatenate([np.ravel(getattr(model, name)) for name in names])

    def log_probabilities(self, w: np.ndarray, i: int) -> np.ndarray:
        scores = self.features(i) @ w
        return scores - logsumexp(scores)

    def marginals(self, w: np.ndarray, i: int) -> np.ndarray:
        """(T, K)"""
        probabilities, outputs = np.exp(self.log_probabilities(w, i)), self.outputs(i)
        return np.array([np.bincount(outputs[:, t], probabilities, K) for t in range(outputs.shape[1])])

    def optimum(self, lam: float, sample_weight: Any = None) -> tuple[np.ndarray, float]:
        """Weights and value of the optimum, by a general solver."""
        n = len(self.y)
        share = np.full(n, 1 / n) if sample_weight is None else np.asarray(sample_weight) / np.sum(sample_weight)
        features, truths = [self.features(i) for i in range(n)], [self.truth(i) for i in range(n)]

        def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = 0.5 * lam * w @ w, lam * w
            for s, psi, true in zip(share, features, truths, strict=True):
                scores = psi @ w
                total = logsumexp(scores)
                value += s * (total - scores[true])
                gradient = gradient + s * (np.exp(scores - total) @ psi - psi[true])
            return value, gradient

        d = features[0].shape[1]
        found = minimize(objective, np.zeros(d), jac=True, method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-11})
        return found.x, found.fun


def _case(cls: Any, links: list, wrap: Any, with_edges: bool, ends: bool = False) -> Case:
    rng, sizes = np.random.default_rng(0), [4, 3, 1, 2, 4]
    nodes = [rng.normal(size=(size, F)) for size in sizes]
    y = [LABELS[rng.integers(K, size=size)].tolist() for size in sizes]
    links = [[(u, v) for u, v in links if max(u, v) < size] for size in sizes]
    edge_features = [rng.normal(size=(len(one), E)) for one in links] if with_edges else None
    X = [wrap(*one) for one in zip(nodes, links, edge_features or [None] * len(nodes), strict=True)]
    return Case(cls, X, y, nodes, links, edge_features, ends)


def _chain(nodes: Any, links: Any, edge_features: Any) -> Any:
    return nodes if edge_features is None else (nodes, edge_features)


def _tree(nodes: Any, links: Any, edge_features: Any) -> Any:
    parents = np.full(len(nodes), -1)
    for child, parent in links:
        parents[child] = parent
    if edge_features is None:
        return Tree(nodes, parents)
    of_nodes = np.zeros((len(nodes), E))  # a row a node: that of the edge to its parent
    for (child, _), row in zip(links, edge_features, strict=True):
        of_nodes[child] = row
    return Tree(nodes, parents, of_nodes)


def _graph(nodes: Any, links: Any, edge_features: Any) -> Any:
    return Graph(nodes, links) if edge_features is None else Graph(nodes, links, edge_features)


CHAIN, TREE, GRAPH = [(0, 1), (1, 2), (2, 3)], [(1, 0), (2, 0), (3, 1)], [(0, 1), (1, 2), (2, 0), (2, 3), (3, 1)]
CASES = {
    "chain": _case(ChainCRF, CHAIN, _chain, False, ends=True),
    "chain, edges": _case(ChainCRF, CHAIN, _chain, True, ends=True),
    "tree": _case(TreeCRF, TREE, _tree, False),
    "tree, edges": _case(TreeCRF, TREE, _tree, True),
    "graph": _case(GraphCRF, GRAPH, _graph, False),
    "graph, edges": _case(GraphCRF, GRAPH, _graph, True),
}
