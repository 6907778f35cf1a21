"""Estimators that choose lam by cross-validation."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

from sklearn.callback import with_callbacks

from ._path_cv import EPS, PathCV
from .chain import ChainSVM
from .inputs.labels import stack_labels, unstack
from .inputs.sequences import needs_vectorizer, split_chains, stack_sequences
from .multiclass import MulticlassSVM, classes_of, validated


class ChainSVMCV(PathCV, ChainSVM):
    """`ChainSVM` with lam chosen by cross-validation.

    The models of all folds go down from a large lam side by side, each from where the larger lam left off, until the
    mean score falls: there is no grid to guess. The lam with the best mean score is then fitted to all data. With the
    fewer samples of a fold lam is larger in proportion: what is compared is ``C = 1/(lam n)``.

    Parameters
    ----------
    lams : iterable of float or None, default=None
        The values to compare, all of them; None: a factor of 3 apart, from 3 times what ``lam=None`` means to where
        the mean score falls, and larger ones if it was best at the first.
    eps : float, default=0.5
        How far above the optimum the training objective of a fold's model may be, as a share of it; or `tol`, where
        that is more (0.001 where it is None).
    cv : int, splitter, iterable or None, default=None
        The number of folds (None: 3, shuffled), a splitter of sequences, or an iterable of (train, test) indices.
    scoring : str, function or None, default=None
        Name of a scorer, see ``metrics.get_scorer``, or a function (estimator, X, y); None: "chunk_f1" where labels
        name chunks (``B-NP``, ``I-NP``, ``O``), else the share of labels that are right.
    solver : str or solver object, default="auto"
        How the objective is minimised: "auto", "bcfw", "bcpfw", "bcafw", "fw", "cutting_plane",
        "exponentiated_gradient", "partial_linearization", "gdmm", "svrg", "casimir", "subgradient" or "perceptron",
        see ``docs/solvers.md``; or an object of `maxmargin.solvers`. "auto" takes accelerated pairwise steps on blocks
        drawn by their gaps, with a cache where the oracle is expensive.
    tol : float or None, default=None
        The final fit stops when its certified duality gap is at most this. None: 0.01, or a twentieth of the
        objective where that is less, but not below 0.001.
    max_passes : float, default=1000
        Most passes over the data for each lam, and for the final fit.
    max_seconds : float or None, default=None
        Most seconds for the choice of lam, and for the final fit.
    loss : {"hamming", "hamming_sum"} or None, default=None
        The share of wrong labels of a sample, or their number. None: their number where losses are scaled (see
        `scale`), so that every label counts alike, and else the share, as in the papers.
    class_weight : None, "balanced" or dict, default=None
        Multiplies the loss of positions with that true label.
    random_state : int, RandomState, Generator or None, default=None
        Seed of what the solver draws.
    verbose : int, default=0
        1 shows a progress bar with the gap.
    n_jobs : int or None, default=None
        Threads: folds side by side, steps, certificates and predictions; None is 1, -1 all cores.
    scale : bool or None, default=None
        Whether to learn from features divided by their spread and losses divided by the largest ones (``scaling_``);
        fitted weights are for features as they came. None: yes.
    fit_intercept : bool, default=True
        Whether labels have a bias; it is regularised like the other weights.
    fit_boundary : bool, default=True
        Whether the first and the last position have biases of their own.
    transition_mask : None, "bio", array of shape (K, K) or TransitionMask, default=None
        Which label (row) may be followed by which (column), in the order of ``classes_``; "bio" reads the rules off
        label names such as ``B-NP``.
    cost_matrix : array of shape (K, K) or None, default=None
        Cost of a label (column) at a position with that true label (row), in the order of ``classes_``; None: 1 for
        every wrong one.
    kernel : None, str or function, default=None
        None learns weights of features; "linear", "rbf", "poly", "sigmoid" or a function ``kernel(X, Z)`` learn a
        function of positions, as in `ChainSVM`.
    gamma : "scale", "auto" or float, default="scale"
        Of the kernels "rbf", "poly" and "sigmoid"; "scale" is ``1 / (F X.var())``, "auto" ``1 / F``.
    degree : int, default=3
        Of the kernel "poly".
    coef0 : float, default=0.0
        The constant of the kernels "poly" and "sigmoid".

    Attributes
    ----------
    lam_ : float
        That with the best mean score, or nearest to what ``lam=None`` means among those that folds cannot tell from it;
        with `lams` the best, of several the largest. The model is fitted with it to all data.
    scaling_ : Scaling
        What features and losses were divided by.
    lams_ : array of shape (L,)
        The values compared, descending.
    scores_ : array of shape (folds, L)
        Scores of the folds there.
    path_passes_ : float
        Passes over the folds' data.
    path_oracle_calls_ : int
        Oracle calls for the folds.
    coef_ : array of shape (K, F)
        Weights of the features; not with a kernel. A view of the weights, as the four that follow.
    intercept_ : array of shape (K,)
        Biases of the labels; 0, and read-only, without `fit_intercept`.
    boundary_ : array of shape (2, K)
        Biases of the labels of first and last positions; 0, and read-only, without `fit_boundary`.
    transitions_ : array of shape (K, K)
        Weights of a label (row) that is followed by another (column).
    edge_coef_ : array of shape (E, K, K)
        Weights of features of transitions; E = 0 without any.
    support_ : array of shape (m,)
        With a kernel: the training positions with coefficients other than 0, counted over all sequences.
    dual_coef_ : array of shape (m, K)
        With a kernel: their coefficients.
    support_vectors_ : array of shape (m, F)
        With a kernel other than "precomputed": their features.
    classes_ : array of shape (K,)
        The labels, sorted.
    n_features_in_ : int
        F, the number of features.
    n_edge_features_in_ : int or None
        E, the number of features of transitions; None where X came without.
    transition_mask_ : TransitionMask
        What was allowed.
    vectorizer_ : DictEncoder or None
        What makes features of dicts; None where X came without.
    temperature_ : float
        What marginals divide scores by; only after `calibrate`.
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

    Examples
    --------
    >>> from maxmargin import ChainSVMCV
    >>> from maxmargin.datasets import load_dates
    >>> dates = load_dates(n_train=20, n_test=1)
    >>> model = ChainSVMCV(cv=2, random_state=0).fit(dates.X_train, dates.y_train)
    >>> model.lam_ in model.lams_, model.scores_.shape[0]
    (True, 2)
    """

    single = ChainSVM

    def __init__(
        self,
        *,
        lams: Any = None,
        eps: float = EPS,
        cv: Any = None,
        scoring: Any = None,
        solver: Any = "auto",
        tol: float | None = None,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        loss: str | None = None,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        scale: bool | None = None,
        fit_intercept: bool = True,
        fit_boundary: bool = True,
        transition_mask: Any = None,
        cost_matrix: Any = None,
        kernel: Any = None,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
    ):
        self._keep(locals())

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, lengths: Any = None) -> ChainSVMCV:
        """Choose lam and learn from sequences.

        Parameters
        ----------
        X : list of arrays or sparse matrices of shape (T, F)
            Or lists of T feature dicts each, or one stacked matrix with `lengths`. With features of transitions: a list
            of tuples (features, edge_features), the latter of shape (T - 1, E), dense or sparse.
        y : list of T labels each
            Strings or integers; or one flat array with a stacked X.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample; an integer weight equals repetition, 0 removal.
        lengths : array of int or None, default=None
            The lengths of the sequences of a stacked X; None: it is a single sequence.

        Returns
        -------
        self : ChainSVMCV
        """
        if needs_vectorizer(X) or split_chains(X)[1] is not None:  # features of each fold's own; tuples stay tuples
            samples, labels = list(X), list(y)
            if len(labels) != len(samples):
                raise ValueError(f"y has {len(labels)} label sequences, but X has {len(samples)} sequences")
        else:
            rows, offsets, _ = stack_sequences(X, lengths, estimator=type(self).__name__)
            labels = unstack(stack_labels(y, offsets), offsets)
            samples = [rows[a:b] for a, b in pairwise(offsets)]
        found = self._choose(samples, labels, sample_weight)
        self._fit(X, y, lam=found["lam_"], found=found, sample_weight=sample_weight, lengths=lengths)
        return self


class MulticlassSVMCV(PathCV, MulticlassSVM):
    """`MulticlassSVM` with lam chosen by cross-validation.

    The models of all folds go down from a large lam side by side, each from where the larger lam left off, until the
    mean score falls: there is no grid to guess. The lam with the best mean score is then fitted to all data. With the
    fewer samples of a fold lam is larger in proportion: what is compared is ``C = 1/(lam n)``.

    Parameters
    ----------
    lams : iterable of float or None, default=None
        The values to compare, all of them; None: a factor of 3 apart, from 3 times what ``lam=None`` means to where
        the mean score falls, and larger ones if it was best at the first.
    eps : float, default=0.5
        How far above the optimum the training objective of a fold's model may be, as a share of it; or `tol`, where
        that is more (0.001 where it is None).
    cv : int, splitter, iterable or None, default=None
        The number of folds (None: 3, stratified and shuffled), a splitter, or an iterable of (train, test) indices.
    scoring : str, function or None, default=None
        Name of a scorer, see ``metrics.get_scorer``, or a function (estimator, X, y); None: accuracy.
    solver : str or solver object, default="auto"
        How the objective is minimised: "auto", "bcfw", "bcpfw", "bcafw", "fw", "cutting_plane",
        "exponentiated_gradient", "partial_linearization", "svrg", "casimir", "subgradient" or "perceptron", see
        ``docs/solvers.md``; or an object of `maxmargin.solvers`. "auto" takes accelerated pairwise steps on blocks
        drawn by their gaps, with a cache where the oracle is expensive.
    tol : float or None, default=None
        The final fit stops when its certified duality gap is at most this. None: 0.01, or a twentieth of the
        objective where that is less, but not below 0.001.
    max_passes : float, default=1000
        Most passes over the data for each lam, and for the final fit.
    max_seconds : float or None, default=None
        Most seconds for the choice of lam, and for the final fit.
    class_weight : None, "balanced" or dict, default=None
        Multiplies the sample weights.
    random_state : int, RandomState, Generator or None, default=None
        Seed of what the solver draws.
    verbose : int, default=0
        1 shows a progress bar with the gap.
    n_jobs : int or None, default=None
        Threads: folds side by side, steps and certificates; None is 1, -1 all cores.
    scale : bool or None, default=None
        Whether to learn from features divided by their spread and losses divided by the largest ones (``scaling_``);
        fitted weights are for features as they came. None: yes.
    fit_intercept : bool, default=True
        Whether classes have a bias; it is regularised like the other weights.
    cost_matrix : array of shape (K, K) or None, default=None
        Cost of predicting a class (column) for a true class (row), in the order of ``classes_``; None: 1 for every
        wrong one.
    kernel : None, str or function, default=None
        None learns weights of features; "linear", "rbf", "poly", "sigmoid" or a function ``kernel(X, Z)`` learn a
        function of samples, as in `MulticlassSVM`.
    gamma : "scale", "auto" or float, default="scale"
        Of the kernels "rbf", "poly" and "sigmoid"; "scale" is ``1 / (F X.var())``, "auto" ``1 / F``.
    degree : int, default=3
        Of the kernel "poly".
    coef0 : float, default=0.0
        The constant of the kernels "poly" and "sigmoid".

    Attributes
    ----------
    lam_ : float
        That with the best mean score, or nearest to what ``lam=None`` means among those that folds cannot tell from it;
        with `lams` the best, of several the largest. The model is fitted with it to all data.
    scaling_ : Scaling
        What features and losses were divided by.
    lams_ : array of shape (L,)
        The values compared, descending.
    scores_ : array of shape (folds, L)
        Scores of the folds there.
    path_passes_ : float
        Passes over the folds' data.
    path_oracle_calls_ : int
        Oracle calls for the folds.
    coef_ : array of shape (K, F)
        Weights of the features; not with a kernel. A view of the weights, as `intercept_`.
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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVMCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MulticlassSVMCV(random_state=0).fit(X, y)
    >>> model.lam_ in model.lams_, model.scores_.shape[0]
    (True, 3)
    """

    single = MulticlassSVM

    def __init__(
        self,
        *,
        lams: Any = None,
        eps: float = EPS,
        cv: Any = None,
        scoring: Any = None,
        solver: Any = "auto",
        tol: float | None = None,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MulticlassSVMCV:
        """Choose lam and learn from samples.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, F)
            Features.
        y : array of shape (n,)
            Classes, strings or integers.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample; an integer weight equals repetition, 0 removal.

        Returns
        -------
        self : MulticlassSVMCV
        """
        samples, labels = validated(copy.copy(self), X, y)
        classes_of(labels)
        found = self._choose(samples, labels, sample_weight)
        self._fit(X, y, lam=found["lam_"], found=found, sample_weight=sample_weight)
        return self
