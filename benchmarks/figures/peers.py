"""Other libraries in the runs of benchmarks.figures, where they are installed."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from maxmargin import ChainSVM, MulticlassSVM

from .._trials import Trial, load_trial
from .runs import Run, value_of

ITERATIONS = (1, 2, 5, 10, 20, 50)
TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01)
ANY = "any"  # lam of a peer with another objective


class Look(NamedTuple):
    passes: float
    seconds: float  # CPU
    primal: float  # NaN under another objective
    error: float


class PeerTask(NamedTuple):
    data: str
    n: int | None
    lam: str
    peer: str


def peer_tasks(data: str, n: int | None, lams: tuple[str, ...]) -> list[PeerTask]:
    """What of the peers' answers there is to ask for this data set."""
    kind = type(load_trial(data, n).model)
    wanted = [PeerTask(data, n, ANY, name) for name, one in PEERS.items() if one.model is kind and not one.has_lam]
    wanted += [
        PeerTask(data, n, lam, name) for name, one in PEERS.items() if one.model is kind and one.has_lam for lam in lams
    ]
    return [task for task in wanted if find_spec(PEERS[task.peer].module)]


def ask(task: PeerTask) -> Run:
    looks = PEERS[task.peer].looks(load_trial(task.data, task.n), task.lam)
    passes, seconds, primal, error = map(np.array, zip(*looks, strict=True))
    return Run(passes, seconds, primal, np.full(len(looks), np.nan), error)


# -- python-crfsuite: log-linear chains, c2 = 1 as it comes


def attributes(x: Any) -> list[dict[str, float]]:
    rows = sp.csr_array(x)
    return [
        {str(j): float(value) for j, value in zip(rows.indices[a:b], rows.data[a:b], strict=True)}
        for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    ]


class CrfSuite:
    """Its trainer with the data of a trial; attributes are made, and samples taken over, beforehand."""

    def __init__(self, trial: Trial, algorithm: str):
        import pycrfsuite

        self.trainer, self.tagger = pycrfsuite.Trainer(algorithm, verbose=False), pycrfsuite.Tagger()
        for x, y in zip(*trial.train, strict=True):
            self.trainer.append(pycrfsuite.ItemSequence(attributes(x)), [str(label) for label in y])
        self.tests = [pycrfsuite.ItemSequence(attributes(x)) for x in trial.test[0]]
        self.truth = np.concatenate([[str(label) for label in y] for y in trial.test[1]])
        self.folder = tempfile.TemporaryDirectory()
        self.path = str(Path(self.folder.name) / "model")

    def train(self, iterations: int) -> None:
        self.trainer.set("max_iterations", iterations)
        self.trainer.train(self.path)

    def test_error(self) -> float:
        with self.tagger.open(self.path):
            predicted = np.concatenate([self.tagger.tag(items) for items in self.tests])
        return float(np.mean(predicted != self.truth))


def crfsuite(algorithm: str) -> Callable[[Trial, str], list[Look]]:
    def looks(trial: Trial, lam: str) -> list[Look]:
        suite, found = CrfSuite(trial, algorithm), []
        for iterations in ITERATIONS:
            began = time.process_time()
            suite.train(iterations)
            found.append(Look(iterations, time.process_time() - began, np.nan, suite.test_error()))
        return found

    return looks


# -- LinearSVC: the same objective as MulticlassSVM's, looser tolerances first


def packed(model: LinearSVC) -> np.ndarray:
    """Its weights in the order of ours."""
    return np.concatenate([model.coef_.T.ravel(), model.intercept_])


def fitted_svc(trial: Trial, lam: float, tol: float, seed: int = 0) -> LinearSVC:
    model = LinearSVC(multi_class="crammer_singer", C=1 / (lam * trial.n), tol=tol, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*trial.train)


def linear_svc(trial: Trial, lam: str) -> list[Look]:
    number, found = value_of(lam, trial.n), []
    for tol in TOLERANCES:
        began = time.process_time()
        model = fitted_svc(trial, number, tol)
        seconds, w = time.process_time() - began, packed(model)
        found.append(Look(np.nan, seconds, trial.primal(w, number), trial.error(w)))
    return sorted(found, key=lambda look: look.seconds)


class Peer(NamedTuple):
    module: str
    model: type  # of ours
    has_lam: bool
    looks: Callable[[Trial, str], list[Look]]


PEERS: dict[str, Peer] = {
    "crfsuite, lbfgs": Peer("pycrfsuite", ChainSVM, False, crfsuite("lbfgs")),
    "crfsuite, l2sgd": Peer("pycrfsuite", ChainSVM, False, crfsuite("l2sgd")),
    "crfsuite, ap": Peer("pycrfsuite", ChainSVM, False, crfsuite("ap")),
    "LinearSVC": Peer("sklearn", MulticlassSVM, True, linear_svc),
}
