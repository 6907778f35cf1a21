"""CRFs without any argument: against their best lam, CRFsuite's default and SVMs, by scores and by probabilities.

For each data set of chains, and for trees: the score on its test set with lam left to the rule, the best of a grid
around it by the test set itself, CRFsuite with its own default (c2 = 1), and `ChainSVM()` or `TreeSVM()`. "Surely
behind" is the lower end of a paired bootstrap's 95 % interval of how far we are behind. Then the marginals of test
positions: minus the mean log of the probability of the true label, and the expected calibration error (15 bins), of the
CRF, of the SVM as it is and of the SVM calibrated by cross-validation on its training data.
The rule's one constant was chosen on dates, OCR-small, WNUT-17, 500 and 2,000 sentences of CoNLL-2000, 2,000 of BC2GM
and 2,000 of EWT; all else is shown only. Run: python -m benchmarks.crf_defaults [--quick] [--cut N] [data sets]
"""

from __future__ import annotations

import argparse
import copy
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from maxmargin import ChainCRF, ChainSVM, TreeCRF, TreeSVM

from ._report import Bar, finish
from .defaults.rivals import crfsuite
from .defaults.scores import Counts, score, standard_error, surely_behind
from .defaults.tasks import CHAINS, OTHERS, Task

FIELDS = {ChainSVM: ChainCRF, TreeSVM: TreeCRF}
SETS = {**CHAINS, "EWT, trees": OTHERS["EWT, trees"]}
AROUND = (1 / 16, 1 / 4, 1 / 2, 2.0, 4.0, 16.0)  # times the lam of the rule
QUICK = {"dates": 60, "OCR-small": 60}
BINS, LEAST = 15, 1e-12


class Found(NamedTuple):
    counts: Counts
    seconds: float
    model: Any

    @property
    def score(self) -> float:
        return score(self.counts)


def fit(task: Task, model: Any, **params: Any) -> Found:
    model = clone(model).set_params(random_state=0, **params)
    before = time.process_time()
    model.fit(task.X_train, task.y_train)
    seconds = time.process_time() - before
    return Found(task.count(task.y_test, model.predict(task.X_test)), seconds, model)


def show(name: str, counts: Counts, seconds: float, more: str = "") -> None:
    print(f"    {name:28}{score(counts):8.2f} +- {standard_error(counts):4.2f}{seconds:10.1f} s  {more}", flush=True)


def measure(name: str, task: Task, grid: bool = True, rival: bool = True) -> list[Bar]:
    print(f"{name}: {len(task.X_train)} samples", flush=True)
    field = FIELDS[type(task.model)]()
    fit(task.cut(20), field, max_passes=1)  # kernels are loaded before the clock runs
    default = fit(task, field)
    model = default.model
    show("CRF", *default[:2], f"lam = {model.lam_:.3g}, {model.n_passes_:g} passes, {model.status_}")
    bars = []
    if grid:
        tried = [fit(task, field, lam=factor * model.lam_, scale=True) for factor in AROUND]
        best = max([default, *tried], key=lambda found: found.score)
        scores = ", ".join(f"{factor:.3g} x: {one.score:.2f}" for factor, one in zip(AROUND, tried, strict=True))
        show("CRF, best lam", *best[:2], f"{best.model.lam_ / model.lam_:.3g} times that of the rule; {scores}")
        bars.append(Bar(f"{name}: default behind the best lam", best.score - default.score, 1.0))
    if rival and name in CHAINS:
        theirs, seconds = crfsuite(task, {"c1": 0.0, "c2": 1.0})
        show("CRFsuite, c2 = 1", theirs, seconds)
        bars.append(Bar(f"{name}: surely behind CRFsuite", surely_behind(default.counts, theirs), 0.0))
    machine = fit(task, task.model)
    show("SVM", *machine[:2])
    tell_probabilities(task, default.model, machine.model)
    return bars


def tell_probabilities(task: Task, field: Any, machine: Any) -> None:
    X, y = list(task.X_train), list(task.y_train)
    judge("CRF", field, task)
    judge("SVM", machine, task)
    judge("SVM, calibrated", machine.calibrate(X, y, cv=3), task)
    print(f"    the temperature of the SVM is {machine.temperature_:.3g}", flush=True)
    print(f"    that of the CRF would be {copy.copy(field).calibrate(X, y, cv=3).temperature_:.3g}", flush=True)


def judge(name: str, model: Any, task: Task) -> None:
    """Log loss and expected calibration error of the marginals of test positions."""
    marginals, truth = np.concatenate(model.predict_marginals(task.X_test)), np.concatenate(task.y_test)
    places = {label: k for k, label in enumerate(model.classes_.tolist())}
    codes = np.array([places.get(label, -1) for label in truth.tolist()])
    right = np.where(codes >= 0, marginals[np.arange(len(codes)), codes], 0.0)
    sure, hit = marginals.max(axis=1), marginals.argmax(axis=1) == codes
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    error = np.abs(np.bincount(bins, sure - hit, BINS)).sum() / len(codes)
    loss = -np.log(np.maximum(right, LEAST)).mean()
    print(f"    {name:28}log loss {loss:.4f}, calibration error {error:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small version, under a minute")
    parser.add_argument("--cut", type=int, help="learn from so many samples only")
    parser.add_argument("sets", nargs="*", choices=[[], *SETS], help="data sets; all, where none is named")
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    bars = []
    for name in args.sets or (QUICK if args.quick else SETS):
        n = QUICK.get(name) if args.quick else args.cut
        task = SETS[name]()
        bars += measure(name, task if n is None else task.cut(n))
    finish(bars)


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
