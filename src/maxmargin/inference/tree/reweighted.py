"""Forests: distributions as cliques, the tables of all edges and then the labels of the roots."""

from __future__ import annotations

import numpy as np

from ..._compile import helper, implements
from ..given import add_log_given, multiply_given
from ..semirings import LOG_SUM, SCALED_SUM
from ..verbs import FLOOR, clique_size, edges_first, find_reweighted, mix_labeling
from .answers import exp_potentials, fields_of, go_both_ways, labels_of
from .plan import TreePlan


@helper
def pairs_end(plan, i):
    """Where the tables of the edges end, and the labels of the roots begin."""
    if plan.edge_offsets[i] == plan.edge_offsets[i + 1]:
        return 0
    at = plan.edge_offsets[i + 1] - 1
    a, to_a = labels_of(plan, i, plan.tail[at])
    b, to_b = labels_of(plan, i, plan.head[at])
    return plan.pairs[at] + (to_a - a) * (to_b - b)


@implements(clique_size, TreePlan)
def _(plan, i):
    size = pairs_end(plan, i)
    for r in range(plan.root_offsets[i], plan.root_offsets[i + 1]):
        a, to_a = labels_of(plan, i, plan.roots[r])
        size += to_a - a
    return size


@implements(edges_first, TreePlan)
def _(plan):
    return True


@implements(mix_labeling, TreePlan)
def _(plan, i, labels, gamma, cliques):
    for p in range(cliques.shape[0]):
        cliques[p] *= 1.0 - gamma
    for at in range(plan.edge_offsets[i], plan.edge_offsets[i + 1]):
        b, to_b = labels_of(plan, i, plan.head[at])
        cliques[plan.pairs[at] + labels[plan.tail[at]] * (to_b - b) + labels[plan.head[at]]] += gamma
    at_root = pairs_end(plan, i)
    for r in range(plan.root_offsets[i], plan.root_offsets[i + 1]):
        a, to_a = labels_of(plan, i, plan.roots[r])
        cliques[at_root + labels[plan.roots[r]]] += gamma
        at_root += to_a - a


@implements(find_reweighted, TreePlan)
def _(plan, i, cliques, node, edge, scratch, node_out, edge_out, cliques_out):
    value = exp_potentials(plan, i, node, edge, scratch)
    if value == -np.inf:
        return value
    first, end = plan.edge_offsets[i], pairs_end(plan, i)
    weigh_roots(plan, i, cliques, scratch, True)
    for e in range(plan.edge_offsets[i + 1] - first):
        _, head, _, given = fields_of(plan, i, e, cliques, plan.pairs[first + e])
        _, _, _, factors = fields_of(plan, i, e, scratch.table, plan.tables[first + e])
        _, _, _, out = fields_of(plan, i, e, cliques_out, plan.pairs[first + e])
        multiply_given(given, factors, scratch.outside[head], out)
    value += go_both_ways(SCALED_SUM, plan, i, cliques_out, plan.pairs, scratch, node_out, cliques_out)
    if np.isnan(value):
        for a in range(len(node)):
            scratch.inside[a] = node[a]
        weigh_roots(plan, i, cliques, scratch, False)
        for e in range(plan.edge_offsets[i + 1] - first):
            _, head, _, given = fields_of(plan, i, e, cliques, plan.pairs[first + e])
            _, _, _, scores = fields_of(plan, i, e, edge, plan.tables[first + e])
            _, _, _, out = fields_of(plan, i, e, cliques_out, plan.pairs[first + e])
            add_log_given(given, scores, scratch.outside[head], out)
        value = go_both_ways(LOG_SUM, plan, i, cliques_out, plan.pairs, scratch, node_out, cliques_out)
    for r in range(plan.root_offsets[i], plan.root_offsets[i + 1]):
        a, to_a = labels_of(plan, i, plan.roots[r])
        for at in range(a, to_a):
            cliques_out[end + at - a] = node_out[at]
        end += to_a - a
    return value


@helper
def weigh_roots(plan, i, cliques, scratch, exponentiated):
    """Multiply what is inside of roots by the probabilities of their labels, or add the logarithms."""
    begin = pairs_end(plan, i)
    for r in range(plan.root_offsets[i], plan.root_offsets[i + 1]):
        a, to_a = labels_of(plan, i, plan.roots[r])
        for at in range(a, to_a):
            share = cliques[begin + at - a] + FLOOR
            if exponentiated:
                scratch.inside[at] *= share
            else:
                scratch.inside[at] += np.log(share)
        begin += to_a - a
