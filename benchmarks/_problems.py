"""The data sets as problems for solvers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from maxmargin import datasets
from maxmargin.estimators._inputs import encode_labels, stack_labels, stack_sequences
from maxmargin.structures import make_chain_problem
from maxmargin.structures.multiclass import make_multiclass_problem


def chains_of(data: Any) -> Any:
    stacked = stack_sequences(data.X_train)
    codes, classes = encode_labels(stack_labels(data.y_train, stacked.offsets), stacked.offsets)
    return make_chain_problem(stacked.rows, stacked.offsets, codes, len(classes))


def classes_of(data: Any) -> Any:
    classes, codes = np.unique(data.y_train, return_inverse=True)
    return make_multiclass_problem(np.asarray(data.X_train, np.float64), codes, len(classes), intercept=True)


MAKERS: dict[str, Callable[[], Any]] = {
    "OCR-small": lambda: chains_of(datasets.fetch_ocr("small")),
    "OCR-large": lambda: chains_of(datasets.fetch_ocr("large")),
    "CoNLL-2000": lambda: chains_of(datasets.fetch_conll2000()),
    "USPS": lambda: classes_of(datasets.fetch_usps()),
}


@cache
def load(name: str) -> tuple[Any, int]:
    """The problem and its number of samples."""
    problem = MAKERS[name]()
    return problem, len(problem.weight)
