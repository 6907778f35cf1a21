"""Small noisy data for any of two estimators, and a callback that watches a fit."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import ChainSVM, MulticlassSVM

BOTH = pytest.mark.parametrize("cls", [ChainSVM, MulticlassSVM])


def make_data(cls, n=12, n_labels=3, n_features=4, seed=0, scale=1.0):
    """Noisy data, as the estimator takes them: not separable, so that no solver is done at once."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 5, size=n)
    X = [rng.normal(size=(length, n_features)) * scale for length in lengths]
    y = [rng.integers(n_labels, size=length) for length in lengths]
    return (X, y) if cls is ChainSVM else (np.vstack(X), np.concatenate(y))


def flat(labels):
    return np.concatenate(labels) if isinstance(labels, list) else labels


class Watcher:
    """A callback in scikit-learn's sense; `at_end(n)` says what to do after the n-th certificate."""

    def __init__(self, at_end=lambda n: False):
        self.at_end = at_end
        self.tasks, self.models, self.metadata, self.torn_down = [], [], None, 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
        self.tasks.append(context.task_name)
        self.models.append(fitted_estimator)
        self.metadata = metadata
        return context.task_name == "certificate" and self.at_end(self.tasks.count("certificate"))
