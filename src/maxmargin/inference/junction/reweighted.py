"""Graphs of low tree-width: distributions as cliques, those of each bucket's node and of its message.

One pass for any range of scores: a message is the logarithm of a sum, of which the largest term is 1 and the others
come with their weights, so that what underflows is nothing beside `FLOOR`.
"""

from __future__ import annotations

import numpy as np

from ..._compile import helper, implements
from ..vectors import exp_to_one
from ..verbs import FLOOR, clique_size, edges_first, find_reweighted, mix_labeling
from .passes import reduce_to_factors
from .plan import JunctionPlan
from .tables import ADD, SUM, copy, copy_scores, fill, maximise, walk_along


@implements(clique_size, JunctionPlan)
def _(plan, i):
    size, graph = 0, plan.graphs[i]
    for j in range(plan.bucket_offsets[graph], plan.bucket_offsets[graph + 1]):
        size += plan.states[j, 0] * plan.states[j, 1] * plan.states[j, 2]
    return size


@implements(edges_first, JunctionPlan)
def _(plan):
    return False


@implements(mix_labeling, JunctionPlan)
def _(plan, i, labels, gamma, cliques):
    for p in range(cliques.shape[0]):
        cliques[p] *= 1.0 - gamma
    begin, graph = 0, plan.graphs[i]
    for j in range(plan.bucket_offsets[graph], plan.bucket_offsets[graph + 1]):
        of_message, at = plan.states[j, 1] * plan.states[j, 2], 0
        for s in range(plan.scope_offsets[j], plan.scope_offsets[j + 1]):
            at += labels[plan.scope[s, 0]] * plan.scope[s, 1]
        cliques[begin + labels[plan.own[j]] * of_message + at] += gamma
        begin += plan.states[j, 0] * of_message


@implements(find_reweighted, JunctionPlan)
def _(plan, i, cliques, node, edge, scratch, node_out, edge_out, cliques_out):
    n_labels, graph = copy_scores(plan, i, node, edge, scratch.values), plan.graphs[i]
    value, begin = 0.0, 0
    for j in range(plan.bucket_offsets[graph], plan.bucket_offsets[graph + 1]):
        left, right = take_in(plan, j, scratch)
        message, shape = message_of(plan, j, scratch.values), (left.shape[0], right.shape[1], left.shape[1])
        end = begin + shape[0] * shape[1] * shape[2]
        given, out = cliques[begin:end].reshape(shape), cliques_out[begin:end].reshape(shape)
        value += condition(left, right, given, message, out)
        if value == -np.inf:
            return value
        begin = end
    end = begin
    for j in range(plan.bucket_offsets[graph + 1] - 1, plan.bucket_offsets[graph] - 1, -1):
        n_x, n_z, n_o = plan.states[j, 0], plan.states[j, 1], plan.states[j, 2]
        belief, begin = message_of(plan, j, scratch.beliefs), end - n_x * n_z * n_o
        if plan.is_root[j]:
            belief[0, 0] = 1.0
        left_out = scratch.outs[: n_x * n_o].reshape((n_x, n_o))
        right_out = scratch.outs[n_x * n_o : n_x * (n_o + n_z)].reshape((n_x, n_z))
        multiply_out(belief, cliques_out[begin:end].reshape((n_x, n_z, n_o)), left_out, right_out)
        reduce_to_factors(plan, j, scratch, len(scratch.beliefs), 0.0, SUM)
        end = begin
    copy(scratch.beliefs, 0, node_out, 0, n_labels)
    copy(scratch.beliefs, plan.edge_at[graph], edge_out, 0, plan.edge_sizes[graph])
    return value


@helper
def message_of(plan, j, values):
    n_z, n_o, at = plan.states[j, 1], plan.states[j, 2], plan.message_at[j]
    return values[at : at + n_z * n_o].reshape((n_z, n_o))


@helper
def take_in(plan, j, scratch):
    """Add up the scores and messages that bucket j takes in: ``left[x, o]`` and ``right[x, z]``."""
    n_x, n_z, n_o, begin = plan.states[j, 0], plan.states[j, 1], plan.states[j, 2], plan.table_at[j]
    tables, axes, at = scratch.tables, plan.axes, plan.axis_offsets
    middle, end = begin + n_x * n_o, begin + n_x * (n_o + n_z)
    fill(tables, begin, end, 0.0)
    for f in range(plan.factor_offsets[j], plan.factor_offsets[j + 1]):
        a, b = (middle, end) if plan.in_right[f] else (begin, middle)
        walk_along(axes, at[f], at[f + 1] - 1, scratch.values, plan.source[f], tables, a, b, scratch.counts, ADD)
    return tables[begin:middle].reshape((n_x, n_o)), tables[middle:end].reshape((n_x, n_z))


@helper
def condition(left, right, given, message, out):
    """``out[x, z, o] ~ q(x | z, o) exp(left + right)``, summed to 1 over x; messages are the logarithms of the sums.

    Returns their maximum, which is taken out of them.
    """
    n_x, n_z, n_o = given.shape
    maximise(left, right, message)
    highest = -np.inf
    for z in range(n_z):
        for o in range(n_o):
            top = message[z, o] if message[z, o] > -np.inf else 0.0
            before, total = 0.0, 0.0
            for x in range(n_x):
                weight = given[x, z, o] + FLOOR
                out[x, z, o] = weight * exp_to_one(min(left[x, o] + right[x, z] - top, 0.0))
                before += weight
                total += out[x, z, o]
            if total > 0.0:
                for x in range(n_x):
                    out[x, z, o] /= total
                message[z, o] += np.log(total / before)
                highest = max(highest, message[z, o])
    for z in range(n_z):
        for o in range(n_o):
            message[z, o] -= highest if highest > -np.inf else 0.0
    return highest


@helper
def multiply_out(belief, cliques, left_out, right_out):
    """Conditional distributions become the clique's, and its sums over z and over o."""
    n_x, n_z, n_o = cliques.shape
    for x in range(n_x):
        for o in range(n_o):
            left_out[x, o] = 0.0
        for z in range(n_z):
            total = 0.0
            for o in range(n_o):
                cliques[x, z, o] *= belief[z, o]
                left_out[x, o] += cliques[x, z, o]
                total += cliques[x, z, o]
            right_out[x, z] = total
