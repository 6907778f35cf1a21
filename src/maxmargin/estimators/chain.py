"""Sequence labelling: `ChainSVM`."""

from __future__ import annotations

from typing import Any

from ._chains import ChainLabeling
from ._losses import HingeLoss


class ChainSVM(HingeLoss, ChainLabeling):
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
        Multiplies the loss of positions with that true label.
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
        fit_boundary: bool = True,
        transition_mask: Any = None,
        cost_matrix: Any = None,
        kernel: Any = None,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
    ):
        self._keep(locals())
