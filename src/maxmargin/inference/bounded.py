"""Forbidden first and last labels around any plan."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import helper, implements
from .verbs import (
    argmax_work,
    can_sum,
    clique_size,
    edges_first,
    find_best,
    find_marginals,
    find_max_marginals,
    find_reweighted,
    find_top,
    mix_labeling,
    new_scratch,
)


class Bounded(NamedTuple):
    """A plan whose samples have scores added at their first and last nodes, all nodes having the same labels.

    Parameters
    ----------
    plan : TreePlan, JunctionPlan, CutPlan or RelaxedPlan
        Who finds labelings.
    start : ndarray of shape (K,)
        Scores added at the first node of a sample: 0, or -inf for labels that are forbidden there.
    end : ndarray of shape (K,)
        The same at the last node.
    longest : int
        Nodes of the largest sample.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import Bounded, make_tree_plan
    >>> from maxmargin.inference.verbs import find_best, new_scratch
    >>> tree = make_tree_plan([0, 2], [-1, 0], 2, shared=True)
    >>> plan = Bounded(tree, np.array([0.0, -np.inf]), np.zeros(2), 2)
    >>> labels = np.zeros(2, int)
    >>> float(find_best(plan, 0, np.array([0.0, 3.0, 0.0, 1.0]), np.zeros(4), new_scratch(plan, 1), labels))
    1.0
    >>> labels
    array([0, 1])
    """

    plan: Any
    start: np.ndarray
    end: np.ndarray
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


@implements(argmax_work, Bounded)
def _(plan):
    return argmax_work(plan.plan)


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


@implements(clique_size, Bounded)
def _(plan, i):
    return clique_size(plan.plan, i)


@implements(edges_first, Bounded)
def _(plan):
    return edges_first(plan.plan)


@implements(mix_labeling, Bounded)
def _(plan, i, labels, gamma, cliques):
    mix_labeling(plan.plan, i, labels, gamma, cliques)


@implements(find_reweighted, Bounded)
def _(plan, i, cliques, node, edge, scratch, node_out, edge_out, cliques_out):
    scores = bounded(plan, i, node, scratch)
    return find_reweighted(plan.plan, i, cliques, scores, edge, scratch.inner, node_out, edge_out, cliques_out)
