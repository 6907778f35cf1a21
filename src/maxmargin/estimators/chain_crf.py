"""Sequence labelling by probabilities: `ChainCRF`."""

from __future__ import annotations

import os
from typing import Any

from ._chains import ChainLabeling
from ._crfsuite import attributes_from
from ._losses import LogLikelihood


class ChainCRF(LogLikelihood, ChainLabeling):
    """Linear-chain conditional random field for sequence labelling.

    A model of the probability of labels, ``p(y | x) ~ exp(score(x, y))`` with the scores of `ChainSVM`. Learns node
    weights, transitions and biases by minimising
    ``lam/2 |w|^2 + l1 |w|_1 + (1/S) sum_i s_i (-log p(y_i | x_i))``, and certifies how far from the optimum it
    stopped (``gap_``).

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
    fit_boundary : bool, default=True
        Whether the first and the last position have biases of their own.
    transition_mask : None, "bio", array of shape (K, K) or TransitionMask, default=None
        Which label (row) may be followed by which (column), in the order of ``classes_``; "bio" reads the rules off
        label names such as ``B-NP``. What is forbidden has probability 0.

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
        Weights of the features. As `intercept_`, `boundary_`, `transitions_` and `edge_coef_` it is a view of the
        weights: what is changed in place, or assigned, changes the predictions.
    intercept_ : array of shape (K,)
        Biases of the labels; 0, and read-only, without `fit_intercept`.
    boundary_ : array of shape (2, K)
        Biases of the labels of first and last positions; 0, and read-only, without `fit_boundary`.
    transitions_ : array of shape (K, K)
        Weights of a label (row) that is followed by another (column).
    edge_coef_ : array of shape (E, K, K)
        Weights of features of transitions; E = 0 without any.
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
    ChainSVM : The same scores, learned for the best labeling alone.
    TreeCRF, GraphCRF : Labels of nodes with other edges between them.

    Examples
    --------
    >>> from maxmargin import ChainCRF
    >>> from maxmargin.datasets import load_dates
    >>> dates = load_dates(n_train=30, n_test=20)
    >>> reader = ChainCRF(random_state=0).fit(dates.X_train, dates.y_train)
    >>> reader.score(dates.X_test, dates.y_test) > 0.7  # a quarter of the digits is illegible
    True
    >>> probabilities = reader.predict_marginals(dates.X_test)[0]
    >>> probabilities.shape, bool(abs(probabilities.sum(axis=1) - 1).max() < 1e-9)
    ((8, 10), True)
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
        fit_boundary: bool = True,
        transition_mask: Any = None,
    ):
        self._keep(locals())

    @classmethod
    def from_crfsuite(cls, path: str | os.PathLike, separator: str = ":") -> ChainCRF:
        """Make a fitted model of a model file of CRFsuite's.

        It predicts what CRFsuite's tagger does, with the same probabilities. Files of python-crfsuite and
        sklearn-crfsuite are such; what an algorithm of CRFsuite other than "lbfgs" and "l2sgd" has learned are scores
        alone.

        Parameters
        ----------
        path : str or path
            Where it is.
        separator : str, default=":"
            Between the name and the value of a feature of a dict, as python-crfsuite puts it.

        Returns
        -------
        model : ChainCRF
            Without a certificate: how far from optimal it is, CRFsuite does not say.
        """
        model = cls(fit_intercept=False, fit_boundary=False)
        model._become(attributes_from(path, separator))
        return model
