"""Multiclass classification: `MulticlassSVM`."""

from __future__ import annotations

import copy
import re
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.callback import with_callbacks
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parameters import check_count, check_positive
from ..structures.multiclass import make_multiclass_problem
from ..structures.rows import count_weight_rows
from ..structures.weights import MulticlassWeights, Weights
from ._encoded import Encoded
from ._kernels import PRECOMPUTED, KernelFunction, kernel_rows, kernel_scores, settle_kernel, unpack_kernel
from ._partial import LearnsInParts, takes_parts
from ._scaling import LAM_OF_ONE, units_of_sites
from ._weights import Learned, as_weights
from .inputs.arrays import as_any_array, read_target, refuse_mask, take
from .inputs.joining import check_known, read_classes, stack_rows
from .inputs.labels import encode_labels
from .inputs.sparse import read_csr, stack_csr
from .inputs.weights import check_sample_weight, class_weights, label_costs


class Labelled(NamedTuple):
    """Samples with a weight; features and losses have no units yet."""

    rows: Any  # (n, F)
    codes: np.ndarray  # (n,) of the labels among the classes
    classes: np.ndarray
    weight: np.ndarray
    kept: np.ndarray  # numbers of the samples among all that were given
    n_given: int
    named: dict[str, Any]  # attributes of a model

    def joined(self, more: Labelled) -> Labelled:
        """These, and others after them."""
        return self._replace(
            rows=stack_rows(self.rows, more.rows),
            codes=np.concatenate([self.codes, more.codes]),
            weight=np.concatenate([self.weight, more.weight]),
            kept=np.concatenate([self.kept, self.n_given + more.kept]),
            n_given=self.n_given + more.n_given,
        )


class MulticlassSVM(ClassifierMixin, LearnsInParts):
    """Multiclass SVM (Crammer and Singer's) with a certified duality gap.

    Minimises ``lam/2 |w|^2 + (1/S) sum_i s_i max_k [cost(y_i, k) + <w_k - w_{y_i}, x_i>]``. With ``C = 1/(lam n)`` it
    is the problem of scikit-learn's ``LinearSVC(multi_class="crammer_singer")``.

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
    class_weight : None, "balanced" or dict, default=None
        Multiplies the sample weights.
    random_state : int, RandomState, Generator or None, default=None
        Seed of what the solver draws.
    verbose : int, default=0
        1 shows a progress bar with the gap.
    n_jobs : int or None, default=None
        Threads for steps and certificates; None is 1, -1 all cores.
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
        Whether classes have a bias; it is regularised like the other weights.
    cost_matrix : array of shape (K, K) or None, default=None
        Cost of predicting a class (column) for a true class (row), in the order of ``classes_``; None: 1 for every
        wrong one.
    kernel : None, str or function, default=None
        None learns weights of features. A kernel learns a function of samples by its coefficients at the training
        samples instead; it must be positive semi-definite: "linear", "rbf", "poly", "sigmoid", or a function
        ``kernel(X, Z)`` that gives the values (n, m) of all pairs of rows. With "precomputed", X holds kernel values,
        (n, n) for fit and (m, n) for predict, columns are the training samples.
    gamma : "scale", "auto" or float, default="scale"
        Of the kernels "rbf", "poly" and "sigmoid"; "scale" is ``1 / (F X.var())``, "auto" ``1 / F``.
    degree : int, default=3
        Of the kernel "poly".
    coef0 : float, default=0.0
        The constant of the kernels "poly" and "sigmoid".

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
    coef_ : array of shape (K, F)
        Weights of the features; not with a kernel. As `intercept_` it is a view of the weights: what is changed in
        place, or assigned, changes the predictions.
    intercept_ : array of shape (K,)
        Biases of the classes; 0, and read-only, without `fit_intercept`.
    support_ : array of shape (m,)
        With a kernel: the training samples with coefficients other than 0.
    dual_coef_ : array of shape (m, K)
        With a kernel: their coefficients.
    support_vectors_ : array of shape (m, F)
        With a kernel other than "precomputed": their features.
    classes_ : array of shape (K,)
        The labels, sorted.
    n_features_in_ : int
        F, the number of features.
    feature_names_in_ : array of shape (F,)
        The names of the columns, where X has such.
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
    MulticlassSVMCV : Chooses lam by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from maxmargin import MulticlassSVM
    >>> X, y = load_digits(return_X_y=True)
    >>> model = MulticlassSVM(lam=0.01, tol=0.02, random_state=0).fit(X[:1000] / 16, y[:1000])
    >>> model.status_, model.coef_.shape
    ('converged', (10, 64))
    >>> model.score(X[1000:] / 16, y[1000:]) > 0.9
    True
    """

    coef_ = Learned()
    intercept_ = Learned()
    classes_: np.ndarray
    class_weight: Any
    fit_intercept: bool
    cost_matrix: Any
    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    _weights: Weights
    _kernel: KernelFunction | None

    def __init__(
        self,
        lam: float | str | None = None,
        *,
        solver: Any = "auto",
        tol: float | None = None,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        warm_start: bool = False,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        scale: bool | None = None,
        fit_intercept: bool = True,
        cost_matrix: Any = None,
        kernel: Any = None,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
    ):
        self._keep(locals())

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MulticlassSVM:
        """Learn from samples.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)
            Features; kernel values (n, n) with ``kernel="precomputed"``.
        y : array of shape (n,)
            Classes, strings or integers.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample; an integer weight equals repetition, 0 removal.

        Returns
        -------
        self : MulticlassSVM
        """
        self._fit(X, y, sample_weight=sample_weight)
        return self

    @available_if(takes_parts)
    @with_callbacks
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> MulticlassSVM:
        """Learn from samples that join those of earlier calls.

        The model is then that of `fit` on all of them, with its certificate, and begins where the last one ended: see
        ``docs/continued_training.md``. All samples stay in memory.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)
            As in `fit`, with the features of the first call.
        y : array of shape (n,)
            Classes of the first call, or among its `classes`.
        classes : array-like of shape (K,) or None, default=None
            All classes that will ever come, for the first call; None: those of its y.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample of this call.

        Returns
        -------
        self : MulticlassSVM
        """
        self._fit_part(X, y, classes, sample_weight=sample_weight)
        return self

    def _read(self, X: Any, y: Any, classes: Any, first: Any, sample_weight: Any = None) -> Labelled:
        # validate_data writes n_features_in_ and feature_names_in_: to a copy, so that a failed fit leaves self alone
        checked = copy.copy(self)
        given, labels = validated(checked, X, y, order="C", reset=first is None)
        weight = check_sample_weight(sample_weight, len(labels))
        kept = np.flatnonzero(weight)
        rows, labels, weight = take(given, kept), take(labels, kept), take(weight, kept)
        found, codes = classes_of(labels)
        known = read_classes(classes, None if first is None else first.classes)
        if known is not None:
            codes = encode_labels(found, np.array([0, len(found)]), known)[0][codes]
            check_known(codes, labels, known, kept)
        names = ("n_features_in_", "feature_names_in_")
        named = {name: vars(checked)[name] for name in names if name in vars(checked)}
        return Labelled(rows, codes, found if known is None else known, weight, kept, given.shape[0], named)

    def _pose(self, samples: Labelled) -> Encoded:
        rows, codes, classes, weight, kept, n_given, named = samples
        by_class = class_weights(self.class_weight, classes, codes, weight)
        if by_class is not None:
            weight = check_sample_weight(weight * by_class[codes], len(codes))
        function = settle_kernel(self.kernel, self.gamma, self.degree, self.coef0, rows)
        matrix: Any = rows if function is None else kernel_rows(function, rows, kept, n_given)
        cost = label_costs(self.cost_matrix, None, classes, codes, weight)
        worst = float(np.average(cost.max(axis=1)[codes], weights=weight))
        units = units_of_sites(self, matrix, np.ones(len(codes), np.int64), weight, LAM_OF_ONE, worst)
        scaling = units.scaling
        matrix = scaling.apply(rows) if function is None else scaling.apply_to_kernel(matrix, function.makes_values)
        layout = MulticlassWeights(count_weight_rows(matrix), len(classes), bool(self.fit_intercept))
        problem = make_multiclass_problem(
            matrix,
            codes,
            len(classes),
            intercept=layout.intercept,
            cost=cost / scaling.loss,
            sample_weight=weight,
        )
        if function is None:
            unpack = partial(as_weights, layout, scaling)
        else:
            unpack = partial(unpack_kernel, function, rows, kept, layout, scaling)
        return Encoded(self, problem, units, {"classes_": classes, "_kernel": function, **named}, unpack)

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        given = np.zeros((0, self.n_features_in_)) if isinstance(X, list) and not X else X
        matrix = validated(self, given, reset=False, ensure_min_samples=0)
        scores = np.asarray(matrix @ self.coef_.T) if self._kernel is None else kernel_scores(self, matrix)
        return scores + self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """Score classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)

        Returns
        -------
        scores : array of shape (n, K)
            For two classes (n,), positive for the second, as scikit-learn has it.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Find the class of the highest score.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)

        Returns
        -------
        classes : array of shape (n,)
        """
        codes = self._scores(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_topk(self, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best classes of each sample, best first.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)
        k : int
            How many, at least 1.

        Returns
        -------
        classes : array of shape (n, m)
            m is k, or the number of all classes.
        scores : array of shape (n, m)
        """
        scores = self._scores(X)
        m = min(check_count("k", k), len(self.classes_))
        order = np.argsort(-scores, axis=1, kind="stable")[:, :m]
        return self.classes_[order], np.take_along_axis(scores, order, axis=1)

    def predict_marginals(self, X: Any, temperature: float = 1.0) -> np.ndarray:
        """Find probabilities of the classes, proportional to ``exp(score / temperature)``.

        Max-margin learning does not fit probabilities: they rank, and are not calibrated.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)
        temperature : float, default=1.0
            What scores are divided by, > 0.

        Returns
        -------
        probabilities : array of shape (n, K)
        """
        check_positive("temperature", temperature)
        scores = self._scores(X)
        weights = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
        return weights / weights.sum(axis=1, keepdims=True)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Measure the share of samples whose class is found.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)
        y : array of shape (n,)
            The true classes. One never seen in training counts as wrong.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample.

        Returns
        -------
        score : float
            From 0 to 1.
        """
        found = self.predict(X)
        truth = as_any_array(read_target(y), "y")
        if truth.shape not in ((len(found),), (len(found), 1)):
            raise ValueError(f"y must hold the classes of {len(found)} samples, as X does, got shape {truth.shape}")
        weight = check_sample_weight(sample_weight, len(found))
        return float(np.average(truth.ravel() == found, weights=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == PRECOMPUTED
        return tags


def validated(model: Any, X: Any, *y: Any, **settings: Any) -> Any:
    """What scikit-learn makes of X, or of X and y; errors that do not say which of them is wrong are about X."""
    refuse_mask(X, "X")
    if getattr(X, "dtype", np.dtype(float)).kind in "mMSV":
        raise ValueError(f"X: dtype {X.dtype} is not numeric: encode it as numbers")
    if any(as_any_array(one, "y").ndim > 2 for one in y):
        raise ValueError("y must hold one class a sample, in one dimension")
    try:
        with np.errstate(over="ignore"):  # what is too large shows as infinity, and is refused as such
            return validate_data(model, _intact(X), *y, accept_sparse="csr", dtype=np.float64, **settings)
    except (ValueError, TypeError, OverflowError) as error:
        if re.search(r"\b[Xy]\b", str(error)):
            raise
        places = {"input variables": "X and y", "Input contains": "y"}  # of X, they say that it is X
        place = next((place for words, place in places.items() if words in str(error)), "X")
        raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{place}: {error}") from error


def classes_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes, sorted, and the number of that of each label."""
    try:
        check_classification_targets(labels)
        return np.unique(labels, return_inverse=True)
    except (ValueError, TypeError) as error:
        raise ValueError(f"y: {error}") from error


def _intact(X: Any) -> Any:
    """X itself, but for a sparse matrix: canonical CSR, whose indices were looked at before code walks along them."""
    if not sp.issparse(X) or X.ndim != 2 or X.dtype.kind not in "biuf":
        return X  # what is wrong with it, scikit-learn says
    return stack_csr([read_csr(X, "X")], lambda _: "X")
