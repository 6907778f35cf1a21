"""Matchings between rows and columns: candidate pairs with features, and the loss of wrong links."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..inference.matching import best_matching, matching_max_marginals, top_matchings


class Candidates(NamedTuple):
    """The pairs of one sample that may be matched, in the order of `places`."""

    shape: tuple[int, int]  # numbers of rows and columns
    places: np.ndarray  # (c,) row * number of columns + column, increasing
    features: Any  # (c, F) float64, dense or CSR

    def table(self, scores: np.ndarray) -> np.ndarray:
        """Scores (c,) as a matrix, -inf for what is no candidate."""
        table = np.full(self.shape[0] * self.shape[1], -np.inf)
        table[self.places] = scores
        return table.reshape(self.shape)

    def numbers(self, columns: np.ndarray) -> np.ndarray:
        """Which candidates a matching takes, given the column of each row, -1 for none; increasing."""
        rows = np.flatnonzero(columns >= 0)
        return np.searchsorted(self.places, rows * self.shape[1] + columns[rows])


class Matchings:
    """Samples whose outputs are matchings, given as numbers of candidates; a structure for `KnownProblem`.

    The score of a matching is the sum of ``<w, x_ij>`` over its pairs, plus the last weight for each with `intercept`.
    The loss is ``cost[0, 1]`` for every wrong link and ``cost[1, 0]`` for every true one that is missed, 1 for both if
    `cost` is None, with `normalize` divided by the number of true links (at least 1). It is a sum over pairs, so that
    the matching of the highest score plus loss is an assignment, too (taskar05).
    """

    def __init__(
        self,
        samples: list[Candidates],
        y: list[np.ndarray],
        *,
        cost: np.ndarray | None = None,
        normalize: bool = True,
        intercept: bool = True,
        perfect: bool = False,
        sample_weight: np.ndarray | None = None,
    ):
        self.samples, self.y, self.intercept, self.perfect = samples, y, intercept, perfect
        self.n_samples = len(samples)
        self.n_features = samples[0].features.shape[1] + intercept
        self.sample_weight = sample_weight
        size = np.array([max(1, len(links)) if normalize else 1 for links in y], np.float64)
        cost = 1.0 - np.eye(2) if cost is None else cost
        self.false, self.missed = cost[0, 1] / size, cost[1, 0] / size  # a sample
        self.is_true = [np.zeros(len(sample.places), bool) for sample in samples]
        for links, true in zip(y, self.is_true, strict=True):
            true[links] = True

    def max_oracle(self, w: np.ndarray, i: int) -> np.ndarray:
        return self.best(i, self.augmented(w, i))

    def topk_oracle(self, w: np.ndarray, i: int, k: int) -> list[np.ndarray]:
        sample = self.samples[i]
        return list(map(sample.numbers, top_matchings(sample.table(self.augmented(w, i)), k, self.perfect)[0]))

    def augmented(self, w: np.ndarray, i: int) -> np.ndarray:
        """Scores of the candidates with what they add to the loss."""
        return self.scores(w, i) + np.where(self.is_true[i], -self.missed[i], self.false[i])

    def decode(self, w: np.ndarray, i: int) -> np.ndarray:
        return self.best(i, self.scores(w, i))

    def scores(self, w: np.ndarray, i: int) -> np.ndarray:
        return pair_scores(self.samples[i], w[:-1], w[-1]) if self.intercept else pair_scores(self.samples[i], w, 0.0)

    def best(self, i: int, scores: np.ndarray) -> np.ndarray:
        return self.samples[i].numbers(best_matching(self.samples[i].table(scores), self.perfect)[0])

    def joint_feature(self, i: int, y: np.ndarray) -> Any:
        features, bias = self.samples[i].features, [float(len(y))] * self.intercept
        if not sp.issparse(features):
            return np.concatenate([features[y].sum(axis=0), bias])
        # by hand: indexing a CSR matrix takes longer than the assignment
        starts, counts = features.indptr[y], features.indptr[y + 1] - features.indptr[y]
        entries = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        indices = np.concatenate([features.indices[entries], np.full(len(bias), self.n_features - 1)])
        return indices, np.concatenate([features.data[entries], bias])

    def unpack(self, w: np.ndarray) -> dict[str, Any]:
        """The weights (F,) of the features, and the bias, 0 if there is none."""
        n_features = self.n_features - self.intercept
        return {"coef": w[:n_features], "intercept": float(w[n_features:].sum())}

    def loss(self, i: int, y: np.ndarray) -> float:
        right = np.count_nonzero(self.is_true[i][y])
        return float(self.false[i] * (len(y) - right) + self.missed[i] * (len(self.y[i]) - right))

    def data(self) -> list[np.ndarray]:
        parts = [self.false, self.missed, np.array([self.intercept, self.perfect]), *self.y]
        for sample in self.samples:
            x = sample.features
            parts += [np.array(sample.shape), sample.places]
            parts += [x.data, x.indices, x.indptr] if sp.issparse(x) else [x]
        return parts


def pair_scores(sample: Candidates, coef: np.ndarray, intercept: float) -> np.ndarray:
    """Scores (c,) of the candidates."""
    return sample.features @ coef + intercept


def best_links(table: np.ndarray, perfect: bool) -> tuple[np.ndarray, float]:
    """The matching of the highest score in a table (n, m), as links (l, 2) by increasing row; -inf if there is none."""
    columns, value = best_matching(table, perfect)
    return as_links(columns), value


def top_links(table: np.ndarray, k: int, perfect: bool) -> tuple[list[np.ndarray], np.ndarray]:
    """The k best matchings, best first, as links, and their scores; fewer where there are no more."""
    many, values = top_matchings(table, k, perfect)
    return list(map(as_links, many)), values


def pair_max_marginals(table: np.ndarray, perfect: bool) -> np.ndarray:
    """(n, m): for every pair the score of the best matching that has it, -inf if there is none."""
    return matching_max_marginals(table, perfect).pairs


def as_links(columns: np.ndarray) -> np.ndarray:
    """Links (l, 2) from the column of each row, -1 for none."""
    rows = np.flatnonzero(columns >= 0)
    return np.stack([rows, columns[rows]], axis=1)
