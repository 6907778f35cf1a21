"""Outputs that are none, of the wrong kind, or of another sample."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import chain
from typing import Any

import numpy as np
from trials import Subject, Trial, fitted, is_number, same_optimum

from features import objects

NONE: dict[str, Any] = {
    "None": None,
    "a number": 3,
    "text": "ab",
    "a dict": {"y": 1},
    "a set": {1, 2},
    "a class": list,
    "an array of no dimension": np.array(3),
    "nothing": [],
    "Nones": [None] * 3,
    "three dimensions too many": np.zeros((2,) * 6),
}
LABELS: dict[str, Any] = {
    "None": None,
    "NaN": np.nan,
    "infinity": np.inf,
    "a half": 0.5,
    "complex": 1j,
    "a tuple": ("a",),
    "a list": ["a"],
    "a dict": {"a": 1},
    "a set": {"a"},
    "an object": object(),
    "bytes": b"a",
    "a decimal": Decimal(1),
    "a number beside text": 1,
    "a date": np.datetime64("2020-01-01"),
}


def none(subject: Subject) -> Iterator[Trial]:
    for name, y in NONE.items():
        for method in ("fit", "score"):
            yield Trial(f"y is {name}, {method}", method, lambda y=y: (subject.X, y), r"\by\b")
    yield Trial("y is a generator", "fit", lambda: (subject.X, (one for one in subject.y)), r"\by\b")
    yield Trial("y is an iterator", "score", lambda: (subject.X, iter(subject.y)), r"\by\b")
    yield Trial("y is too short", "fit", lambda: (subject.X, subject.y[:-1]), r"\by\b")
    yield Trial("y is too long", "score", lambda: (subject.X, [*subject.y, *subject.y]), r"\by\b")


def with_label(y: Any, label: Any, last: bool, nested: bool) -> Any:
    """One of all labels is another."""
    if not nested:
        return objects(*y[:-1], label) if last else objects(label, *y[1:])
    i = len(y) - 1 if last else 0
    return [*y[:i], list(with_label(y[i], label, last, nested=False)), *y[i + 1 :]]


def labels(subject: Subject) -> Iterator[Trial]:
    if not subject.labels:
        return
    X, y, nested = subject.X, subject.y, isinstance(subject.y[0], list)
    for name, label in LABELS.items():
        for last in (False, True):
            place = f"y, sample {len(y) - 1 if last else 0}, (position|node)" if nested else r"\by\b"

            def make(label=label, last=last):
                return X, with_label(y, label, last, nested)

            # next to a first label of another kind, all others may be the odd ones
            yield Trial(f"a label is {name}, {'last' if last else 'first'}", "fit", make, place if last else r"\by\b")

    def renamed(name, kind=list):
        return kind([kind(map(name, one)) for one in y]) if nested else kind(map(name, y))

    numbers = {"a": 0, "b": 1, "c": 2}
    for name, one in {
        "integers": renamed(numbers.get),
        "negative": renamed(lambda label: numbers[label] - 7),
        "whole floats": renamed(lambda label: float(numbers[label])),
        "far apart": renamed(lambda label: 10**9 * numbers[label]),
        "truth values": renamed(lambda label: label == "a"),
        "unicode": renamed(lambda label: label + "\u1e7d\U0001f600"),
        "long": renamed(lambda label: label * 999),
        "with a null": renamed(lambda label: label + "\0z"),
        "empty text": renamed(lambda label: "" if label == "a" else label),
        "tuples": renamed(str, tuple),
        "one class": renamed(lambda label: "a"),
    }.items():
        yield Trial(f"labels: {name}", "fit", lambda one=one: (X, one), fitted)
    unknown = renamed(lambda label: "never seen")
    yield Trial("labels never seen, score", "score", lambda: (X, unknown), is_number)
    distinct = iter(range(999))
    numbered = renamed(lambda label: next(distinct))
    yield Trial("labels: all different", "fit", lambda: (X, numbered), fitted)
    as_arrays = [np.array(one) for one in y] if nested else np.array(y)
    yield Trial("labels: arrays", "fit", lambda: (X, as_arrays), same_optimum)
    if nested:
        yield Trial("a label less", "fit", lambda: (X, [*y[:-1], y[-1][:-1]]), f"y, sample {len(y) - 1}: ")
        yield Trial("a label more", "fit", lambda: (X, [[*y[0], "a"], *y[1:]]), "y, sample 0: ")
        yield Trial("labels of another sample", "score", lambda: (X, y[::-1]), "y, sample 0: ")
        yield Trial("two dimensions", "fit", lambda: (X, [np.array([y[0]]), *y[1:]]), "y, sample 0: ")
        yield Trial("flat", "fit", lambda: (X, list(chain.from_iterable(y))), same_optimum)


MATCHINGS = {
    "a row twice": [(0, 0), (0, 1)],
    "a column twice": [(0, 1), (1, 1)],
    "outside": [(0, 9)],
    "far outside": [(2**62, 2**62)],
    "below 0": [(0, -1)],
    "half a link": [(0, 0.5)],
    "NaN": [(0, np.nan)],
    "infinity": [(np.inf, 0)],
    "text": [("a", "b")],
    "flat": [0, 1, 2],
    "triples": [(0, 1, 2)],
    "ragged": [(0, 1), (2,)],
    "complex": [(0j, 1)],
    "None": None,
    "None inside": [(None, 1)],
    "a number": 1,
    "a matrix of another shape": np.eye(5),
    "a matrix of other numbers": np.full((2, 3), 7),
    "dates": np.array([["2020-01-01"] * 2], "M8[D]"),
    "a word": "link",
}
BOXES = {
    "three numbers": (0, 0, 2),
    "five numbers": (0, 0, 2, 2, 2),
    "empty": (1, 1, 1, 2),
    "upside down": (0, 2, 2, 0),
    "outside": (0, 0, 99, 2),
    "far outside": (0, 0, 2**62, 2),
    "below 0": (-1, 0, 2, 2),
    "NaN": (0, np.nan, 2, 2),
    "infinity": (0, 0, np.inf, 2),
    "half": (0.5, 0, 2, 2),
    "text": ("0", "0", "2", "2"),
    "complex": (0j, 0, 2, 2),
    "None": None,
    "None inside": (0, 0, None, 2),
    "a number": 3,
    "nested": [(0, 0, 2, 2)],
    "ragged": [0, 0, 2, [2]],
    "a word": "box",
    "truth values": (False, False, True, True),
    "dates": np.array(["2020-01-01"] * 4, "M8[D]"),
}
POSES = {
    "right of it": [(0, 0), (99, 0)],
    "below it": [(0, 0), (0, 99)],
    "below 0": [(-1, 0), (0, 0)],
    "far away": [(2**62, 0), (0, 0)],
    "half": [(0.5, 0), (0, 0)],
    "NaN": [(np.nan, 0), (0, 0)],
    "infinity": [(np.inf, 0), (0, 0)],
    "a part less": [(0, 0)],
    "a part more": [(0, 0)] * 3,
    "no parts": [],
    "flat": [0, 0, 1, 1],
    "triples": [(0, 0, 0)] * 2,
    "text": [("a", "b")] * 2,
    "complex": [(0j, 0)] * 2,
    "bool": [(True, False)] * 2,
    "ragged": [(0, 0), (1,)],
    "None": None,
    "None inside": [(None, 0), (0, 0)],
    "a number": 3,
    "a word": "pose",
    "dates": np.array([["2020-01-01"] * 2] * 2, "M8[D]"),
}
WRONG = {"MatchingSVM": MATCHINGS, "BoxSVM": BOXES, "PoseSVM": POSES}
ONLY_IN_FIT = {"a row twice", "a column twice", "outside", "far outside", "below 0", "half"}  # score may take them


def others(subject: Subject) -> Iterator[Trial]:
    """Matchings, boxes and poses, in the first or last sample."""
    y = subject.y
    for name, one in WRONG.get(subject.name.split()[0], {}).items():
        for i in (0, len(y) - 1):

            def make(one=one, i=i):
                return subject.X, [*y[:i], one, *y[i + 1 :]]

            place = f"y, sample {i}"
            if subject.name == "PoseSVM" and name in ("a part less", "a part more"):
                place = "y, sample"  # which of two is wrong, nobody can tell
            if "proposals" in subject.name and name in ("half", "below 0", "outside", "far outside"):
                continue  # a box that was not proposed may be anywhere
            yield Trial(f"{name}, sample {i}, fit", "fit", make, place)
            if name not in ONLY_IN_FIT:
                yield Trial(f"{name}, sample {i}, score", "score", make, place)
