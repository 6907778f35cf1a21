"""Tiny trees, graphs with cycles and chains with features of transitions, and all their labelings written out."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin import ChainSVM, GraphSVM, TransitionMask, TreeSVM
from reference import EnumeratedProblem, chain_labelings, chain_loss, from_callables
from structures.pairs import EDGES, LENGTHS, PARENTS, graph_joint_feature

K = 3
LAM = 0.3
NAMES = np.array(["ant", "bee", "cat"])
LABELS = [np.array(y) for y in ([1, 1, 2], [1], [0, 1, 1, 1], [1, 2])]  # all are in use, MASK allows them everywhere
KINDS = ("tree", "tree featured", "cycle", "cycle featured", "chain featured")
FEATURED = ("tree featured", "cycle featured", "chain featured")
EVERYTHING = TransitionMask.everything(K)


class Case(NamedTuple):
    """Samples as an estimator takes them, and as plain arrays."""

    cls: Any
    X: list
    nodes: list[np.ndarray]
    edges: list[np.ndarray]  # (m, 2) each
    edge_rows: list[np.ndarray]  # (m, E) each

    def model(self, **params: Any) -> Any:
        fixed = {"fit_boundary": False} if self.cls is ChainSVM else {}
        return self.cls(**{"lam": LAM, "tol": 1e-3, "solver": "auto", "random_state": 0, **fixed, **params})

    def taking(self, kept: Any) -> Case:
        """The samples listed, more than once if need be."""
        return Case(self.cls, *([part[i] for i in kept] for part in self[1:]))


def some_zeros(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.normal(size=shape) * (rng.random(shape) < 0.6)


@cache
def case_of(kind: str, is_sparse: bool = False, seed: int = 0) -> Case:
    rng = np.random.default_rng(seed)
    shape, n_features = kind.split()[0], 2 if kind in FEATURED else 0
    nodes = [some_zeros(rng, (length, 3)) for length in LENGTHS]
    # a row for every node of a tree, the roots included; those must not count
    rows = {"tree": LENGTHS, "cycle": [len(edges) for edges in EDGES], "chain": [t - 1 for t in LENGTHS]}[shape]
    given = [some_zeros(rng, (count, n_features)) for count in rows]
    if shape == "tree":
        edges = [[(v, p) for v, p in enumerate(parents) if p >= 0] for parents in PARENTS]
        edge_rows = [x[[v for v, _ in pairs]] for x, pairs in zip(given, edges, strict=True)]
    else:
        edges = EDGES if shape == "cycle" else [[(v, v + 1) for v in range(t - 1)] for t in LENGTHS]
        edge_rows = given
    convert = sp.csr_matrix if is_sparse else np.copy
    parts: list[Any] = [list(map(convert, nodes))]
    parts += {"tree": [PARENTS], "cycle": [EDGES], "chain": []}[shape]
    parts += [list(map(convert, given))] if n_features else []
    cls = {"tree": TreeSVM, "cycle": GraphSVM, "chain": ChainSVM}[shape]
    edges = [np.reshape(pairs, (-1, 2)).astype(int) for pairs in edges]
    return Case(cls, list(zip(*parts, strict=True)), nodes, edges, edge_rows)


def joint_feature(case: Case, i: int, y: Any, intercept: bool = True, boundary: bool = False) -> np.ndarray:
    """As `graph_joint_feature`, then first and last labels; what is not learned is 0."""
    phi = graph_joint_feature(case.nodes[i], y, case.edges[i], case.edge_rows[i], K)
    n_features = case.nodes[i].shape[1]
    phi[n_features * K : (n_features + 1) * K] *= intercept
    return np.concatenate([phi, boundary * np.eye(K)[y[0]], boundary * np.eye(K)[y[-1]]])


def pack(model: Any) -> np.ndarray:
    """The fitted attributes, laid out as a joint feature."""
    boundary = getattr(model, "boundary_", np.zeros((2, K)))
    parts = (model.coef_.T, model.intercept_, model.transitions_, model.edge_coef_, boundary)
    return np.concatenate([part.ravel() for part in parts])


def labelings(case: Case, i: int, mask: TransitionMask = EVERYTHING) -> np.ndarray:
    """(m, T), those that the mask allows; starts and ends are those of chains."""
    every = chain_labelings(len(case.nodes[i]), K)
    tail, head = case.edges[i].T
    kept = mask.allowed[every[:, tail], every[:, head]].all(axis=1)
    return every[kept & mask.start[every[:, 0]] & mask.end[every[:, -1]]]


def scored(model: Any, case: Case, i: int, mask: TransitionMask = EVERYTHING) -> tuple[np.ndarray, np.ndarray]:
    """Every labeling (m, T) with its score (m,), from the fitted attributes alone."""
    every = labelings(case, i, mask)
    return every, np.array([joint_feature(case, i, y, boundary=True) for y in every]) @ pack(model)


def enumerated(
    case: Case,
    y: Any = LABELS,
    *,
    mask: TransitionMask = EVERYTHING,
    intercept: bool = True,
    boundary: bool = False,
    sample_weight: Any = None,
    **loss: Any,
) -> EnumeratedProblem:
    return from_callables(
        len(case.X),
        lambda i: labelings(case, i, mask),
        lambda i, labels: joint_feature(case, i, labels, intercept, boundary),
        lambda i, labels: chain_loss(y[i], labels, K, **loss),
        y,
        sample_weight,
    )


def assert_optimal(model: Any, reference: EnumeratedProblem) -> None:
    """The objective is that of the weights, and the certificate encloses the optimum of an independent QP solver."""
    optimum = reference.solve(LAM)[1]
    np.testing.assert_allclose(model.primal_, reference.primal(pack(model), LAM), rtol=1e-9)
    assert model.status_ == "converged"
    assert model.dual_ - 1e-7 <= optimum <= model.primal_ + 1e-7
    np.testing.assert_allclose(model.gap_, model.primal_ - model.dual_, atol=1e-12)
    assert 0 <= model.gap_ <= model.tol


def assert_same_optimum(one: Any, other: Any) -> None:
    """What both certify can hold together."""
    assert max(one.dual_, other.dual_) <= min(one.primal_, other.primal_) + 1e-12
