"""Labels of the nodes of trees: `TreeSVM`."""

from __future__ import annotations

from typing import Any

from ._graphs import TreeLabeling
from ._losses import HingeLoss


class TreeSVM(HingeLoss, TreeLabeling):
    """Structured SVM for the labels of the nodes of given rooted trees or forests.

    Learns node weights, a weight for each pair of labels of a node and its parent, and weights of edge features, by
    minimising ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the margin-rescaled hinge loss; certified (``gap_``).

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
        Which label of a node (row) may go with which of its parent (column), in the order of ``classes_``.
    cost_matrix : array of shape (K, K) or None, default=None
        Cost of a label (column) at a site with that true label (row), in the order of ``classes_``; None: 1 for every
        wrong one.

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
    Tree : A sample.
    GraphSVM : Labels of the nodes of any graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Tree, TreeSVM
    >>> heads, nothing = [-1, 0, 0, 1], np.zeros((3, 2))
    >>> X = [Tree(np.vstack([root, nothing]), heads) for root in np.eye(2)]  # only the root has features
    >>> y = [["a", "b", "b", "a"], ["b", "a", "a", "b"]]  # and children differ from their parents
    >>> model = TreeSVM(lam=0.01, random_state=0).fit(X, y)
    >>> [labels.tolist() for labels in model.predict(X)]
    [['a', 'b', 'b', 'a'], ['b', 'a', 'a', 'b']]
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
    ):
        self._keep(locals())
