"""The data sets as problems for solvers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from maxmargin import GraphSVM, datasets
from maxmargin.estimators import Encoded
from maxmargin.estimators.inputs.labels import encode_labels, stack_labels
from maxmargin.estimators.inputs.sequences import stack_sequences
from maxmargin.structures import make_chain_problem
from maxmargin.structures.multiclass import make_multiclass_problem


def chains_of(data: Any) -> Any:
    stacked = stack_sequences(data.X_train)
    codes, classes = encode_labels(stack_labels(data.y_train, stacked.offsets), stacked.offsets)
    return make_chain_problem(stacked.rows, stacked.offsets, codes, len(classes))


def classes_of(data: Any) -> Any:
    classes, codes = np.unique(data.y_train, return_inverse=True)
    return make_multiclass_problem(np.asarray(data.X_train, np.float64), codes, len(classes), intercept=True)


def scaled_graphs(data: Any, *parts: str) -> list[list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Features, edges and edge features of the parts' samples, the features scaled as those of the training nodes."""
    scaler = StandardScaler().fit(np.concatenate(data.X_train))
    return [
        [
            (scaler.transform(x), edges, of_edges)
            for x, edges, of_edges in zip(
                *(data[f"{name}_{part}"] for name in ("X", "edges", "edge_features")), strict=True
            )
        ]
        for part in parts
    ]


@cache
def horses() -> Encoded:
    """Graphs for minimum cuts, with the indices of the weights that must be >= 0."""
    data = datasets.fetch_horses()
    return GraphSVM(inference="cut", scale=False).encode(*scaled_graphs(data, "train"), data.y_train)


MAKERS: dict[str, Callable[[], Any]] = {
    "OCR-small": lambda: chains_of(datasets.fetch_ocr("small")),
    "OCR-large": lambda: chains_of(datasets.fetch_ocr("large")),
    "CoNLL-2000": lambda: chains_of(datasets.fetch_conll2000()),
    "horses": lambda: horses().problem,
    "USPS": lambda: classes_of(datasets.fetch_usps()),
}


@cache
def load(name: str) -> tuple[Any, int]:
    """The problem and its number of samples."""
    problem = MAKERS[name]()
    return problem, len(problem.weight)
