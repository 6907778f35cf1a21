"""Labels of the nodes of graphs: `GraphSVM`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._parameters import check_choice
from ..structures.graphs import BOUNDS, GRAPH_METHODS, Method
from ..structures.relaxed import relax_samples
from ._graphs import GraphLabeling
from ._labeling import answers
from ._losses import HingeLoss
from .inputs.labels import unstack


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


class GraphSVM(HingeLoss, GraphLabeling):
    """Structured SVM for the labels of the nodes of given graphs.

    Learns node weights, a weight for each pair of labels along an edge, and weights of edge features, by minimising
    ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the margin-rescaled hinge loss; certified (``gap_``). Edges have a
    direction: rows of the weights are labels of the first node, columns those of the second.

    Parameters
    ----------
    lam : float, "cv" or None, default=None
        Regularisation, > 0. None leaves it to a rule that suits features and losses of any scale, see
        ``docs/regularization.md``; "cv" chooses it by cross-validation. A number is that of the plain objective,
        ``C = 1 / (lam n)`` in the terms of other SVMs.
    solver : str or solver object, default="auto"
        How the objective is minimised: "auto", "bcfw", "bcpfw", "bcafw", "fw", "cutting_plane",
        "exponentiated_gradient", "partial_linearization", "gdmm", "svrg", "casimir", "subgradient" or "perceptron",
        see ``docs/solvers.md``; or an object of `maxmargin.solvers`. "auto" takes accelerated pairwise steps on blocks
        drawn by their gaps, with a cache where the oracle is expensive.
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
        Multiplies the loss of nodes with that true label.
    random_state : int, RandomState, Generator or None, default=None
        Seed of what the solver draws.
    verbose : int, default=0
        1 shows a progress bar with the gap.
    n_jobs : int or None, default=None
        Threads for steps, certificates and predictions; None is 1, -1 all cores.
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
    transition_mask : array of shape (K, K) or None, default=None
        Which label of an edge's first node (row) may go with which of its second (column), in the order of
        ``classes_``. For "junction" alone, which "auto" then takes.
    cost_matrix : array of shape (K, K) or None, default=None
        Cost of a label (column) at a site with that true label (row), in the order of ``classes_``; None: 1 for every
        wrong one.
    inference : {"auto", "junction", "cut", "lp"}, default="auto"
        How labelings are found. "auto" takes "junction" where the tree-width of all graphs of `fit` allows for it, and
        "lp" where not (``inference_`` tells), never "cut", which learns another model. "junction": exactly by junction
        trees, for graphs of low tree-width. "cut": by minimum cuts, exact and fast, for two labels and any graph; an
        edge then costs ``w_0 + <w, edge features>`` where the labels of its ends differ, with w >= 0 (kept by the
        solver) and edge features that are >= 0, which is right where neighbours tend to be alike, as the pixels of a
        region. "lp": by a linear relaxation, for any graph; the hinge is an upper bound of that over labelings then,
        certified as any other, and `relaxation` bounds predictions. Methods that an inference has no answer for are
        not there: `predict_marginals` with "cut"; `predict_topk`, `decision_function` and `predict_marginals` with
        "lp", which alone has `relaxation`.
    max_width : int, default=8
        Graphs of a larger tree-width are refused by "junction" and left to "lp" by "auto", since cost and memory grow
        with the number of labels to its power; as are cliques of more than 2**22 ("auto": 2**18) labelings.

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
    inference_ : str
        How labelings are found: "junction", "cut" or "lp".
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
    Graph : A sample.
    TreeSVM : For trees, with the parent of every node.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Graph, GraphSVM
    >>> square, nothing = [(0, 1), (1, 2), (2, 3), (3, 0)], np.zeros((3, 2))
    >>> X = [Graph(np.vstack([first, nothing]), square) for first in np.eye(2)]  # only the first node has features
    >>> y = [["a", "b", "a", "b"], ["b", "a", "b", "a"]]  # and neighbours differ
    >>> model = GraphSVM(lam=0.01, random_state=0).fit(X, y)
    >>> [labels.tolist() for labels in model.predict(X)]
    [['a', 'b', 'a', 'b'], ['b', 'a', 'b', 'a']]
    """

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
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        scale: bool | None = None,
        fit_intercept: bool = True,
        transition_mask: Any = None,
        cost_matrix: Any = None,
        inference: str = "auto",
        max_width: int = 8,
    ):
        self._keep(locals())

    @property
    def _method(self) -> Method:
        check_choice("inference", self.inference, GRAPH_METHODS)
        masked = self.inference == "auto" and self.transition_mask is not None  # which junction trees alone can have
        return GRAPH_METHODS["junction" if masked else self.inference](self.max_width)

    @property
    def _settled(self) -> Method:
        known = self.inference == "auto" and "inference_" in vars(self)
        return GRAPH_METHODS[self.inference_](self.max_width) if known else self._method

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
        labels = np.concatenate([np.empty(0, np.int64), *(one.labels for one in found)])
        # of a graph without nodes there is one labeling, worth 0, and it is the best
        scores, bounds, integral = np.zeros((3, len(scored.bounds) - 1))
        integral[:] = 1.0
        scores[scored.present] = [one.labels_value for one in found]
        bounds[scored.present] = [one.bound for one in found]
        integral[scored.present] = [one.integral.mean() for one in found]
        return Relaxation(unstack(self.classes_[labels], scored.bounds), scores, bounds, integral)
