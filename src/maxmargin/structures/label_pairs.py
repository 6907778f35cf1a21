"""Sets of labels with interactions: what two labels that are both there add to the score.

Flat weights are ``[coef (F, L) | intercept (L,) | interactions (L (L - 1) / 2,)]``: w_l is column l of the first
table, b_l the entry l behind it, and v_lm, l < m, follows by l and then by m, the upper triangle row by row. Without
intercept that part is missing. The score of a set y is ``sum_l y_l (<w_l, x> + b_l) + sum_{l<m} y_l y_m v_lm``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..inference.subsets import MOST_TRIED, Subset, best_subset, cut_subset, pair_shares
from .factors.label_sets import LabelSets, fill_table
from .multilabel import make_multilabel_problem
from .weights import MultilabelWeights


class Shares(NamedTuple):
    """A set of labels, or a point of its relaxation."""

    labels: np.ndarray  # (k,) those with a share
    of_labels: np.ndarray  # (k,) 1 in sets
    pairs: np.ndarray  # (q,) places in the triangle
    of_pairs: np.ndarray  # (q,)


class LabelPairs:
    """Samples whose outputs are sets of labels that interact; a structure for `KnownProblem`.

    With `relaxed`, outputs are the points of the local polytope in place of sets: the hinge of a sample is then never
    less than that over sets, and the certificate is that of the relaxed objective. Both oracles are exact: a minimum
    cut, and for sets all that it leaves open, so that there may be no more than `MOST_TRIED` labels.

    Parameters
    ----------
    matrix : array or CSR matrix of shape (n, F)
        Features of the samples.
    present : array of shape (n, L)
        1 where a sample has a label, else 0.
    intercept : bool
        Whether labels have a bias.
    missed, wrong : float or array of shape (L,)
        Losses of a label that is missed, and of one that is wrong.
    relaxed : bool
        Whether outputs are points of the relaxation.
    sample_weight : array of shape (n,) or None
        Weights of the samples.
    """

    def __init__(
        self,
        matrix: Any,
        present: np.ndarray,
        *,
        intercept: bool = True,
        missed: Any = 1.0,
        wrong: Any = 1.0,
        relaxed: bool = False,
        sample_weight: np.ndarray | None = None,
    ):
        self.matrix, self.present = sp.csr_matrix(matrix), np.asarray(present, np.uint8)
        self.n_samples, self.n_labels = present.shape
        if not relaxed and self.n_labels > MOST_TRIED:
            raise ValueError(f"all sets of {self.n_labels} labels cannot be tried: {MOST_TRIED} labels are the most")
        self.relaxed, self.sample_weight = relaxed, sample_weight
        self.layout = MultilabelWeights(matrix.shape[1], self.n_labels, intercept, interactions=True)
        self.n_features = self.layout.size
        self.missed, self.wrong = (np.broadcast_to(cost, self.n_labels).astype(np.float64) for cost in (missed, wrong))
        first, second = np.triu_indices(self.n_labels, 1)
        self.place = np.zeros((self.n_labels, self.n_labels), np.int64)  # of a pair in the triangle
        self.place[first, second] = self.place[second, first] = np.arange(len(first))
        self.first_pair = self.n_features - len(first)
        self.table = np.zeros((self.n_labels, self.n_labels))  # of interactions, filled for every answer

    @property
    def is_factored(self) -> bool:
        """Whether labels and pairs, each learned by itself, learn the same: as the relaxation has it."""
        return self.relaxed

    def factored(self) -> LabelSets:
        options = {"missed": self.missed, "wrong": self.wrong, "sample_weight": self.sample_weight}
        labels = make_multilabel_problem(self.matrix, self.present, intercept=self.layout.intercept, **options)
        return LabelSets(labels, self.first_pair)

    def truth(self, i: int) -> Shares:
        return self.as_shares(self.present[i])

    def max_oracle(self, w: np.ndarray, i: int) -> Shares:
        return self.best(w, self.scores(w, i) + self.costs(i))

    def decode(self, w: np.ndarray, i: int) -> Shares:
        return self.best(w, self.scores(w, i))

    def best(self, w: np.ndarray, gains: np.ndarray) -> Shares:
        if not (np.all(np.isfinite(gains)) and np.all(np.isfinite(w[self.first_pair :]))):
            raise ValueError("scores must be finite")
        table, shares = self.table, np.zeros(self.n_labels)
        fill_table(0, np.array(w[self.first_pair :]), table)  # not w: it may be read-only
        if not self.relaxed:
            return self.as_shares(best_subset(gains, table).labels)
        cut_subset(gains, table, shares)
        labels = np.flatnonzero(shares)  # pairs of others have no share
        of_pairs = pair_shares(table[np.ix_(labels, labels)], shares[labels])
        first, second = np.nonzero(np.triu(of_pairs, 1))
        places = self.place[labels[first], labels[second]]
        return Shares(labels, shares[labels], places, of_pairs[first, second])

    def as_shares(self, present: np.ndarray) -> Shares:
        labels = np.flatnonzero(present)
        first, second = np.triu_indices(len(labels), 1)
        pairs = self.place[labels[first], labels[second]]
        return Shares(labels, np.ones(len(labels)), pairs, np.ones(len(pairs)))

    def row(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Features of sample i and their values, the intercept among them."""
        x, bias = self.matrix, int(self.layout.intercept)
        entries = slice(x.indptr[i], x.indptr[i + 1])
        features = np.concatenate([x.indices[entries], np.full(bias, x.shape[1])], dtype=np.int64)
        return features, np.concatenate([x.data[entries], np.ones(bias)])

    def scores(self, w: np.ndarray, i: int) -> np.ndarray:
        """What each label adds to the score by itself."""
        features, values = self.row(i)
        rows = self.layout.n_features + self.layout.intercept
        return values @ w[: rows * self.n_labels].reshape(rows, self.n_labels)[features]

    def costs(self, i: int) -> np.ndarray:
        """What each label adds to the loss of the empty set."""
        return np.where(self.present[i], -self.missed, self.wrong)

    def joint_feature(self, i: int, y: Shares) -> tuple[np.ndarray, np.ndarray]:
        features, values = self.row(i)
        places = np.add.outer(features * self.n_labels, y.labels).ravel()
        products = np.outer(values, y.of_labels).ravel()
        return np.concatenate([places, self.first_pair + y.pairs]), np.concatenate([products, y.of_pairs])

    def loss(self, i: int, y: Shares) -> float:
        # label by label, not from the loss of the empty set: that of the truth is 0 without rounding
        shares = np.zeros(self.n_labels)
        shares[y.labels] = y.of_labels
        return float(np.sum(np.where(self.present[i], self.missed * (1.0 - shares), self.wrong * shares)))

    def data(self) -> list[Any]:
        x = self.matrix
        settings = np.array([self.layout.intercept, self.relaxed])
        return [x.data, x.indices, x.indptr, self.present, self.missed, self.wrong, settings]


def best_sets(scores: Iterable[np.ndarray], interactions: np.ndarray) -> list[Subset]:
    """The best set of labels under each row of scores (n, L)."""
    return [best_subset(gains, interactions) for gains in scores]
