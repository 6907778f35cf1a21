"""What the scikit-learn faces share: one fit around a solver, atomic, with callbacks and warm starts."""

from __future__ import annotations

import inspect
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin

from .._parameters import check_verbose, count_threads
from .._threads import sweeping_on
from ..distributed.samples import is_spread
from ..persistence import save
from ..solvers import Record, Result, Solver
from ..solvers.report import certificate_html, certificate_rows
from ..solvers.tolerance import Goal, as_goal
from ..structures.fingerprint import fingerprint
from ._callbacks import as_callback
from ._encoded import Encoded
from ._warnings import warn_of

# What one kind of model has and the other has not: an earlier fit's must not outlive a later one.
BY_KIND = (
    "_weights",
    "support_",
    "support_vectors_",
    "dual_coef_",
    "feature_names_in_",
    "temperature_",
    "lams_",
    "scores_",
    "path_passes_",
    "path_oracle_calls_",
    "_samples",
)


def parameters_of(estimator: type) -> list[str]:
    """The names of the parameters of an estimator."""
    return list(inspect.signature(estimator).parameters)


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


def certificate_of(result: Result, solver: Solver, lam: float) -> dict[str, Any]:
    """The attributes that say how a model was found, and how good it is."""
    return {
        "lam_": float(lam),
        "primal_": result.primal,
        "dual_": result.dual,
        "gap_": result.gap,
        "status_": str(result.status),
        "solver_": solver,
        "n_passes_": result.n_passes,
        "n_oracle_calls_": result.n_oracle_calls,
        "history_": result.history,
        "_state": result.state,
    }


class MaxMarginEstimator(CallbackSupportMixin, BaseEstimator, ABC):
    """Base of the estimators. Attributes are set together when a fit is done, so a failed fit leaves nothing behind."""

    lam: float | str | None
    scale: bool | None
    solver: Any
    tol: float | None
    max_passes: float
    max_seconds: float | None
    random_state: Any
    verbose: int
    warm_start: bool
    checkpoint: Any
    checkpoint_every: float
    _settle_units: Callable[..., Any] | None = None  # who chooses units, where not all samples are here
    n_jobs: int | None = None  # no parameter of those whose outputs are found one after the other

    def _keep(self, parameters: dict[str, Any]) -> None:
        """Store what ``__init__`` was given, its ``locals()``, as it is."""
        for name, value in parameters.items():
            if name != "self":
                setattr(self, name, value)

    @abstractmethod
    def encode(self, X: Any, y: Any, *args: Any, **given: Any) -> Encoded:
        """Check data and make a problem of them, without fitting.

        Parameters
        ----------
        X, y
            As `fit` takes them.
        *args, **given
            What else `fit` takes.

        Returns
        -------
        encoded : Encoded
            With the ``problem`` for solvers, and ``model(w)`` that makes a fitted estimator of weights.
        """

    def _fit(self, X: Any, y: Any, *, lam: float | None = None, found: Any = (), **given: Any) -> None:
        """Solve the problem and set the fitted attributes: those of the data, of the weights, and the certificate.

        `lam` is that of the estimator unless it is given, `found` are further attributes, `given` goes with X and y.
        """
        n_threads = count_threads(self.n_jobs)  # refuses what is no number of threads, before there is work for them
        if is_spread(X):
            from ._spread import fit_spread  # knows estimators itself

            fit_spread(self, X, y, given)
            return
        with sweeping_on(n_threads):
            encoded = self.encode(X, y, **given)
        solver = encoded.solver(self.solver)
        if lam is None and isinstance(self.lam, str):
            found = self._cross_validated(X, y, **given)
            lam = found["lam_"]
        lam = self._regularization(encoded) if lam is None else lam
        state = self._earlier_state(encoded.problem, solver)
        self._learn(encoded, solver, lam, state, self.checkpoint, dict(found), X, y, **given)

    def _learn(
        self,
        encoded: Encoded,
        solver: Solver,
        lam: Any,
        state: Any,
        checkpoint: Any,
        found: dict[str, Any],
        X: Any,
        y: Any,
        **given: Any,
    ) -> None:
        """Solve the problem made of X and y, and maybe of earlier samples, and become what comes of it."""
        root = self._init_callback_context(max_subtasks=None)
        told = {"estimator": self, "X": X, "y": y}
        told["metadata"] = {name: value for name, value in given.items() if value is not None}
        root.call_on_fit_task_begin(**told)

        def tell_callbacks(record: Record) -> bool:
            task = root.subcontext(task_name="certificate")
            task.record = record
            task.call_on_fit_task_begin(**told)
            return task.call_on_fit_task_end(**told, reconstruction_attributes=lambda: encoded.attributes(record.w))

        result = solver.solve(
            encoded.problem,
            lam,
            tol=self._goal(),
            max_passes=self.max_passes,
            max_seconds=self.max_seconds,
            callbacks=[tell_callbacks],
            state=state,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=check_verbose(self.verbose),
            checkpoint=checkpoint,
            checkpoint_every=self.checkpoint_every,
        )
        attributes = {**encoded.attributes(result.w), **certificate_of(result, solver, lam), **found}
        if not (self.warm_start or "_samples" in found):
            attributes["_state"] = None
        root.call_on_fit_task_end(**told, reconstruction_attributes=lambda: attributes)
        self._become(attributes)
        warn_of(result, lam, self._goal().at(result.primal))

    def _cross_validated(self, X: Any, y: Any, **given: Any) -> dict[str, Any]:
        """The lam of cross-validation, and what was seen of others."""
        if self.lam != "cv":
            raise ValueError(f'lam must be a number > 0, "cv" or None, got {self.lam!r}')
        from ._path_cv import choose_lam  # knows estimators itself

        return choose_lam(self, X, y, **{name: value for name, value in given.items() if value is not None})

    def _goal(self) -> Goal:
        """How large the gap may be."""
        return as_goal(self.tol)

    def _regularization(self, encoded: Encoded) -> Any:
        return encoded.units.lam if self.lam is None else self.lam

    def _become(self, attributes: dict[str, Any]) -> None:
        for name in BY_KIND:
            self.__dict__.pop(name, None)
        self.__dict__.update(attributes)

    def _earlier_state(self, problem: Any, solver: Solver) -> Any:
        state = getattr(self, "_state", None) if self.warm_start else None
        if state is None:
            return None
        changed = "solver" if solver.family != state.family else "data"
        if changed == "data" and state.fingerprint == fingerprint(problem):
            return state
        warnings.warn(
            f"warm_start=True goes on with the {changed} of the earlier fit, but this has changed: starting afresh",
            UserWarning,
            stacklevel=5,
        )
        return None

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set callbacks of `fit`, in place of those set before.

        Parameters
        ----------
        *callbacks : functions or callback instances
            A function is called with each :class:`~maxmargin.solvers.Record`, or with the record and the model that it
            certifies if it takes two arguments; a true answer stops. Others follow scikit-learn's protocol.

        Returns
        -------
        self : estimator
        """
        return super().set_callbacks(*map(as_callback, callbacks))

    def save(self, path: str | os.PathLike) -> Self:
        """Write the model to a file that `maxmargin.load` reads, on any machine, without running code from it.

        Parameters
        ----------
        path : str or path
            Where to; a file that is there is replaced when the new one is complete.

        Returns
        -------
        self : estimator
        """
        return save(self, path)

    def _html_repr(self) -> str:
        """scikit-learn's diagram, and the certificate of a fitted model."""
        diagram = super()._html_repr()
        if not hasattr(self, "history_"):
            return diagram
        lam = {"lam": getattr(self, "lam_", self.lam)}
        rows = certificate_rows(self.status_, self.primal_, self.dual_, self.gap_, self.n_passes_, self.history_)
        return diagram + certificate_html("certificate", lam | rows)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_") or hasattr(self, "dual_coef_")
