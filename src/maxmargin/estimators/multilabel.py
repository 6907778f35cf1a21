"""Sets of labels: `MultilabelSVM`."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.callback import with_callbacks
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_choice
from ..solvers.tolerance import Goal, Sensible
from ..structures.known import KnownProblem
from ..structures.label_pairs import MOST_TRIED, LabelPairs, best_sets
from ..structures.multilabel import make_multilabel_problem
from ..structures.weights import MultilabelWeights, Weights
from ._encoded import Encoded
from ._partial import LearnsInParts, takes_parts
from ._scaling import LAM_OF_ONE, normalizes, units_of_sites
from ._weights import Learned, as_weights
from .inputs.arrays import take
from .inputs.joining import stack_rows
from .inputs.multilabel import read_by_label, read_label_sets
from .inputs.weights import check_sample_weight
from .multiclass import validated

PAIRWISE = "pairwise"
INFERENCES = ("auto", "exact", "lp")
LEAST_GAP = 1e-4  # samples have few of many labels: what is to be learned is a small share of the largest loss


class RelaxedSets(NamedTuple):
    """What a linear relaxation says of sets of labels.

    Parameters
    ----------
    labels : array of shape (n, L)
        The best sets that it leads to.
    scores : array of shape (n,)
        Their scores, thresholds subtracted.
    bounds : array of shape (n,)
        No set scores more; where the two are equal, it is the best.
    integral : array of shape (n,)
        The share of labels that the relaxation was sure of.
    """

    labels: np.ndarray
    scores: np.ndarray
    bounds: np.ndarray
    integral: np.ndarray


class LabelledSets(NamedTuple):
    """Samples with a weight; features and losses have no units yet."""

    rows: Any  # (n, F)
    present: np.ndarray  # (n, L)
    weight: np.ndarray
    named: dict[str, Any]  # attributes of a model

    def joined(self, more: LabelledSets) -> LabelledSets:
        """These, and others after them."""
        return self._replace(
            rows=stack_rows(self.rows, more.rows),
            present=np.concatenate([self.present, more.present]),
            weight=np.concatenate([self.weight, more.weight]),
        )


class MultilabelSVM(ClassifierMixin, LearnsInParts):
    """SVM for sets of labels, by themselves or with interactions of all pairs, with a certified duality gap.

    The score of a set y is ``sum_l y_l (<w_l, x> + b_l)``, plus ``sum_{l<m} y_l y_m v_lm`` with ``interactions=
    "pairwise"``. Minimises ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)``, H the margin-rescaled hinge of the labels that are
    missed or wrong. Without interactions these are L binary SVMs, learned at once.

    Parameters
    ----------
    lam : float, "cv" or None, default=None
        Regularisation, > 0. None leaves it to a rule that suits features and losses of any scale, see
        ``docs/regularization.md``; "cv" chooses it by cross-validation. A number is that of the plain objective,
        ``C = 1 / (lam n L)`` in the terms of binary SVMs, one a label (``C = 1 / (lam n)`` with
        ``loss="hamming_sum"``).
    solver : str or solver object, default="auto"
        How the objective is minimised: "auto", "bcfw", "bcpfw", "bcafw", "fw", "cutting_plane", "subgradient" or
        "perceptron", with interactions of more than 16 labels also "gdmm", see ``docs/solvers.md``; or an object of
        `maxmargin.solvers`. "auto" takes accelerated steps to the optima of samples; with interactions pairwise steps
        over all sets that were ever found, of more than 16 labels "gdmm". Sets of labels give no expectations yet, so
        that "exponentiated_gradient", "partial_linearization", "svrg" and "casimir" refuse.
    tol : float or None, default=None
        Stop when the certified duality gap is at most this. None: 0.01, or a twentieth of the objective where that is
        less, but not below 0.0001.
    max_passes : float, default=1000
        Stop after so many passes over the data, with a warning.
    max_seconds : float or None, default=None
        Stop after so many seconds.
    loss : {"hamming", "hamming_sum"} or None, default=None
        Whether the loss of a set is the share or the number of its wrong and missed labels. None: their number where
        features and losses are scaled, else their share.
    missed_cost : float or array of shape (L,), default=1.0
        What a label costs that a sample has and a set has not, >= 0.
    wrong_cost : float or array of shape (L,), default=1.0
        What a label costs that a set has and the sample has not, >= 0.
    interactions : {"pairwise"} or None, default=None
        Whether pairs of labels have a weight that counts where both are there.
    inference : {"auto", "exact", "lp"}, default="auto"
        With interactions, how sets are found in learning: "exact" for up to 16 labels; "lp" takes the linear relaxation
        in the place of sets, whose hinge, and so whose objective, is never less; "auto" is "exact" where it can be.
    thresholds : float or array of shape (L,), default=0.0
        A label is predicted where its score is above this. `choose_thresholds` finds others.
    random_state : int, RandomState, Generator or None, default=None
        Seed of what the solver draws.
    verbose : int, default=0
        1 shows a progress bar with the gap.
    n_jobs : int or None, default=None
        Threads for certificates; None is 1, -1 all cores.
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
    fit_intercept : bool, default=True
        Whether labels have a bias; it is regularised like the other weights.

    Attributes
    ----------
    lam_ : float
        The regularisation learned with, that of the scaled objective where ``scaling_`` is not 1.
    scaling_ : Scaling
        What features and losses were divided by.
    lams_ : array of shape (m,)
        With ``lam="cv"``: the values that were compared, descending.
    scores_ : array of shape (folds, m)
        With ``lam="cv"``: scores of the folds there.
    path_passes_ : float
        With ``lam="cv"``: passes over the folds' data.
    path_oracle_calls_ : int
        With ``lam="cv"``: oracle calls for the folds.
    coef_ : array of shape (L, F)
        Weights of the features. As `intercept_` it is a view of the weights: what is changed in place, or assigned,
        changes the predictions.
    intercept_ : array of shape (L,)
        Biases of the labels; 0, and read-only, without `fit_intercept`.
    interactions_ : array of shape (L, L)
        With interactions: weights of pairs, symmetric, 0 on the diagonal; a copy, but it may be assigned.
    inference_ : str
        With interactions: how sets were found in learning, "exact" or "lp".
    thresholds_ : array of shape (L,)
        Above which scores labels are predicted.
    classes_ : array of shape (L,)
        The labels: numbers of columns.
    n_labels_ : int
        L.
    sparse_output_ : bool
        Whether `predict` gives sparse matrices, as y was one.
    n_features_in_ : int
        F, the number of features.
    feature_names_in_ : array of shape (F,)
        The names of the columns, where X has such.
    primal_ : float
        The training objective of the weights; that of the relaxation with ``inference_ == "lp"``.
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
    MulticlassSVM : One label a sample.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from maxmargin import MultilabelSVM
    >>> X, y = make_multilabel_classification(200, n_features=10, n_classes=4, random_state=0)
    >>> model = MultilabelSVM(random_state=0).fit(X[:150], y[:150])
    >>> model.status_, model.predict(X[150:]).shape
    ('converged', (50, 4))
    >>> bool((model.predict(X[150:]) == y[150:]).mean() > 0.7)
    True
    """

    coef_ = Learned()
    intercept_ = Learned()
    interactions_ = Learned()
    classes_: np.ndarray
    thresholds_: np.ndarray
    loss: str | None
    missed_cost: Any
    wrong_cost: Any
    interactions: str | None
    inference: str
    thresholds: Any
    fit_intercept: bool
    _weights: Weights

    def __init__(
        self,
        lam: float | str | None = None,
        *,
        solver: Any = "auto",
        tol: float | None = None,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        loss: str | None = None,
        missed_cost: Any = 1.0,
        wrong_cost: Any = 1.0,
        interactions: str | None = None,
        inference: str = "auto",
        thresholds: Any = 0.0,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        warm_start: bool = False,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        scale: bool | None = None,
        fit_intercept: bool = True,
    ):
        self._keep(locals())

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MultilabelSVM:
        """Learn from samples.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)
            Features.
        y : array or sparse matrix of shape (n, L)
            Zeros and ones, a column a label; a sample may have none.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample; an integer weight equals repetition, 0 removal.

        Returns
        -------
        self : MultilabelSVM
        """
        self._fit(X, y, sample_weight=sample_weight)
        return self

    @available_if(takes_parts)
    @with_callbacks
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> MultilabelSVM:
        """Learn from samples that join those of earlier calls; not with interactions.

        The model is then that of `fit` on all of them, with its certificate, and begins where the last one ended: see
        ``docs/continued_training.md``. All samples stay in memory.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)
            As in `fit`, with the features of the first call.
        y : array or sparse matrix of shape (n, L)
            As in `fit`, with the labels of the first call.
        classes : ignored
            The columns of y are the labels, all of them in every call.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample of this call.

        Returns
        -------
        self : MultilabelSVM
        """
        self._fit_part(X, y, classes, sample_weight=sample_weight)
        return self

    def _read(self, X: Any, y: Any, classes: Any, first: Any, sample_weight: Any = None) -> LabelledSets:
        # validate_data writes n_features_in_ and feature_names_in_: to a copy, so that a failed fit leaves self alone
        checked = copy.copy(self)
        given = validated(checked, X, order="C", reset=first is None)
        present = read_label_sets(y, given.shape[0], None if first is None else first.present.shape[1])
        weight = check_sample_weight(sample_weight, len(present))
        kept = np.flatnonzero(weight)
        rows, present, weight = take(given, kept), take(present, kept), take(weight, kept)
        names = ("n_features_in_", "feature_names_in_")
        named = {name: vars(checked)[name] for name in names if name in vars(checked)}
        return LabelledSets(rows, present, weight, {"sparse_output_": sp.issparse(y), **named})

    def _pose(self, samples: LabelledSets) -> Encoded:
        rows, present, weight, named = samples
        n_labels = present.shape[1]
        thresholds = read_by_label(self.thresholds, n_labels, "thresholds")
        missed, wrong = self._costs(n_labels)
        worst = float(np.average(present @ (missed - wrong) + wrong.sum(), weights=weight))
        units = units_of_sites(self, rows, np.ones(len(present), np.int64), weight, LAM_OF_ONE * n_labels, worst)
        scaling, inference = units.scaling, self._settled_inference(n_labels)
        options: dict[str, Any] = {
            "intercept": bool(self.fit_intercept),
            "missed": missed / scaling.loss,
            "wrong": wrong / scaling.loss,
            "sample_weight": weight,
        }
        matrix = scaling.apply(rows)
        problem: Any
        if inference is None:
            problem = make_multilabel_problem(matrix, present, **options)
        else:
            problem = KnownProblem(LabelPairs(matrix, present, relaxed=inference == "lp", **options))
        layout = MultilabelWeights(rows.shape[1], n_labels, options["intercept"], interactions=inference is not None)
        fitted = {
            "classes_": np.arange(n_labels),
            "n_labels_": n_labels,
            "thresholds_": thresholds,
            "inference_": inference,
            **named,
        }
        return Encoded(self, problem, units, fitted, partial(as_weights, layout, scaling))

    def _costs(self, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
        """What labels cost that are missed, and that are wrong."""
        size = n_labels if normalizes(self) else 1
        missed = read_by_label(self.missed_cost, n_labels, "missed_cost", least=0.0)
        wrong = read_by_label(self.wrong_cost, n_labels, "wrong_cost", least=0.0)
        return missed / size, wrong / size

    def _settled_inference(self, n_labels: int) -> str | None:
        """How sets are found; None: label by label."""
        check_choice("inference", self.inference, INFERENCES)
        if self.interactions is None:
            return None
        check_choice("interactions", self.interactions, (PAIRWISE,))
        can_try = n_labels <= MOST_TRIED
        if self.inference == "exact" and not can_try:
            raise ValueError(
                f'inference="exact" is for up to {MOST_TRIED} labels, and y has {n_labels}: take "lp", a relaxation'
            )
        if self.inference == "auto":
            return "exact" if can_try else "lp"
        return self.inference

    def _cross_validated(self, X: Any, y: Any, **given: Any) -> dict[str, Any]:
        return super()._cross_validated(X, read_label_sets(y), **given)  # of a sparse matrix folds cannot be taken

    def _goal(self) -> Goal:
        return Sensible(least=LEAST_GAP) if self.tol is None else super()._goal()

    def _scores(self, X: Any) -> np.ndarray:
        """What labels are worth by themselves."""
        check_is_fitted(self)
        given = np.zeros((0, self.n_features_in_)) if isinstance(X, list) and not X else X
        matrix = validated(self, given, reset=False, ensure_min_samples=0)
        return np.asarray(matrix @ self.coef_.T) + self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """Score labels.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)

        Returns
        -------
        scores : array of shape (n, L)
            With interactions: what a label adds to the others of the set that `predict` finds, or would add.
        """
        scores = self._scores(X)
        if self.inference_ is None:
            return scores
        return scores + self._sets(scores).labels @ self.interactions_

    def predict(self, X: Any) -> Any:
        """Find the set of labels of the highest score; without interactions, each label that is above its threshold.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)

        Returns
        -------
        labels : array of int or CSR matrix of shape (n, L)
            Sparse where y was.
        """
        scores = self._scores(X)
        labels = scores > self.thresholds_ if self.inference_ is None else self._sets(scores).labels
        return sp.csr_matrix(labels, dtype=np.int64) if self.sparse_output_ else labels.astype(np.int64)

    def _sets(self, scores: np.ndarray) -> RelaxedSets:
        found = best_sets(scores - self.thresholds_, self.interactions_)
        labels = np.array([one.labels for one in found], np.int64).reshape(scores.shape)
        values, bounds, integral = np.array([one[1:] for one in found]).reshape(-1, 3).T
        return RelaxedSets(labels, values, bounds, integral)

    @available_if(lambda self: self.interactions is not None)  # labels by themselves are found exactly
    def relaxation(self, X: Any) -> RelaxedSets:
        """Say how good the sets of `predict` are known to be, with interactions.

        A set is the best for sure where the relaxation leaves no more than 16 labels open.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)

        Returns
        -------
        relaxation : RelaxedSets
            labels, scores, bounds and integral.
        """
        return self._sets(self._scores(X))

    def choose_thresholds(self, X: Any, y: Any) -> MultilabelSVM:
        """Set the threshold of each label to one that is best for its F1 score on these samples.

        They should be others than those that the model was fitted to, which are scored too well. A label that none of
        them has keeps its threshold. With interactions, it is as if the other labels stayed as they are predicted now.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)
        y : array or sparse matrix of shape (n, L)

        Returns
        -------
        self : MultilabelSVM
            With other ``thresholds_``.
        """
        scores = self.decision_function(X)
        present = read_label_sets(y, len(scores), self.n_labels_)
        self.thresholds_ = thresholds_for_f1(scores, present, self.thresholds_)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Measure the share of samples all of whose labels are found and no others, as scikit-learn does.

        It is hard on models of many labels: see ``sklearn.metrics.f1_score`` and ``hamming_loss`` for others.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)
        y : array or sparse matrix of shape (n, L)
            The true labels.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample.

        Returns
        -------
        score : float
            From 0 to 1.
        """
        found = self.predict(X)
        labels = found.toarray() if sp.issparse(found) else found
        truth = read_label_sets(y, len(labels), self.n_labels_)
        weight = check_sample_weight(sample_weight, len(labels))
        return float(np.average(np.all(truth == labels, axis=1), weights=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags


def thresholds_for_f1(scores: np.ndarray, present: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Thresholds (L,) of scores (n, L) with the best F1 score of each label; `otherwise` where no sample has it."""
    labels = np.arange(scores.shape[1])
    order = np.argsort(-scores, axis=0, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=0)
    hits = np.cumsum(np.take_along_axis(present, order, axis=0), axis=0, dtype=np.int64)
    f1 = 2.0 * hits / (np.arange(1, len(scores) + 1)[:, None] + hits[-1])  # if all down to here are predicted
    f1[:-1][ranked[:-1] == ranked[1:]] = -1.0  # no threshold lies between equal scores
    last = f1.argmax(axis=0)
    above, below = ranked[last, labels], np.vstack([ranked[1:], ranked[-1] - 1.0])[last, labels]
    between = 0.5 * (above + below)
    return np.where(hits[-1] > 0, np.where(between < above, between, below), otherwise)
