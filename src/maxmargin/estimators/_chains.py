"""What estimators of the labels of sequences share."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.metaestimators import available_if

from ..structures.masks import TransitionMask
from ..structures.on_disk import StoredSequences
from ..structures.pairwise import PairwiseWeights, make_chain_problem, make_chains
from ..structures.rows import count_weight_rows
from ._decoding import Scored
from ._encoded import Encoded
from ._kernels import KernelFunction, kernel_rows, kernel_scores, settle_kernel, unpack_kernel
from ._labeling import LabelingEstimator
from ._on_disk import encode_stored, score_stored
from ._partial import takes_parts
from ._scaling import units_of_sites
from ._weights import Learned, as_weights
from .inputs.arrays import rows_of, take
from .inputs.graphs import stack_edge_features
from .inputs.joining import check_width, follow, stack_rows
from .inputs.labels import stack_labels
from .inputs.masks import read_transition_mask
from .inputs.sequences import new_vectorizer, split_chains, stack_sequences
from .inputs.weights import check_sample_weight


class Sequences(NamedTuple):
    """Samples with a weight, laid out; features and losses have no units yet."""

    rows: Any  # (N, F)
    offsets: np.ndarray
    codes: np.ndarray  # (N,) of the labels among the classes
    classes: np.ndarray
    weight: np.ndarray
    edge_matrix: Any  # of transitions, or None
    vectorizer: Any
    kept: np.ndarray  # numbers of the samples in the call that they came with
    positions: np.ndarray  # (N,) numbers of the rows among all that were given
    n_given: int

    def joined(self, more: Sequences) -> Sequences:
        """These, and others after them."""
        edges = None if self.edge_matrix is None else stack_rows(self.edge_matrix, more.edge_matrix)
        return self._replace(
            rows=stack_rows(self.rows, more.rows),
            offsets=follow(self.offsets, more.offsets),
            codes=np.concatenate([self.codes, more.codes]),
            weight=np.concatenate([self.weight, more.weight]),
            edge_matrix=edges,
            kept=np.concatenate([self.kept, more.kept]),
            positions=np.concatenate([self.positions, self.n_given + more.positions]),
            n_given=self.n_given + more.n_given,
        )


class ChainLabeling(LabelingEstimator):
    """What `ChainSVM` and `ChainCRF` share: all but what they minimise."""

    boundary_ = Learned()
    transition_mask_: TransitionMask
    fit_intercept: bool
    fit_boundary: bool
    transition_mask: Any
    kernel: Any = None  # these four are no parameters of those that learn weights of features alone
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 0.0
    _kernel: KernelFunction | None

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, lengths: Any = None) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : list of arrays or sparse matrices of shape (T, F)
            Or lists of T feature dicts each, or one stacked matrix with `lengths`. With features of transitions: a list
            of tuples (features, edge_features), the latter of shape (T - 1, E), dense or sparse. Or samples on disk,
            see ``docs/larger_than_memory.md``.
        y : list of T labels each
            Strings or integers; or one flat array with a stacked X. Samples on disk have labels already: None.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample; an integer weight equals repetition, 0 removal.
        lengths : array of int or None, default=None
            The lengths of the sequences of a stacked X; None: it is a single sequence.

        Returns
        -------
        self : estimator
        """
        self._fit(X, y, sample_weight=sample_weight, lengths=lengths)
        return self

    @available_if(takes_parts)
    @with_callbacks
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, lengths: Any = None) -> Self:
        """Learn from sequences that join those of earlier calls.

        The model is then that of `fit` on all of them, with its certificate, and begins where the last one ended: see
        ``docs/continued_training.md``. All samples stay in memory.

        Parameters
        ----------
        X : list of arrays or sparse matrices of shape (T, F)
            As in `fit`. Features are those of the first call; of dicts, others are left out.
        y : list of T labels each
            Labels of the first call, or among its `classes`.
        classes : array-like of shape (K,) or None, default=None
            All labels that will ever come, for the first call; None: those of its y.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample of this call.
        lengths : array of int or None, default=None
            The lengths of the sequences of a stacked X.

        Returns
        -------
        self : estimator
        """
        if isinstance(X, StoredSequences):
            raise TypeError(
                "partial_fit keeps all samples in memory, and these are on disk: write all, and fit to them"
            )
        self._fit_part(X, y, classes, sample_weight=sample_weight, lengths=lengths)
        return self

    def encode(self, X: Any, y: Any, *args: Any, **given: Any) -> Encoded:
        if isinstance(X, StoredSequences):
            return encode_stored(self, X, y, *args, **given)
        return super().encode(X, y, *args, **given)

    def _read(
        self, X: Any, y: Any, classes: Any, first: Any, sample_weight: Any = None, lengths: Any = None
    ) -> Sequences:
        features, edge_features = split_chains(X)
        vectorizer = new_vectorizer(features) if first is None else first.vectorizer
        given = stack_sequences(features, lengths, vectorizer=vectorizer, estimator=type(self).__name__)
        labels = stack_labels(y, given.offsets)
        if first is not None:
            self._check_edge_features(edge_features)
            check_width(given.rows, self.n_features_in_, type(self).__name__)
        edge_matrix = _edge_matrix(edge_features, given.lengths, first and self.n_edge_features_in_)
        weight = check_sample_weight(sample_weight, len(given.lengths))
        kept = np.flatnonzero(weight)
        positions = rows_of(given.lengths, kept)
        rows, offsets, _ = given.as_matrix().take(kept)
        labels, weight = take(labels, positions), take(weight, kept)
        if edge_matrix is not None:
            edge_matrix = take(edge_matrix, rows_of(given.lengths - 1, kept))
        codes, known = self._read_labels(labels, offsets, classes, first, kept)
        n_given = int(given.offsets[-1])
        return Sequences(rows, offsets, codes, known, weight, edge_matrix, vectorizer, kept, positions, n_given)

    def _pose(self, samples: Sequences) -> Encoded:
        rows, offsets, codes, classes, weight, edge_matrix, vectorizer, kept, positions, n_given = samples
        mask = read_transition_mask(self.transition_mask, classes, codes, offsets, kept)
        function = settle_kernel(self.kernel, self.gamma, self.degree, self.coef0, rows)
        matrix: Any = rows if function is None else kernel_rows(function, rows, positions, n_given)
        lengths = np.diff(offsets)
        losses = self._losses(classes, codes, offsets, weight)
        edges = None if edge_matrix is None else (edge_matrix, lengths - 1)
        units = units_of_sites(self, matrix, lengths, weight, losses.lam, losses.largest, edges)
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
            normalize=losses.normalize,
            cost=losses.cost / scaling.loss,
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
        return Encoded(self, self._posed(problem), units, fitted, unpack, l1=self._penalty)

    def predict(self, X: Any, lengths: Any = None) -> Any:
        if isinstance(X, StoredSequences):
            return [labels for some, _ in X.batches() for labels in super(ChainLabeling, self).predict(some)]
        return super().predict(X, lengths)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, lengths: Any = None) -> float:
        if isinstance(X, StoredSequences):
            return score_stored(super().score, X, sample_weight)
        return super().score(X, y, sample_weight, lengths)

    def _lay_out(self, X: Any, lengths: Any = None) -> tuple[Scored, bool]:
        self._check_fitted()
        if isinstance(X, StoredSequences):
            raise TypeError("samples on disk are for fit, predict and score: else take X of samples.batches()")
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
            given.offsets if given.lengths.all() else np.unique(given.offsets),  # without sequences of no position
            intercept=layout.intercept,
            boundary=layout.boundary,
            mask=self.transition_mask_,
            edge_matrix=_edge_matrix(edge_features, given.lengths, self.n_edge_features_in_),
        )
        w = self._weights.laid_out(layout)
        return Scored(*parts, w, layout.n_labels, self.n_jobs, given.offsets), given.flat


def _edge_matrix(edge_features: list[Any] | None, lengths: np.ndarray, n_features: int | None = None) -> Any:
    return None if edge_features is None else stack_edge_features(edge_features, np.maximum(lengths - 1, 0), n_features)
