"""Exact inference for two labels a node and submodular edges by minimum cuts (pillutla18, Sec. 4.2.1 and App. C).

Once a maximum flow is found, the best score under one more constraint, node v with its other label, is less than the
best by exactly the flow that v, now bound to the other terminal, lets through in addition (kohli08). It starts from the
residual network, so it is a short search around v rather than a maximum flow. A node that is bound to the label it has
changes no flow at all.

Where several labelings are best, the one found has label 1 at the fewest nodes (up to rounding, where their scores
differ by no more).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements, routine
from ..verbs import (
    argmax_work,
    find_best,
    find_marginals,
    find_max_marginals,
    find_top,
    needs_submodular,
    new_scratch,
)
from .flow import send_flow
from .network import lay_out, score
from .plan import CutPlan

NO_MARGINALS = (
    "marginals by minimum cuts: sums over the labelings of such graphs are #P-hard; use max-marginals or the k best "
    "labelings, or, where the width of the graphs is low, junction trees"
)


# Of an argmax: a node or an edge of a network, see `argmax_work`. Flows of the samples measured are short ones.
NETWORK_WORK = 300.0


class CutScratch(NamedTuple):
    excess: np.ndarray  # what a node may still take from the source, or, negative, pass to the sink
    residual: np.ndarray  # what may still flow along an arc
    other_excess: np.ndarray  # the same under one more constraint
    other_residual: np.ndarray
    level: np.ndarray  # of a search: from its roots
    turn: np.ndarray  # the arc of a node to be tried next
    queue: np.ndarray
    path: np.ndarray
    labels: np.ndarray
    waiting: np.ndarray  # (k,): scores of labelings that differ from one found, best of their kind ...
    differs: np.ndarray  # (k, 2): ... from which, and first at which node


@implements(new_scratch, CutPlan)
def _(plan, k):
    n_nodes, n_arcs = plan.room[0], plan.room[1]
    return CutScratch(
        np.zeros(n_nodes),
        np.zeros(n_arcs),
        np.zeros(n_nodes),
        np.zeros(n_arcs),
        np.zeros(n_nodes, np.int64),
        np.zeros(n_nodes, np.int64),
        np.zeros(n_nodes, np.int64),
        np.zeros(n_nodes, np.int64),
        np.zeros(n_nodes, np.int64),
        np.zeros(k),
        np.zeros((k, 2), np.int64),
    )


@helper
def send(plan, i, excess, residual, side, root, limit, scratch):
    begin, end = plan.offsets[i], plan.offsets[i + 1]
    start, stop = 2 * plan.edge_offsets[i], 2 * plan.edge_offsets[i + 1]
    first, to, back = plan.first[begin + i : end + i + 1], plan.to[start:stop], plan.back[start:stop]
    level, turn, queue, path = scratch.level, scratch.turn, scratch.queue, scratch.path
    return send_flow(first, to, back, residual, excess, side, root, limit, level, turn, queue, path)


@routine
def solve(plan, i, node, edge, scratch, labels, n_bound):
    """Complete the first `n_bound` labels as well as can be; leaves the residual network, returns the score."""
    excess, residual, level = scratch.excess, scratch.residual, scratch.level
    n_nodes = plan.offsets[i + 1] - plan.offsets[i]
    forbidden = lay_out(plan, i, node, edge, excess, residual)
    for v in range(n_bound):
        excess[v] = np.inf if labels[v] == 1 else -np.inf
    if not forbidden:
        forbidden = send(plan, i, excess, residual, 1, -1, np.inf, scratch) == np.inf
    for v in range(n_nodes):
        labels[v] = 1 if level[v] > 0 and not forbidden else 0  # what the source reaches is on its side
    return -np.inf if forbidden else score(plan, i, node, edge, labels)


@helper
def loss_of_other(plan, i, scratch, v, label, limit):
    """What the best labeling with another label than `label` at v is worth less, or some number not below `limit`."""
    excess, residual = scratch.excess, scratch.residual
    other_excess, other_residual = scratch.other_excess, scratch.other_residual
    side = 1 if label == 0 else -1
    lost = abs(excess[v])  # by v alone
    if lost >= limit:
        return lost
    for u in range(plan.offsets[i + 1] - plan.offsets[i]):
        other_excess[u] = excess[u]
    for a in range(2 * (plan.edge_offsets[i + 1] - plan.edge_offsets[i])):
        other_residual[a] = residual[a]
    other_excess[v] = side * np.inf
    return lost + send(plan, i, other_excess, other_residual, side, v, limit - lost, scratch)


@helper
def branch(plan, i, scratch, place, found, bound, wanted, n_waiting):
    """Let wait the best labelings that first differ from the one found, of score `bound`, at a node after `place`.

    Of these and of those that wait already, the `wanted` best wait on; returns how many.
    """
    excess, labels, waiting, differs = scratch.excess, scratch.labels, scratch.waiting, scratch.differs
    for v in range(place + 1, plan.offsets[i + 1] - plan.offsets[i]):
        if wanted == 0:
            break
        at, limit = n_waiting, np.inf
        if n_waiting == wanted:
            at = np.argmin(waiting[:n_waiting])
            limit = bound - waiting[at]
        lost = loss_of_other(plan, i, scratch, v, labels[v], limit)
        excess[v] = np.inf if labels[v] == 1 else -np.inf  # those to come agree here
        if lost >= limit:
            continue
        n_waiting = max(n_waiting, at + 1)
        waiting[at], differs[at, 0], differs[at, 1] = bound - lost, found, v
    return n_waiting


@implements(find_best, CutPlan)
def _(plan, i, node, edge, scratch, labels):
    return solve(plan, i, node, edge, scratch, labels, 0)


@implements(needs_submodular, CutPlan)
def _(plan):
    return True


@implements(argmax_work, CutPlan)
def _(plan):
    return NETWORK_WORK * (plan.offsets[-1] + plan.edge_offsets[-1])


@implements(find_top, CutPlan)
def _(plan, i, node, edge, scratch, k, labels, values):
    """Each labeling found splits the rest of its kind by the first node that differs, one cut each (lawler72).

    So no two are equal and none is missed, ties or not. Best max-marginal first (pillutla18, Alg. 10) would take two
    rounds of cuts for each labeling instead of one, and needs scores that differ to decode labels from max-marginals.
    """
    own, waiting, differs = scratch.labels, scratch.waiting, scratch.differs
    n_nodes = plan.offsets[i + 1] - plan.offsets[i]
    n_waiting, place, bound = 0, -1, np.inf
    for found in range(k):
        if found > 0:
            if n_waiting == 0:
                return found
            c = np.argmax(waiting[:n_waiting])
            source, place = differs[c, 0], differs[c, 1]
            for v in range(place):
                own[v] = labels[source, v]
            own[place] = 1 - labels[source, place]
            n_waiting -= 1
            waiting[c], differs[c, 0], differs[c, 1] = waiting[n_waiting], differs[n_waiting, 0], differs[n_waiting, 1]
        value = solve(plan, i, node, edge, scratch, own, place + 1)
        if value == -np.inf:
            return found
        bound = value if value < bound else bound  # no better than the one before, not by rounding either
        values[found] = bound
        for v in range(n_nodes):
            labels[found, v] = own[v]
        n_waiting = branch(plan, i, scratch, place, found, bound, k - found - 1, n_waiting)
    return k


@implements(find_max_marginals, CutPlan)
def _(plan, i, node, edge, scratch, out):
    labels = scratch.labels
    best = solve(plan, i, node, edge, scratch, labels, 0)
    for v in range(plan.offsets[i + 1] - plan.offsets[i]):
        lost = 0.0 if best == -np.inf else loss_of_other(plan, i, scratch, v, labels[v], np.inf)
        out[2 * v + labels[v]] = best
        out[2 * v + 1 - labels[v]] = best - lost


@implements(find_marginals, CutPlan)
def _(plan, i, node, edge, scratch, node_out, edge_out):
    """Refuses, compiled and interpreted."""
    if len(node) > -1:  # always; but compiled code must know what would be returned
        raise NotImplementedError(NO_MARGINALS)
    return np.nan
