"""Matchings between rows and columns: candidate pairs with features, and the loss of wrong links."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..inference.matching import best_matching

# What an oracle call takes, in seconds: of itself, for every number of the features, and for n m min(n, m). Measured.
CALL_SECONDS, FEATURE_SECONDS, ASSIGN_SECONDS = 3e-5, 1e-9, 1.3e-10


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
    The loss is ``false * wrong links + missed * links not found``, with `normalize` divided by the number of true links
    (at least 1). It is a sum over pairs, so that the matching of the highest score plus loss is an assignment, too
    (taskar05).
    """

    def __init__(
        self,
        samples: list[Candidates],
        y: list[np.ndarray],
        *,
        cost: tuple[float, float] = (1.0, 1.0),
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
        self.false, self.missed = cost[0] / size, cost[1] / size  # a sample
        self.is_true = [np.zeros(len(sample.places), bool) for sample in samples]
        for links, true in zip(y, self.is_true, strict=True):
            true[links] = True

    def max_oracle(self, w: np.ndarray, i: int) -> np.ndarray:
        return self.best(i, self.scores(w, i) + np.where(self.is_true[i], -self.missed[i], self.false[i]))

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

    def oracle_seconds(self) -> float:
        numbers = sum(x.nnz if sp.issparse(x := sample.features) else x.size for sample in self.samples)
        cubic = sum(n * m * min(n, m) for n, m in (sample.shape for sample in self.samples))
        return CALL_SECONDS + (FEATURE_SECONDS * numbers + ASSIGN_SECONDS * cubic) / self.n_samples


def pair_scores(sample: Candidates, coef: np.ndarray, intercept: float) -> np.ndarray:
    """Scores (c,) of the candidates."""
    return sample.features @ coef + intercept
