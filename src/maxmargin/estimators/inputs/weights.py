"""How much samples, classes and mistakes count, or say which of the weights is wrong and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._parameters import check_choice
from .arrays import as_any_array, as_float64

LOSSES = {"hamming": True, "hamming_sum": False}  # whether the loss is divided by the size of the sample


def check_sample_weight(sample_weight: Any, n: int, name: str = "sample_weight") -> np.ndarray:
    """One finite, non-negative float64 weight per sample, not all zero; None gives ones, a number is repeated."""
    if n == 0:
        raise ValueError("X is empty: found 0 sample(s) while a minimum of 1 is required.")
    if sample_weight is None:
        return np.ones(n)
    weights = as_any_array(sample_weight, name)
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {weights.dtype}")
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.shape != (n,):
        raise ValueError(f"{name}.shape == {weights.shape}, expected {(n,)}: one weight per sample")
    weights = as_float64(weights)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        i = int(wrong.argmax())
        raise ValueError(f"{name}, sample {i}: weight {weights[i]} must be finite and non-negative")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 0 < total < np.inf:
        raise ValueError(f"{name} sums to {total}: at least one weight must be above zero, and the sum finite")
    return weights


def check_loss(loss: Any) -> bool:
    """Whether the loss of a sample is divided by its size."""
    check_choice("loss", loss, LOSSES)
    return LOSSES[loss]


def check_cost_matrix(cost_matrix: Any, n_labels: int) -> np.ndarray | None:
    """A (K, K) matrix of costs >= 0 with a zero diagonal, or None."""
    if cost_matrix is None:
        return None
    cost = as_any_array(cost_matrix, "cost_matrix")
    if cost.dtype.kind not in "biuf":
        raise ValueError(f"cost_matrix must hold real numbers, got {cost.dtype}")
    cost = as_float64(cost)
    if cost.shape != (n_labels, n_labels):
        raise ValueError(f"cost_matrix has shape {cost.shape}, but {n_labels} classes need {(n_labels, n_labels)}")
    if not np.all(np.isfinite(cost)) or np.any(cost < 0) or np.any(np.diag(cost) != 0):
        raise ValueError("cost_matrix must be finite, >= 0, and 0 on the diagonal (row: true, column: predicted label)")
    return cost


def class_weights(class_weight: Any, classes: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
    """Weights (K,) for None, "balanced" or a dict, in the order of `classes`; `weight` is that of each of `codes`.

    Like scikit-learn's, but labels stay what they are (it looks for the number 1 where the label is "1").
    """
    if class_weight is None:
        return None
    labels = classes.tolist()
    if isinstance(class_weight, Mapping):
        missing = [label for label in labels if label not in class_weight]
        if missing and len(class_weight) > len(labels) - len(missing):
            raise ValueError(f"class_weight has names that are no labels of y, and lacks {missing}: {class_weight!r}")
        values = [class_weight.get(label, 1.0) for label in labels]
    elif isinstance(class_weight, str) and class_weight == "balanced":
        # counted with the sample weights, so that an integer weight equals repetition here, too
        count = np.bincount(codes, weight, len(labels))
        values = np.divide(weight.sum(), len(labels) * count, out=np.ones(len(labels)), where=count > 0.0)
    else:
        raise ValueError(f'class_weight must be None, "balanced" or a dict, got {class_weight!r}')
    weights = as_any_array(values, "class_weight")
    if weights.dtype.kind not in "biuf" or not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise ValueError(f"class_weight must hold finite numbers >= 0, got {class_weight!r}")
    return weights.astype(np.float64)


def label_costs(
    cost_matrix: Any, class_weight: Any, classes: np.ndarray, codes: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Costs (K, K) of labels (columns) where others (rows) are true: 1 for wrong ones unless given, times the weight of
    the true class; `weight` is that of each of `codes`."""
    cost = check_cost_matrix(cost_matrix, len(classes))
    cost = 1.0 - np.eye(len(classes)) if cost is None else cost
    by_class = class_weights(class_weight, classes, codes, weight)
    return cost if by_class is None else cost * by_class[:, None]
