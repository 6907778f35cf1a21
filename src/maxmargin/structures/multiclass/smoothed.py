"""Smoothed maxima over the classes of a sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import implements
from ...inference.smoothing import smooth_max
from ..smoothing import EntropySmoothing, L2Smoothing, Smoothed, Untilted, by_entropy, find_smoothed, new_smoothed
from ..verbs import find_expectation, new_expectation
from .layout import MulticlassProblem


@implements(new_smoothed, (MulticlassProblem, EntropySmoothing))
def _(problem, smoothing):
    return new_expectation(problem)


@implements(find_smoothed, (MulticlassProblem, EntropySmoothing))
def _(problem, smoothing, room, work, w, i):
    mean = find_expectation(problem, Untilted(), room, work, w, i, 1.0 / smoothing.mu)
    return by_entropy(smoothing, mean, room.log_sum[0])


class Mixture(NamedTuple):
    node: np.ndarray  # (K,) probabilities
    classes: np.ndarray  # (k + 1,) the best few
    values: np.ndarray  # (k + 1,)
    shares: np.ndarray  # (k + 1,)


@implements(new_smoothed, (MulticlassProblem, L2Smoothing))
def _(problem, smoothing):
    n_labels, asked = problem.cost.shape[0], smoothing.top_k + 1
    return Mixture(np.zeros(n_labels), np.zeros(asked, np.int64), np.zeros(asked), np.zeros(asked))


@implements(find_smoothed, (MulticlassProblem, L2Smoothing))
def _(problem, smoothing, room, work, w, i):
    node, count = room.node, 0
    for k in range(node.shape[0]):  # insertion: the best few are few
        at = min(count, room.values.shape[0])
        while at > 0 and work.node[k] > room.values[at - 1]:
            if at < room.values.shape[0]:
                room.values[at], room.classes[at] = room.values[at - 1], room.classes[at - 1]
            at -= 1
        if at < room.values.shape[0]:
            room.values[at], room.classes[at] = work.node[k], k
            count = min(count + 1, room.values.shape[0])
        node[k] = 0.0
    value, size, exact = smooth_max(room.values, count, smoothing.top_k, smoothing.mu, room.shares)
    mean = 0.0
    for j in range(size):
        node[room.classes[j]] = room.shares[j]
        mean += room.shares[j] * room.values[j]
    return Smoothed(value, mean, room.values[0], exact)
