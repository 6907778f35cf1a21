"""Forbidden first and last labels around any plan."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import helper, implements
from .verbs import can_sum, find_best, find_marginals, find_max_marginals, find_top, new_scratch


class Bounded(NamedTuple):
    """A plan whose samples have scores added at their first and last nodes, all nodes having the same labels."""

    plan: Any
    start: np.ndarray  # (K,) 0 or -inf
    end: np.ndarray  # (K,)
    longest: int


class BoundedScratch(NamedTuple):
    node: np.ndarray  # the potentials given must stay as they are
    inner: Any


@implements(new_scratch, Bounded)
def _(plan, k):
    return BoundedScratch(np.zeros(plan.longest * len(plan.start)), new_scratch(plan.plan, k))


@helper
def bounded(plan, i, node, scratch):
    """The scores of the nodes with those of the ends added."""
    n_labels = plan.start.shape[0]
    count = (plan.plan.offsets[i + 1] - plan.plan.offsets[i]) * n_labels
    scores = scratch.node[:count]
    for p in range(count):
        scores[p] = node[p]
    for k in range(n_labels):
        scores[k] += plan.start[k]
        scores[count - n_labels + k] += plan.end[k]
    return scores


@implements(find_best, Bounded)
def _(plan, i, node, edge, scratch, labels):
    return find_best(plan.plan, i, bounded(plan, i, node, scratch), edge, scratch.inner, labels)


@implements(find_top, Bounded)
def _(plan, i, node, edge, scratch, k, labels, values):
    return find_top(plan.plan, i, bounded(plan, i, node, scratch), edge, scratch.inner, k, labels, values)


@implements(find_max_marginals, Bounded)
def _(plan, i, node, edge, scratch, out):
    return find_max_marginals(plan.plan, i, bounded(plan, i, node, scratch), edge, scratch.inner, out)


@implements(can_sum, Bounded)
def _(plan):
    return can_sum(plan.plan)


@implements(find_marginals, Bounded)
def _(plan, i, node, edge, scratch, node_out, edge_out):
    return find_marginals(plan.plan, i, bounded(plan, i, node, scratch), edge, scratch.inner, node_out, edge_out)
