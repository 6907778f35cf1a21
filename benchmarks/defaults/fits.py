"""One fit to the data of a task: what it scores on its test set, and what it takes."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from sklearn.base import clone

from .scores import Counts, score
from .tasks import Task

PATIENCE = 200  # passes for values of lam that may be hopeless


class Found(NamedTuple):
    counts: Counts
    seconds: float
    model: Any

    @property
    def score(self) -> float:
        return score(self.counts)


def fit(task: Task, **params: Any) -> Found:
    model = clone(task.model).set_params(random_state=0, **params)
    before = time.process_time()
    model.fit(task.X_train, task.y_train, **task.given)
    seconds = time.process_time() - before
    return Found(task.count(task.y_test, model.predict(task.X_test)), seconds, model)
