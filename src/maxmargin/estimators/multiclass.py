"""Multiclass classification: `MulticlassSVM`."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.callback import with_callbacks
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parameters import check_count, check_positive
from ..structures.multiclass import make_multiclass_problem
from ._base import MaxMarginEstimator, Posed
from ._kernels import PRECOMPUTED, KernelFunction, kernel_rows, kernel_scores, settle_kernel, unpack_support
from .inputs.weights import check_cost_matrix, check_sample_weight, class_weights


class MulticlassSVM(ClassifierMixin, MaxMarginEstimator):
    """Multiclass SVM (Crammer and Singer's) with a certified duality gap.

    Minimises ``lam/2 |w|^2 + (1/S) sum_i s_i max_k [cost(y_i, k) + <w_k - w_{y_i}, x_i>]``. With ``C = 1/(lam n)`` it
    is the problem of scikit-learn's ``LinearSVC(multi_class="crammer_singer")``.

    Parameters
    ----------
    lam : float or None
        Regularisation; None means 1 / (sum of sample weights).
    solver : "auto", "bcfw", "fw" or a solver object
    tol : float
        Stop when the certified duality gap is at most this.
    max_passes, max_seconds : stop after this much effort
    class_weight : None, "balanced" or dict
        Multiplies the sample weights.
    random_state : int, RandomState, Generator or None
    verbose : int
        1 shows a progress bar with the gap.
    n_jobs : int or None
        Threads for certificates; -1 for all cores.
    warm_start : bool
        Whether a second ``fit`` on the same data goes on where the first one stopped.
    fit_intercept : bool
        Whether classes have a bias; it is regularised like the other weights.
    cost_matrix : (K, K) array or None
        Cost of predicting a class (column) for a true class (row), in the order of ``classes_``.
    kernel : None, "linear", "rbf", "poly", "sigmoid", "precomputed" or a function
        None learns weights of features. A kernel learns a function of samples by its coefficients at the training
        samples instead; it must be positive semi-definite. "precomputed": X holds kernel values,
        (n, n) for fit and (m, n) for predict, columns are the training samples. A function
        ``kernel(X, Z)`` gives the values (n, m) of all pairs of rows.
    gamma, degree, coef0 : parameters of the kernel, as in scikit-learn's ``SVC``

    Attributes
    ----------
    coef_ : (K, F)    intercept_ : (K,)    classes_, n_features_in_
    with a kernel, instead of coef_: support_ : (m,), training samples with coefficients other than 0
        dual_coef_ : (m, K)    support_vectors_ : (m, F), not for "precomputed"
    primal_, dual_, gap_, status_, solver_, n_passes_, n_oracle_calls_, history_
    """

    def __init__(
        self,
        lam: float | None = None,
        *,
        solver: Any = "auto",
        tol: float = 1e-2,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        warm_start: bool = False,
        fit_intercept: bool = True,
        cost_matrix: Any = None,
        kernel: Any = None,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
    ):
        self.lam = lam
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.max_seconds = max_seconds
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.cost_matrix = cost_matrix
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MulticlassSVM:
        """Learn from samples X (n, F), dense or sparse, and classes y (n,)."""
        self._fit(X, y, sample_weight=sample_weight)
        return self

    def _pose(self, X: Any, y: Any, sample_weight: Any = None) -> Posed:
        # validate_data writes n_features_in_ and feature_names_in_: to a copy, so that a failed fit leaves self alone
        checked = copy.copy(self)
        matrix, labels = validate_data(checked, X, y, accept_sparse="csr", dtype=np.float64, order="C")
        check_classification_targets(labels)
        weight = check_sample_weight(sample_weight, len(labels))
        kept = weight > 0
        if not kept.all():
            matrix, labels, weight = matrix[np.flatnonzero(kept)], labels[kept], weight[kept]
        classes, codes = np.unique(labels, return_inverse=True)
        by_class = class_weights(self.class_weight, classes, codes, weight)
        if by_class is not None:
            weight = check_sample_weight(weight * by_class[codes], len(codes))
        function = settle_kernel(self.kernel, self.gamma, self.degree, self.coef0, matrix)
        problem = make_multiclass_problem(
            matrix if function is None else kernel_rows(function, matrix, kept),
            codes,
            len(classes),
            intercept=bool(self.fit_intercept),
            cost=check_cost_matrix(self.cost_matrix, len(classes)),
            sample_weight=weight,
        )
        if function is None:
            unpack = partial(self._unpack, matrix.shape[1], len(classes))
        else:
            unpack = partial(self._unpack_kernel, function, matrix, kept, len(classes))
        names = ("n_features_in_", "feature_names_in_")
        named = {name: vars(checked)[name] for name in names if name in vars(checked)}
        return Posed(problem, weight.sum(), {"classes_": classes, "_kernel": function, **named}, unpack)

    def _unpack(self, n_features: int, n_labels: int, w: np.ndarray) -> dict[str, np.ndarray]:
        """The fitted attributes, from the structure's flat weights."""
        rows = w.reshape(-1, n_labels)
        return {"coef_": rows[:n_features].T, "intercept_": rows[-1] if self.fit_intercept else np.zeros(n_labels)}

    def _unpack_kernel(
        self, function: KernelFunction, matrix: Any, kept: np.ndarray, n_labels: int, w: np.ndarray
    ) -> dict[str, np.ndarray]:
        intercept = self._unpack(0, n_labels, w)["intercept_"].copy()
        return {**unpack_support(function, matrix, kept, w, n_labels), "intercept_": intercept}

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        matrix = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = np.asarray(matrix @ self.coef_.T) if self._kernel is None else kernel_scores(self, matrix)
        return scores + self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores (n, K); for two classes (n,), positive for the second, as scikit-learn has it."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of the highest score."""
        codes = self._scores(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_topk(self, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best classes of each sample, best first, and their scores: two (n, m) arrays, m = k or all classes."""
        scores = self._scores(X)
        m = min(check_count("k", k), len(self.classes_))
        order = np.argsort(-scores, axis=1, kind="stable")[:, :m]
        return self.classes_[order], np.take_along_axis(scores, order, axis=1)

    def predict_marginals(self, X: Any, temperature: float = 1.0) -> np.ndarray:
        """Probabilities (n, K) of the classes, proportional to ``exp(score / temperature)``.

        Max-margin learning does not fit probabilities: they rank, and are not calibrated.
        """
        check_positive("temperature", temperature)
        scores = self._scores(X)
        weights = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
        return weights / weights.sum(axis=1, keepdims=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == PRECOMPUTED
        return tags
