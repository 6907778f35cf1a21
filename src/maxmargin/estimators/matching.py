"""Matchings of rows with columns: `MatchingSVM`."""

from __future__ import annotations

import numbers
from functools import partial
from typing import Any, NoReturn

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_count
from ..inference.matching import best_matching, matching_marginals, matching_max_marginals, top_matchings
from ..structures.known import KnownProblem
from ..structures.matching import Matchings, pair_scores
from ._base import PARAMETERS, MaxMarginEstimator, Posed, by_sample, init_of
from .chain import LOSSES
from .inputs.matchings import as_numbers, leave_out, read_candidates, read_ignored, read_links
from .inputs.weights import check_sample_weight


class MatchingSVM(MaxMarginEstimator):
    """Structured SVM for matchings: which row of a sample goes with which column, each with one at most.

    A matching scores the sum of ``<coef_, x_ij> + intercept_`` over its pairs (i, j); what stays unmatched adds 0.
    Learns by minimising ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the margin-rescaled hinge loss, and certifies how
    far from the optimum it stopped (``gap_``).

    Parameters
    ----------
    lam : float or None
        Regularisation; None means 1 / (sum of sample weights).
    solver, tol, max_passes, max_seconds, random_state, verbose, warm_start : as in `ChainSVM`
    loss : "hamming" or "hamming_sum"
        The cost of wrong and missed links of a sample, divided by the number of its true links (by 1 if there are
        none), so that every sample counts alike; or their sum.
    cost : pair of numbers >= 0
        Of a link that is not true, and of a true link that is missed.
    fit_intercept : bool
        Whether a pair has a bias: how good it must be to be matched at all. Regularised like the other weights.
    perfect : bool
        Whether every row must be matched.

    Attributes
    ----------
    coef_ : (F,)    intercept_ : float    n_features_in_ : int
    primal_, dual_, gap_, status_, solver_, n_passes_, n_oracle_calls_, history_
    """

    loss: str
    cost: Any
    fit_intercept: bool
    perfect: bool
    n_jobs = None  # no parameter: assignments are found one after the other
    coef_: np.ndarray
    intercept_: float
    n_features_in_: int
    _perfect: bool  # as it was when fitted

    __init__ = init_of(
        {
            **PARAMETERS,
            "loss": "hamming",
            "cost": (1.0, 1.0),
            "fit_intercept": True,
            "perfect": False,
        }
    )

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, ignored: Any = None) -> MatchingSVM:
        """Learn from matchings.

        Parameters
        ----------
        X : list of (n, m, F) arrays, features of every pair; or of `Bipartite` samples or tuples
            (n_rows, n_columns, pairs, features) with c candidate pairs (c, 2) and their features (c, F), dense or
            sparse: other pairs cannot be matched
        y : list of (l, 2) links (row, column), or of (n, m) 0/1 matrices; matrices of two columns must be of bool.
            A row or column has one link at most, and links must be candidates
        sample_weight : one weight a sample; an integer weight equals repetition, 0 removal
        ignored : links given like y, any number a row or column, that are neither right nor wrong, such as the merely
            possible ones of an alignment: learning goes on as if they were no candidates, so that scores of such pairs
            are free. Links of y among them stay true, and those that are no candidates change nothing
        """
        self._fit(X, y, sample_weight=sample_weight, ignored=ignored)
        return self

    def _pose(self, X: Any, y: Any, sample_weight: Any = None, ignored: Any = None) -> Posed:
        if not isinstance(self.loss, str) or self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {sorted(LOSSES)}, got {self.loss!r}")
        cost = _check_cost(self.cost)
        samples = read_candidates(X)
        shapes = [sample.shape for sample in samples]
        true = read_links(y, shapes)
        samples = leave_out(samples, read_ignored(ignored, true, shapes))
        links = as_numbers(true, samples, bool(self.perfect))
        weight = check_sample_weight(sample_weight, len(samples))
        n_features = samples[0].features.shape[1]
        if not n_features:
            raise ValueError("X has no candidate pairs with features: there is nothing to learn from")
        kept = np.flatnonzero(weight)
        matchings = Matchings(
            [samples[i] for i in kept],
            [links[i] for i in kept],
            cost=cost,
            normalize=LOSSES[self.loss],
            intercept=bool(self.fit_intercept),
            perfect=bool(self.perfect),
            sample_weight=weight[kept],
        )
        fitted = {"n_features_in_": n_features, "_perfect": bool(self.perfect)}
        return Posed(KnownProblem(matchings), weight.sum(), fitted, partial(_unpack, n_features))

    def _tables(self, X: Any) -> list[np.ndarray]:
        """Scores (n, m) of the pairs of every sample, -inf for those that cannot be matched."""
        check_is_fitted(self)
        samples = read_candidates(X, self.n_features_in_, type(self).__name__)
        return by_sample(lambda sample: sample.table(pair_scores(sample, self.coef_, self.intercept_)), samples)

    def predict(self, X: Any) -> list[np.ndarray]:
        """The best matching of each sample, (l, 2) links by increasing row."""
        return self._best(self._tables(X))

    def _best(self, tables: list[np.ndarray]) -> list[np.ndarray]:
        found = by_sample(lambda table: best_matching(table, self._perfect), tables)
        for i, (_, value) in enumerate(found):
            _check_possible(value > -np.inf, i)
        return [_as_links(columns) for columns, _ in found]

    def predict_topk(self, X: Any, k: int) -> tuple[list[list[np.ndarray]], list[np.ndarray]]:
        """The k best matchings of each sample, best first.

        Returns
        -------
        matchings : a list of (l, 2) links a sample; fewer than k where there are no more matchings
        scores : list of arrays, one score a matching
        """
        k = check_count("k", k)
        found = by_sample(lambda table: top_matchings(table, k, self._perfect), self._tables(X))
        for i, (_, values) in enumerate(found):
            _check_possible(len(values) > 0, i)
        return [list(map(_as_links, many)) for many, _ in found], [values for _, values in found]

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """Max-marginals (n, m): for every pair the score of the best matching that has it, -inf if there is none."""
        return by_sample(lambda table: matching_max_marginals(table, self._perfect).pairs, self._tables(X))

    def predict_marginals(self, X: Any) -> NoReturn:
        """Refused: probabilities of matched pairs cannot be found in a feasible time."""
        matching_marginals(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None, ignored: Any = None) -> float:
        """F1 of links over all samples; 1 where there are none and none is found.

        Here y need not be matchings: every link counts, those that cannot be found included. Links found that are
        `ignored` do not count.
        """
        tables = self._tables(X)
        shapes = [table.shape for table in tables]
        links = read_links(y, shapes)
        weight = check_sample_weight(sample_weight, len(links))
        true, free = map(_as_sets, (links, read_ignored(ignored, links, shapes)))
        found = [pairs - others for pairs, others in zip(_as_sets(self._best(tables)), free, strict=True)]
        both = weight @ [len(a & b) for a, b in zip(found, true, strict=True)]
        every = weight @ [len(a) + len(b) for a, b in zip(found, true, strict=True)]
        return float(2 * both / every) if every > 0 else 1.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


def _unpack(n_features: int, w: np.ndarray) -> dict[str, Any]:
    return {"coef_": w[:n_features], "intercept_": float(w[n_features:].sum())}  # 0 if there is none


def _as_links(columns: np.ndarray) -> np.ndarray:
    rows = np.flatnonzero(columns >= 0)
    return np.stack([rows, columns[rows]], axis=1)


def _as_sets(links: list[np.ndarray]) -> list[set[tuple[int, int]]]:
    return [set(map(tuple, pairs.tolist())) for pairs in links]


def _check_possible(possible: bool, i: int) -> None:
    if not possible:
        raise ValueError(f"X, sample {i}: its candidate pairs allow no matching of every row, as perfect=True asks for")


def _check_cost(cost: Any) -> tuple[float, float]:
    wanted = f"cost must be two finite numbers >= 0, of a false and of a missed link, got {cost!r}"
    if not isinstance(cost, (tuple, list, np.ndarray)) or np.shape(cost) != (2,):
        raise ValueError(wanted)
    for one in cost:
        if isinstance(one, (bool, np.bool_)) or not isinstance(one, numbers.Real) or not 0 <= float(one) < np.inf:
            raise ValueError(wanted)
    return float(cost[0]), float(cost[1])
