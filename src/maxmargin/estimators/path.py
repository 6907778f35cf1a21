"""The regularization path of an estimator: models for every lam."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ..metrics import default_scoring, get_scorer
from ..solvers import Path, Result, Status
from ..solvers.path.follow import PAPER_GRID, approximately, keeper_of_path, on_grid
from ..solvers.path.path import Callback
from ..solvers.path.rules import ApproximatePath, Grid
from ..solvers.path.runs import Effort, Run, certified
from ..solvers.result import COLUMNS
from ._base import MaxMarginEstimator, certificate_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class EstimatorPath:
    """Models for every lam, as `regularization_path` and `lam_grid` return them.

    What a `maxmargin.solvers.Path` tells of its weights this tells, too: breakpoints, gaps, hinges, norms, passes,
    oracle_calls, seconds, lam_end, ended, worst_gap, worst_relative_gap, coef_at, primal_at, dual_at, gap_at and
    certify.

    Attributes
    ----------
    estimator : estimator
        What the models are, unfitted.
    path : maxmargin.solvers.Path
        Flat weights and certificates for every lam.
    scores : array of shape (J,) or None
        Validation scores of the breakpoints, as the last `select` found them; None before, and where the path has gone
        on since.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM, regularization_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = regularization_path(MulticlassSVM(random_state=0), X[::2], y[::2], eps=0.2, lam_min=0.1)
    >>> bool(path.worst_relative_gap <= 0.2)
    True
    >>> model = path.select(X[1::2], y[1::2])
    >>> bool(model.score(X[1::2], y[1::2]) == path.scores.max())
    True
    """

    def __init__(
        self,
        estimator: MaxMarginEstimator,
        X: Any,
        y: Any,
        rule: ApproximatePath | Grid,
        run: Run,
        *,
        solver: Any,
        warm: bool = True,
        **given: Any,
    ):
        if not isinstance(estimator, MaxMarginEstimator) or "lam" not in estimator.get_params():
            raise TypeError(
                f"a path is that of a single estimator with a lam, such as ChainSVM(), got {type(estimator).__name__}: "
                "transform X before, rather than in a pipeline"
            )
        self.estimator = own = clone(estimator)
        if own.scale is None:  # lam is given here, so that the objective is the plain one
            own.set_params(scale=False)
        self._encoded = own.encode(X, y, **given)
        self._scores: np.ndarray | None = None
        effort = Effort(own.max_passes, own.max_seconds, own.random_state, own.n_jobs)
        chosen = self._encoded.solver(own.solver if solver is None else solver)
        problem = self._encoded.problem
        keeper = keeper_of_path(own.checkpoint, own.checkpoint_every, problem, chosen, effort, rule, run, warm)
        self.path = Path(problem, chosen, rule, run, effort, warm=warm, keeper=keeper)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "path":  # not there yet where a copy is made
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.path, name)

    def __len__(self) -> int:
        return len(self.path)

    def __repr__(self) -> str:
        return repr(self.path).replace("<Path", f"<{type(self.estimator).__name__} path", 1)

    @property
    def scores(self) -> np.ndarray | None:
        return self._scores if self._scores is not None and len(self._scores) == len(self) else None

    def resume(self, lam_min: float | None = None, **given: Any) -> EstimatorPath:
        """Go on where the path stopped, or further down.

        Parameters
        ----------
        lam_min : float or None, default=None
            Where to end now.
        **given
            max_passes, max_seconds, callbacks and verbose, as in ``solvers.Path.resume``.

        Returns
        -------
        self : EstimatorPath
        """
        self.path.resume(lam_min, **given)
        return self

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw gap, hinge loss, |w|, cost and, after `select`, scores along lam.

        Parameters
        ----------
        figure : Figure or None, default=None
            Where to draw; None makes one.

        Returns
        -------
        figure : Figure
        """
        from ..plotting import plot_path

        return plot_path(self, figure=figure)

    def estimator_at(self, lam: float) -> Any:
        """Make a fitted estimator for a lam, with its certificate.

        Parameters
        ----------
        lam : float
            From `lam_end` on.

        Returns
        -------
        model : estimator
        """
        lam, path = float(lam), self.path
        w, primal, dual, gap = path.coef_at(lam), path.primal_at(lam), path.dual_at(lam), path.gap_at(lam)
        upto = int(path.pieces_of(lam)) + 1
        passes, calls = path.passes[:upto].sum(), int(path.oracle_calls[:upto].sum())
        row = dict(zip(COLUMNS, (passes, calls, path.seconds[:upto].sum(), primal, dual, gap), strict=True))
        result = Result(
            w=w,
            primal=primal,
            dual=dual,
            gap=gap,
            dual_loss=np.nan,
            dual_square=np.nan,
            status=Status.CONVERGED if gap < np.inf else Status.UNCERTIFIED,
            n_passes=passes,
            n_oracle_calls=calls,
            history={column: np.array([value]) for column, value in row.items()},
            state=None,
        )
        return self._encoded.model(w, **certificate_of(result, path.solver, lam)).set_params(lam=lam)

    def select(self, X: Any, y: Any, scoring: Any = None, **given: Any) -> Any:
        """Make the fitted estimator that scores best on validation data; of several, that of the largest lam.

        Weights are constant between breakpoints, so one look at each covers every lam. The scores stay in ``scores``.

        Parameters
        ----------
        X, y
            Validation data.
        scoring : str, function or None, default=None
            Name of a scorer, see ``metrics.get_scorer``, or a function (estimator, X, y); None: "chunk_f1" where labels
            name chunks (``B-NP``), else the estimator's own score.
        **given
            What goes with X and y to the scorer, such as lengths.

        Returns
        -------
        model : estimator
        """
        self._scores = scores_along(self, scorer_for(scoring, y), X, y, **given)
        return self.estimator_at(self.path.breakpoints[int(np.argmax(self._scores))])


def own_score(estimator: Any, X: Any, y: Any, **given: Any) -> float:
    """The score that the estimator gives itself."""
    return estimator.score(X, y, **given)


def scorer_for(scoring: Any, y: Any) -> Any:
    """The scorer that is meant; None: the one that suits the outputs."""
    chosen = default_scoring(y) if scoring is None else scoring
    return own_score if chosen is None else get_scorer(chosen)


def scores_along(path: EstimatorPath, scorer: Any, X: Any, y: Any, **given: Any) -> np.ndarray:
    """Scores of the models at all breakpoints."""
    lams = path.path.breakpoints
    scores = np.array([scorer(path.estimator_at(lam), X, y, **given) for lam in lams], np.float64)
    if np.isnan(scores).any():
        raise ValueError(f"scoring gave NaN at lam = {lams[int(np.argmax(np.isnan(scores)))]:g}")
    return scores


def regularization_path(
    estimator: MaxMarginEstimator,
    X: Any,
    y: Any,
    eps: float = 0.1,
    relative: bool = True,
    kappa: float | None = None,
    lam_min: float | None = None,
    heuristic: bool = False,
    solver: Any = None,
    callbacks: Iterable[Callback] = (),
    **given: Any,
) -> EstimatorPath:
    """Find models for every lam, each at most `eps` times its training objective above the optimum of that.

    For a structure of your own there is ``solvers.regularization_path(structure)``.

    Parameters
    ----------
    estimator : estimator
        `ChainSVM`, `MulticlassSVM`, ...; its lam and tol do not matter, max_passes holds for each breakpoint,
        max_seconds and checkpoint for the whole path.
    X : list or array
        Training inputs, as the estimator takes them.
    y : list or array
        Their true outputs.
    eps : float, default=0.1
        How far above the optimum the objective may be, for any lam: a share of the objective, and no less than that of
        a hundredth of the one without weights.
    relative : bool, default=True
        Whether eps is such a share; False takes it as it is, as Osokin et al. 2016 do.
    kappa : float or None, default=None
        A breakpoint is solved to kappa times the gap allowed; what is left of it is how far its weights serve. None
        means 0.9, or 0.7 with `heuristic`.
    lam_min : float or None, default=None
        Where to end, unless the training hinge loss is as small as the gap may be before. None: at 1e-6 times the first
        breakpoint.
    heuristic : bool, default=False
        Let stale gaps decide that a breakpoint is solved. There is no guarantee then before ``path.certify()``.
    solver : str, solver object or None, default=None
        None takes the estimator's.
    callbacks : iterable of functions, default=()
        Called with each `Breakpoint` but the first; a true answer stops.
    **given
        What else the estimator's fit takes: sample_weight, lengths.

    Returns
    -------
    path : EstimatorPath

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM, regularization_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = regularization_path(MulticlassSVM(random_state=0), X, y, eps=0.2, lam_min=0.1)
    >>> path.ended
    'lam_min'
    >>> model = path.estimator_at(0.3)
    >>> bool(model.gap_ <= 0.2 * model.primal_)
    True
    """
    rule, run = approximately(eps, relative, kappa, lam_min, heuristic)
    path = EstimatorPath(estimator, X, y, rule, run, solver=solver, **given)
    path.path.walk(callbacks, int(estimator.verbose))
    return path


def lam_grid(
    estimator: MaxMarginEstimator,
    X: Any,
    y: Any,
    lams: Iterable[float] = PAPER_GRID,
    tol: float | None = None,
    warm_start: bool = True,
    solver: Any = None,
    callbacks: Iterable[Callback] = (),
    **given: Any,
) -> EstimatorPath:
    """Find models for given values of lam, from the largest to the smallest, each certified to `tol`.

    Between the values nothing is promised, but ``path.gap_at(lam)`` knows.

    Parameters
    ----------
    estimator : estimator
        `ChainSVM`, `MulticlassSVM`, ...; its lam does not matter, max_passes holds for each value, max_seconds and
        checkpoint for all.
    X : list or array
        Training inputs, as the estimator takes them.
    y : list or array
        Their true outputs.
    lams : iterable of float, default=2^15 ... 2^-15
        The values.
    tol : float or None, default=None
        None takes the estimator's, and 0.01 where that is None.
    warm_start : bool, default=True
        Whether each begins with the dual variables of the one before.
    solver : str, solver object or None, default=None
        None takes the estimator's.
    callbacks : iterable of functions, default=()
        Called with each `Breakpoint`; a true answer stops.
    **given
        What else the estimator's fit takes: sample_weight, lengths.

    Returns
    -------
    path : EstimatorPath

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM, lam_grid
    >>> X, y = load_iris(return_X_y=True)
    >>> path = lam_grid(MulticlassSVM(tol=0.05, random_state=0), X, y, lams=[1.0, 0.1])
    >>> path.breakpoints
    array([1. , 0.1])
    """
    rule = on_grid(lams, estimator._goal().at(1.0) if tol is None else tol)
    path = EstimatorPath(estimator, X, y, rule, certified, solver=solver, warm=warm_start, **given)
    path.path.walk(callbacks, int(estimator.verbose))
    return path
