"""Choosing lam by cross-validation against the best lam of a fine grid, on every chain set with at most 50 labels.

For each set: the lam that `ChainSVMCV` takes with all its defaults and what the choice costs, the final fit included,
over one fit with that lam: CPU seconds and oracle calls. It is judged on the official test sentences, by F1 of chunks
where labels name chunks, else by the share of labels right, against the best of 9 values around it; all solved to a gap
of 2e-3, since it is lam that is judged: where the hinge loss is small, the default of 1e-2 leaves scores to chance (on
WNUT-17 2 points). The rules were tuned on OCR-small, the dates and WNUT-17, the stopping rule also by what CoNLL-2000
costs. Ten minutes.
Run: python -m benchmarks.cross_validation [--quick]
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from maxmargin import ChainSVM, ChainSVMCV, datasets
from maxmargin.metrics import default_scoring

from ._report import Bar, arguments, finish
from .defaults.scores import Counts, chunks_right, labels_right, score, standard_error

POINTS, COST, TOL = 0.5, 10.0, 2e-3
STEPS = range(4, -5, -1)  # powers of 2 around the lam chosen


def first(data: Any, n: int) -> Any:
    """With so many training sentences."""
    data.X_train, data.y_train = data.X_train[:n], data.y_train[:n]
    return data


SETS: dict[str, Callable[[], Any]] = {
    "OCR-small": lambda: datasets.fetch_ocr("small"),
    "dates": lambda: datasets.load_dates(),
    "WNUT-17": lambda: datasets.fetch_wnut17(),
    "OCR-large": lambda: datasets.fetch_ocr("large"),
    "CoNLL-2000": lambda: datasets.fetch_conll2000(),
    "BC2GM": lambda: datasets.fetch_bc2gm(),
    "EWT, UPOS": lambda: datasets.fetch_ewt("upos"),
    "EWT, XPOS": lambda: datasets.fetch_ewt("xpos"),
}
QUICK: dict[str, Callable[[], Any]] = {
    "OCR-small": SETS["OCR-small"],
    "dates": SETS["dates"],
    "CoNLL-2000, 500": lambda: first(datasets.fetch_conll2000(), 500),
}


def counts_of(model: Any, X: Any, y: Any) -> Counts:
    """What is right in each test sequence, by the score that cross-validation goes by."""
    count = chunks_right if default_scoring(y) == "chunk_f1" else labels_right
    return count(y, model.predict(X))


class Timed(NamedTuple):
    model: Any
    seconds: float  # CPU


def fit(model: Any, data: Any) -> Timed:
    began = time.process_time()
    model.fit(data.X_train, data.y_train)
    return Timed(model, time.process_time() - began)


class Outcome(NamedTuple):
    """Of one set."""

    name: str
    lam: float
    counts: Counts
    best_lam: float
    best: Counts
    seconds: float  # of the choice and the fit over those of one fit
    calls: float

    @property
    def behind(self) -> float:
        return score(self.best) - score(self.counts)

    def bars(self) -> list[Bar]:
        allowed = max(POINTS, standard_error(self.best))
        return [
            Bar(f"{self.name}: points below the best lam of a fine grid", self.behind, round(allowed, 2)),
            Bar(f"{self.name}: CPU time over one fit", self.seconds, COST),
            Bar(f"{self.name}: oracle calls over one fit", self.calls, COST),
        ]


def run(name: str, data: Any, steps: Iterable[int] = STEPS) -> Outcome:
    few = slice(0, 30)  # kernels compile, or load
    ChainSVMCV(cv=2, random_state=0).fit(data.X_train[few], data.y_train[few]).predict(data.X_test[few])
    before = fit(ChainSVMCV(random_state=0), data)
    chosen = before.model
    one = [fit(ChainSVM(lam=chosen.lam_, scale=True, random_state=0), data) for _ in range(2)]
    counts = {}
    for step in steps:
        lam = chosen.lam_ * 2.0**step
        well_solved = fit(ChainSVM(lam=lam, scale=True, tol=TOL, random_state=0), data).model
        counts[lam] = counts_of(well_solved, data.X_test, data.y_test)
    best = max(counts, key=lambda lam: score(counts[lam]))
    calls = (chosen.path_oracle_calls_ + chosen.n_oracle_calls_) / one[0].model.n_oracle_calls_
    seconds = before.seconds / np.mean([each.seconds for each in one])
    found = Outcome(name, chosen.lam_, counts[chosen.lam_], best, counts[best], float(seconds), calls)
    print_outcome(found, chosen, counts_of(chosen, data.X_test, data.y_test), counts)
    return found


def print_outcome(found: Outcome, chosen: Any, own: Counts, counts: dict[float, Counts]) -> None:
    means = [f"{lam:.2g}: {100 * mean:.1f}" for lam, mean in zip(chosen.lams_, chosen.scores_.mean(0), strict=True)]
    print(
        f"\n{found.name}: lam {found.lam:.3g}, {score(found.counts):.2f} (as fitted {score(own):.2f}); "
        f"best {found.best_lam:.3g}, {score(found.best):.2f} (standard error {standard_error(found.best):.2f}); "
        f"costs {found.seconds:.1f} fits in CPU time, {found.calls:.1f} in oracle calls\n"
        f"  folds  {'  '.join(means)}\n"
        f"  test   {'  '.join(f'{lam:.2g}: {score(one):.1f}' for lam, one in counts.items())}",
        flush=True,
    )


def main() -> None:
    quick = arguments(__doc__).quick
    sets, steps = (QUICK, STEPS[::2]) if quick else (SETS, STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        finish([bar for name, load in sets.items() for bar in run(name, load(), steps).bars()])


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
