"""Labels of nodes with edges between them: `TreeSVM` and `GraphSVM`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.feature_extraction import DictVectorizer
from sklearn.utils.validation import check_is_fitted

from ..inference import relax
from ..structures.masks import TransitionMask
from ..structures.pairwise import make_pairwise_problem, make_sites
from ..structures.relaxed import sample_scores
from ._base import Posed, defaults_of, init_of
from ._decoding import Scored
from ._graph_inference import GRAPHS, TREES, Inference
from ._labeling import LabelingEstimator
from .chain import LOSSES, ChainSVM
from .inputs.graphs import Graph, Split, Tree, split_samples, stack_edge_features
from .inputs.labels import encode_labels, stack_labels, unstack
from .inputs.sequences import needs_vectorizer, stack_sequences
from .inputs.weights import check_cost_matrix, check_sample_weight, class_weights

CHAIN_ONLY = ("fit_boundary", "kernel", "gamma", "degree", "coef0")


PARAMETERS = {name: value for name, value in defaults_of(ChainSVM).items() if name not in CHAIN_ONLY}


class GraphLabeling(LabelingEstimator, ABC):
    """What `TreeSVM` and `GraphSVM` share: all but how edges are given and searched."""

    kind: type[Tree] | type[Graph]  # of a sample
    loss: str
    class_weight: Any
    fit_intercept: bool
    transition_mask: Any
    cost_matrix: Any

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from samples.

        Parameters
        ----------
        X : list of `Tree` or `Graph` samples, as the estimator says, or tuples of what these hold
        y : list of T labels each (strings or integers)
        sample_weight : one weight a sample; an integer weight equals repetition, 0 removal
        """
        self._fit(X, y, sample_weight=sample_weight)
        return self

    @abstractmethod
    def _inference(self) -> Inference:
        """How labelings are found."""

    @abstractmethod
    def _edge_matrix(self, plan: Any, features: list[Any], n_features: int | None) -> Any:
        """Features of the plan's edges, in their order."""

    def _edges(self, given: Split, offsets: np.ndarray, n_labels: int, n_features: int | None = None) -> Any:
        """The plan of the samples' edges, and the matrix of their features if they have any."""
        plan = self._inference().plan(self, given.links, offsets, n_labels, given.edge_features is None)
        return plan, given.edge_features and self._edge_matrix(plan, given.edge_features, n_features)

    def _pose(self, X: Any, y: Any, sample_weight: Any = None, numbers: Any = None) -> Posed:
        """`numbers` are those that users know the samples by."""
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {sorted(LOSSES)}, got {self.loss!r}")
        given = split_samples(X, self.kind)
        vectorizer = DictVectorizer() if needs_vectorizer(given.features) else None
        rows, offsets, _ = stack_sequences(given.features, vectorizer=vectorizer, estimator=type(self).__name__)
        labels = stack_labels(y, offsets)
        codes, classes = encode_labels(labels, offsets)
        weight = check_sample_weight(sample_weight, len(offsets) - 1)
        n_labels = len(classes)
        if not weight.all():
            kept, labels_of = np.flatnonzero(weight), unstack(labels, offsets)
            samples = [X[i] for i in kept], [labels_of[i] for i in kept]
            try:
                return self._pose(*samples, sample_weight=weight[kept], numbers=kept)
            except ValueError:
                self._edges(given, offsets, n_labels)  # tells the same of the sample by the number it was given
                raise
        plan, edge_matrix = self._edges(given, offsets, n_labels)
        numbers = np.arange(len(weight)) if numbers is None else numbers
        allowed = _as_allowed(self.transition_mask, classes, codes, plan, numbers)
        inference = self._inference()
        sites = make_sites(rows, offsets, intercept=bool(self.fit_intercept), boundary=False)
        problem = make_pairwise_problem(
            sites,
            inference.edge_weights.links(plan, n_labels, allowed, edge_matrix),
            plan,
            codes,
            n_labels,
            normalize=LOSSES[self.loss],
            cost=check_cost_matrix(self.cost_matrix, n_labels),
            class_weight=class_weights(self.class_weight, classes, codes, np.repeat(weight, np.diff(offsets))),
            sample_weight=weight,
        )
        fitted = {
            "classes_": classes,
            "n_features_in_": rows.shape[1],
            "n_edge_features_in_": None if edge_matrix is None else edge_matrix.shape[1],
            "vectorizer_": vectorizer,
            "transition_mask_": allowed,
        }
        n_edge_features = 0 if edge_matrix is None else edge_matrix.shape[1]
        positive = inference.edge_weights.positive(sites.n_rows * n_labels, n_edge_features)
        unpack = partial(self._unpack, rows.shape[1], n_labels)
        return Posed(inference.problem(problem), weight.sum(), fitted, unpack, positive)

    def _unpack(self, n_features: int, n_labels: int, w: np.ndarray) -> dict[str, np.ndarray]:
        """The fitted attributes, from the structure's flat weights."""
        n_rows = n_features + bool(self.fit_intercept)
        node, links = w[: n_rows * n_labels].reshape(-1, n_labels), w[n_rows * n_labels :]
        return {
            "coef_": node[:n_features].T,
            "intercept_": node[-1] if self.fit_intercept else np.zeros(n_labels),
            **self._inference().edge_weights.attributes(links, n_labels),
        }

    def _lay_out(self, X: Any, lengths: Any = None) -> tuple[Scored, bool]:
        check_is_fitted(self)
        if lengths is not None:
            raise ValueError("lengths goes with sequences stacked in one matrix; trees and graphs come one by one")
        given = split_samples(X, self.kind)
        self._check_edge_features(given.edge_features)
        rows, offsets, _ = stack_sequences(
            given.features, n_features=self.n_features_in_, vectorizer=self.vectorizer_, estimator=type(self).__name__
        )
        n_labels = len(self.classes_)
        plan, edge_matrix = self._edges(given, offsets, n_labels, self.n_edge_features_in_)
        sites = make_sites(rows, offsets, intercept=True, boundary=False)
        edge_weights = self._inference().edge_weights
        of_edges = edge_weights.flat(self.transitions_, self.edge_coef_)
        w = np.concatenate([self.coef_.T.ravel(), self.intercept_, of_edges])
        links = edge_weights.links(plan, n_labels, self.transition_mask_, edge_matrix)
        return Scored(sites, links, plan, w, n_labels, self.n_jobs), False


def _as_allowed(mask: Any, classes: np.ndarray, codes: np.ndarray, plan: Any, numbers: np.ndarray) -> np.ndarray | None:
    """(K, K) truth values, checked against the training labels."""
    if mask is None:
        return None
    if isinstance(mask, TransitionMask):
        raise ValueError("transition_mask must hold truth values: give TransitionMask.allowed, only chains have ends")
    if isinstance(mask, str):
        raise ValueError(f"transition_mask must be a (K, K) array here, got {mask!r}: names are for chains")
    allowed = np.asarray(mask)
    if allowed.shape != (len(classes), len(classes)):
        raise ValueError(f"transition_mask has shape {allowed.shape}, but there are {len(classes)} labels")
    if not np.isin(allowed, [False, True]).all():
        raise ValueError("transition_mask must hold truth values, True where a pair of labels is allowed")
    allowed = allowed.astype(bool)
    samples = np.repeat(np.arange(len(plan.edge_offsets) - 1), np.diff(plan.edge_offsets))
    first = plan.offsets[samples]
    bad = ~allowed[codes[first + plan.tail], codes[first + plan.head]]
    if bad.any():
        e = int(np.argmax(bad))
        one, other = (str(classes[codes[first[e] + end[e]]]) for end in (plan.tail, plan.head))
        raise ValueError(
            f"y, sample {numbers[samples[e]]}, edge {plan.tail[e]} -> {plan.head[e]}: transition_mask forbids labels "
            f"{one!r}, {other!r}; correct one or allow them"
        )
    return allowed


class TreeSVM(GraphLabeling):
    """Structured SVM for the labels of the nodes of given rooted trees or forests.

    Learns node weights, a weight for each pair of labels of a node and its parent, and weights of edge features, by
    minimising ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the margin-rescaled hinge loss; certified (``gap_``).

    Parameters
    ----------
    transition_mask : (K, K) bool array or None
        Which label of a node (row) may go with which of its parent (column), in the order of ``classes_``.
    others : as in `ChainSVM`, which alone has fit_boundary and kernels

    Attributes
    ----------
    coef_ : (K, F)    intercept_ : (K,)    transitions_ : (K, K), row: label of the node, column: of its parent
    edge_coef_ : (E, K, K), E = 0 without edge features
    classes_, n_features_in_, n_edge_features_in_, vectorizer_, transition_mask_
    primal_, dual_, gap_, status_, solver_, n_passes_, n_oracle_calls_, history_
    """

    kind = Tree

    __init__ = init_of(PARAMETERS)

    def _inference(self) -> Inference:
        return TREES

    def _edge_matrix(self, plan: Any, features: list[Any], n_features: int | None) -> Any:
        matrix = stack_edge_features(features, np.diff(plan.offsets), n_features)
        first = np.repeat(plan.offsets[:-1], np.diff(plan.edge_offsets))
        return matrix[first + plan.tail]  # an edge goes from a node to its parent


class Relaxation(NamedTuple):
    """What a linear relaxation says of samples."""

    labelings: list[np.ndarray]
    scores: np.ndarray  # (n,) of the labelings
    bounds: np.ndarray  # (n,) no labeling scores more; where the two are equal up to rounding, it is the best
    integral: np.ndarray  # (n,) share of nodes where the relaxation has one label alone


class GraphSVM(GraphLabeling):
    """Structured SVM for the labels of the nodes of given graphs.

    Learns node weights, a weight for each pair of labels along an edge, and weights of edge features. Edges have a
    direction: rows of the weights are labels of the first node, columns those of the second.

    Parameters
    ----------
    inference : "junction", "cut" or "lp"
        How labelings are found. Exactly by junction trees, for graphs of low tree-width; or by minimum cuts, for two
        labels and any graph: then an edge costs ``w_0 + <w, edge features>`` where the labels of its ends differ, with
        w >= 0 (kept by the solver) and edge features that are >= 0. Or by a linear relaxation, for any graph: the hinge
        is an upper bound of that over labelings then, certified as any other, and `relaxation` bounds predictions.
    max_width : int
        For "junction": graphs of a larger tree-width are refused, since cost and memory grow with the number of labels
        to its power.
    transition_mask : (K, K) bool array or None
        Which label of an edge's first node (row) may go with which of its second (column). Not for "lp".
    others : as in `ChainSVM`, which alone has fit_boundary and kernels

    Attributes
    ----------
    coef_ : (K, F)    intercept_ : (K,)    transitions_ : (K, K), row: label of the first node, column: of the second
    edge_coef_ : (E, K, K), E = 0 without edge features
    classes_, n_features_in_, n_edge_features_in_, vectorizer_, transition_mask_
    primal_, dual_, gap_, status_, solver_, n_passes_, n_oracle_calls_, history_
    """

    kind = Graph
    inference: str
    max_width: int
    __init__ = init_of({**PARAMETERS, "inference": "junction", "max_width": 8})

    def _inference(self) -> Inference:
        if not isinstance(self.inference, str) or self.inference not in GRAPHS:
            raise ValueError(f"inference must be one of {sorted(GRAPHS)}, got {self.inference!r}")
        return GRAPHS[self.inference]

    def _edge_matrix(self, plan: Any, features: list[Any], n_features: int | None) -> Any:
        matrix = stack_edge_features(features, np.diff(plan.edge_offsets), n_features)
        self._inference().edge_weights.check(plan, matrix)
        return matrix

    def relaxation(self, X: Any) -> Relaxation:
        """How good the labelings of ``inference="lp"`` are known to be: the best that the relaxation leads to.

        Found with more effort than `predict` takes, so where a labeling is not the best known it may be a better one.
        """
        if self._inference().is_exact:
            raise ValueError(f'inference="{self.inference}" finds the best labelings: there is nothing to bound')
        scored, _ = self._lay_out(X)
        scores = sample_scores(scored.sites, scored.links, scored.plan, scored.w, scored.n_labels)
        found = [relax(scored.plan, i, *of_sample) for i, of_sample in enumerate(scores)]
        return Relaxation(
            [self.classes_[one.labels] for one in found],
            np.array([one.labels_value for one in found]),
            np.array([one.bound for one in found]),
            np.array([one.integral.mean() for one in found]),
        )
