"""Word alignment, English-French: `MatchingSVM` against the aligners whose votes it sees, and against each pair alone.

100 sentence pairs train, 347 test; alignment error rates (AER). Links that are possible but not sure are ignored in
learning, as the rate ignores them. lam and the cost of a missed link are chosen on the training pairs by
cross-validation; the test pairs are looked at once. Unstructured baseline: logistic regression of every pair of words
on the same features, its threshold chosen likewise. Two minutes. Run: python -m benchmarks.wordalign [--quick]
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from maxmargin import MatchingSVM, datasets
from maxmargin.inference.matching import best_matching
from maxmargin.metrics import alignment_error_rate

from ._report import Bar, arguments, finish

TOL = 0.01
LAMS, MISSED = (0.1, 0.03, 0.01), (1.0, 3.0, 6.0)
THRESHOLDS = np.linspace(-3.0, 3.0, 25)  # log odds
VOTE, VOTE_PRICE = (3.0, 3.0, 1.0, 1.0), 3.5  # of the four aligners by hand, and what a link must exceed


class Pairs(NamedTuple):
    X: list[np.ndarray]
    y: list[np.ndarray]  # sure links, as many as are one to one
    sure: list[np.ndarray]
    possible: list[np.ndarray]

    def take(self, numbers: np.ndarray) -> Pairs:
        return Pairs(*([part[i] for i in numbers] for part in self))

    @property
    def ignored(self) -> list[np.ndarray]:
        """Whatever is allowed; true links among these stay true."""
        return [np.concatenate(both) for both in zip(self.sure, self.possible, strict=True)]

    def error_rate(self, predicted: list[Any]) -> float:
        return alignment_error_rate(predicted, self.sure, self.possible)


def as_links(columns: np.ndarray) -> np.ndarray:
    rows = np.flatnonzero(columns >= 0)
    return np.stack([rows, columns[rows]], axis=1)


def pairs_of(data: Any, part: str) -> Pairs:
    X, y, sure, possible = (data[f"{name}_{part}"] for name in ("X", "y", "sure", "possible"))
    return Pairs(X, [as_links(columns) for columns in y], sure, possible)


def matched(scores: list[np.ndarray]) -> list[np.ndarray]:
    return [as_links(best_matching(table)[0]) for table in scores]


def votes_by_hand(pairs: Pairs) -> list[np.ndarray]:
    return matched([x[..., : len(VOTE)] @ np.array(VOTE) - VOTE_PRICE for x in pairs.X])


def log_odds(train: Pairs, test: Pairs) -> list[np.ndarray]:
    """Of every pair of words by itself, learned from the sure links and from those that are not even possible."""
    rows, labels = [], []
    for x, sure, allowed in zip(train.X, train.sure, train.ignored, strict=True):
        is_sure, counts = np.zeros(x.shape[:2], bool), np.ones(x.shape[:2], bool)
        is_sure[tuple(sure.T)], counts[tuple(allowed.T)] = True, False
        rows.append(x[is_sure | counts])
        labels.append(is_sure[is_sure | counts])
    model = LogisticRegression(max_iter=1000).fit(np.concatenate(rows), np.concatenate(labels))
    return [x @ model.coef_[0] + model.intercept_[0] for x in test.X]


def above(scores: list[np.ndarray], threshold: float) -> list[np.ndarray]:
    return [np.argwhere(table > threshold) for table in scores]


def cross_validated(train: Pairs, n_folds: int, answer: Callable[[Pairs, Pairs], list[Any]]) -> list[Any]:
    """Answers for every training pair, learned from the other folds."""
    found: dict[int, Any] = {}
    for others, held in KFold(n_folds, shuffle=True, random_state=0).split(train.X):
        found.update(zip(held, answer(train.take(others), train.take(held)), strict=True))
    return [found[i] for i in range(len(train.X))]


def learn(train: Pairs, lam: float, missed: float, ignored: Any) -> MatchingSVM:
    return MatchingSVM(lam, cost=(1.0, missed), tol=TOL, random_state=0).fit(train.X, train.y, ignored=ignored)


def choose(train: Pairs, lams: tuple[float, ...], costs: tuple[float, ...], n_folds: int) -> tuple[float, float]:
    """lam and the cost of a missed link of the lowest cross-validated error rate."""
    print(f"cross-validated error rates on {len(train.X)} training pairs, {n_folds} folds")
    rates = {}
    for setting in ((lam, missed) for lam in lams for missed in costs):

        def predict(some: Pairs, held: Pairs, setting: tuple[float, float] = setting) -> list[np.ndarray]:
            return learn(some, *setting, some.ignored).predict(held.X)

        rates[setting] = train.error_rate(cross_validated(train, n_folds, predict))
        print(f"  lam {setting[0]:<6g} cost of a missed link {setting[1]:g}: {rates[setting]:.4f}")
    print(f"  votes by hand {train.error_rate(votes_by_hand(train)):.4f}")
    return min(rates, key=rates.__getitem__)


def unstructured(train: Pairs, test: Pairs, n_folds: int) -> dict[str, float]:
    """Test error rates of the log odds: the pairs above a threshold, and the best matching of what exceeds one."""
    held, own = cross_validated(train, n_folds, log_odds), log_odds(train, test)
    ways: dict[str, Callable[[list[np.ndarray], float], list[np.ndarray]]] = {
        "logistic regression": above,
        "logistic regression, then matched": lambda scores, bound: matched([table - bound for table in scores]),
    }
    rates = {}
    for name, links in ways.items():
        best = min(THRESHOLDS, key=lambda bound: train.error_rate(links(held, bound)))
        rates[name] = test.error_rate(links(own, best))
    return rates


def main() -> None:
    quick = arguments(__doc__).quick
    data = datasets.fetch_wordalign()
    train, test = pairs_of(data, "train"), pairs_of(data, "test")
    n_folds = 2 if quick else 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        lam, missed = choose(train, *(((0.03,), (3.0,)) if quick else (LAMS, MISSED)), n_folds)
        began = time.process_time()
        model = learn(train, lam, missed, train.ignored)
        seconds = time.process_time() - began
        without = learn(train, lam, missed, None)
    rates = {
        name: test.error_rate([np.argwhere(x[..., k]) for x in test.X]) for k, name in enumerate(data.aligner_names)
    }
    rates["votes by hand"] = test.error_rate(votes_by_hand(test))
    rates |= unstructured(train, test, n_folds)
    rates["MatchingSVM, possible links wrong"] = test.error_rate(without.predict(test.X))
    rates["MatchingSVM"] = test.error_rate(model.predict(test.X))
    rates["sure links, one to one (no matching of sure links does better)"] = test.error_rate(test.y)
    print(f"\nerror rates on {len(test.X)} test pairs, lam {lam:g}, cost of a missed link {missed:g}")
    for name, rate in rates.items():
        print(f"  {name:64s}{rate:.4f}")
    print(
        f"  certified gap {model.gap_:.4f} at {model.primal_:.4f}, {model.n_passes_:.0f} passes, "
        f"{model.n_oracle_calls_} oracle calls, {seconds:.1f} CPU s"
    )
    finish(
        [
            Bar("error rate of MatchingSVM", rates["MatchingSVM"], 0.054),
            Bar(
                "error rate, MatchingSVM / logistic regression",
                rates["MatchingSVM"] / rates["logistic regression"],
                1.0,
            ),
            Bar("certified gap", model.gap_, TOL),
        ]
    )


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
