"""Matchings of rows with columns: `MatchingSVM`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_count
from ..structures.known import KnownProblem
from ..structures.matching import Matchings, best_links, pair_max_marginals, pair_scores, top_links
from ._base import MaxMarginEstimator, by_sample
from ._encoded import Encoded
from ._scaling import LAM_OF_ONE, settle_units
from ._weights import as_attributes
from .inputs.arrays import take
from .inputs.matchings import as_numbers, leave_out, read_candidates, read_ignored, read_links
from .inputs.weights import check_cost_matrix, check_loss, check_sample_weight


class MatchingSVM(MaxMarginEstimator):
    """Structured SVM for matchings: which row of a sample goes with which column, each with one at most.

    A matching scores the sum of ``<coef_, x_ij> + intercept_`` over its pairs (i, j); what stays unmatched adds 0.
    Learns by minimising ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the margin-rescaled hinge loss, and certifies how
    far from the optimum it stopped (``gap_``). Probabilities of matchings cannot be found in a feasible time, so there
    are none.

    Parameters
    ----------
    lam : float, "cv" or None, default=None
        Regularisation, > 0. None leaves it to a rule that suits features and losses of any scale, see
        ``docs/regularization.md``; "cv" chooses it by cross-validation. A number is that of the plain objective,
        ``C = 1 / (lam n)`` in the terms of other SVMs.
    solver : str or solver object, default="auto"
        How the objective is minimised: "auto", "bcfw", "bcpfw", "bcafw", "fw", "cutting_plane",
        "exponentiated_gradient", "partial_linearization", "svrg", "casimir", "subgradient" or "perceptron", see
        ``docs/solvers.md``; or an object of `maxmargin.solvers`. "auto" takes accelerated pairwise steps on blocks
        drawn by their gaps, with a cache where the oracle is expensive.
    tol : float or None, default=None
        Stop when the certified duality gap is at most this. None: 0.01, or a twentieth of the objective where that is
        less, but not below 0.001.
    max_passes : float, default=1000
        Stop after so many passes over the data, with a warning.
    max_seconds : float or None, default=None
        Stop after so many seconds.
    random_state : int, RandomState, Generator or None, default=None
        Seed of what the solver draws.
    verbose : int, default=0
        1 shows a progress bar with the gap.
    warm_start : bool, default=False
        Whether a second `fit` on the same data goes on where the first one stopped.
    checkpoint : str, path or None, default=None
        A file that keeps the run of `fit`, so that one that was cut off goes on from there; one file a fit. See
        ``docs/continued_training.md``.
    checkpoint_every : float, default=60.0
        Seconds between two writes of it, at least.
    scale : bool or None, default=None
        Whether to learn from features divided by their spread and losses divided by the largest ones (``scaling_``);
        fitted weights are for features as they came. None: where lam is left to the rule or to cross-validation.
    loss : {"hamming", "hamming_sum"}, default="hamming"
        The cost of wrong and missed links of a sample, divided by the number of its true links (by 1 if there are
        none), so that every sample counts alike; or their sum.
    cost_matrix : array of shape (2, 2) or None, default=None
        Cost of what is predicted of a pair (column) where that is true of it (row), first no link, then a link:
        ``[[0, cost of a false link], [cost of a missed link, 0]]``; None: 1 for both.
    fit_intercept : bool, default=True
        Whether a pair has a bias: how good it must be to be matched at all. Regularised like the other weights.
    perfect : bool, default=False
        Whether every row must be matched.

    Attributes
    ----------
    lam_ : float
        The regularisation learned with, that of the scaled objective where ``scaling_`` is not 1.
    scaling_ : Scaling
        What features and losses were divided by.
    lams_ : array of shape (L,)
        With ``lam="cv"``: the values that were compared, descending.
    scores_ : array of shape (folds, L)
        With ``lam="cv"``: scores of the folds there.
    path_passes_ : float
        With ``lam="cv"``: passes over the folds' data.
    path_oracle_calls_ : int
        With ``lam="cv"``: oracle calls for the folds.
    coef_ : array of shape (F,)
        Weights of the features of a pair.
    intercept_ : float
        The bias of a pair; 0 without `fit_intercept`.
    n_features_in_ : int
        F, the number of features.
    primal_ : float
        The training objective of the weights.
    dual_ : float
        A lower bound on its optimum.
    gap_ : float
        ``primal_ - dual_``: at most so far above the optimum is the objective.
    status_ : str
        Why the solver stopped: "converged", "max_passes", "max_seconds", "callback", "interrupted" or "uncertified".
    solver_ : Solver
        The solver that did it.
    n_passes_ : float
        Passes over the data.
    n_oracle_calls_ : int
        Calls of the oracle, those of certificates included.
    history_ : dict of arrays
        One entry a certificate: passes, oracle_calls, seconds, primal, dual, gap, and what else the solver reports.

    See Also
    --------
    Bipartite : A sample with few candidate pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import MatchingSVM
    >>> rng = np.random.default_rng(0)
    >>> words = [rng.normal(size=(3, 2)) for _ in range(10)]  # rows and columns are the same three, shuffled
    >>> orders = [rng.permutation(3) for _ in words]
    >>> X = [np.abs(x[:, None] - x[order]) for x, order in zip(words, orders)]  # how far apart, (3, 3, 2)
    >>> y = [np.argwhere(x.sum(axis=2) == 0) for x in X]
    >>> model = MatchingSVM(lam=0.1, random_state=0).fit(X, y)
    >>> model.score(X, y), bool(np.all(model.coef_ < 0))
    (1.0, True)
    """

    loss: str
    cost_matrix: Any
    fit_intercept: bool
    perfect: bool
    coef_: np.ndarray
    intercept_: float
    n_features_in_: int
    _perfect: bool  # as it was when fitted

    def __init__(
        self,
        lam: float | str | None = None,
        *,
        solver: Any = "auto",
        tol: float | None = None,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        scale: bool | None = None,
        loss: str = "hamming",
        cost_matrix: Any = None,
        fit_intercept: bool = True,
        perfect: bool = False,
    ):
        self._keep(locals())

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, ignored: Any = None) -> MatchingSVM:
        """Learn from matchings.

        Parameters
        ----------
        X : list of arrays of shape (n, m, F)
            Features of every pair; or of `Bipartite` samples or tuples (n_rows, n_columns, pairs, features) with c
            candidate pairs (c, 2) and their features (c, F), dense or sparse: other pairs cannot be matched.
        y : list of arrays of shape (l, 2)
            Links (row, column); or (n, m) 0/1 matrices, which must be of bool where they have two columns. A row or
            column has one link at most, and links must be candidates.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample; an integer weight equals repetition, 0 removal.
        ignored : list of arrays or None, default=None
            Links given like y, any number a row or column, that are neither right nor wrong, such as the merely
            possible ones of an alignment: learning goes on as if they were no candidates, so that scores of such pairs
            are free. Links of y among them stay true, and those that are no candidates change nothing.

        Returns
        -------
        self : MatchingSVM
        """
        self._fit(X, y, sample_weight=sample_weight, ignored=ignored)
        return self

    def encode(self, X: Any, y: Any, sample_weight: Any = None, ignored: Any = None) -> Encoded:
        normalize, cost = check_loss(self.loss), check_cost_matrix(self.cost_matrix, 2)
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
        samples, links, weight = take(samples, kept), take(links, kept), take(weight, kept)
        cost = 1.0 - np.eye(2) if cost is None else cost
        sizes = np.array([max(1, len(true)) for true in links])
        matrices = [sample.features for sample in samples]
        units = settle_units(
            self,
            matrices,
            [np.full(matrix.shape[0], one) for matrix, one in zip(matrices, weight, strict=True)],
            LAM_OF_ONE * float(np.average(sizes, weights=weight)),
            weight,
            loss=float(cost.max() * (1.0 if normalize else np.average(sizes, weights=weight))),
            center=bool(self.fit_intercept),
        )
        scaling = units.scaling
        matchings = Matchings(
            [sample._replace(features=scaling.apply(sample.features)) for sample in samples],
            links,
            cost=cost / scaling.loss,
            normalize=normalize,
            intercept=bool(self.fit_intercept),
            perfect=bool(self.perfect),
            sample_weight=weight,
        )
        fitted = {"n_features_in_": n_features, "_perfect": bool(self.perfect)}
        unpack = partial(as_attributes, matchings.unpack, scaling)
        return Encoded(self, KnownProblem(matchings), units, fitted, unpack)

    def _tables(self, X: Any) -> list[np.ndarray]:
        """Scores (n, m) of the pairs of every sample, -inf for those that cannot be matched."""
        check_is_fitted(self)
        samples = read_candidates(X, self.n_features_in_, type(self).__name__)
        return by_sample(lambda sample: sample.table(pair_scores(sample, self.coef_, self.intercept_)), samples)

    def predict(self, X: Any) -> list[np.ndarray]:
        """Find the best matching of each sample.

        Parameters
        ----------
        X : list of samples
            As in `fit`.

        Returns
        -------
        links : list of arrays of shape (l, 2)
            By increasing row.
        """
        return self._best(self._tables(X))

    def _best(self, tables: list[np.ndarray]) -> list[np.ndarray]:
        found = by_sample(lambda table: best_links(table, self._perfect), tables)
        for i, (_, value) in enumerate(found):
            _check_possible(value > -np.inf, i)
        return [links for links, _ in found]

    def predict_topk(self, X: Any, k: int) -> tuple[list[list[np.ndarray]], list[np.ndarray]]:
        """Find the k best matchings of each sample, best first.

        Parameters
        ----------
        X : list of samples
            As in `fit`.
        k : int
            How many, at least 1.

        Returns
        -------
        matchings : list of lists of arrays of shape (l, 2)
            Links; fewer than k matchings where there are no more.
        scores : list of arrays
            One score a matching.
        """
        k = check_count("k", k)
        found = by_sample(lambda table: top_links(table, k, self._perfect), self._tables(X))
        for i, (_, values) in enumerate(found):
            _check_possible(len(values) > 0, i)
        return [many for many, _ in found], [values for _, values in found]

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """Find max-marginals: for every pair the score of the best matching that has it.

        Parameters
        ----------
        X : list of samples
            As in `fit`.

        Returns
        -------
        scores : list of arrays of shape (n, m)
            -inf where no matching has the pair.
        """
        return by_sample(lambda table: pair_max_marginals(table, self._perfect), self._tables(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None, ignored: Any = None) -> float:
        """Measure F1 of links over all samples.

        Parameters
        ----------
        X : list of samples
            As in `fit`.
        y : list of links
            As in `fit`, but they need not be matchings: every link counts, those that cannot be found included.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample.
        ignored : list of links or None, default=None
            Links found that are among them do not count.

        Returns
        -------
        score : float
            1 where there are no links and none is found.
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


def _as_sets(links: list[np.ndarray]) -> list[set[tuple[int, int]]]:
    return [set(map(tuple, pairs.tolist())) for pairs in links]


def _check_possible(possible: bool, i: int) -> None:
    if not possible:
        raise ValueError(f"X, sample {i}: its candidate pairs allow no matching of every row, as perfect=True asks for")
