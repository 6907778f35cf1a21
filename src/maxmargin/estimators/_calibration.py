"""A temperature under which marginals are probabilities that can be believed.

Max-margin learning fixes the scale of scores by losses and lam, not by how often they are right. One number mends that:
scores are divided by the temperature under which labels that were not learned from are most probable, position by
position, since marginals of positions are what is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ._decoding import Scored
from .inputs.labels import encode_labels, stack_labels
from .inputs.weights import check_sample_weight

SMALLEST = 1e-300  # a probability below is taken for this one
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
STEP, STEPS = np.log(4.0), 40  # of the search for a bracket, in logarithms
CLOSE = 0.01  # how well log(temperature) is found


class HeldOut(NamedTuple):
    """Samples that were not learned from, under the weights of a model that did not see them."""

    scored: Scored
    codes: np.ndarray  # (N,) the true labels; -1 those the model does not know
    weight: np.ndarray  # (N,)

    def loss(self, temperature: float) -> tuple[float, float]:
        """The sum over positions of minus the log of the probability of the truth, and of their weights.

        The truth is smoothed a little towards all labels, as in Platt's scaling: where every label is right, a
        temperature near 0 would be the best otherwise.
        """
        marginals, _ = self.scored.marginals(temperature)
        known = (self.codes >= 0) & (self.weight > 0.0)
        logs, weight = np.log(np.maximum(marginals[known], SMALLEST)), self.weight[known]
        smooth = 1.0 / (known.sum() + 2.0)
        right = np.take_along_axis(logs, self.codes[known, None], axis=1)[:, 0]
        return -float(weight @ ((1.0 - smooth) * right + smooth * logs.mean(axis=1))), float(weight.sum())


def hold_out(model: Any, X: Any, y: Any, sample_weight: Any, lengths: Any) -> HeldOut:
    scored, _ = model._lay_out(X, lengths)
    offsets = scored.bounds  # of all samples, empty ones included
    codes, _ = encode_labels(stack_labels(y, offsets, words=model._words), offsets, model.classes_)
    weight = check_sample_weight(sample_weight, len(offsets) - 1)
    return HeldOut(scored, codes, np.repeat(weight, np.diff(offsets)))


def hold_out_folds(model: Any, X: Any, y: Any, cv: Any, sample_weight: Any) -> list[HeldOut]:
    """Each fold under a model of the same parameters that was fitted on the others."""
    n = len(X)
    weight = check_sample_weight(sample_weight, n)
    held = []
    from sklearn.model_selection import check_cv  # heavy, and needed here only

    for train, test in check_cv(cv).split(np.zeros(n)):
        fitted = clone(model).fit(_some(X, train), _some(y, train), sample_weight=weight[train])
        held.append(hold_out(fitted, _some(X, test), _some(y, test), weight[test], None))
    return held


def _some(values: Any, chosen: np.ndarray) -> list[Any]:
    return [values[i] for i in chosen]


def best_temperature(held: list[HeldOut]) -> float:
    """The temperature of the least mean loss."""

    def loss(log_temperature: float) -> float:
        sums = np.array([one.loss(float(np.exp(log_temperature))) for one in held]).sum(axis=0)
        if not sums[1] > 0.0:
            raise ValueError("no label to calibrate with: the model knows none of y, or all weights are 0")
        return sums[0] / sums[1]

    return float(np.exp(least(loss, 0.0)))


def least(loss: Callable[[float], float], start: float) -> float:
    """Where a function with one valley is least: steps downhill until it rises, then golden sections."""
    middle, value = start, loss(start)
    for step in (STEP, -STEP):
        for _ in range(STEPS):
            ahead = loss(middle + step)
            if ahead >= value:
                break
            middle, value = middle + step, ahead
    low, high = middle - STEP, middle + STEP
    inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [loss(inner[0]), loss(inner[1])]
    while high - low > CLOSE:
        if values[0] <= values[1]:
            high, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = high - GOLDEN * (high - low)
            values[0] = loss(inner[0])
        else:
            low, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = low + GOLDEN * (high - low)
            values[1] = loss(inner[1])
    return 0.5 * (low + high)
