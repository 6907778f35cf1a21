"""The constant of the default lam: scores under other values of it, on the data sets it is chosen on.

lam is c times the mean number of positions over the number of samples; the default is c = 0.5. Each data set is drawn
several times: as it comes, and then training samples of that number at random from all of it, the rest (2,000 at most)
for the test; dates are composed anew. Given are means over the draws, and how far the mean of each c is behind that of
the best one, with the standard error of that difference over draws. Run: python -m benchmarks.defaults.constant
[--tol TOL] [--draws N] [data sets]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from maxmargin import datasets
from maxmargin.estimators._scaling import LAM_OF_ONE

from .fits import PATIENCE, fit
from .tasks import CHAINS, CLASSES, Task, labels

CONSTANTS = (0.03, 0.06, 0.125, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
TESTED = 2000
CHOSEN_ON: dict[str, int | None] = {  # training samples; None: as many as there are
    "dates": None,
    "OCR-small": None,
    "USPS": None,
    "WNUT-17": None,
    "CoNLL-2000": 500,
    "BC2GM": 2000,
    "EWT, universal tags": 2000,
}


def draws_of(name: str, n_draws: int) -> Iterator[Task]:
    if name == "dates":
        yield from (labels(datasets.load_dates(random_state=draw)) for draw in range(n_draws))
        return
    n, task = CHOSEN_ON[name], (CHAINS | CLASSES)[name]()
    task = task if n is None else task.cut(n)
    yield task
    yield from (drawn(task, np.random.default_rng(draw)) for draw in range(1, n_draws))


def drawn(task: Task, rng: np.random.Generator) -> Task:
    """Other training samples, as many, and others to test on."""
    n, n_all = len(task.X_train), len(task.X_train) + len(task.X_test)
    order = rng.permutation(n_all)
    train, test = order[:n], order[n : n + TESTED]

    def take(first: Any, second: Any, numbers: np.ndarray) -> Any:
        if isinstance(first, np.ndarray) and first.dtype != object:
            return np.concatenate([first, second])[numbers]
        every = [*first, *second]
        return [every[i] for i in numbers]

    return task._replace(
        X_train=take(task.X_train, task.X_test, train),
        y_train=take(task.y_train, task.y_test, train),
        X_test=take(task.X_train, task.X_test, test),
        y_test=take(task.y_train, task.y_test, test),
    )


def scores_of(task: Task, tol: float | None) -> list[float]:
    """The score under each constant."""
    lam = fit(task, max_passes=1).model.lam_ / LAM_OF_ONE
    return [fit(task, lam=c * lam, scale=True, tol=tol, max_passes=PATIENCE).score for c in CONSTANTS]


def behind(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each constant is behind the best in the mean of the draws (rows), and the standard error of it."""
    away = scores[:, [np.argmax(scores.mean(axis=0))]] - scores
    return away.mean(axis=0), away.std(axis=0, ddof=1) / np.sqrt(len(away))


def show(name: str, values: np.ndarray) -> None:
    print(f"{name:44}" + "".join(f"{value:8.2f}" for value in values), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tol", type=float, help="a gap instead of the default's")
    parser.add_argument("--draws", type=int, default=5, help="of each data set, two at least")
    parser.add_argument("sets", nargs="*", choices=[[], *CHOSEN_ON], help="data sets; all, where none is named")
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    show("c", np.array(CONSTANTS))
    every = []
    for name in args.sets or CHOSEN_ON:
        rows = []
        for draw, task in enumerate(draws_of(name, args.draws)):
            rows.append(scores_of(task, args.tol))
            show(f"{name}, draw {draw}", np.array(rows[-1]))
        away, error = behind(np.array(rows))
        show(f"{name}: behind the best", away)
        show("    standard error", error)
        every.append(away)
    show("largest", np.max(every, axis=0))
    show("mean", np.mean(every, axis=0))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
