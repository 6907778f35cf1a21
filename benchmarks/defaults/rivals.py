"""What users take today, with the settings they start with."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from .scores import Counts
from .tasks import Task

# CRFsuite's own default, and that of the tutorial of its Python face
CRFSUITE = {"CRFsuite, c2 = 1": {"c1": 0.0, "c2": 1.0}, "CRFsuite, c1 = c2 = 0.1": {"c1": 0.1, "c2": 0.1}}


def crfsuite(task: Task, params: dict[str, float], max_iterations: int | None = None) -> tuple[Counts, float]:
    """Counts on the test set and the CPU seconds of training; reading features is not counted."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for x, y in zip(task.X_train, task.y_train, strict=True):
        trainer.append(_attributes(x), [str(label) for label in y])
    trainer.set_params(params if max_iterations is None else {**params, "max_iterations": max_iterations})
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "model")
        before = time.process_time()
        trainer.train(file)
        seconds = time.process_time() - before
        tagger = pycrfsuite.Tagger()
        tagger.open(file)
        found = [tagger.tag(_attributes(x)) for x in task.X_test]
        tagger.close()
    return task.count([[str(label) for label in y] for y in task.y_test], found), seconds


def linear_svc(task: Task) -> tuple[Counts, float]:
    before = time.process_time()
    model = LinearSVC(random_state=0).fit(task.X_train, task.y_train)
    seconds = time.process_time() - before
    return task.count(task.y_test, model.predict(task.X_test)), seconds


def _attributes(x: Any) -> list[dict[str, float]]:
    rows = sp.csr_array(x)
    names = np.char.add("f", rows.indices.astype(str)).tolist() if rows.nnz else []
    pairs = list(zip(names, rows.data.tolist(), strict=True))
    return [dict(pairs[a:b]) for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]
