"""What the scikit-learn faces share: one fit around a solver, atomic, with callbacks and warm starts."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning

from ..solvers import Record, Solver, Status, get_solver
from ..structures.fingerprint import fingerprint

# What one kind of model has and the other has not: an earlier fit's must not outlive a later one.
BY_KIND = ("coef_", "support_", "support_vectors_", "dual_coef_", "feature_names_in_")

# What every estimator has.
PARAMETERS: dict[str, Any] = {
    "lam": None,
    "solver": "auto",
    "tol": 1e-2,
    "max_passes": 1000,
    "max_seconds": None,
    "random_state": None,
    "verbose": 0,
    "warm_start": False,
}


def init_of(defaults: dict[str, Any]) -> Callable[..., None]:
    """An ``__init__`` with these parameters, stored as they are: estimators of a family share most of them."""
    kinds = inspect.Parameter
    parameters = [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD if name == "lam" else kinds.KEYWORD_ONLY, default=default)
        for name, default in defaults.items()
    ]
    signature = inspect.Signature([kinds("self", kinds.POSITIONAL_OR_KEYWORD), *parameters])

    def __init__(self: Any, *args: Any, **given: Any) -> None:
        try:
            named = signature.bind(self, *args, **given).arguments
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}") from error
        for name, default in defaults.items():
            setattr(self, name, named.get(name, default))

    __init__.__signature__ = signature  # type: ignore[attr-defined]  # what get_params reads
    return __init__


def defaults_of(estimator: type) -> dict[str, Any]:
    """The parameters of an estimator with their defaults."""
    return {name: one.default for name, one in inspect.signature(estimator).parameters.items()}


class Posed(NamedTuple):
    """Data as a problem, and how its weights become a model."""

    problem: Any
    total_weight: float  # of the samples
    fitted: dict[str, Any]  # attributes that do not depend on the weights
    unpack: Callable[[np.ndarray], dict[str, Any]]  # attributes from the flat weights
    positive: Any = None  # indices of weights that must be >= 0, or the problem could not be solved


def solver_for(solver: Any, posed: Posed) -> Solver:
    """The solver itself, or the one a name means, with the bounds that the problem needs."""
    chosen = get_solver(solver, posed.problem)
    if posed.positive is None:
        return chosen
    if "positive" not in chosen.get_params():
        raise ValueError(f"weights must be >= 0 here, but {type(chosen).__name__} keeps no bounds: take another solver")
    if not (chosen.lower is None and chosen.upper is None and chosen.positive is None):
        raise ValueError("weights are kept >= 0 here: leave lower, upper and positive of the solver out")
    return clone(chosen).set_params(positive=posed.positive)


def by_sample(find: Callable[[Any], Any], samples: Iterable[Any]) -> list[Any]:
    """What `find` gives for each sample; where it refuses scores, the sample is named."""
    found = []
    for i, sample in enumerate(samples):
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                found.append(find(sample))
        except ValueError as error:
            raise ValueError(f"X, sample {i}: {error}; rescale its features") from error
    return found


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
    _pose: Callable[..., Posed]  # checks and encodes what fit is given

    def _regularization(self, total_weight: float) -> float:
        return 1.0 / total_weight if self.lam is None else self.lam

    def _fit(self, X: Any, y: Any, **given: Any) -> None:
        """Solve the problem and set the fitted attributes: those of the data, of the weights, and the certificate.

        `given` goes with X and y.
        """
        posed = self._pose(X, y, **given)
        problem, total_weight, fitted, unpack, _ = posed
        lam = self._regularization(total_weight)
        solver = solver_for(self.solver, posed)
        root = self._init_callback_context(max_subtasks=None)
        told = {"estimator": self, "X": X, "y": y}
        told["metadata"] = {name: value for name, value in given.items() if value is not None}
        root.call_on_fit_task_begin(**told)

        def tell_callbacks(record: Record) -> bool:
            task = root.subcontext(task_name="certificate")
            task.call_on_fit_task_begin(**told)
            return task.call_on_fit_task_end(**told, reconstruction_attributes=lambda: {**fitted, **unpack(record.w)})

        result = solver.solve(
            problem,
            lam,
            tol=self.tol,
            max_passes=self.max_passes,
            max_seconds=self.max_seconds,
            callbacks=[tell_callbacks],
            state=self._earlier_state(problem, solver),
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
        root.call_on_fit_task_end(**told, reconstruction_attributes=lambda: attributes)
        self._become(attributes)
        if result.status == Status.INTERRUPTED or (result.status == Status.MAX_SECONDS and result.n_passes == 0):
            warnings.warn(
                f"stopped ({result.status}) after {result.n_passes:g} passes with a duality gap of {result.gap:.2e}; "
                "the model is what was reached so far. Press Ctrl-C twice to break off instead.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if result.status == Status.MAX_PASSES:
            warnings.warn(
                f"stopped after {result.n_passes:g} passes with a duality gap of {result.gap:.2e}, above "
                f"tol={self.tol:g}. Raise max_passes, tol or lam.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _become(self, attributes: dict[str, Any]) -> None:
        for name in BY_KIND:
            self.__dict__.pop(name, None)
        self.__dict__.update(attributes)

    def _earlier_state(self, problem: Any, solver: Solver) -> Any:
        state = getattr(self, "_state", None) if self.warm_start else None
        if state is None:
            return None
        changed = "solver" if type(solver) is not type(self.solver_) else "data"
        if changed == "data" and state.fingerprint == fingerprint(problem):
            return state
        warnings.warn(
            f"warm_start=True goes on with the {changed} of the earlier fit, but this has changed: starting afresh",
            UserWarning,
            stacklevel=5,
        )
        return None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_") or hasattr(self, "dual_coef_")
