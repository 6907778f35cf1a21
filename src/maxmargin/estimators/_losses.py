"""What estimators of labels minimise beside the square of their weights: the hinge loss of SVMs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._scaling import LAM_OF_ONE, mean_largest_loss, normalizes
from .inputs.weights import label_costs


class Losses(NamedTuple):
    """What wrong labels cost where a problem is made, and what ``lam=None`` follows from."""

    cost: np.ndarray  # (K, K)
    normalize: bool  # whether the loss of a sample is divided by the number of its sites
    largest: float  # the mean over samples of the largest loss: its unit
    lam: float  # of one sample, in units


class HingeLoss:
    """Minimise the hinge loss of wrong labels. Stands before the estimator of labels among the bases of a class."""

    loss: str | None
    class_weight: Any
    cost_matrix: Any

    def _losses(self, classes: np.ndarray, codes: np.ndarray, offsets: np.ndarray, weight: np.ndarray) -> Losses:
        normalize, lengths = normalizes(self), np.diff(offsets)
        costs = label_costs(self.cost_matrix, self.class_weight, classes, codes, np.repeat(weight, lengths))
        worst = mean_largest_loss(costs.max(axis=1)[codes], offsets, normalize, weight)
        return Losses(costs, normalize, worst, LAM_OF_ONE * float(np.average(lengths, weights=weight)))

    def _posed(self, problem: Any) -> Any:
        return problem
