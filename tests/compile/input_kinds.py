"""Which kernels a piece of code asks for, found without compiling any, and inputs that ought to ask for the same."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import joblib
import numba
import numpy as np
import scipy.sparse as sp

import maxmargin
from maxmargin import (
    Bipartite,
    BoxSVM,
    ChainCRF,
    ChainSVM,
    ChainSVMCV,
    GraphCRF,
    GraphSVM,
    MatchingSVM,
    MulticlassSVM,
    MulticlassSVMCV,
    MultilabelSVM,
    PoseSVM,
    Proposals,
    TreeCRF,
    TreeSVM,
)
from maxmargin._compile import Kernel, Reference, kernels


def recording(seen: set) -> Callable:
    """In place of ``Kernel.__call__``: notes the types that would be compiled for, and runs interpreted."""

    def call(self: Kernel, *args: Any) -> Any:
        if kernels.runs_compiled(*args):
            given = [Reference(one) if isinstance(one, tuple) else one for one in args]
            types = (one._numba_type_ if isinstance(one, Reference) else numba.typeof(one) for one in given)
            seen.add((self.__name__, *types))
        return self.interpreted(*(one.part if isinstance(one, Reference) else one for one in args))

    return call


N, T, F, K = 6, 4, 3, 3
RNG = np.random.default_rng(0)
X = list(RNG.normal(size=(N, T, F)))
Y = list(np.resize(np.arange(K), (N, T)))
TWO = [y % 2 for y in Y]
STACK, FLAT = np.vstack(X), np.hstack(Y)
SETS = np.arange(3 * N * T).reshape(-1, 3) % 2
COST = 1.0 - np.eye(K)
PARENTS = [-1, 0, 0, 1]
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]
GRIDS = list(RNG.normal(size=(N, 3, 4, 2)))
WORDS = list(RNG.integers(4, size=(N, 3, 4)))
BOXES = [(0, 0, 2, 2)] * N
PROPOSED = np.array([(0, 0, 2, 2), (1, 0, 3, 2), (0, 1, 2, 3)])
POSES = [[(0, 0), (1, 1), (2, 1)]] * N
TABLES = list(RNG.normal(size=(N, 2, 3, F)))
LINKS = [[(0, i % 3), (1, (i + 1) % 3)] for i in range(N)]
PAIRS = np.argwhere(np.ones((2, 3)))


def frozen(array: Any) -> np.ndarray:
    array = np.array(array, order="K")
    array.setflags(write=False)
    return array


def odd(array: np.ndarray) -> np.ndarray:
    """Read-only, in Fortran's order."""
    return frozen(np.asfortranarray(array))


def single(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32)


def csr(array: np.ndarray, index: Any = np.int32, value: Any = np.float64) -> Any:
    matrix = sp.csr_matrix(array.astype(value))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def fit(estimator: Any, X: Any, y: Any, *, ask: Any = (("predict",),), also: Any = None, **given: Any) -> Any:
    """A task: fit, then ask the model."""

    def run() -> None:
        model = estimator.set_params(max_passes=3, tol=1e-9, random_state=0).fit(X, y, **given)
        model = model if also is None else also(model, X, y)
        for name, *arguments in ask:
            getattr(model, name)(X, *arguments)

    return run


def each(change: Callable) -> list:
    return [change(x) for x in X]


def reloaded(folder: Any, model: Any, X: Any, y: Any) -> Any:
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model", mmap_mode="r")


def from_file(folder: Any, model: Any, X: Any, y: Any) -> Any:
    return maxmargin.load(model.save(folder / "model.npz") and folder / "model.npz")


def refitted(model: Any, X: Any, y: Any) -> Any:
    return model.fit(X, y)


def reassigned(model: Any, X: Any, y: Any) -> Any:
    model.coef_ = odd(model.coef_)
    return model


def with_edges(change: Callable = np.asarray, width: int = 2) -> list:
    return [(x, change(abs(x[1:, :width]))) for x in X]


def trees(change: Callable = np.asarray, parents: Any = PARENTS, edge_features: Any = None) -> list:
    return [(change(x), parents) if edge_features is None else (x, parents, edge_features(x[:, :2])) for x in X]


def graphs(change: Callable = np.asarray, edges: Any = RING, edge_features: Any = None) -> list:
    return [
        (change(x), edges) if edge_features is None else (x, edges, edge_features(abs(x[: len(edges), :2]))) for x in X
    ]


def candidates(convert: Callable, pairs: np.ndarray = PAIRS) -> list:
    return [Bipartite(2, 3, pairs, convert(x.reshape(-1, F))) for x in TABLES]


def path(estimator: Any, X: Any, y: Any) -> Callable[[], Any]:
    return functools.partial(maxmargin.regularization_path, estimator, X, y, eps=0.5, lam_min=0.1)


PLAIN = "plain"
ALL_ANSWERS = (("predict",), ("decision_function",), ("predict_topk", 2), ("predict_marginals",))
OTHER_ANSWERS = (("predict_topk", np.int32(1)), ("predict_topk", 5), ("predict_marginals", 2))

# by model, and by kind of data: what is run plainly, and what must need no other kernels
SAME: dict[tuple[str, str], dict[str, Callable[[], Any]]] = {
    ("chain", "dense"): {
        PLAIN: fit(ChainSVM(), X, Y, ask=ALL_ANSWERS),
        "float32": fit(ChainSVM(), each(single), Y),
        "integers": fit(ChainSVM(), each(lambda x: np.ceil(9 * x).astype(int)), Y),
        "Fortran order, read-only": fit(ChainSVM(), each(odd), Y),
        "strided": fit(ChainSVM(), each(lambda x: np.repeat(x, 2, axis=1)[:, ::2]), Y),
        "lists": fit(ChainSVM(), each(np.ndarray.tolist), [y.tolist() for y in Y]),
        "3-d array": fit(ChainSVM(), np.array(X), np.array(Y)),
        "stacked": fit(ChainSVM(), STACK, FLAT, lengths=[T] * N, ask=()),
        "stacked, read-only": fit(
            ChainSVM(), odd(STACK), frozen(FLAT), lengths=frozen(np.full(N, T, np.int32)), ask=()
        ),
        "one long sequence": fit(ChainSVM(), STACK, FLAT),
        "one sample": fit(ChainSVM(), X[:1], Y[:1]),
        "one class": fit(ChainSVM(), X, [0 * y for y in Y]),
        "two classes": fit(ChainSVM(), X, TWO),
        "one position each": fit(ChainSVM(), [x[:1] for x in X], [[i % 2] for i in range(N)]),
        "one feature": fit(ChainSVM(), [x[:, :1] for x in X], Y),
        "strings": fit(ChainSVM(), X, [y.astype(str) for y in Y]),
        "threads": fit(ChainSVM(n_jobs=2), X, Y),
        "progress": fit(ChainSVM(verbose=1), X, Y),
        "no intercept": fit(ChainSVM(fit_intercept=False, fit_boundary=False), X, Y),
        "sum of losses": fit(ChainSVM(loss="hamming_sum"), X, Y),
        "whole lam": fit(ChainSVM(lam=np.float32(0.125)), X, Y),
        "sample weights": fit(ChainSVM(), X, Y, sample_weight=frozen(np.arange(N, dtype=np.float32))),
        "class weights": fit(ChainSVM(class_weight="balanced"), X, Y),
        "costs": fit(ChainSVM(cost_matrix=COST.astype(int)), X, Y),
        "costs, read-only": fit(ChainSVM(cost_matrix=frozen(COST)), X, Y),
        "costs, Fortran order": fit(ChainSVM(cost_matrix=np.asfortranarray(COST)), X, Y),
        "mask": fit(ChainSVM(transition_mask=odd(np.ones((K, K), bool))), X, Y),
        "warm start": fit(ChainSVM(warm_start=True), X, Y, also=refitted),
        "assigned weights": fit(ChainSVM(), X, Y, also=reassigned),
        "other answers": fit(ChainSVM(), X, Y, ask=OTHER_ANSWERS),
    },
    ("chain", "sparse"): {
        PLAIN: fit(ChainSVM(), each(csr), Y),
        "long indices": fit(ChainSVM(), each(lambda x: csr(x, np.int64)), Y),
        "float32": fit(ChainSVM(), each(lambda x: csr(x, value=np.float32)), Y),
        "CSC": fit(ChainSVM(), each(sp.csc_array), Y),
        "stacked": fit(ChainSVM(), csr(STACK), FLAT, lengths=[T] * N, ask=()),
        "dense, mostly zeros": fit(ChainSVM(), each(lambda x: x * (np.arange(F) == 0)), Y),
    },
    ("chain", "edge features"): {
        PLAIN: fit(ChainSVM(), with_edges(), Y),
        "Fortran order, read-only": fit(ChainSVM(), with_edges(odd), Y),
        "float32": fit(ChainSVM(), with_edges(single), Y),
        "one": fit(ChainSVM(), with_edges(width=1), Y),
        "no edges": fit(ChainSVM(), [(x[:1], x[:0, :2]) for x in X], [y[:1] for y in Y]),
    },
    ("chain", "kernel"): {
        PLAIN: fit(ChainSVM(kernel="rbf"), X, Y),
        "another": fit(ChainSVM(kernel="linear"), X, Y),
        "function": fit(ChainSVM(kernel=lambda a, b: odd(a @ b.T)), X, Y),
        "sparse": fit(ChainSVM(kernel="rbf"), each(csr), Y),
    },
    ("multiclass", "dense"): {
        PLAIN: fit(MulticlassSVM(), STACK, FLAT),
        "float32": fit(MulticlassSVM(), single(STACK), FLAT),
        "Fortran order, read-only": fit(MulticlassSVM(), odd(STACK), frozen(FLAT)),
        "one class": fit(MulticlassSVM(), STACK, 0 * FLAT),
        "two classes": fit(MulticlassSVM(), STACK, FLAT % 2),
        "strings": fit(MulticlassSVM(), STACK, FLAT.astype(str)),
        "one sample": fit(MulticlassSVM(), STACK[:1], FLAT[:1]),
        "costs, read-only": fit(MulticlassSVM(cost_matrix=odd(COST)), STACK, FLAT),
        "class weights": fit(MulticlassSVM(class_weight="balanced"), STACK, FLAT),
        "sample weights": fit(MulticlassSVM(), STACK, FLAT, sample_weight=frozen(np.arange(N * T))),
        "no intercept": fit(MulticlassSVM(fit_intercept=False), STACK, FLAT),
    },
    ("multiclass", "sparse"): {
        PLAIN: fit(MulticlassSVM(), csr(STACK), FLAT),
        "long indices": fit(MulticlassSVM(), csr(STACK, np.int64), FLAT),
        "CSC": fit(MulticlassSVM(), sp.csc_array(STACK), FLAT),
        "dense, mostly zeros": fit(MulticlassSVM(), STACK * (np.arange(F) == 0), FLAT),
    },
    ("multilabel", "dense"): {
        PLAIN: fit(MultilabelSVM(), STACK, SETS),
        "float32": fit(MultilabelSVM(), single(STACK), SETS),
        "Fortran order, read-only": fit(MultilabelSVM(), odd(STACK), odd(SETS)),
        "one label": fit(MultilabelSVM(), STACK, SETS[:, :1]),
        "booleans": fit(MultilabelSVM(), STACK, SETS.astype(bool)),
        "sparse sets": fit(MultilabelSVM(), STACK, csr(SETS)),
        "costs": fit(MultilabelSVM(missed_cost=frozen(np.arange(3, dtype=np.float32)), wrong_cost=2), STACK, SETS),
        "sample weights": fit(MultilabelSVM(), STACK, SETS, sample_weight=frozen(np.arange(N * T))),
        "no intercept": fit(MultilabelSVM(fit_intercept=False), STACK, SETS),
    },
    ("multilabel", "sparse"): {
        PLAIN: fit(MultilabelSVM(), csr(STACK), SETS),
        "long indices": fit(MultilabelSVM(), csr(STACK, np.int64), SETS),
        "dense, mostly zeros": fit(MultilabelSVM(), STACK * (np.arange(F) == 0), SETS),
    },
    ("multilabel", "interactions"): {
        PLAIN: fit(MultilabelSVM(interactions="pairwise"), STACK, SETS),
        "sparse": fit(MultilabelSVM(interactions="pairwise"), csr(STACK), csr(SETS)),
        "one label": fit(MultilabelSVM(interactions="pairwise"), odd(STACK), SETS[:, :1]),
    },
    ("tree", "dense"): {
        PLAIN: fit(TreeSVM(), trees(), Y),
        "parents, short": fit(TreeSVM(), trees(parents=frozen(np.array(PARENTS, np.int16))), Y),
        "no edges": fit(TreeSVM(), trees(parents=[-1] * T), Y),
        "one node each": fit(TreeSVM(), [(x[:1], [-1]) for x in X], [[i % 2] for i in range(N)]),
        "one class": fit(TreeSVM(), trees(), [0 * y for y in Y]),
        "mask": fit(TreeSVM(transition_mask=odd(np.ones((K, K), bool))), trees(), Y),
        "Fortran order, read-only": fit(TreeSVM(), trees(odd), Y),
    },
    ("tree", "edge features"): {
        PLAIN: fit(TreeSVM(), trees(edge_features=np.asarray), Y),
        "Fortran order, read-only": fit(TreeSVM(), trees(edge_features=odd), Y),
        "no edges": fit(TreeSVM(), trees(parents=[-1] * T, edge_features=np.asarray), Y),
    },
    ("graph", "dense"): {
        PLAIN: fit(GraphSVM(inference="junction"), graphs(), Y),
        "edges, short": fit(GraphSVM(inference="junction"), graphs(edges=odd(np.array(RING, np.int16))), Y),
        "no edges": fit(GraphSVM(inference="junction"), graphs(edges=[]), Y),
        "one edge": fit(GraphSVM(inference="junction"), graphs(edges=RING[:1]), Y),
        "one node each": fit(GraphSVM(inference="junction"), [(x[:1], []) for x in X], [[i % 2] for i in range(N)]),
        "one class": fit(GraphSVM(inference="junction"), graphs(), [0 * y for y in Y]),
        "two classes": fit(GraphSVM(inference="junction"), graphs(), TWO),
    },
    ("graph", "edge features"): {
        PLAIN: fit(GraphSVM(inference="junction"), graphs(edge_features=np.asarray), Y),
        "float32": fit(GraphSVM(inference="junction"), graphs(edge_features=single), Y),
        "no edges": fit(GraphSVM(inference="junction"), graphs(edges=[], edge_features=np.asarray), Y),
    },
    ("graph", "cut"): {
        PLAIN: fit(GraphSVM(inference="cut"), graphs(), TWO),
        "no edges": fit(GraphSVM(inference="cut"), graphs(edges=[]), TWO),
        "edge features": fit(GraphSVM(inference="cut"), graphs(edge_features=odd), TWO),
    },
    ("graph", "lp"): {
        PLAIN: fit(GraphSVM(inference="lp"), graphs(), Y),
        "no edges": fit(GraphSVM(inference="lp"), graphs(edges=[]), Y),
        "one class": fit(GraphSVM(inference="lp"), graphs(), [0 * y for y in Y]),
    },
    ("chain_crf", "dense"): {
        PLAIN: fit(ChainCRF(), X, Y, ask=ALL_ANSWERS),
        "odd": fit(ChainCRF(), each(odd), Y),
        "many labels": fit(ChainCRF(), [x[:, :1] for x in X], list(np.resize(np.arange(15), (N, T)))),
        "one class": fit(ChainCRF(), X, [0 * y for y in Y]),
        "one position each": fit(ChainCRF(), [x[:1] for x in X], [[i % 2] for i in range(N)]),
        "threads": fit(ChainCRF(n_jobs=2), X, Y),
        "mask": fit(ChainCRF(transition_mask=odd(np.ones((K, K), bool))), X, Y),
        "sample weights": fit(ChainCRF(), X, Y, sample_weight=frozen(np.arange(N, dtype=np.float32))),
        "large lam": fit(ChainCRF(lam=1e4), X, Y),
        "warm start": fit(ChainCRF(warm_start=True), X, Y, also=refitted),
    },
    ("chain_crf", "sparse"): {
        PLAIN: fit(ChainCRF(), each(csr), Y),
        "long indices": fit(ChainCRF(), each(lambda x: csr(x, np.int64)), Y),
    },
    ("tree_crf", "dense"): {
        PLAIN: fit(TreeCRF(), trees(), Y),
        "no edges": fit(TreeCRF(), trees(parents=[-1] * T), Y),
    },
    ("graph_crf", "edge features"): {
        PLAIN: fit(GraphCRF(), graphs(edge_features=np.asarray), Y),
        "float32": fit(GraphCRF(inference="junction"), graphs(edge_features=single), Y),
    },
    ("matching", "all"): {
        PLAIN: fit(MatchingSVM(), TABLES, LINKS),
        "odd": fit(MatchingSVM(), [odd(single(x)) for x in TABLES], [frozen(np.array(y, np.int32)) for y in LINKS]),
        "no links": fit(MatchingSVM(), TABLES, [[]] * N),
        "candidates": fit(MatchingSVM(), candidates(odd), LINKS),
        "sparse": fit(MatchingSVM(), candidates(csr, frozen(PAIRS.astype(np.int16))), LINKS),
    },
    ("box", "all"): {
        PLAIN: fit(BoxSVM(), WORDS, BOXES),
        "words, short": fit(BoxSVM(), [odd(x.astype(np.uint8)) for x in WORDS], np.array(BOXES, np.int16)),
        "one word": fit(BoxSVM(), [0 * x for x in WORDS], BOXES),
        "features": fit(BoxSVM(), GRIDS, BOXES),
        "features, float32": fit(BoxSVM(), [odd(single(x)) for x in GRIDS], BOXES),
        "proposals": fit(BoxSVM(), [Proposals(PROPOSED, frozen(x[0, :3])) for x in GRIDS], BOXES),
    },
    ("pose", "all"): {
        PLAIN: fit(PoseSVM(parents=[1, -1, 1], n_types=2), GRIDS, POSES),
        "odd": fit(
            PoseSVM(parents=[1, -1, 1], n_types=2), [odd(single(x)) for x in GRIDS], [frozen(one) for one in POSES]
        ),
        "one type": fit(PoseSVM(parents=[1, -1, 1], n_types=1), GRIDS, POSES),
    },
}

# what `maxmargin compile` prepares beside these: other numbers of labels, other lam, paths and cross-validation
PREPARED: dict[tuple[str, str], dict[str, Callable[[], Any]]] = {
    ("pose", "all"): {
        # no spring, and so no weight that is bounded
        "one part": fit(PoseSVM(parents=[-1], n_types=1), GRIDS, [one[:1] for one in POSES]),
    },
    ("chain", "dense"): {
        "many labels": fit(ChainSVM(), [x[:, :1] for x in X], list(np.resize(np.arange(15), (N, T))), ask=ALL_ANSWERS),
        "large lam": fit(ChainSVM(lam=1e4), X, Y),
        "path": path(ChainSVM(max_passes=3), X, Y),
        "cross-validation": fit(ChainSVMCV(cv=2, lams=(1.0, 0.1)), X, Y),
    },
    ("chain", "sparse"): {
        "path": path(ChainSVM(max_passes=3), each(csr), Y),
        "dicts": fit(ChainSVM(), [[{f"is {k}": 1} for k in y] for y in Y], Y),  # have a table to be looked up in
    },
    ("chain", "edge features"): {"path": path(ChainSVM(max_passes=3), with_edges(), Y)},
    ("chain", "kernel"): {"path": path(ChainSVM(kernel="rbf", max_passes=3), X, Y)},
    ("multiclass", "dense"): {"cross-validation": fit(MulticlassSVMCV(cv=2, lams=(1.0, 0.1)), STACK, FLAT)},
    ("multiclass", "sparse"): {"path": path(MulticlassSVM(max_passes=3), csr(STACK), FLAT)},
    ("chain_crf", "dense"): {
        "path": path(ChainCRF(max_passes=3), X, Y),
        "cross-validation": fit(ChainCRF(lam="cv"), X, Y),
        "sparse weights": fit(ChainCRF(l1=0.1), X, Y),
    },
    ("tree", "dense"): {"path": path(TreeSVM(max_passes=3), trees(), Y)},
    ("graph", "dense"): {"path": path(GraphSVM(inference="junction", max_passes=3), graphs(), Y)},
    ("graph", "cut"): {"path": path(GraphSVM(inference="cut", max_passes=3), graphs(), TWO)},
}
