"""The estimators, each with data so small that a fit takes no time; features are 0, 1 or 2, exact in every dtype."""

from __future__ import annotations

from functools import partial
from inspect import signature
from itertools import chain
from typing import Any

import numpy as np
from trials import Subject, same_answers

from maxmargin import (
    Bipartite,
    BoxSVM,
    ChainCRF,
    ChainSVM,
    ChainSVMCV,
    Graph,
    GraphCRF,
    GraphSVM,
    MatchingSVM,
    MulticlassSVM,
    MulticlassSVMCV,
    MultilabelSVM,
    PoseSVM,
    Proposals,
    Tree,
    TreeCRF,
    TreeSVM,
)

SETTINGS = {"lam": 0.1, "tol": 0.05, "max_passes": 200, "random_state": 0}
LENGTHS = (3, 1, 4, 2)
LABELS = [["a", "b", "a"], ["c"], ["a", "b", "c", "a"], ["b", "c"]]
HEADS = [[-1, 0, 1], [-1], [-1, 0, 0, 1], [-1, 0]]
EDGES = [[(0, 1), (1, 2), (2, 0)], [], [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1)]]


def digits(*shape: int) -> np.ndarray:
    """Some of 0, 1 and 2, the last of them 2."""
    x = np.random.default_rng(sum(shape)).integers(3, size=shape).astype(float)
    x[(-1,) * len(shape)] = 2.0
    return x


NODES = [digits(length, 2) for length in LENGTHS]


def itself(X: Any, i: int) -> Any:
    return X[i]


def replaced(X: Any, i: int, value: Any) -> Any:
    return [*X[:i], value, *X[i + 1 :]]


def part(k: int) -> tuple[Any, Any]:
    """Ways to get and put the k-th part of samples that are tuples."""

    def put(X, i, value):
        sample = list(X[i])
        sample[k] = value
        kind = type(X[i])
        return replaced(X, i, kind(sample) if kind is tuple else kind(*sample))

    return lambda X, i: X[i][k], put


def subject(name: str, cls: Any, X: Any, y: Any, get: Any = itself, put: Any = replaced, **more: Any) -> Subject:
    params = more.pop("params", {})
    return Subject(name, partial(_make, cls, params), X, y, get, put, **{"n_samples": len(X), **more})


def _make(cls: Any, params: dict, **others: Any) -> Any:
    given = {**SETTINGS, **params, **others}
    return cls(**{name: value for name, value in given.items() if name in signature(cls).parameters})


def pairs_of(shape: tuple[int, int]) -> np.ndarray:
    return np.argwhere(np.ones(shape))


SHAPES = [(2, 3), (3, 3), (3, 2)]
LINKS = [[(0, 2), (1, 0)], [(0, 0), (1, 2), (2, 1)], [(2, 0)]]
PICTURES = [(3, 4), (4, 3), (2, 2)]
BOXES = [(1, 0, 3, 2), (0, 2, 3, 4), (0, 0, 2, 2)]
POSES = [[(0, 0), (1, 1)], [(1, 2), (1, 1)], [(0, 0), (1, 0)]]
PROPOSED = [(0, 0, 2, 2), (1, 0, 3, 2), (0, 2, 3, 4)]


def one_sequence(subject: Subject, answers: Any) -> None:
    """A list of one sequence instead of a stacked one."""
    same_answers(subject, answers[0])


def whole(X: Any, i: int) -> Any:
    return X


def instead(X: Any, i: int, value: Any) -> Any:
    return value


ROWS, FLAT = np.vstack(NODES), list(chain.from_iterable(LABELS))
LINKED = [i for i, edges in enumerate(EDGES) if edges]  # those that can have features of edges
NO_OBJECTS = {"objects": "X, sample 0: .*real numbers"}

CHOOSING = {"cv": 2, "eps": 0.5, "lam_min": 0.5, "tol": 0.5, "lam": None}
CROSS_VALIDATED = [
    subject("ChainSVMCV", ChainSVMCV, NODES, LABELS, sparse=True, labels=True, params=CHOOSING),
    subject(
        "MulticlassSVMCV",
        MulticlassSVMCV,
        np.vstack([ROWS, ROWS]),
        FLAT + FLAT,
        whole,
        instead,
        whole=True,
        sparse=True,
        labels=True,
        place="X",
        exceptions={"numbers as text": same_answers, "X is a deque": "taken by scikit-learn"},
        params=CHOOSING,
    ),
]
SUBJECTS = [
    subject("ChainSVM", ChainSVM, NODES, LABELS, sparse=True, labels=True),
    subject(
        "ChainSVM stacked",
        ChainSVM,
        ROWS,
        FLAT,
        whole,
        instead,
        whole=True,
        sparse=True,
        labels=True,
        n_samples=1,
        place="X",
        exceptions={
            "one dimension more": one_sequence,
            "lists": r"wrap it: \[X\]",
            "X is one in another": "a list of one sequence",
        },
    ),
    subject(
        "ChainSVM edges",
        ChainSVM,
        [(NODES[i], digits(LENGTHS[i] - 1, 2)) for i in LINKED],
        [LABELS[i] for i in LINKED],
        *part(1),
        sparse=True,
        labels=True,
        exceptions=NO_OBJECTS,
    ),
    subject(
        "MulticlassSVM",
        MulticlassSVM,
        ROWS,
        FLAT,
        whole,
        instead,
        whole=True,
        sparse=True,
        labels=True,
        place="X",
        exceptions={
            "np.matrix": "X: np.matrix is not supported",
            "numbers as text": same_answers,
            "X is a deque": "taken by scikit-learn",
        },
    ),
    subject(
        "MultilabelSVM",
        MultilabelSVM,
        ROWS,
        (np.arange(3 * len(ROWS)).reshape(-1, 3) // 2 % 2).tolist(),
        whole,
        instead,
        whole=True,
        sparse=True,
        place="X",
        exceptions={
            "np.matrix": "X: np.matrix is not supported",
            "numbers as text": same_answers,
            "X is a deque": "taken by scikit-learn",
        },
    ),
    subject(
        "TreeSVM",
        TreeSVM,
        [Tree(*one) for one in zip(NODES, HEADS, strict=True)],
        LABELS,
        *part(0),
        sparse=True,
        labels=True,
    ),
    subject(
        "GraphSVM",
        GraphSVM,
        [Graph(*one) for one in zip(NODES, EDGES, strict=True)],
        LABELS,
        *part(0),
        sparse=True,
        labels=True,
    ),
    subject(
        "GraphSVM edges",
        GraphSVM,
        [Graph(NODES[i], EDGES[i], digits(len(EDGES[i]), 2)) for i in LINKED],
        [LABELS[i] for i in LINKED],
        *part(2),
        sparse=True,
        labels=True,
        exceptions={"None": "X, sample [12]: .*edge_features", **NO_OBJECTS},
    ),
    subject("ChainCRF", ChainCRF, NODES, LABELS, sparse=True, labels=True),
    subject(
        "ChainCRF edges",
        ChainCRF,
        [(NODES[i], digits(LENGTHS[i] - 1, 2)) for i in LINKED],
        [LABELS[i] for i in LINKED],
        *part(1),
        sparse=True,
        labels=True,
        exceptions=NO_OBJECTS,
    ),
    subject(
        "TreeCRF",
        TreeCRF,
        [Tree(*one) for one in zip(NODES, HEADS, strict=True)],
        LABELS,
        *part(0),
        sparse=True,
        labels=True,
    ),
    subject(
        "GraphCRF",
        GraphCRF,
        [Graph(*one) for one in zip(NODES, EDGES, strict=True)],
        LABELS,
        *part(0),
        sparse=True,
        labels=True,
    ),
    subject("MatchingSVM", MatchingSVM, [digits(*shape, 2) for shape in SHAPES], LINKS),
    subject(
        "MatchingSVM pairs",
        MatchingSVM,
        [Bipartite(*shape, pairs_of(shape), digits(shape[0] * shape[1], 2)) for shape in SHAPES],
        LINKS,
        *part(3),
        sparse=True,
        exceptions=NO_OBJECTS,
    ),
    subject("BoxSVM", BoxSVM, [digits(*shape, 2) for shape in PICTURES], BOXES),
    subject(
        "BoxSVM proposals",
        BoxSVM,
        [Proposals(PROPOSED, digits(3, 2)) for _ in BOXES],
        BOXES,
        *part(1),
        exceptions=NO_OBJECTS,
    ),
    subject("PoseSVM", PoseSVM, [digits(*shape, 2) for shape in PICTURES], POSES, params={"radius": 2.0}),
]
