"""What joins the nodes of a sample, or lies around features: heads, edges, pairs, boxes, lengths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from subjects import part
from trials import Subject, Trial, fitted, is_number, same_answers, same_optimum

NO_NUMBERS: dict[str, Any] = {
    "None": None,
    "a number": 1,
    "text": "edges",
    "strings": [("a", "b")],
    "complex": [(0j, 1)],
    "dates": np.array([["2020-01-01"] * 2], "M8[D]"),
    "None inside": [(None, 1)],
    "NaN": [(0, np.nan)],
    "infinity": [(0, np.inf)],
    "half": [(0, 0.5)],
    "ragged": [(0, 1), (1,)],
    "triples": [(0, 1, 2)],
    "flat": [0, 1, 1],
    "three dimensions": [[(0, 1)]],
    "a dict": {0: 1},
    "a set": {0, 1},
    "a sparse matrix": sp.csr_matrix(np.eye(3)),
    "truth values": [(False, True)],
    "a missing node": [(0, 9)],
    "far outside": [(0, 2**62)],
    "below 0": [(0, -1)],
    "far below 0": [(-(2**62), 0)],
    "beyond 64 bits": [(0, 2**80)],
    "unsigned": np.array([[0, 2**64 - 1]], np.uint64),
    "masked": np.ma.masked_array([(0, 1)], [(True, False)]),
}
HEADS: dict[str, Any] = {
    "a cycle": [1, 0],
    "itself": [0, -1],
    "outside": [9, -1],
    "below -1": [-2, -1],
    "too few": [-1],
    "too many": [-1, 0, 1, 2, 3],
    "two dimensions": [[-1, 0]],
    "halves": [-1, 0.5],
    "NaN": [-1, np.nan],
    "truth values": [True, False],
    "text": ["-1", "0"],
    "None inside": [-1, None],
    "far outside": [-1, 2**62],
    "None": None,
    "a number": -1,
    "a word": "heads",
    "ragged": [-1, [0]],
    "complex": [-1, 0j],
    "dates": np.array(["2020-01-01"] * 2, "M8[D]"),
}
BOXES: dict[str, Any] = {
    "None": None,
    "a number": 3,
    "nothing": [],
    "a box less": [(0, 0, 2, 2)] * 2,
    "a box more": [(0, 0, 2, 2)] * 4,
    "three numbers": [(0, 0, 2)] * 3,
    "upside down": [(0, 2, 2, 0)] * 3,
    "empty": [(1, 1, 1, 2)] * 3,
    "NaN": [(0, 0, np.nan, 2)] * 3,
    "infinity": [(0, 0, np.inf, 2)] * 3,
    "text": [("a", "b", "c", "d")] * 3,
    "complex": [(0j, 0, 2, 2)] * 3,
    "None inside": [(None, 0, 2, 2)] * 3,
    "ragged": [(0, 0, 2, 2), (0, 0, 2), (0, 0, 2, 2)],
    "a word": "boxes",
}


def put_in(subject: Subject, k: int, wrong: dict[str, Any], i: int) -> Iterator[Trial]:
    """Another k-th part of sample i."""
    _, put = part(k)
    for name, value in wrong.items():

        def make(value=value):
            return (put(subject.X, i, value),)

        yield Trial(f"{name}, predict", "predict", make, f"X, sample {i}")
        yield Trial(f"{name}, fit", "fit", lambda make=make: (*make(), subject.y), f"X, sample {i}")


def links(subject: Subject) -> Iterator[Trial]:
    yield from TABLES.get(subject.name, lambda _: ())(subject)


def heads(subject: Subject) -> Iterator[Trial]:
    return put_in(subject, 1, HEADS, 3)


def edges(subject: Subject) -> Iterator[Trial]:
    yield from put_in(subject, 1, {**NO_NUMBERS, "itself": [(1, 1)]}, 3)
    bare = [(x, []) for x, *_ in subject.X]
    yield Trial("no edges at all", "fit", lambda: (bare, subject.y), fitted)
    twice = [(x, [*pairs, *pairs]) for x, pairs, _ in subject.X]
    yield Trial("every edge twice", "fit", lambda: (twice, subject.y), fitted)
    alone = [(x[:1], []) for x, *_ in subject.X]
    yield Trial("single nodes", "predict", lambda: (alone,), lambda _, found: _lengths(found, [1] * 4))
    complete = [(np.ones((12, 2)), np.argwhere(np.triu(np.ones((12, 12)), 1)))]
    yield Trial("too wide", "fit", lambda: (complete, [list("abcabcabcabc")]), _takes_lp, {"max_passes": 2})
    exact = {"inference": "junction"}
    wide = 'X, sample 0: .*width of 11.*inference="lp"'
    yield Trial("too wide for junction trees", "fit", lambda: (complete, [list("abc" * 4)]), wide, exact)
    yield Trial("too wide to predict", "predict", lambda: (complete,), wide)
    yield Trial(
        "three labels for cuts", "fit", lambda: (subject.X, subject.y), '"cut" is for two', {"inference": "cut"}
    )


def _takes_lp(subject: Subject, model: Any) -> None:
    assert model.inference_ == "lp"
    assert hasattr(model, "relaxation") and not hasattr(model, "predict_topk")


def pairs(subject: Subject) -> Iterator[Trial]:
    yield from put_in(subject, 2, {**NO_NUMBERS, "a pair twice": [(0, 0)] * 9, "a pair less": [(0, 0)]}, 1)
    sizes = {"None": None, "below 0": -1, "half": 2.5, "text": "3", "true": True, "too small": 1, "NaN": np.nan}
    for k in (0, 1):
        yield from (one._replace(name=f"{one.name}, {k}") for one in put_in(subject, k, sizes, 1))


def boxes(subject: Subject) -> Iterator[Trial]:
    return put_in(subject, 0, BOXES, 1)


def lengths(subject: Subject) -> Iterator[Trial]:
    """Of a stacked matrix of ten rows."""
    wrong: dict[str, Any] = {
        "too short": [3, 1, 4, 1],
        "too long": [3, 1, 4, 3],
        "below 0": [12, -2],
        "floats": [3.0, 7.0],
        "text": ["3", "7"],
        "two dimensions": [[3, 7]],
        "a number": 10,
        "None inside": [3, None, 7],
        "huge": [2**62, 2**62],
        "nothing": [],
        "NaN": [np.nan],
        "truth values": [True] * 10,
        "ragged": [[3], [3, 4]],
        "a dict": {0: 10},
        "a word": "ten",
        "complex": [3, 7 + 0j],
    }
    data = subject.X, subject.y
    for name, value in wrong.items():
        given = {"lengths": value}
        yield Trial(f"lengths: {name}, fit", "fit", lambda: data, "lengths", given=given)
        yield Trial(f"lengths: {name}, predict", "predict", lambda: data[:1], "lengths", given=given)
    given = {"lengths": [3, 0, 5, 2]}
    yield Trial("lengths: 0, fit", "fit", lambda: data, "lengths, sample 1: length 0", given=given)
    yield Trial(
        "lengths: 0, predict", "predict", lambda: data[:1], lambda _, found: _lengths([found], [10]), given=given
    )
    yield Trial("lengths: one", "fit", lambda: data, same_optimum, given={"lengths": np.array([10], np.uint8)})
    yield Trial("no rows, predict", "predict", lambda: (subject.X[:0],), lambda _, found: _lengths([found], [0]))
    yield Trial("no rows, fit", "fit", lambda: (subject.X[:0], []), r"\bX\b")


def sequences(subject: Subject) -> Iterator[Trial]:
    """What holds no position, and how to say so."""
    X, y = subject.X, subject.y
    for name, empty in {
        "list": [],
        "array": np.zeros((0, 2)),
        "array of no features": np.zeros((0, 0)),
        "flat array": np.zeros(0),
        "sparse": sp.csr_matrix((0, 2)),
    }.items():
        for i in (0, 2, 4):
            among = [*X[:i], empty, *X[i:]]
            expected = [*(len(x) for x in X[:i]), 0, *(len(x) for x in X[i:])]
            yield Trial(
                f"empty {name}, {i}, predict",
                "predict",
                lambda among=among: (among,),
                lambda _, found, expected=expected: _lengths(found, expected),
            )
            labels = [*y[:i], [], *y[i:]]
            yield Trial(
                f"empty {name}, {i}, fit", "fit", lambda a=among, b=labels: (a, b), f"X, sample {i}: empty sequence"
            )
            yield Trial(f"empty {name}, {i}, score", "score", lambda a=among, b=labels: (a, b), is_number)
    yield Trial("all empty, predict", "predict", lambda: ([[], []],), lambda _, found: _lengths(found, [0, 0]))
    yield Trial("all empty, score", "score", lambda: ([[], []], [[], []]), "X has no labels to score")
    yield Trial("lengths with a list", "fit", lambda: (X, y), "lengths goes with", given={"lengths": [3, 1, 4, 2]})
    yield Trial("some sparse", "fit", lambda: ([*X[:3], sp.csr_matrix(X[3])], y), "X, sample 3: sparse, but")
    yield Trial("one padded array", "predict", lambda: ([*X, X[0]][:4],), same_answers)
    dicts = [[{"a": float(v)} for v in x[:, 0]] for x in X]
    yield Trial("dicts after arrays", "predict", lambda: (dicts,), "fitted without")
    yield Trial("dicts", "fit", lambda: (dicts, y), lambda _, model: _lengths(model.predict(dicts), [3, 1, 4, 2]))
    for name, wrong in {"a list": [1], "None": None, "text": "x", "a number": 3, "a dict": {"a": {"b": 1}}}.items():
        given = [*dicts[:3], [dicts[3][0], wrong]]
        yield Trial(f"{name} among dicts", "fit", lambda given=given: (given, y), "X, sample 3, position 1")


def _lengths(found: Any, expected: list[int]) -> None:
    assert [len(one) for one in found] == expected


TABLES: dict[str, Any] = {
    "ChainSVM": sequences,
    "ChainCRF": sequences,
    "ChainSVM stacked": lengths,
    "TreeSVM": heads,
    "TreeCRF": heads,
    "GraphSVM": edges,
    "MatchingSVM pairs": pairs,
    "BoxSVM proposals": boxes,
}
