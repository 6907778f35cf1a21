"""Lists of samples that are none, hold too much or too little, or nothing at all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from trials import Subject, Trial, fitted, nothing, same_answers, same_optimum

from features import objects

NONE: dict[str, Callable[[Any], Any]] = {
    "None": lambda X: None,
    "a number": lambda X: 3,
    "NaN": lambda X: np.nan,
    "text": lambda X: "the cat",
    "bytes": lambda X: b"the cat",
    "a dict": lambda X: {"X": X},
    "a set": lambda X: {1, 2},
    "a generator": lambda X: (x for x in X),
    "an iterator": iter,
    "a deque": deque,
    "a range": lambda X: range(3),
    "a class": lambda X: list,
    "an array of no dimension": lambda X: np.array(3.0),
    "a slice": lambda X: slice(3),
    "Nones": lambda X: [None] * len(X),
    "Nones as an array": lambda X: objects(*[None] * len(X)),
    "words": lambda X: ["the", "cat"],
    "words of sentences": lambda X: [["the", "cat"]] * len(X),
    "numbers": lambda X: [1.0] * len(X),
    "lists of nothing": lambda X: [[[]]] * len(X),
    "one in another": lambda X: [X],
    "dicts of words": lambda X: [{"word": "the"}] * len(X),
    "four dimensions too many": lambda X: np.ones((2,) * 7),
}


def containers(subject: Subject) -> Iterator[Trial]:
    for name, change in NONE.items():
        for method in ("predict", "fit"):

            def make(change=change, method=method):
                return (change(subject.X), *([] if method == "predict" else [subject.y]))

            if f"X is {name}" not in subject.exceptions:
                yield Trial(f"X is {name}, {method}", method, make, r"\bX\b")
    if not subject.whole:
        yield from of_lists(subject)


def of_lists(subject: Subject) -> Iterator[Trial]:
    X, y = subject.X, subject.y
    for name, same in (("a tuple", tuple(X)), ("an array of objects", objects(*X))):
        yield Trial(f"X is {name}, predict", "predict", lambda same=same: (same,), same_answers)
        yield Trial(f"X is {name}, fit", "fit", lambda same=same: (same, y), same_optimum)
    for name, none in (("list", []), ("tuple", ()), ("array", objects())):
        yield Trial(f"empty {name}, predict", "predict", lambda none=none: (none,), nothing)
        yield Trial(f"empty {name}, fit", "fit", lambda none=none: (none, []), r"\bX\b")
        yield Trial(f"empty {name}, score", "score", lambda none=none: (none, []), r"\bX\b")
    is_sequence = isinstance(X[-1], np.ndarray) and X[-1].ndim == 2
    one = X[-1].tolist() if is_sequence else X[-1]  # a single array would be a stacked X
    wrap = r"wrap it: \[X\]"
    yield Trial("one sample unwrapped, predict", "predict", lambda: (one,), wrap)
    if subject.name not in ("ChainSVM edges", "ChainCRF edges"):  # a tuple of two matrices may be two samples
        yield Trial("one sample unwrapped, fit", "fit", lambda: (one, y[-1:]), wrap)
    yield Trial("a sample less, fit", "fit", lambda: (X[:-1], y), r"\by\b")
    yield Trial("a sample less, score", "score", lambda: (X[:-1], y), r"\by\b")
    yield Trial("samples twice, fit", "fit", lambda: ([*X, *X], [*y, *y]), same_optimum)
    yield Trial("one sample, fit", "fit", lambda: (X[:1], y[:1]), fitted)
    yield Trial("the same sample often, fit", "fit", lambda: (list(X[:1]) * 9, list(y[:1]) * 9), fitted)
