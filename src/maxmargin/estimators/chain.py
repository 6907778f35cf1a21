"""Sequence labelling: `ChainSVM`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from ..structures.masks import TransitionMask
from ..structures.pairwise import PairwiseWeights, make_chain_problem, make_chains
from ..structures.rows import count_weight_rows
from ._decoding import Scored
from ._encoded import Encoded
from ._kernels import KernelFunction, kernel_rows, kernel_scores, settle_kernel, unpack_kernel
from ._labeling import LabelingEstimator
from ._scaling import mean_largest_loss, normalizes, units_of_sites
from ._weights import Learned, as_weights
from .inputs.arrays import rows_of, take
from .inputs.graphs import stack_edge_features
from .inputs.labels import encode_labels, stack_labels
from .inputs.masks import read_transition_mask
from .inputs.sequences import new_vectorizer, split_chains, stack_sequences
from .inputs.weights import check_sample_weight, label_costs


class ChainSVM(LabelingEstimator):
    """Linear-chain structured SVM for sequence labelling.

    Learns node weights, transitions and biases by minimising ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the
    margin-rescaled hinge loss, and certifies how far from the optimum it stopped (``gap_``).

    Parameters
    ----------
    lam : float, "cv" or None, default=None
        Regularisation, > 0. None leaves it to a rule that suits features and losses of any scale, see
        ``docs/regularization.md``; "cv" chooses it by cross-validation. A number is that of the plain objective,
        ``C = 1 / (lam n)`` in the terms of other SVMs.
    solver : str or solver object, default="auto"
        How the objective is minimised: "auto", "bcfw", "bcpfw", "bcafw", "fw", "cutting_plane",
        "exponentiated_gradient", "partial_linearization", "subgradient" or "perceptron", see ``docs/solvers.md``; or an
        object of `maxmargin.solvers`. "auto" takes accelerated pairwise steps on blocks drawn by their gaps, with a
        cache where the oracle is expensive.
    tol : float or None, default=None
        Stop when the certified duality gap is at most this. None: 0.01, or a twentieth of the objective where that is
        less, but not below 0.001.
    max_passes : float, default=1000
        Stop after so many passes over the data, with a warning.
    max_seconds : float or None, default=None
        Stop after so many seconds.
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
        Threads for certificates and predictions; None is 1, -1 all cores.
    warm_start : bool, default=False
        Whether a second `fit` on the same data goes on where the first one stopped.
    scale : bool or None, default=None
        Whether to learn from features divided by their spread and losses divided by the largest ones (``scaling_``);
        fitted weights are for features as they came. None: where lam is left to the rule or to cross-validation.
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
        None learns weights of features. A kernel learns a function of positions by its coefficients at the training
        positions instead; it must be positive semi-definite: "linear", "rbf", "poly", "sigmoid", or a function
        ``kernel(X, Z)`` that gives the values (n, m) of all pairs of rows. With "precomputed", X holds kernel values,
        (T, N) a sequence; the N columns are the training positions, sequence after sequence.
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
        Weights of the features; not with a kernel. As `intercept_`, `boundary_`, `transitions_` and `edge_coef_` it is
        a view of the weights: what is changed in place, or assigned, changes the predictions.
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

    See Also
    --------
    ChainSVMCV : Chooses lam by cross-validation.
    TreeSVM, GraphSVM : Labels of nodes with other edges between them.

    Examples
    --------
    >>> from maxmargin import ChainSVM
    >>> from maxmargin.datasets import load_dates
    >>> dates = load_dates(n_train=30, n_test=20)
    >>> reader = ChainSVM(lam=0.03, random_state=0).fit(dates.X_train, dates.y_train)
    >>> bool(reader.gap_ <= 0.01)
    True
    >>> reader.score(dates.X_test, dates.y_test) > 0.7  # a quarter of the digits is illegible
    True
    >>> reader.predict(dates.X_test)[0].shape, reader.transitions_.shape
    ((8,), (10, 10))
    """

    boundary_ = Learned()
    transition_mask_: TransitionMask
    loss: str | None
    class_weight: Any
    fit_intercept: bool
    fit_boundary: bool
    transition_mask: Any
    cost_matrix: Any
    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    _kernel: KernelFunction | None

    def __init__(
        self,
        lam: float | str | None = None,
        *,
        solver: Any = "auto",
        tol: float | None = None,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        loss: str | None = None,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        warm_start: bool = False,
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None, lengths: Any = None) -> ChainSVM:
        """Learn from sequences.

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
        self : ChainSVM
        """
        self._fit(X, y, sample_weight=sample_weight, lengths=lengths)
        return self

    def encode(self, X: Any, y: Any, sample_weight: Any = None, lengths: Any = None) -> Encoded:
        normalize = normalizes(self)
        features, edge_features = split_chains(X)
        vectorizer = new_vectorizer(features)
        given = stack_sequences(features, lengths, vectorizer=vectorizer, estimator=type(self).__name__)
        labels = stack_labels(y, given.offsets)
        edge_matrix = _edge_matrix(edge_features, given.lengths)
        weight = check_sample_weight(sample_weight, len(given.lengths))
        kept = np.flatnonzero(weight)
        positions = rows_of(given.lengths, kept)
        rows, offsets, _ = given.take(kept)
        labels, weight = take(labels, positions), take(weight, kept)
        if edge_matrix is not None:
            edge_matrix = take(edge_matrix, rows_of(given.lengths - 1, kept))

        codes, classes = encode_labels(labels, offsets)
        mask = read_transition_mask(self.transition_mask, classes, codes, offsets, kept)
        function = settle_kernel(self.kernel, self.gamma, self.degree, self.coef0, rows)
        matrix: Any = rows if function is None else kernel_rows(function, rows, positions, int(given.offsets[-1]))
        lengths = np.diff(offsets)
        costs = label_costs(self.cost_matrix, self.class_weight, classes, codes, np.repeat(weight, lengths))
        worst = mean_largest_loss(costs.max(axis=1)[codes], offsets, normalize, weight)
        edges = None if edge_matrix is None else (edge_matrix, lengths - 1)
        units = units_of_sites(self, matrix, lengths, weight, worst, edges)
        scaling = units.scaling
        matrix = scaling.apply(rows) if function is None else scaling.apply_to_kernel(matrix, function.makes_values)
        n_edge_features = None if edge_matrix is None else edge_matrix.shape[1]
        layout = PairwiseWeights(
            count_weight_rows(matrix),
            len(classes),
            bool(self.fit_intercept),
            bool(self.fit_boundary),
            n_edge_features or 0,
        )
        problem = make_chain_problem(
            matrix,
            offsets,
            codes,
            len(classes),
            intercept=layout.intercept,
            boundary=layout.boundary,
            normalize=normalize,
            cost=costs / scaling.loss,
            sample_weight=weight,
            mask=mask,
            edge_matrix=scaling.apply_to_edges(edge_matrix),
        )
        if function is None:
            unpack = partial(as_weights, layout, scaling)
        else:
            unpack = partial(unpack_kernel, function, rows, positions, layout, scaling)
        fitted = {
            "classes_": classes,
            "n_features_in_": rows.shape[1],
            "n_edge_features_in_": n_edge_features,
            "vectorizer_": vectorizer,
            "transition_mask_": mask,
            "_kernel": function,
        }
        return Encoded(self, problem, units, fitted, unpack)

    def _lay_out(self, X: Any, lengths: Any = None) -> tuple[Scored, bool]:
        self._check_fitted()
        features, edge_features = split_chains(X)
        if not (isinstance(features, (list, tuple)) and not features):  # nothing comes with nothing
            self._check_edge_features(edge_features)
        given = stack_sequences(
            features,
            lengths,
            n_features=self.n_features_in_,
            vectorizer=self.vectorizer_,
            estimator=type(self).__name__,
        )
        layout: Any = self._weights.layout
        parts = make_chains(
            given.rows if self._kernel is None else kernel_scores(self, given.matrix),
            np.unique(given.offsets),  # without sequences of no position
            intercept=layout.intercept,
            boundary=layout.boundary,
            mask=self.transition_mask_,
            edge_matrix=_edge_matrix(edge_features, given.lengths, self.n_edge_features_in_),
        )
        w = self._weights.laid_out(layout)
        return Scored(*parts, w, layout.n_labels, self.n_jobs, given.offsets), given.flat


def _edge_matrix(edge_features: list[Any] | None, lengths: np.ndarray, n_features: int | None = None) -> Any:
    return None if edge_features is None else stack_edge_features(edge_features, np.maximum(lengths - 1, 0), n_features)
