"""Tiny problems twice: as the library lays them out, and with every labeling written out."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from maxmargin.inference import make_junction_plan, make_tree_plan
from maxmargin.structures import (
    CustomProblem,
    TransitionMask,
    make_chain_problem,
    make_multiclass_problem,
    make_multilabel_problem,
)
from maxmargin.structures.pairwise import links_of, make_chains, make_pairwise_problem, make_sites, potts_links_of
from maxmargin.structures.verbs import find_corner, find_potentials, new_work
from reference import (
    EnumeratedProblem,
    chain_joint_feature,
    chain_labelings,
    chain_loss,
    enumerate_chain,
    enumerate_multiclass,
    enumerate_multilabel,
    from_callables,
    multiclass_joint_feature,
    multilabel_joint_feature,
)

K = 3
LENGTHS = (3, 1, 4, 2)
COST = np.array([[0.0, 1.3, 0.4], [0.9, 0.0, 2.1], [0.7, 1.6, 0.0]])
MASK = TransitionMask(
    np.array([[True, True, False], [True, True, True], [False, True, True]]),
    np.array([True, True, False]),
    np.array([False, True, True]),
)


@contextmanager
def interpreted() -> Iterator[None]:
    """Kernels run as plain Python within."""
    with patch("maxmargin._compile.kernels.runs_compiled", lambda *parts: False):
        yield


@dataclass(frozen=True)
class Pair:
    """A problem of the library, its enumeration, and the place in w of every weight of the enumeration."""

    problem: Any
    reference: EnumeratedProblem
    order: np.ndarray
    phi: list[np.ndarray]  # (labelings, d) of every sample, laid out as the library's w

    def to_reference(self, w: np.ndarray) -> np.ndarray:
        return w[self.order]

    def from_reference(self, v: np.ndarray) -> np.ndarray:
        w = np.empty_like(v)
        w[self.order] = v
        return w

    def corner(self, work: Any, i: int) -> int:
        """Row of the labeling that the oracle found last."""
        if isinstance(self.problem, CustomProblem):
            rows = [row for row, y in enumerate(self.reference.labelings[i]) if y == self.problem.structure.last]
            return rows[0]
        if hasattr(work, "label"):
            return int(work.label[0])
        return self.reference.index_of(i, work.labels[: len(self.reference.labelings[i][0])])

    def oracle(self, i: int, v: np.ndarray) -> int:
        """The library's choice among the maximisers, for the reference to follow."""
        work = new_work(self.problem)
        find_potentials(self.problem, work, self.from_reference(v), i)
        find_corner(self.problem, work, self.from_reference(v), i)
        return self.corner(work, i)


def chain_order(n_features: int, *, intercept: bool, boundary: bool) -> np.ndarray:
    """Reference: node, transitions, bias, first, last. Library: node, bias, first, last, transitions."""
    node, extras = n_features * K, (intercept + 2 * boundary) * K
    place = np.arange(node + extras + K * K)
    return np.concatenate([place[:node], place[node + extras :], place[node : node + extras]])


def features(rng: np.random.Generator, n: int, n_features: int, is_sparse: bool) -> Any:
    """Feature rows; a sparse matrix has empty rows among them."""
    if not is_sparse:
        return rng.normal(size=(n, n_features))
    matrix = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.4)
    matrix[1] = 0.0
    return sparse.csr_matrix(matrix)


def chain_pair(
    seed: int = 0,
    *,
    is_sparse: bool = False,
    intercept: bool = True,
    boundary: bool = True,
    masked: bool = False,
    repeats: Any = None,
    **options: Any,
) -> Pair:
    """Random sequences; `repeats` lists the samples to take, more than once if need be."""
    rng = np.random.default_rng(seed)
    n_features = 5 if is_sparse else 2
    X = features(rng, sum(LENGTHS), n_features, is_sparse)
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    # allowed by the mask everywhere, all labels in use
    labels = [np.array([1, 0, 1]), np.array([1]), np.array([0, 1, 2, 2]), np.array([0, 1])]
    if not masked:
        labels = [rng.integers(K, size=t) for t in LENGTHS]
    kept = range(len(LENGTHS)) if repeats is None else repeats
    rows = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in kept])
    offsets = np.concatenate([[0], np.cumsum([LENGTHS[i] for i in kept])])
    labels, X = [labels[i] for i in kept], X[rows]
    layout = {"intercept": intercept, "boundary": boundary}
    problem = make_chain_problem(
        X, offsets, np.concatenate(labels), K, mask=MASK if masked else None, **layout, **options
    )
    dense = X.toarray() if is_sparse else X
    sequences = np.split(dense, offsets[1:-1])
    names = ("allowed", "allowed_start", "allowed_end")
    masks = dict(zip(names, MASK, strict=True)) if masked else {}
    reference = enumerate_chain(sequences, labels, K, **layout, **masks, **options)
    order = chain_order(n_features, **layout)
    phi = [
        np.array([chain_joint_feature(x, y, K, **layout) for y in all_labels])[:, np.argsort(order)]
        for x, all_labels in zip(sequences, reference.labelings, strict=True)
    ]
    return Pair(problem, reference, order, phi)


# of four samples with LENGTHS nodes: parents, and the edges of graphs with cycles
PARENTS = ([1, -1, 1], [-1], [2, 2, -1, 2], [-1, -1])
EDGES = ([(0, 1), (1, 2), (2, 0)], [], [(1, 0), (1, 2), (2, 3), (3, 0), (0, 2)], [(1, 0), (0, 1)])


def graph_parts(kind: str, sites: Any, mask: TransitionMask | None, n_labels: int, edge_rows: Any) -> tuple:
    """Links, plan and edges of the samples, as trees or with cycles."""
    offsets = sites.offsets
    if kind == "tree":
        plan = make_tree_plan(offsets, np.concatenate(PARENTS), n_labels, shared=edge_rows is None)
    else:
        edge_offsets = np.cumsum([0, *map(len, EDGES)])
        tail, head = np.concatenate([np.reshape(edges, (-1, 2)) for edges in EDGES]).astype(int).T
        plan = make_junction_plan(offsets, edge_offsets, tail, head, n_labels, shared=edge_rows is None)
    links = links_of(plan, n_labels, None if mask is None else mask.allowed, edge_rows)
    ends = np.stack([plan.tail, plan.head], axis=1)
    return links, plan, np.split(ends, plan.edge_offsets[1:-1])


def graph_joint_feature(x: Any, y: Any, edges: Any, edge_features: Any, n_labels: int) -> np.ndarray:
    """Node features and a bias, then a constant and the features of the edges, for pairs of labels."""
    node = np.zeros((x.shape[1] + 1, n_labels))
    link = np.zeros((edge_features.shape[1] + 1, n_labels, n_labels))
    for features_of_node, label in zip(x, y, strict=True):
        node[:, label] += [*features_of_node, 1.0]
    for (s, t), features_of_edge in zip(edges, edge_features, strict=True):
        link[:, y[s], y[t]] += [1.0, *features_of_edge]
    return np.concatenate([node.ravel(), link.ravel()])


def graph_pair(
    kind: str = "tree",
    seed: int = 0,
    *,
    n_edge_features: int = 0,
    potts: bool = False,
    is_sparse: bool = False,
    masked: bool = False,
    **options: Any,
) -> Pair:
    """Random trees, or graphs with cycles and a double edge; or chains, by the code of trees, with edge features."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    X = features(rng, sum(LENGTHS), 5 if is_sparse else 2, is_sparse)
    counts = {"tree": [len(p) - p.count(-1) for p in PARENTS], "cycle": [len(e) for e in EDGES]}
    counts["chain"] = [length - 1 for length in LENGTHS]
    edge_rows = features(rng, sum(counts[kind]), n_edge_features, is_sparse) if n_edge_features else None
    mask = MASK if masked else None
    labels = [np.array([1, 0, 1]), np.array([1]), np.array([0, 1, 1, 1]), np.array([0, 1])]  # allowed everywhere
    if kind == "chain":
        mask = TransitionMask.everything(K) if mask is None else mask
        sites, links, plan = make_chains(X, offsets, intercept=True, boundary=False, mask=mask, edge_matrix=edge_rows)
        edges = [np.stack([np.arange(t - 1), np.arange(1, t)], axis=1) for t in LENGTHS]
    else:
        sites = make_sites(X, offsets, intercept=True, boundary=False)
        links, plan, edges = graph_parts(kind, sites, mask, K, edge_rows)
        links = potts_links_of(plan, edge_rows) if potts else links
    problem = make_pairwise_problem(sites, links, plan, np.concatenate(labels), K, **options)
    dense, dense_edges = (m.toarray() if sparse.issparse(m) else m for m in (X, edge_rows))
    nodes = np.split(dense, offsets[1:-1])
    of_edges = np.split(
        dense_edges if n_edge_features else np.zeros((sum(counts[kind]), 0)), np.cumsum(counts[kind])[:-1]
    )

    def joint_feature(i: int, y: Any) -> np.ndarray:
        full = graph_joint_feature(nodes[i], y, edges[i], of_edges[i], K)
        if not potts:
            return full
        node, link = np.split(full, [(nodes[i].shape[1] + 1) * K])
        return np.concatenate([node, -(link.reshape(-1, K, K) * (1 - np.eye(K))).sum(axis=(1, 2))])

    def allows(i: int, y: Any) -> bool:
        inside = all(mask.allowed[y[s], y[t]] for s, t in edges[i])
        return inside and (kind != "chain" or bool(mask.start[y[0]] and mask.end[y[-1]]))

    def labelings(i: int) -> list:
        return [y for y in chain_labelings(LENGTHS[i], K) if not masked or allows(i, y)]

    weights = options.pop("sample_weight", None)
    reference = from_callables(
        len(LENGTHS), labelings, joint_feature, lambda i, y: chain_loss(labels[i], y, K, **options), labels, weights
    )
    phi = [np.array([joint_feature(i, y) for y in all_labels]) for i, all_labels in enumerate(reference.labelings)]
    return Pair(problem, reference, np.arange(reference.d), phi)


GRAPHS = {
    "tree": {},
    "tree masked": {"masked": True, "cost": COST},
    "tree featured": {"n_edge_features": 2},
    "tree featured masked": {"n_edge_features": 3, "is_sparse": True, "masked": True},
    "tree potts": {"n_edge_features": 2, "potts": True},
    "cycle potts": {"kind": "cycle", "n_edge_features": 3, "potts": True, "is_sparse": True, "cost": COST},
    "cycle": {"kind": "cycle", "is_sparse": True},
    "cycle featured": {"kind": "cycle", "n_edge_features": 2, "sample_weight": [1, 2, 0, 3], "normalize": False},
    "chain featured": {"kind": "chain", "n_edge_features": 2, "class_weight": [1.0, 2.0, 0.3]},
    "chain featured masked": {"kind": "chain", "n_edge_features": 2, "masked": True},
}


def multiclass_pair(
    seed: int = 0, *, is_sparse: bool = False, intercept: bool = True, repeats: Any = None, **options: Any
) -> Pair:
    rng = np.random.default_rng(seed)
    X, labels = features(rng, 6, 4, is_sparse), rng.permutation(6) % K
    if repeats is not None:
        X, labels = X[repeats], labels[repeats]
    problem = make_multiclass_problem(X, labels, K, intercept=intercept, **options)
    dense = X.toarray() if is_sparse else X
    reference = enumerate_multiclass(dense, labels, K, intercept=intercept, **options)
    phi = [np.array([multiclass_joint_feature(x, k, K, intercept=intercept) for k in range(K)]) for x in dense]
    return Pair(problem, reference, np.arange(reference.d), phi)


def multilabel_data(seed: int = 0, n: int = 5, n_labels: int = 3, is_sparse: bool = False) -> tuple[Any, np.ndarray]:
    """Features and label indicators; the first sample has no label, the second all."""
    rng = np.random.default_rng(seed)
    X, Y = features(rng, n, 2, is_sparse), rng.integers(2, size=(n, n_labels))
    Y[0], Y[1] = 0, 1
    return X, Y


def multilabel_pair(seed: int = 0, *, is_sparse: bool = False, intercept: bool = True, **options: Any) -> Pair:
    X, Y = multilabel_data(seed, is_sparse=is_sparse)
    problem = make_multilabel_problem(X, Y, intercept=intercept, **options)
    dense = X.toarray() if is_sparse else X
    reference = enumerate_multilabel(dense, Y, intercept=intercept, **options)
    phi = [
        np.array([multilabel_joint_feature(x, y, intercept=intercept) for y in sets])
        for x, sets in zip(dense, reference.labelings, strict=True)
    ]
    return Pair(problem, reference, np.arange(reference.d), phi)


class Subsets:
    """A structure in plain Python: choose a subset of three items; pairs of chosen items have weights too."""

    n_features = 6
    outputs = tuple((a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1))

    def __init__(self, seed: int = 0, n_samples: int = 5, sample_weight: Any = None):
        rng = np.random.default_rng(seed)
        self.n_samples, self.sample_weight = n_samples, sample_weight
        self.x = rng.normal(size=(n_samples, 3))
        self.y = [self.outputs[k] for k in rng.integers(8, size=n_samples)]
        self.price = rng.uniform(0.2, 1.5, size=(n_samples, 3))
        self.calls = 0

    def joint_feature(self, i: int, y: Any) -> Any:
        a, b, c = y
        return np.concatenate([self.x[i] * y, [a * b, b * c, a * c]])

    def loss(self, i: int, y: Any) -> float:
        return float(self.price[i] @ (np.array(y) != self.y[i]))

    def max_oracle(self, w: np.ndarray, i: int) -> Any:
        self.calls += 1
        self.last = max(self.outputs, key=lambda y: self.loss(i, y) + w @ self.joint_feature(i, y))
        return self.last


def subsets_pair(seed: int = 0, sample_weight: Any = None, structure: Any = None) -> Pair:
    s = Subsets(seed, sample_weight=sample_weight) if structure is None else structure
    reference = from_callables(
        s.n_samples, lambda i: s.outputs, s.joint_feature, s.loss, [tuple(y) for y in s.y], sample_weight
    )
    phi = [np.array([s.joint_feature(i, y) for y in s.outputs]) for i in range(s.n_samples)]
    return Pair(CustomProblem(s), reference, np.arange(s.n_features), phi)
