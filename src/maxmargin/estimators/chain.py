"""Sequence labelling: `ChainSVM`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.feature_extraction import DictVectorizer
from sklearn.utils.validation import check_is_fitted

from ..structures.masks import TransitionMask, bio_mask
from ..structures.pairwise import make_chain_problem, make_chains
from ._base import Posed
from ._decoding import Scored
from ._kernels import KernelFunction, kernel_rows, kernel_scores, settle_kernel, unpack_support
from ._labeling import LabelingEstimator
from .inputs.graphs import stack_edge_features
from .inputs.labels import encode_labels, stack_labels
from .inputs.sequences import Stacked, needs_vectorizer, split_chains, stack_sequences
from .inputs.weights import check_cost_matrix, check_sample_weight, class_weights

LOSSES = {"hamming": True, "hamming_sum": False}  # whether the loss is divided by the length


class ChainSVM(LabelingEstimator):
    """Linear-chain structured SVM for sequence labelling.

    Learns node weights, transitions and biases by minimising ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the
    margin-rescaled hinge loss, and certifies how far from the optimum it stopped (``gap_``).

    Parameters
    ----------
    lam : float or None
        Regularisation; None means 1 / (sum of sample weights). ``C = 1 / (lam n)`` in SVM^struct's terms.
    solver : "auto", "bcfw", "fw" or a solver object
    tol : float
        Stop when the certified duality gap is at most this.
    max_passes, max_seconds : stop after this much effort
    loss : "hamming" (share of wrong labels) or "hamming_sum" (their number)
    class_weight : None, "balanced" or dict
        Weighs the loss of positions with that true label.
    random_state : int, RandomState, Generator or None
    verbose : int
        1 shows a progress bar with the gap.
    n_jobs : int or None
        Threads for certificates and predictions; -1 for all cores.
    warm_start : bool
        Whether a second ``fit`` on the same data goes on where the first one stopped.
    fit_intercept, fit_boundary : bool
        Whether labels have a bias, and the first and last position biases of their own.
    transition_mask : None, "bio", (K, K) bool array or `TransitionMask`
        Which label (row) may be followed by which (column), in the order of ``classes_``; "bio" reads the rules off
        label names such as ``B-NP``.
    cost_matrix : (K, K) array or None
        Cost of a label (column) at a position with that true label (row), in the order of ``classes_``.
    kernel : None, "linear", "rbf", "poly", "sigmoid", "precomputed" or a function
        None learns weights of features. A kernel learns a function of positions by its coefficients at the training
        positions instead; it must be positive semi-definite. "precomputed": X holds
        kernel values, (T, N) a sequence; the N columns are the training positions, sequence after sequence. A function
        ``kernel(X, Z)`` gives the values (n, m) of all pairs of rows.
    gamma, degree, coef0 : parameters of the kernel, as in scikit-learn's ``SVC``

    Attributes
    ----------
    coef_ : (K, F)    transitions_ : (K, K), row to column    intercept_ : (K,)    boundary_ : (2, K), first and last
    edge_coef_ : (E, K, K), weights of features of transitions, E = 0 without any
    with a kernel, instead of coef_: support_ : (m,), training positions (counted over all sequences) with coefficients
        other than 0    dual_coef_ : (m, K)    support_vectors_ : (m, F), not for "precomputed"
    classes_, n_features_in_, n_edge_features_in_, transition_mask_, vectorizer_ (None unless X were feature dicts)
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
        loss: str = "hamming",
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        warm_start: bool = False,
        fit_intercept: bool = True,
        fit_boundary: bool = True,
        transition_mask: Any = None,
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
        self.loss = loss
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.fit_boundary = fit_boundary
        self.transition_mask = transition_mask
        self.cost_matrix = cost_matrix
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, lengths: Any = None) -> ChainSVM:
        """Learn from sequences.

        Parameters
        ----------
        X : list of (T, F) arrays or sparse matrices, one stacked matrix with `lengths`, or lists of feature dicts. With
            features of transitions: a list of tuples (features, edge_features), the latter (T - 1, E), dense or sparse
        y : list of T labels each (strings or integers), or one flat array with a stacked X
        sample_weight : one weight a sequence; an integer weight equals repetition, 0 removal
        lengths : lengths of the sequences of a stacked X; None: it is a single sequence
        """
        self._fit(X, y, sample_weight=sample_weight, lengths=lengths)
        return self

    def _pose(self, X: Any, y: Any, sample_weight: Any = None, lengths: Any = None) -> Posed:
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {sorted(LOSSES)}, got {self.loss!r}")
        features, edge_features = split_chains(X)
        vectorizer = DictVectorizer() if needs_vectorizer(features) else None
        stacked = stack_sequences(features, lengths, vectorizer=vectorizer, estimator=type(self).__name__)
        labels = stack_labels(y, stacked.offsets)
        weight = check_sample_weight(sample_weight, len(stacked.offsets) - 1)
        kept = weight > 0
        kept_rows = np.repeat(kept, np.diff(stacked.offsets))
        edge_matrix = self._edge_matrix(edge_features, stacked.offsets, None)
        if edge_matrix is not None:
            edge_matrix = edge_matrix[np.flatnonzero(np.repeat(kept, np.diff(stacked.offsets) - 1))]
        rows, offsets, labels, weight = _drop_weightless(stacked, labels, weight)
        codes, classes = encode_labels(labels, offsets)
        mask = _as_mask(self.transition_mask, classes, codes, offsets, np.flatnonzero(kept))
        function = settle_kernel(self.kernel, self.gamma, self.degree, self.coef0, rows)
        problem = make_chain_problem(
            rows if function is None else kernel_rows(function, rows, kept_rows),
            offsets,
            codes,
            len(classes),
            intercept=bool(self.fit_intercept),
            boundary=bool(self.fit_boundary),
            normalize=LOSSES[self.loss],
            cost=check_cost_matrix(self.cost_matrix, len(classes)),
            class_weight=class_weights(self.class_weight, classes, codes, np.repeat(weight, np.diff(offsets))),
            sample_weight=weight,
            mask=mask,
            edge_matrix=edge_matrix,
        )
        if function is None:
            unpack = partial(self._unpack, rows.shape[1], len(classes))
        else:
            unpack = partial(self._unpack_kernel, function, rows, kept_rows, len(codes), len(classes))
        fitted = {
            "classes_": classes,
            "n_features_in_": rows.shape[1],
            "n_edge_features_in_": None if edge_matrix is None else edge_matrix.shape[1],
            "vectorizer_": vectorizer,
            "transition_mask_": mask,
            "_kernel": function,
        }
        return Posed(problem, weight.sum(), fitted, unpack)

    def _lay_out(self, X: Any, lengths: Any = None) -> tuple[Scored, bool]:
        check_is_fitted(self)
        features, edge_features = split_chains(X)
        self._check_edge_features(edge_features)
        stacked = stack_sequences(
            features,
            lengths,
            n_features=self.n_features_in_,
            vectorizer=self.vectorizer_,
            estimator=type(self).__name__,
        )
        parts = make_chains(
            stacked.rows if self._kernel is None else kernel_scores(self, stacked.rows),
            stacked.offsets,
            intercept=True,  # biases that were not learned are stored as zeros
            boundary=True,
            mask=self.transition_mask_,
            edge_matrix=self._edge_matrix(edge_features, stacked.offsets, self.n_edge_features_in_),
        )
        return Scored(*parts, self._pack(), len(self.classes_), self.n_jobs), stacked.flat

    @staticmethod
    def _edge_matrix(edge_features: list[Any] | None, offsets: np.ndarray, n_features: int | None) -> Any:
        return None if edge_features is None else stack_edge_features(edge_features, np.diff(offsets) - 1, n_features)

    def _pack(self) -> np.ndarray:
        """The flat weights of the structure, from the fitted attributes; scores from a kernel are weighed by 1."""
        node = self.coef_.T if self._kernel is None else np.eye(len(self.classes_))
        links = [self.transitions_] if self.n_edge_features_in_ is None else [self.transitions_, self.edge_coef_]
        return np.concatenate([part.ravel() for part in [node, self.intercept_, self.boundary_, *links]])

    def _unpack_kernel(
        self,
        function: KernelFunction,
        rows: Any,
        kept_rows: np.ndarray,
        n_positions: int,
        n_labels: int,
        w: np.ndarray,
    ) -> dict[str, np.ndarray]:
        found = self._unpack(2 * n_positions, n_labels, w)
        found = {name: np.copy(part) for name, part in found.items() if name != "coef_"}
        return {**unpack_support(function, rows, kept_rows, w, n_labels), **found}

    def _unpack(self, n_features: int, n_labels: int, w: np.ndarray) -> dict[str, np.ndarray]:
        """The fitted attributes, from the structure's flat weights."""
        n_rows = n_features + bool(self.fit_intercept) + 2 * bool(self.fit_boundary)
        node, links = (
            w[: n_rows * n_labels].reshape(-1, n_labels),
            w[n_rows * n_labels :].reshape(-1, n_labels, n_labels),
        )
        nothing = np.zeros((1, n_labels))
        extras = node[n_features:]
        intercept, boundary = np.split(extras, [int(bool(self.fit_intercept))])
        return {
            "coef_": node[:n_features].T,
            "transitions_": links[0],
            "edge_coef_": links[1:],
            "intercept_": (intercept if len(intercept) else nothing)[0],
            "boundary_": boundary if len(boundary) else np.zeros((2, n_labels)),
        }


def _drop_weightless(stacked: Stacked, labels: np.ndarray, weight: np.ndarray) -> tuple[Any, np.ndarray, Any, Any]:
    """Rows, offsets, labels and weights without the sequences of weight 0."""
    rows, offsets = stacked.rows, stacked.offsets
    if np.all(weight > 0):
        return rows, offsets, labels, weight
    lengths = np.diff(offsets)
    kept = np.repeat(weight > 0, lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths[weight > 0])])
    return rows[np.flatnonzero(kept)], offsets, labels[kept], weight[weight > 0]


def _as_mask(
    mask: Any, classes: np.ndarray, codes: np.ndarray, offsets: np.ndarray, samples: np.ndarray
) -> TransitionMask:
    """The mask a user means, checked against the training labels; `samples` are the numbers users know them by."""
    n_labels = len(classes)
    if mask is None:
        return TransitionMask.everything(n_labels)
    if isinstance(mask, str):
        if mask != "bio":
            raise ValueError(f'transition_mask must be None, "bio", a (K, K) array or a TransitionMask, got {mask!r}')
        mask = bio_mask(classes)
    if not isinstance(mask, TransitionMask):
        mask = TransitionMask.everything(n_labels)._replace(allowed=np.asarray(mask))
    for name, array in mask._asdict().items():
        # scores such as 0 and -inf would mean the reverse if taken for truth values
        if not np.isin(array, [False, True]).all():
            raise ValueError(f"transition_mask: {name} must hold truth values, True where a move is allowed")
    mask = mask.check(n_labels)
    violation = mask.first_violation(codes, offsets)
    if violation is not None:
        sample, position = violation
        at = offsets[sample] + position
        before = repr(str(classes[codes[at - 1]])) if position else "the start"
        raise ValueError(
            f"y, sample {samples[sample]}, position {position}: label {str(classes[codes[at]])!r} after {before} "
            "(or at the end) is forbidden by transition_mask; correct the label or allow it"
        )
    return mask
