"""What estimators of the labels of nodes with edges between them share."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.metaestimators import available_if

from ..structures.graphs import Method, Trees
from ..structures.pairwise import make_pairwise_problem, make_sites
from ._decoding import Scored
from ._encoded import Encoded
from ._labeling import LabelingEstimator
from ._partial import takes_parts
from ._scaling import units_of_sites
from ._weights import as_weights
from .inputs.arrays import rows_of, take
from .inputs.graphs import (
    GRAPHS,
    TREES,
    Graph,
    Split,
    Tree,
    numbered,
    refuse_edges_of_nothing,
    split_samples,
    stack_edge_features,
    stack_edges,
    stack_heads,
)
from .inputs.joining import check_width, follow, stack_rows
from .inputs.labels import stack_labels
from .inputs.masks import read_pair_mask
from .inputs.sequences import new_vectorizer, stack_sequences
from .inputs.weights import check_sample_weight


class Nodes(NamedTuple):
    """Samples with a weight, laid out but for their edges; features and losses have no units yet."""

    rows: Any  # (N, F)
    offsets: np.ndarray
    codes: np.ndarray  # (N,) of the labels among the classes
    classes: np.ndarray
    weight: np.ndarray
    split: Split  # links, and their features
    vectorizer: Any
    kept: np.ndarray  # numbers of the samples in the call that they came with

    def joined(self, more: Nodes) -> Nodes:
        """These, and others after them."""
        return self._replace(
            rows=stack_rows(self.rows, more.rows),
            offsets=follow(self.offsets, more.offsets),
            codes=np.concatenate([self.codes, more.codes]),
            weight=np.concatenate([self.weight, more.weight]),
            split=self.split.joined(more.split),
            kept=np.concatenate([self.kept, more.kept]),
        )


class NodeLabeling(LabelingEstimator):
    """What estimators of the labels of nodes share: all but how edges are given and searched, and what is minimised."""

    kind: type[Tree] | type[Graph]  # of a sample
    transition_mask_: np.ndarray | None
    fit_intercept: bool
    transition_mask: Any

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from samples.

        Parameters
        ----------
        X : list of samples
            `Tree` or `Graph`, as the estimator says, or tuples of what these hold.
        y : list of T labels each
            Strings or integers, one a node.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample; an integer weight equals repetition, 0 removal.

        Returns
        -------
        self : estimator
        """
        self._fit(X, y, sample_weight=sample_weight)
        return self

    @property
    @abstractmethod
    def _method(self) -> Method:
        """How labelings are to be found."""

    @property
    def _settled(self) -> Method:
        """How a fitted model finds them."""
        return self._method

    def _chosen(self, method: Method) -> dict[str, Any]:
        """Attributes that say how labelings were found."""
        return {}

    @property
    def _answers(self) -> frozenset[str]:
        return self._settled.answers

    @abstractmethod
    def _stack_edges(self, links: list[Any], offsets: np.ndarray) -> Any:
        """The edges of all samples, as plans take them."""

    @abstractmethod
    def _edge_matrix(self, plan: Any, features: list[Any], n_features: int | None) -> Any:
        """Features of the plan's edges, in their order."""

    def _edges(
        self, method: Method, given: Split, offsets: np.ndarray, n_labels: int, n_features: int | None = None
    ) -> tuple[Method, Any, Any]:
        """The method that is taken, the plan of the samples' edges, and the matrix of their features, or None."""
        edges = self._stack_edges(given.links, offsets)
        method, plan = method.settle(offsets, edges, n_labels, shared=given.edge_features is None)
        if given.edge_features is None:
            return method, plan, None
        matrix = self._edge_matrix(plan, given.edge_features, n_features)
        method.check_edge_features(plan, matrix)
        return method, plan, matrix

    @available_if(takes_parts)
    @with_callbacks
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from samples that join those of earlier calls.

        The model is then that of `fit` on all of them, with its certificate, and begins where the last one ended: see
        ``docs/continued_training.md``. All samples stay in memory.

        Parameters
        ----------
        X : list of samples
            As in `fit`. Features are those of the first call; of dicts, others are left out.
        y : list of T labels each
            Labels of the first call, or among its `classes`.
        classes : array-like of shape (K,) or None, default=None
            All labels that will ever come, for the first call; None: those of its y.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample of this call.

        Returns
        -------
        self : estimator
        """
        self._fit_part(X, y, classes, sample_weight=sample_weight)
        return self

    def _read(self, X: Any, y: Any, classes: Any, first: Any, sample_weight: Any = None) -> Nodes:
        split, words = split_samples(X, self.kind), self._words
        vectorizer = new_vectorizer(split.features) if first is None else first.vectorizer
        given = stack_sequences(split.features, vectorizer=vectorizer, estimator=type(self).__name__, words=words)
        labels = stack_labels(y, given.offsets, words=words)
        if first is not None:
            self._check_edge_features(split.edge_features)
            check_width(given.rows, self.n_features_in_, type(self).__name__)
        weight = check_sample_weight(sample_weight, len(given.lengths))
        kept = np.flatnonzero(weight)
        rows, offsets, _ = given.as_matrix().take(kept)
        labels, weight = take(labels, rows_of(given.lengths, kept)), take(weight, kept)
        codes, known = self._read_labels(labels, offsets, classes, first, kept)
        links = split.take(kept)._replace(features=[])
        return Nodes(rows, offsets, codes, known, weight, links, vectorizer, kept)

    def _pose(self, samples: Nodes) -> Encoded:
        rows, offsets, codes, classes, weight, split, vectorizer, kept = samples
        n_labels = len(classes)
        with numbered(kept):
            method, plan, edge_matrix = self._edges(self._method, split, offsets, n_labels)
        n_edge_features = None if edge_matrix is None else edge_matrix.shape[1]
        allowed = read_pair_mask(self.transition_mask, classes, codes, plan, kept)
        layout = method.make_weights(
            rows.shape[1], n_labels, intercept=bool(self.fit_intercept), n_edge_features=n_edge_features
        )
        lengths = np.diff(offsets)
        losses = self._losses(classes, codes, offsets, weight)
        edges = None if edge_matrix is None else (edge_matrix, np.diff(plan.edge_offsets))
        units = units_of_sites(self, rows, lengths, weight, losses.lam, losses.largest, edges)
        scaling = units.scaling
        problem = make_pairwise_problem(
            make_sites(scaling.apply(rows), offsets, intercept=layout.intercept, boundary=layout.boundary),
            method.make_links(plan, n_labels, allowed, scaling.apply_to_edges(edge_matrix)),
            plan,
            codes,
            n_labels,
            normalize=losses.normalize,
            cost=losses.cost / scaling.loss,
            sample_weight=weight,
        )
        fitted = {
            "classes_": classes,
            "n_features_in_": rows.shape[1],
            "n_edge_features_in_": n_edge_features,
            "vectorizer_": vectorizer,
            "transition_mask_": allowed,
            **self._chosen(method),
        }
        unpack = partial(as_weights, layout, scaling)
        posed = self._posed(method.make_problem(problem))
        return Encoded(self, posed, units, fitted, unpack, layout.positive, self._penalty)

    def _lay_out(self, X: Any, lengths: Any = None) -> tuple[Scored, bool]:
        self._check_fitted()
        if lengths is not None:
            raise ValueError("lengths goes with sequences stacked in one matrix; trees and graphs come one by one")
        split, n_labels = split_samples(X, self.kind, least=0), len(self.classes_)
        if split.features:
            self._check_edge_features(split.edge_features)
        given = stack_sequences(
            split.features,
            n_features=self.n_features_in_,
            vectorizer=self.vectorizer_,
            estimator=type(self).__name__,
            words=self._words,
        )
        present = np.flatnonzero(given.lengths)
        refuse_edges_of_nothing(split, np.flatnonzero(given.lengths == 0))
        offsets, learned, n_edge_features = np.unique(given.offsets), self._weights, self.n_edge_features_in_
        with numbered(present):
            method, plan, edge_matrix = self._edges(
                self._settled, split.take(present), offsets, n_labels, n_edge_features
            )
        # not the layout of the fit where `inference` was changed since
        layout = method.make_weights(
            self.n_features_in_, n_labels, intercept=learned.layout.intercept, n_edge_features=n_edge_features
        )
        sites = make_sites(given.rows, offsets, intercept=layout.intercept, boundary=layout.boundary)
        links = method.make_links(plan, n_labels, self.transition_mask_, edge_matrix)
        return Scored(sites, links, plan, learned.laid_out(layout), n_labels, self.n_jobs, given.offsets), False


class TreeLabeling(NodeLabeling):
    """What `TreeSVM` and `TreeCRF` share: all but what they minimise."""

    kind = Tree
    _words = TREES

    @property
    def _method(self) -> Method:
        return Trees()

    def _stack_edges(self, links: list[Any], offsets: np.ndarray) -> Any:
        return stack_heads(links, offsets)

    def _edge_matrix(self, plan: Any, features: list[Any], n_features: int | None) -> Any:
        matrix = stack_edge_features(features, np.diff(plan.offsets), n_features)
        first = np.repeat(plan.offsets[:-1], np.diff(plan.edge_offsets))
        return matrix[first + plan.tail]  # an edge goes from a node to its parent


class GraphLabeling(NodeLabeling):
    """What `GraphSVM` and `GraphCRF` share: all but what they minimise and how labelings may be found."""

    kind = Graph
    _words = GRAPHS
    inference: str
    inference_: str
    max_width: int

    def _chosen(self, method: Method) -> dict[str, Any]:
        return {"inference_": method.name}

    def _stack_edges(self, links: list[Any], offsets: np.ndarray) -> Any:
        return stack_edges(links)

    def _edge_matrix(self, plan: Any, features: list[Any], n_features: int | None) -> Any:
        return stack_edge_features(features, np.diff(plan.edge_offsets), n_features)
