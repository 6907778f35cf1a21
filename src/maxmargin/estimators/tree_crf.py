"""Probabilities of the labels of the nodes of trees: `TreeCRF`."""

from __future__ import annotations

from typing import Any

from ._graphs import TreeLabeling
from ._losses import LogLikelihood


class TreeCRF(LogLikelihood, TreeLabeling):
    """Conditional random field for the labels of the nodes of given rooted trees or forests.

    A model of the probability of labels, ``p(y | x) ~ exp(score(x, y))`` with the scores of `TreeSVM`. Learns node
    weights, a weight for each pair of labels of a node and its parent, and weights of edge features, by minimising
    ``lam/2 |w|^2 + l1 |w|_1 + (1/S) sum_i s_i (-log p(y_i | x_i))``; certified (``gap_``).

    Parameters
    ----------
    lam : float, "cv" or None, default=None
        Regularisation, > 0. None leaves it to a rule that suits features of any scale, see ``docs/crf.md``; "cv"
        chooses it by cross-validation. A number is that of the plain objective, ``lam = 2 c2 / n`` in the terms of
        CRFsuite.
    l1 : float, default=0.0
        Penalty of the sum of absolute weights, >= 0, ``l1 = c1 / n`` in the terms of CRFsuite: most weights become 0.
        For the solver "lbfgs" alone, which "auto" then is. Where features are scaled (see `scale`), it is that of
        weights of scaled features, as lam is.
    solver : str or solver object, default="auto"
        How the objective is minimised: "auto", "lbfgs", "svrg", "casimir", or an object of `maxmargin.solvers` for
        log-losses, see ``docs/crf.md``. "auto" takes accelerated steps on blocks, each to the distribution of its
        sample, drawn by their gaps.
    tol : float or None, default=None
        Stop when the certified duality gap is at most this. None: a hundredth of
        the objective.
    max_passes : float, default=1000
        Stop after so many passes over the data, with a warning.
    max_seconds : float or None, default=None
        Stop after so many seconds.
    random_state : int, RandomState, Generator or None, default=None
        Seed of what the solver draws.
    verbose : int, default=0
        1 shows a progress bar with the gap.
    n_jobs : int or None, default=None
        Threads for certificates and predictions; None is 1, -1 all cores.
    warm_start : bool, default=False
        Whether a second `fit` on the same data goes on where the first one stopped.
    checkpoint : str, path or None, default=None
        A file that keeps the run of `fit`, so that one that was cut off goes on from there; one file a fit. See
        ``docs/continued_training.md``.
    checkpoint_every : float, default=60.0
        Seconds between two writes of it, at least.
    scale : bool or None, default=None
        Whether to learn from features divided by their spread (``scaling_``); fitted weights are for features as they
        came. None: where lam is left to the rule or to cross-validation.
    fit_intercept : bool, default=True
        Whether labels have a bias; it is regularised like the other weights.
    transition_mask : array of shape (K, K) or None, default=None
        Which label of a node (row) may go with which of its parent (column), in the order of ``classes_``. What is
        forbidden has probability 0.

    Attributes
    ----------
    lam_ : float
        The regularisation learned with, that of the scaled objective where ``scaling_`` is not 1.
    scaling_ : Scaling
        What features were divided by.
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
    TreeSVM : The same scores, learned for the best labeling alone.
    GraphCRF : Labels of the nodes of graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Tree, TreeCRF
    >>> heads, nothing = [-1, 0, 0, 1], np.zeros((3, 2))
    >>> X = [Tree(np.vstack([root, nothing]), heads) for root in np.eye(2)]  # only the root has features
    >>> y = [["a", "b", "b", "a"], ["b", "a", "a", "b"]]  # and children differ from their parents
    >>> model = TreeCRF(lam=0.01, random_state=0).fit(X, y)
    >>> [labels.tolist() for labels in model.predict(X)]
    [['a', 'b', 'b', 'a'], ['b', 'a', 'a', 'b']]
    >>> bool(np.exp(model.log_likelihood(X, y)).min() > 0.9)
    True
    """

    def __init__(
        self,
        lam: float | str | None = None,
        *,
        l1: float = 0.0,
        solver: Any = "auto",
        tol: float | None = None,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        warm_start: bool = False,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        scale: bool | None = None,
        fit_intercept: bool = True,
        transition_mask: Any = None,
    ):
        self._keep(locals())
