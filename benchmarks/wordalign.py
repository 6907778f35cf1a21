"""Word alignment, English-French: `MatchingSVM` against the aligners whose votes it sees, and against each pair alone.

100 sentence pairs train, 347 test; alignment error rates. Links that are possible but not sure are ignored in learning,
as the rate ignores them. Words are matched one to one; or source words have two places in the matching, the second with
weights of its own, and so up to two links, as in Lacoste-Julien et al. 2006. Which, lam and the cost of a missed link
are chosen on the training pairs by cross-validation. Unstructured baseline: logistic regression of every pair of words
on the same features, its threshold chosen likewise. It may link a word as often as it likes, which the rate forgives
where links are possible, and so is a little better here than matchings are: printed, but no bar.
Three minutes. Run: python -m benchmarks.wordalign [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
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


def with_second_places(pairs: Pairs) -> Pairs:
    """Source words twice: row i and, for a second link, row n + i. Whatever is allowed for one is for the other."""
    X, y, allowed = [], [], []
    for x, sure, possible in zip(pairs.X, pairs.sure, pairs.possible, strict=True):
        n, m, _ = x.shape
        X.append(np.concatenate([np.concatenate([x, np.zeros_like(x)], axis=2), np.concatenate([x, x], axis=2)]))
        # most sure links; of several such sets, one with few second places and many votes
        votes, gain = x[..., : len(VOTE)].sum(axis=2)[tuple(sure.T)], np.full((2 * n, m), -np.inf)
        most = 1.0 + m * (1 + len(VOTE))
        gain[sure[:, 0], sure[:, 1]] = 1 + (1 + votes) / most
        gain[n + sure[:, 0], sure[:, 1]] = 1 + votes / 2 / most
        y.append(as_links(best_matching(gain)[0]))
        allowed.append([np.concatenate([links, links + np.array([n, 0])]) for links in (sure, possible)])
    return Pairs(X, y, *map(list, zip(*allowed, strict=True)))


def merged(links: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Links of words from links of their two places."""
    return np.unique(np.stack([links[:, 0] % len(x), links[:, 1]], axis=1), axis=0)


class Way(NamedTuple):
    """How sentence pairs are posed as matchings, and matchings read as alignments."""

    pose: Callable[[Pairs], Pairs]
    read: Callable[[np.ndarray, np.ndarray], np.ndarray]  # links and features of a pair


WAYS = {"one to one": Way(lambda pairs: pairs, lambda links, x: links), "two links": Way(with_second_places, merged)}


class Setting(NamedTuple):
    way: str
    lam: float
    missed: float  # what a missed link costs; a false one costs 1


def learn(train: Pairs, setting: Setting) -> MatchingSVM:
    posed = WAYS[setting.way].pose(train)
    model = MatchingSVM(setting.lam, cost_matrix=[[0.0, 1.0], [setting.missed, 0.0]], tol=TOL, random_state=0)
    return model.fit(posed.X, posed.y, ignored=posed.ignored)


def align(model: MatchingSVM, pairs: Pairs, way: Way) -> list[np.ndarray]:
    found = model.predict(way.pose(pairs).X)
    return [way.read(links, x) for links, x in zip(found, pairs.X, strict=True)]


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


def choose(train: Pairs, settings: list[Setting], n_folds: int) -> dict[Setting, float]:
    """Cross-validated error rates."""
    print(f"cross-validated error rates on {len(train.X)} training pairs, {n_folds} folds")
    rates = {}
    for setting in settings:

        def predict(some: Pairs, held: Pairs, setting: Setting = setting) -> list[np.ndarray]:
            return align(learn(some, setting), held, WAYS[setting.way])

        rates[setting] = train.error_rate(cross_validated(train, n_folds, predict))
        print(
            f"  {setting.way:12s} lam {setting.lam:<6g} cost of a missed link {setting.missed:g}: {rates[setting]:.4f}"
        )
    print(f"  votes by hand {train.error_rate(votes_by_hand(train)):.4f}")
    return rates


def unstructured(train: Pairs, test: Pairs, n_folds: int) -> dict[str, float]:
    """Test error rates of the log odds: the pairs above a threshold, and the best matching of what exceeds one."""
    held, own = cross_validated(train, n_folds, log_odds), log_odds(train, test)
    ways: dict[str, Callable[[list[np.ndarray], float], list[np.ndarray]]] = {
        "logistic regression": above,
        "logistic regression, then matched": lambda scores, bound: matched([table - bound for table in scores]),
    }
    rates = {}
    for name, links in ways.items():
        cross = {bound: train.error_rate(links(held, bound)) for bound in THRESHOLDS}
        best = min(cross, key=cross.__getitem__)
        print(f"  {name}, threshold {best:g}: {cross[best]:.4f}")
        rates[name] = test.error_rate(links(own, best))
    return rates


def main() -> None:
    quick = arguments(__doc__).quick
    data = datasets.fetch_wordalign()
    train, test = pairs_of(data, "train"), pairs_of(data, "test")
    n_folds, lams, costs = (2, (0.1,), (3.0,)) if quick else (5, LAMS, MISSED)
    cross = choose(train, [Setting(way, lam, cost) for way in WAYS for lam in lams for cost in costs], n_folds)
    rates = {
        name: test.error_rate([np.argwhere(x[..., k]) for x in test.X]) for k, name in enumerate(data.aligner_names)
    }
    rates["votes by hand"] = test.error_rate(votes_by_hand(test))
    rates |= unstructured(train, test, n_folds)
    models = {}
    for name, way in WAYS.items():
        setting = min((one for one in cross if one.way == name), key=cross.__getitem__)
        began = time.process_time()
        models[setting] = model = learn(train, setting)
        seconds = time.process_time() - began
        rates[f"MatchingSVM, {name}"] = test.error_rate(align(model, test, way))
        posed = way.pose(test)
        bound = test.error_rate([way.read(links, x) for links, x in zip(posed.y, test.X, strict=True)])
        print(
            f"\nMatchingSVM, {name}: lam {setting.lam:g}, cost of a missed link {setting.missed:g}, certified gap "
            f"{model.gap_:.4f} at {model.primal_:.4f}, {model.n_passes_:.0f} passes, {model.n_oracle_calls_} oracle "
            f"calls, {seconds:.1f} CPU s; the sure links that it could find at best: {bound:.4f}"
        )
    print(f"\nerror rates on {len(test.X)} test pairs")
    for name, rate in rates.items():
        print(f"  {name:36s}{rate:.4f}")
    chosen = min(models, key=cross.__getitem__)
    own = rates[f"MatchingSVM, {chosen.way}"]
    print(
        f"MatchingSVM, as cross-validation chose it, over logistic regression: {own / rates['logistic regression']:.3f}"
    )
    finish(
        [
            Bar(f"error rate of MatchingSVM, {chosen.way}", own, 0.054),
            Bar("largest certified gap", max(model.gap_ for model in models.values()), TOL),
        ]
    )


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
