"""Smoothed maxima over the labelings of a sample."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import implements
from ...inference.smoothing import smooth_max
from ...inference.verbs import find_top, new_scratch
from ..smoothing import (
    EntropySmoothing,
    L2Smoothing,
    Smoothed,
    Untilted,
    by_entropy,
    find_smoothed,
    new_smoothed,
)
from ..verbs import find_expectation, new_expectation
from .expectations import scores_of_links
from .layout import PairwiseProblem
from .links import clear_mixture, mix_links, new_mixture_tables


@implements(new_smoothed, (PairwiseProblem, EntropySmoothing))
def _(problem, smoothing):
    return new_expectation(problem)


@implements(find_smoothed, (PairwiseProblem, EntropySmoothing))
def _(problem, smoothing, room, work, w, i):
    mean = find_expectation(problem, Untilted(), room, work, w, i, 1.0 / smoothing.mu)
    return by_entropy(smoothing, mean, room.log_sum[0])


class Mixture(NamedTuple):
    """The best few labelings, and the expectation where they share."""

    node: np.ndarray  # (longest K,) marginals
    edge: np.ndarray  # (tables, K, K) as links keep them
    labels: np.ndarray  # (k + 1, longest)
    values: np.ndarray  # (k + 1,)
    shares: np.ndarray  # (k + 1,)
    scratch: Any  # of the plan


@implements(new_smoothed, (PairwiseProblem, L2Smoothing))
def _(problem, smoothing):
    n_labels, asked = problem.cost.shape[0], smoothing.top_k + 1
    return Mixture(
        node=np.zeros(problem.longest * n_labels),
        edge=new_mixture_tables(problem.links, n_labels),
        labels=np.zeros((asked, problem.longest), np.int32),
        values=np.zeros(asked),
        shares=np.zeros(asked),
        scratch=new_scratch(problem.plan, asked),
    )


@implements(find_smoothed, (PairwiseProblem, L2Smoothing))
def _(problem, smoothing, room, work, w, i):
    n_labels, length = problem.cost.shape[0], problem.sites.offsets[i + 1] - problem.sites.offsets[i]
    node = work.node.reshape(work.node.size)[: length * n_labels]
    labels, asked = room.labels[:, :length], smoothing.top_k + 1
    edge = scores_of_links(problem, work, w, i)
    count = find_top(problem.plan, i, node, edge, room.scratch, asked, labels, room.values)
    value, size, exact = smooth_max(room.values, count, smoothing.top_k, smoothing.mu, room.shares)
    for p in range(length * n_labels):
        room.node[p] = 0.0
    clear_mixture(problem.links, i, room.edge)
    mean = 0.0
    for j in range(size):
        mean += room.shares[j] * room.values[j]
        for t in range(length):
            room.node[t * n_labels + labels[j, t]] += room.shares[j]
        mix_links(problem.links, problem.sites, i, labels[j], room.shares[j], room.edge)
    return Smoothed(value, mean, room.values[0], exact)
