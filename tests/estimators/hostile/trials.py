"""What is tried on an estimator, and what must come of it: a right answer, or words that name the place."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

NONE: Mapping[str, Any] = MappingProxyType({})


class Subject(NamedTuple):
    """An estimator, data it takes, and how to get at the features of a sample."""

    name: str
    make: Callable[..., Any]
    X: Any
    y: Any
    get: Callable[[Any, int], np.ndarray]  # features of a sample
    put: Callable[[Any, int, Any], Any]  # samples with those of one of them replaced
    place: str = "X, sample {i}"  # how messages begin that are about one of them
    sparse: bool = False  # features may be sparse matrices
    whole: bool = False  # the features of all samples are one matrix
    labels: bool = False  # outputs are labels
    n_samples: int = 0  # that have weights
    exceptions: Mapping[str, Any] = NONE  # what else is expected of a trial of that name

    @property
    def n_parts(self) -> int:
        """How many matrices of features there are."""
        return 1 if self.whole else len(self.X)

    def with_features(self, change: Callable[[np.ndarray], Any], which: Any = None) -> Any:
        """Samples whose features are changed, in all of them or in those listed."""
        X = self.X
        for i in range(self.n_parts) if which is None else which:
            X = self.put(X, i, change(self.get(X, i)))
        return X


class Trial(NamedTuple):
    """One call. `make` gives its arguments, afresh each time, as some can be used but once."""

    name: str
    method: str  # of the estimator
    make: Callable[[], tuple]  # arguments of the method
    expected: Any  # words of an error (a pattern), or a check of the model or answer
    params: Mapping[str, Any] = NONE  # of the estimator
    given: Mapping[str, Any] = NONE  # to the method, by name


def nothing(subject: Subject, answers: Any) -> None:
    assert len(answers) == 0


def same_optimum(subject: Subject, model: Any) -> None:
    """The problem is the one of the plain data: both certificates can hold together."""
    plain = older(subject)
    assert max(plain.dual_, model.dual_) <= min(plain.primal_, model.primal_) + 1e-9
    fitted(subject, model)


def fitted(subject: Subject, model: Any) -> None:
    """A model that can be used, with a certificate."""
    assert np.isfinite([model.primal_, model.dual_]).all() and model.gap_ >= 0
    assert np.isfinite(model.coef_).all()
    assert len(model.predict(subject.X)) == len(subject.X)


def same_answers(subject: Subject, answers: Any) -> None:
    """As of the plain data."""
    plain = older(subject).predict(subject.X)
    assert len(answers) == len(plain)
    assert all(np.array_equal(one, other) for one, other in zip(answers, plain, strict=True))


def is_number(subject: Subject, answer: Any) -> None:
    assert np.isfinite(answer)


_OLDER: dict[str, Any] = {}


def older(subject: Subject) -> Any:
    """A fit to the plain data."""
    if subject.name not in _OLDER:
        _OLDER[subject.name] = quietly(subject.make(), "fit", (subject.X, subject.y))
    return _OLDER[subject.name]


def quietly(model: Any, method: str, arguments: tuple, given: Mapping[str, Any] = NONE) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return getattr(model, method)(*arguments, **given)


def try_out(subject: Subject, trial: Trial) -> None:
    refused = isinstance(trial.expected, str)
    if trial.method == "fit" and refused:
        _assert_refused_fit(subject, trial)
    elif trial.method == "fit":
        trial.expected(subject, quietly(subject.make(**trial.params), "fit", trial.make(), trial.given))
    elif refused:
        _assert_refused(older(subject), trial)
        same_answers(subject, older(subject).predict(subject.X))
    else:
        trial.expected(subject, quietly(older(subject), trial.method, trial.make(), trial.given))


def _assert_refused(model: Any, trial: Trial) -> None:
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError), match=trial.expected):
        quietly(model, trial.method, trial.make(), trial.given)
    assert vars(model).keys() == before.keys(), "a refusal leaves nothing behind"
    assert all(vars(model)[name] is value for name, value in before.items())


def _assert_refused_fit(subject: Subject, trial: Trial) -> None:
    """Nothing is left on a new model, and an older fit of the same estimator stays what it was."""
    fresh = subject.make(**trial.params)
    _assert_refused(fresh, trial)
    with pytest.raises(NotFittedError):
        fresh.predict(subject.X)
    again = copy(older(subject))
    kept = again.get_params(deep=False)
    again.set_params(**fresh.get_params(deep=False))
    _assert_refused(again, trial)
    again.set_params(**kept)
    same_answers(subject, again.predict(subject.X))
