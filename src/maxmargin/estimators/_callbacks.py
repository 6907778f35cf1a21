"""Plain functions as callbacks of estimators, in scikit-learn's protocol."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from sklearn.callback import FitCallback

from ..solvers import Record


def as_callback(callback: Any) -> Any:
    """A callback of scikit-learn's as it is; a function of a record, or of a record and a model, as one."""
    if isinstance(callback, type) or not (isinstance(callback, FitCallback) or callable(callback)):
        raise TypeError(
            "a callback is a function of a record, a function of a record and a model, or an instance with "
            f"scikit-learn's FitCallback protocol, got {callback!r}"
        )
    if isinstance(callback, FitCallback):
        return callback
    return WithModel(callback) if _wants_model(callback) else WithRecord(callback)


def _wants_model(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # builtin functions may have none to show
        return False
    needed = [
        one
        for one in parameters
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    return len(needed) == 2


class WithRecord:
    """Calls a function with the record of each certificate; a true answer stops the fit."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing is to be set up."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing is left behind."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """A function hears of certificates only."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        record = record_of(context)
        return record is not None and bool(self.function(record))


class WithModel(WithRecord):
    """The same with the model that the certificate is of; making it costs a copy of the weights."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:  # type: ignore[override]
        record = record_of(context)
        return record is not None and bool(self.function(record, fitted_estimator))


def record_of(context: Any) -> Record | None:
    """The record of a task that is a certificate."""
    return getattr(context, "record", None)
