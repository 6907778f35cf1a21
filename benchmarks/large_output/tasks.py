"""Chains with many labels: real ones, and synthetic ones of any number of labels."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin import ChainSVM, datasets
from maxmargin.inference import ChainPlan
from maxmargin.structures import make_chain_problem

PER_SAMPLE = 30.0  # lam n


class Task(NamedTuple):
    """A problem, and how well weights do on samples that it does not have (None: there are none)."""

    problem: Any
    lam: float
    error: Callable[[np.ndarray], float] | None = None

    @property
    def n(self) -> int:
        return len(self.problem.weight)

    @property
    def n_labels(self) -> int:
        return self.problem.cost.shape[0]


def dense(problem: Any) -> Any:
    """The same problem, whose labelings are found by looking at all pairs of labels."""
    plan = problem.plan
    return problem._replace(plan=ChainPlan(plan.offsets, plan.start, plan.end, plan.longest))


def real(fetch: Callable[[int], Any], n_train: int, n_test: int) -> Task:
    """Sequences of a data set."""
    data = fetch(n_train)
    model = ChainSVM(scale=False)
    encoded = model.encode(data.X_train[:n_train], data.y_train[:n_train])
    test = data.X_test[:n_test], data.y_test[:n_test]
    lam = PER_SAMPLE / len(encoded.problem.weight)
    return Task(encoded.problem, lam, lambda w: 1.0 - encoded.model(w).score(*test))


REAL: dict[str, Callable[[int], Any]] = {
    "Cantonese": lambda n: datasets.fetch_cantonese(tones=False, n_train=n),
    "Slovak": lambda n: datasets.fetch_slovak(n_train=n),
    "glyphs": lambda n: datasets.fetch_glyphs(n_train=n),
    "EWT, 49 tags": lambda n: datasets.fetch_ewt(n_train=n),
}


WINDOW = 4  # characters of a stretch of common ones


class Characters(NamedTuple):
    """Cantonese training sequences under each other, with characters numbered from the commonest one on."""

    X: Any
    labels: np.ndarray
    offsets: np.ndarray


def numbered_characters() -> Characters:
    data = datasets.fetch_cantonese(tones=False)
    _, labels = np.unique(np.concatenate(data.y_train), return_inverse=True)
    number = np.argsort(np.argsort(-np.bincount(labels), kind="stable"))
    offsets = np.concatenate([[0], np.cumsum([len(y) for y in data.y_train])])
    return Characters(sp.vstack(data.X_train, "csr"), number[labels], offsets)


def commonest(n_labels: int, n_train: int) -> Task:
    """Sequences of Cantonese whose characters are among the commonest."""
    X, labels, offsets = numbered_characters()
    some = [(a, b) for a, b in pairwise(offsets) if labels[a:b].max() < n_labels][:n_train]
    places = np.concatenate([np.arange(a, b) for a, b in some])
    return _of_places(X, labels, places, np.concatenate([[0], np.cumsum([b - a for a, b in some])]), n_labels)


def stretches(n_labels: int, n_train: int) -> Task:
    """Stretches of `WINDOW` characters that are among the commonest: as many, and as long, whatever the number is.

    Whole sequences of common characters would be the shorter, the fewer there are.
    """
    X, labels, offsets = numbered_characters()
    begins: list[int] = []
    for a, b in pairwise(offsets):
        while a + WINDOW <= b:
            fits = labels[a : a + WINDOW].max() < n_labels
            begins += [a] if fits else []
            a += WINDOW if fits else 1
    drawn = np.sort(np.random.default_rng(0).permutation(begins)[:n_train])
    places = (drawn[:, None] + np.arange(WINDOW)).ravel()
    return _of_places(X, labels, places, np.arange(len(drawn) + 1) * WINDOW, n_labels)


def _of_places(X: Any, labels: np.ndarray, places: np.ndarray, offsets: np.ndarray, n_labels: int) -> Task:
    return Task(make_chain_problem(X[places], offsets, labels[places], n_labels), PER_SAMPLE / (len(offsets) - 1))


# Of synthetic chains: sequences, their length, features a token, labels of a group that look alike, likely successors.
N, LENGTH, PER_TOKEN, ALIKE, SUCCESSORS = 300, 10, 5, 5, 3
OWN, SHARED = 4, 8  # features of a label, and labels of a feature: there are half as many features as labels


def synthetic(n_labels: int, seed: int = 0) -> Task:
    """Chains of any number of labels, with all else fixed, also how many other labels one can be taken for.

    Labels come in groups of `ALIKE`; a token has features of its label, or of another one of the group, and labels are
    mostly followed by one of a few. There are the more features, the more labels there are: else more and more labels
    would have the same ones.
    """
    rng = np.random.default_rng(seed)
    n_features = n_labels * OWN // SHARED
    own = rng.integers(n_features, size=(n_labels, OWN))
    after = rng.integers(n_labels, size=(n_labels, SUCCESSORS))
    y = np.zeros((N, LENGTH), np.int64)
    y[:, 0] = rng.integers(n_labels, size=N)
    for t in range(1, LENGTH):
        likely = after[y[:, t - 1], rng.integers(SUCCESSORS, size=N)]
        y[:, t] = np.where(rng.random(N) < 0.8, likely, rng.integers(n_labels, size=N))
    labels = y.ravel()
    other = np.minimum(labels // ALIKE * ALIKE + rng.integers(ALIKE, size=labels.size), n_labels - 1)
    shown = np.where(rng.random((labels.size, PER_TOKEN)) < 0.6, labels[:, None], other[:, None])
    columns = own[shown, rng.integers(OWN, size=shown.shape)]
    rows = np.repeat(np.arange(labels.size), PER_TOKEN)
    X = sp.csr_matrix((np.ones(columns.size), (rows, columns.ravel())), (labels.size, n_features))
    X.data[:] = 1.0
    return Task(make_chain_problem(X, np.arange(N + 1) * LENGTH, labels, n_labels), PER_SAMPLE / N)
