"""Labels of nodes with edges between them: `TreeSVM` and `GraphSVM`."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.feature_extraction import DictVectorizer
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_choice
from ..structures.graphs import BOUNDS, GRAPH_METHODS, Method, Trees
from ..structures.pairwise import make_pairwise_problem, make_sites
from ..structures.relaxed import relax_samples
from ._decoding import Scored
from ._encoded import Encoded
from ._labeling import LabelingEstimator, answers
from ._weights import as_weights
from .inputs.arrays import rows_of, take
from .inputs.graphs import Graph, Split, Tree, numbered, split_samples, stack_edge_features, stack_edges, stack_heads
from .inputs.labels import encode_labels, stack_labels
from .inputs.masks import read_pair_mask
from .inputs.sequences import needs_vectorizer, stack_sequences
from .inputs.weights import check_cost_matrix, check_loss, check_sample_weight, class_weights


class GraphLabeling(LabelingEstimator):
    """What `TreeSVM` and `GraphSVM` share: all but how edges are given and searched."""

    kind: type[Tree] | type[Graph]  # of a sample
    transition_mask_: np.ndarray | None
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
        """How labelings are found."""

    @property
    def _answers(self) -> frozenset[str]:  # type: ignore[override]
        return self._method.answers

    @abstractmethod
    def _stack_edges(self, links: list[Any], offsets: np.ndarray) -> Any:
        """The edges of all samples, as plans take them."""

    @abstractmethod
    def _edge_matrix(self, plan: Any, features: list[Any], n_features: int | None) -> Any:
        """Features of the plan's edges, in their order."""

    def _edges(self, given: Split, offsets: np.ndarray, n_labels: int, n_features: int | None = None) -> Any:
        """The plan of the samples' edges, and the matrix of their features if they have any."""
        edges = self._stack_edges(given.links, offsets)
        plan = self._method.make_plan(offsets, edges, n_labels, shared=given.edge_features is None)
        if given.edge_features is None:
            return plan, None
        matrix = self._edge_matrix(plan, given.edge_features, n_features)
        self._method.check_edge_features(plan, matrix)
        return plan, matrix

    def encode(self, X: Any, y: Any, sample_weight: Any = None) -> Encoded:
        normalize, method = check_loss(self.loss), self._method
        split = split_samples(X, self.kind)
        vectorizer = DictVectorizer() if needs_vectorizer(split.features) else None
        given = stack_sequences(split.features, vectorizer=vectorizer, estimator=type(self).__name__)
        labels = stack_labels(y, given.offsets)
        weight = check_sample_weight(sample_weight, len(given.lengths))
        kept = np.flatnonzero(weight)
        rows, offsets, _ = given.take(kept)
        labels, weight = take(labels, rows_of(given.lengths, kept)), take(weight, kept)

        codes, classes = encode_labels(labels, offsets)
        n_labels = len(classes)
        with numbered(kept):
            plan, edge_matrix = self._edges(split.take(kept), offsets, n_labels)
        n_edge_features = None if edge_matrix is None else edge_matrix.shape[1]
        allowed = read_pair_mask(self.transition_mask, classes, codes, plan, kept)
        layout = method.make_weights(
            rows.shape[1], n_labels, intercept=bool(self.fit_intercept), n_edge_features=n_edge_features
        )
        problem = make_pairwise_problem(
            make_sites(rows, offsets, intercept=layout.intercept, boundary=layout.boundary),
            method.make_links(plan, n_labels, allowed, edge_matrix),
            plan,
            codes,
            n_labels,
            normalize=normalize,
            cost=check_cost_matrix(self.cost_matrix, n_labels),
            class_weight=class_weights(self.class_weight, classes, codes, np.repeat(weight, np.diff(offsets))),
            sample_weight=weight,
        )
        fitted = {
            "classes_": classes,
            "n_features_in_": rows.shape[1],
            "n_edge_features_in_": n_edge_features,
            "vectorizer_": vectorizer,
            "transition_mask_": allowed,
        }
        unpack = partial(as_weights, layout)
        return Encoded(self, method.make_problem(problem), weight.sum(), fitted, unpack, layout.positive)

    def _lay_out(self, X: Any, lengths: Any = None) -> tuple[Scored, bool]:
        check_is_fitted(self)
        if lengths is not None:
            raise ValueError("lengths goes with sequences stacked in one matrix; trees and graphs come one by one")
        split, method = split_samples(X, self.kind), self._method
        self._check_edge_features(split.edge_features)
        given = stack_sequences(
            split.features, n_features=self.n_features_in_, vectorizer=self.vectorizer_, estimator=type(self).__name__
        )
        n_labels, learned, n_edge_features = len(self.classes_), self._weights, self.n_edge_features_in_
        with numbered(np.arange(len(given.lengths))):
            plan, edge_matrix = self._edges(split, given.offsets, n_labels, n_edge_features)
        # not the layout of the fit where `inference` was changed since
        layout = method.make_weights(
            self.n_features_in_, n_labels, intercept=learned.layout.intercept, n_edge_features=n_edge_features
        )
        sites = make_sites(given.rows, given.offsets, intercept=layout.intercept, boundary=layout.boundary)
        links = method.make_links(plan, n_labels, self.transition_mask_, edge_matrix)
        return Scored(sites, links, plan, learned.laid_out(layout), n_labels, self.n_jobs), False


class TreeSVM(GraphLabeling):
    """Structured SVM for the labels of the nodes of given rooted trees or forests.

    Learns node weights, a weight for each pair of labels of a node and its parent, and weights of edge features, by
    minimising ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the margin-rescaled hinge loss; certified (``gap_``).

    Parameters
    ----------
    lam : float or None, default=None
        Regularisation, > 0; None means 1 / (sum of sample weights). ``C = 1 / (lam n)`` in the terms of other SVMs.
    solver : str or solver object, default="auto"
        How the objective is minimised: "auto", "bcfw", "bcpfw", "bcafw", "fw", "cutting_plane",
        "exponentiated_gradient", "subgradient" or "perceptron", see ``docs/solvers.md``; or an object of
        `maxmargin.solvers`. "auto" takes accelerated pairwise steps on blocks drawn by their gaps, with a cache where
        the oracle is expensive.
    tol : float, default=1e-2
        Stop when the certified duality gap is at most this.
    max_passes : float, default=1000
        Stop after so many passes over the data, with a warning.
    max_seconds : float or None, default=None
        Stop after so many seconds.
    loss : {"hamming", "hamming_sum"}, default="hamming"
        The share of wrong labels of a sample, or their number.
    class_weight : None, "balanced" or dict, default=None
        Multiplies the loss of nodes with that true label.
    random_state : int, RandomState, Generator or None, default=None
        Seed of what the solver draws.
    verbose : int, default=0
        1 shows a progress bar with the gap.
    n_jobs : int or None, default=None
        Threads for certificates and predictions; None is 1, -1 all cores.
    warm_start : bool, default=False
        Whether a second `fit` on the same data goes on where the first one stopped.
    fit_intercept : bool, default=True
        Whether labels have a bias; it is regularised like the other weights.
    transition_mask : array of shape (K, K) or None, default=None
        Which label of a node (row) may go with which of its parent (column), in the order of ``classes_``.
    cost_matrix : array of shape (K, K) or None, default=None
        Cost of a label (column) at a site with that true label (row), in the order of ``classes_``; None: 1 for every
        wrong one.

    Attributes
    ----------
    coef_ : array of shape (K, F)
        Weights of the features of nodes. As `intercept_`, `transitions_` and `edge_coef_` it is a view of the weights:
        what is changed in place, or assigned, changes the predictions.
    intercept_ : array of shape (K,)
        Biases of the labels; 0, and read-only, without `fit_intercept`.
    transitions_ : array of shape (K, K)
        Weights of the label of a node (row) with that of its parent (column).
    edge_coef_ : array of shape (E, K, K)
        The same for features of edges; E = 0 without any.
    classes_ : array of shape (K,)
        The labels, sorted.
    n_features_in_ : int
        F, the number of features.
    n_edge_features_in_ : int or None
        E, the number of features of edges; None where X came without.
    transition_mask_ : array of shape (K, K) or None
        What was allowed.
    vectorizer_ : DictVectorizer or None
        What makes features of dicts; None where X came without.
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
    Tree : A sample.
    GraphSVM : Labels of the nodes of any graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Tree, TreeSVM
    >>> heads = [-1, 0, 0, 1]  # node 0 is the root
    >>> trees = [Tree(np.eye(2)[labels], heads) for labels in ([0, 1, 1, 0], [1, 0, 0, 1])]
    >>> model = TreeSVM(lam=0.1, random_state=0).fit(trees, [["a", "b", "b", "a"], ["b", "a", "a", "b"]])
    >>> nothing = np.zeros((3, 2))  # neighbours tell nodes without features
    >>> [label.item() for label in model.predict([Tree(np.vstack([[1, 0], nothing]), heads)])[0]]
    ['a', 'b', 'b', 'a']
    """

    kind = Tree

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
        transition_mask: Any = None,
        cost_matrix: Any = None,
    ):
        self._keep(locals())

    @property
    def _method(self) -> Method:
        return Trees()

    def _stack_edges(self, links: list[Any], offsets: np.ndarray) -> Any:
        return stack_heads(links, offsets)

    def _edge_matrix(self, plan: Any, features: list[Any], n_features: int | None) -> Any:
        matrix = stack_edge_features(features, np.diff(plan.offsets), n_features)
        first = np.repeat(plan.offsets[:-1], np.diff(plan.edge_offsets))
        return matrix[first + plan.tail]  # an edge goes from a node to its parent


class Relaxation(NamedTuple):
    """What a linear relaxation says of samples.

    Parameters
    ----------
    labelings : list of arrays of shape (T,)
        The best labelings that it leads to.
    scores : array of shape (n,)
        Their scores.
    bounds : array of shape (n,)
        No labeling scores more; where the two are equal up to rounding, it is the best.
    integral : array of shape (n,)
        The share of nodes where the relaxation has one label alone.
    """

    labelings: list[np.ndarray]
    scores: np.ndarray
    bounds: np.ndarray
    integral: np.ndarray


class GraphSVM(GraphLabeling):
    """Structured SVM for the labels of the nodes of given graphs.

    Learns node weights, a weight for each pair of labels along an edge, and weights of edge features, by minimising
    ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the margin-rescaled hinge loss; certified (``gap_``). Edges have a
    direction: rows of the weights are labels of the first node, columns those of the second.

    Parameters
    ----------
    lam : float or None, default=None
        Regularisation, > 0; None means 1 / (sum of sample weights). ``C = 1 / (lam n)`` in the terms of other SVMs.
    solver : str or solver object, default="auto"
        How the objective is minimised: "auto", "bcfw", "bcpfw", "bcafw", "fw", "cutting_plane",
        "exponentiated_gradient", "subgradient" or "perceptron", see ``docs/solvers.md``; or an object of
        `maxmargin.solvers`. "auto" takes accelerated pairwise steps on blocks drawn by their gaps, with a cache where
        the oracle is expensive.
    tol : float, default=1e-2
        Stop when the certified duality gap is at most this.
    max_passes : float, default=1000
        Stop after so many passes over the data, with a warning.
    max_seconds : float or None, default=None
        Stop after so many seconds.
    loss : {"hamming", "hamming_sum"}, default="hamming"
        The share of wrong labels of a sample, or their number.
    class_weight : None, "balanced" or dict, default=None
        Multiplies the loss of nodes with that true label.
    random_state : int, RandomState, Generator or None, default=None
        Seed of what the solver draws.
    verbose : int, default=0
        1 shows a progress bar with the gap.
    n_jobs : int or None, default=None
        Threads for certificates and predictions; None is 1, -1 all cores.
    warm_start : bool, default=False
        Whether a second `fit` on the same data goes on where the first one stopped.
    fit_intercept : bool, default=True
        Whether labels have a bias; it is regularised like the other weights.
    transition_mask : array of shape (K, K) or None, default=None
        Which label of an edge's first node (row) may go with which of its second (column), in the order of
        ``classes_``. For "junction" alone.
    cost_matrix : array of shape (K, K) or None, default=None
        Cost of a label (column) at a site with that true label (row), in the order of ``classes_``; None: 1 for every
        wrong one.
    inference : {"junction", "cut", "lp"}, default="junction"
        How labelings are found. Exactly by junction trees, for graphs of low tree-width; or by minimum cuts, for two
        labels and any graph: then an edge costs ``w_0 + <w, edge features>`` where the labels of its ends differ, with
        w >= 0 (kept by the solver) and edge features that are >= 0. Or by a linear relaxation, for any graph: the hinge
        is an upper bound of that over labelings then, certified as any other, and `relaxation` bounds predictions.
        Methods that an inference has no answer for are not there: `predict_marginals` with "cut"; `predict_topk`,
        `decision_function` and `predict_marginals` with "lp", which alone has `relaxation`.
    max_width : int, default=8
        For "junction": graphs of a larger tree-width are refused, since cost and memory grow with the number of labels
        to its power.

    Attributes
    ----------
    coef_ : array of shape (K, F)
        Weights of the features of nodes. As `intercept_`, `transitions_` and `edge_coef_` it is a view of the weights:
        what is changed in place, or assigned, changes the predictions.
    intercept_ : array of shape (K,)
        Biases of the labels; 0, and read-only, without `fit_intercept`.
    transitions_ : array of shape (K, K)
        Weights of the label of an edge's first node (row) with that of its second (column). With "cut" made of one cost
        for labels that differ: read-only, what is assigned must be of that kind.
    edge_coef_ : array of shape (E, K, K)
        The same for features of edges; E = 0 without any.
    classes_ : array of shape (K,)
        The labels, sorted.
    n_features_in_ : int
        F, the number of features.
    n_edge_features_in_ : int or None
        E, the number of features of edges; None where X came without.
    transition_mask_ : array of shape (K, K) or None
        What was allowed.
    vectorizer_ : DictVectorizer or None
        What makes features of dicts; None where X came without.
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
    Graph : A sample.
    TreeSVM : For trees, with the parent of every node.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Graph, GraphSVM
    >>> square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    >>> graphs = [Graph(np.eye(2)[labels], square) for labels in ([0, 1, 0, 1], [1, 0, 1, 0])]
    >>> model = GraphSVM(lam=0.1, random_state=0).fit(graphs, [["a", "b", "a", "b"], ["b", "a", "b", "a"]])
    >>> nothing = np.zeros((3, 2))  # neighbours tell nodes without features
    >>> [label.item() for label in model.predict([Graph(np.vstack([[1, 0], nothing]), square)])[0]]
    ['a', 'b', 'a', 'b']
    """

    kind = Graph
    inference: str
    max_width: int

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
        transition_mask: Any = None,
        cost_matrix: Any = None,
        inference: str = "junction",
        max_width: int = 8,
    ):
        self._keep(locals())

    @property
    def _method(self) -> Method:
        check_choice("inference", self.inference, GRAPH_METHODS)
        return GRAPH_METHODS[self.inference](self.max_width)

    def _stack_edges(self, links: list[Any], offsets: np.ndarray) -> Any:
        return stack_edges(links)

    def _edge_matrix(self, plan: Any, features: list[Any], n_features: int | None) -> Any:
        return stack_edge_features(features, np.diff(plan.edge_offsets), n_features)

    @answers(BOUNDS)
    def relaxation(self, X: Any) -> Relaxation:
        """Say how good labelings are known to be, with ``inference="lp"``.

        Found with more effort than `predict` takes, so where a labeling is not the best known it may be a better one.

        Parameters
        ----------
        X : list of Graph
            As in `fit`.

        Returns
        -------
        relaxation : Relaxation
            labelings, scores, bounds and integral.
        """
        scored, _ = self._lay_out(X)
        found = relax_samples(scored.sites, scored.links, scored.plan, scored.w, scored.n_labels)
        return Relaxation(
            [self.classes_[one.labels] for one in found],
            np.array([one.labels_value for one in found]),
            np.array([one.bound for one in found]),
            np.array([one.integral.mean() for one in found]),
        )
