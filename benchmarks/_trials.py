"""Data as problems for solvers, with the test error that weights have: what figures and benchopt runs share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from maxmargin import ChainSVM, MatchingSVM, MulticlassSVM, datasets
from maxmargin.solvers.passes import Passes

from .wordalign import pairs_of

MISSED = 3.0  # what a missed link costs, where a false one costs 1


class Trial:
    """A learning problem, and how well weights do on samples that it does not have."""

    def __init__(self, model: Any, train: tuple[Any, Any], test: tuple[Any, Any], test_error: Callable, **given: Any):
        self.model, self.train, self.test = clone(model), train, test
        self.test_error = test_error  # of a model
        self.encoded = self.model.encode(*train, **given)

    @property
    def problem(self) -> Any:
        return self.encoded.problem

    @property
    def n(self) -> int:
        return len(self.problem.weight)

    def primal(self, w: np.ndarray, lam: float) -> float:
        return Passes(self.problem, None).primal(w, lam)

    def error(self, w: np.ndarray) -> float:
        return self.test_error(self.encoded.model(w))


def stacked(parts: list[Any]) -> Any:
    return sp.vstack(parts, "csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def chains(data: Any, n: int | None) -> Trial:
    """Labels wrong, of all in the test sequences."""
    train, test = ((data[f"X_{part}"][:n], data[f"y_{part}"][:n]) for part in ("train", "test"))
    rows, labels = stacked(test[0]), np.concatenate(test[1])
    lengths = np.array([len(y) for y in test[1]])
    return Trial(ChainSVM(scale=False), train, test, lambda model: 1.0 - model.score(rows, labels, lengths=lengths))


def classes(data: Any, n: int | None) -> Trial:
    train, test = ((data[f"X_{part}"][:n], data[f"y_{part}"][:n]) for part in ("train", "test"))
    return Trial(MulticlassSVM(scale=False), train, test, lambda model: 1.0 - model.score(*test))


def alignments(data: Any, n: int | None) -> Trial:
    """Words matched one to one; the alignment error rate."""
    train, test = (pairs_of(data, part).take(np.arange(len(data[f"X_{part}"]))[:n]) for part in ("train", "test"))

    def test_error(model: MatchingSVM) -> float:
        return test.error_rate(model.predict(test.X))

    model = MatchingSVM(scale=False, cost_matrix=[[0.0, 1.0], [MISSED, 0.0]])
    return Trial(model, (train.X, train.y), (test.X, test.y), test_error, ignored=train.ignored)


MAKERS: dict[str, Callable[[int | None], Trial]] = {
    "OCR-small": lambda n: chains(datasets.fetch_ocr("small"), n),
    "OCR-large": lambda n: chains(datasets.fetch_ocr("large"), n),
    "CoNLL-2000": lambda n: chains(datasets.fetch_conll2000(), n),
    "word alignment": lambda n: alignments(datasets.fetch_wordalign(), n),
    "USPS": lambda n: classes(datasets.fetch_usps(), n),
    "dates": lambda n: chains(datasets.load_dates(random_state=0), n),
}


@cache
def load_trial(name: str, n: int | None = None) -> Trial:
    """All of a data set, or its first `n` samples for training and as many for tests."""
    return MAKERS[name](n)
