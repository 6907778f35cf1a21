"""What the scikit-learn faces share: one fit around a solver, atomic, with callbacks and warm starts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight

from ..solvers import Record, Status, get_solver
from ..solvers.base import fingerprint


class MaxMarginEstimator(CallbackSupportMixin, BaseEstimator):
    """Base of the estimators. Attributes are set together when a fit is done, so a failed fit leaves nothing behind."""

    lam: float | None
    solver: Any
    tol: float
    max_passes: float
    max_seconds: float | None
    random_state: Any
    n_jobs: int | None
    verbose: int
    warm_start: bool

    def _fit_problem(
        self,
        problem: Any,
        total_weight: float,
        fitted: dict[str, Any],
        unpack: Callable[[np.ndarray], dict[str, Any]],
        X: Any,
        y: Any,
    ) -> None:
        """Solve `problem` and set the fitted attributes: `fitted`, those `unpack` makes of w, and the certificate."""
        lam = 1.0 / total_weight if self.lam is None else self.lam
        solver = get_solver(self.solver)
        root = self._init_callback_context(max_subtasks=None)
        root.call_on_fit_task_begin(estimator=self, X=X, y=y)

        def tell_callbacks(record: Record) -> bool:
            task = root.subcontext(task_name="certificate")
            task.call_on_fit_task_begin(estimator=self, X=X, y=y)
            return task.call_on_fit_task_end(
                estimator=self, X=X, y=y, reconstruction_attributes=lambda: {**fitted, **unpack(record.w)}
            )

        result = solver.solve(
            problem,
            lam,
            tol=self.tol,
            max_passes=self.max_passes,
            max_seconds=self.max_seconds,
            callbacks=[tell_callbacks],
            state=self._earlier_state(problem),
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=int(self.verbose),
        )
        certificate = {
            "primal_": result.primal,
            "dual_": result.dual,
            "gap_": result.gap,
            "status_": str(result.status),
            "solver_": solver,
            "n_passes_": result.n_passes,
            "n_oracle_calls_": result.n_oracle_calls,
            "history_": result.history,
            "_state": result.state if self.warm_start else None,
        }
        attributes = {**fitted, **unpack(result.w), **certificate}
        root.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes=lambda: attributes)
        self.__dict__.update(attributes)
        if result.status == Status.MAX_PASSES:
            warnings.warn(
                f"stopped after {result.n_passes:g} passes with a duality gap of {result.gap:.2e}, above "
                f"tol={self.tol:g}. Raise max_passes, tol or lam.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _earlier_state(self, problem: Any) -> Any:
        state = getattr(self, "_state", None) if self.warm_start else None
        if state is not None and state.fingerprint != fingerprint(problem):
            warnings.warn(
                "warm_start=True goes on with the data of the earlier fit, but they have changed: starting afresh",
                UserWarning,
                stacklevel=4,
            )
            return None
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")


def check_cost_matrix(cost: Any, n_labels: int) -> np.ndarray | None:
    """A (K, K) matrix of costs >= 0 with a zero diagonal, or None."""
    if cost is None:
        return None
    cost = np.asarray(cost, np.float64)
    if cost.shape != (n_labels, n_labels):
        raise ValueError(f"cost_matrix has shape {cost.shape}, but {n_labels} classes need {(n_labels, n_labels)}")
    if not np.all(np.isfinite(cost)) or np.any(cost < 0) or np.any(np.diag(cost) != 0):
        raise ValueError("cost_matrix must be finite, >= 0, and 0 on the diagonal (row: true, column: predicted label)")
    return cost


def class_weights(class_weight: Any, classes: np.ndarray, codes: np.ndarray) -> np.ndarray | None:
    """Weights (K,) for None, "balanced" or a dict, in the order of `classes`."""
    if class_weight is None:
        return None
    weights = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise ValueError(f"class_weight must be finite and >= 0, got {class_weight!r}")
    return weights
