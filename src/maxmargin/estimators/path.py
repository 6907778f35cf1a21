"""The regularization path of an estimator: models for every lam."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring

from ..solvers import Path, Status
from ..solvers.path.follow import PAPER_GRID, approximately, on_grid
from ..solvers.path.path import Callback
from ..solvers.path.rules import ApproximatePath, Grid
from ..solvers.path.runs import Effort, Run, certified
from ..solvers.result import COLUMNS
from ._base import MaxMarginEstimator, solver_for


class EstimatorPath(Path):
    """Models for every lam: a `Path` whose weights are those of an estimator.

    Attributes
    ----------
    scores : (J,) validation scores of the breakpoints, as the last `select` found them; None before
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
        self._posed = own._pose(X, y, **given)
        self.scores: np.ndarray | None = None
        effort = Effort(own.max_passes, own.max_seconds, own.random_state, own.n_jobs)
        chosen = solver_for(own.solver if solver is None else solver, self._posed)
        super().__init__(self._posed.problem, chosen, rule, run, effort, warm=warm)

    def _append(self, *piece: Any) -> None:
        super()._append(*piece)
        self.scores = None  # they were those of fewer pieces

    def estimator_at(self, lam: float) -> Any:
        """A fitted estimator for a lam, with its certificate."""
        lam = float(lam)
        upto = max(self._piece_of(lam), 0) + 1
        row = {
            "passes": self.passes[:upto].sum(),
            "oracle_calls": self.oracle_calls[:upto].sum(),
            "seconds": self.seconds[:upto].sum(),
            "primal": self.primal_at(lam),
            "dual": self.dual_at(lam),
            "gap": self.gap_at(lam),
        }
        certificate = {
            "primal_": row["primal"],
            "dual_": row["dual"],
            "gap_": row["gap"],
            "status_": str(Status.CONVERGED if row["gap"] < np.inf else Status.UNCERTIFIED),
            "solver_": self.solver,
            "n_passes_": row["passes"],
            "n_oracle_calls_": int(row["oracle_calls"]),
            "history_": {column: np.array([row[column]]) for column in COLUMNS},
            "_state": None,
        }
        model = clone(self.estimator).set_params(lam=lam)
        model._become({**self._posed.fitted, **self._posed.unpack(self.coef_at(lam)), **certificate})
        return model

    def select(self, X: Any, y: Any, scoring: Any = None, **given: Any) -> Any:
        """The fitted estimator that scores best on validation data; of several, that of the largest lam.

        Weights are constant between breakpoints, so one look at each covers every lam. The scores stay in ``scores``.
        `given` goes with X and y to the scorer, such as lengths.
        """
        scorer = check_scoring(self.estimator, scoring)
        self.scores = scores_along(self, scorer, X, y, **given)
        return self.estimator_at(self.breakpoints[int(np.argmax(self.scores))])


def scores_along(path: EstimatorPath, scorer: Any, X: Any, y: Any, **given: Any) -> np.ndarray:
    """Scores of the models at all breakpoints."""
    scores = np.array([scorer(path.estimator_at(lam), X, y, **given) for lam in path.breakpoints], np.float64)
    if np.isnan(scores).any():
        raise ValueError(f"scoring gave NaN at lam = {path.breakpoints[int(np.argmax(np.isnan(scores)))]:g}")
    return scores


def regularization_path(
    estimator: MaxMarginEstimator,
    X: Any,
    y: Any,
    eps: float = 0.1,
    kappa: float | None = None,
    lam_min: float | None = None,
    heuristic: bool = False,
    solver: Any = None,
    callbacks: Iterable[Callback] = (),
    **given: Any,
) -> EstimatorPath:
    """Models for every lam, each at most `eps` above the optimum of its training objective.

    For a structure of your own there is ``solvers.regularization_path(structure)``.

    Parameters
    ----------
    estimator : `ChainSVM`, `MulticlassSVM`, ...; its lam and tol do not matter, max_passes holds for each breakpoint,
        max_seconds for the whole path
    X, y : training data
    eps : how far above the optimum the objective may be, for any lam
    kappa : a breakpoint is solved to a gap of ``kappa eps``; what is left of eps is how far its weights serve. None
        means 0.9, or 0.7 with `heuristic`
    lam_min : where to end, unless the training hinge loss reaches eps before; None: at 1e-6 times the first breakpoint
    heuristic : let stale gaps decide that a breakpoint is solved. There is no guarantee then before ``path.certify()``
    solver : None takes the estimator's
    callbacks : called with each `Breakpoint` but the first; a true answer stops
    **given : what else the estimator's fit takes: sample_weight, lengths
    """
    rule, run = approximately(eps, kappa, lam_min, heuristic)
    path = EstimatorPath(estimator, X, y, rule, run, solver=solver, **given)
    path.walk(callbacks, int(estimator.verbose))
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
    """Models for given values of lam, from the largest to the smallest, each certified to `tol`.

    Between the values nothing is promised, but ``path.gap_at(lam)`` knows.

    Parameters
    ----------
    lams : the values; 2^15 ... 2^-15 if not given
    tol : None takes the estimator's
    warm_start : whether each begins with the dual variables of the one before
    others : as in `regularization_path`
    """
    rule = on_grid(lams, estimator.tol if tol is None else tol)
    path = EstimatorPath(estimator, X, y, rule, certified, solver=solver, warm=warm_start, **given)
    path.walk(callbacks, int(estimator.verbose))
    return path
