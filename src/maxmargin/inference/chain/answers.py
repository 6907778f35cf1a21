"""The verbs of `verbs` for a ChainPlan."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements
from ..beam import Beam, new_beam
from ..verbs import (
    argmax_work,
    can_sum,
    clique_size,
    edges_first,
    find_best,
    find_marginals,
    find_max_marginals,
    find_reweighted,
    find_top,
    is_tight,
    mix_labeling,
    new_scratch,
)
from .passes import ChainSums, forward_backward, max_marginals, new_chain_sums, reweighted, top_viterbi, viterbi
from .plan import ChainPlan


class ChainScratch(NamedTuple):
    table: np.ndarray  # (longest, K)
    sums: ChainSums
    beam: Beam


@implements(new_scratch, ChainPlan)
def _(plan, k):
    n_labels = len(plan.start)
    return ChainScratch(
        np.zeros((plan.longest, n_labels)), new_chain_sums(plan.longest, n_labels), new_beam(plan.longest, k)
    )


@helper
def shaped(plan, i, node, edge):
    """Node scores (T, K), edge scores (K, K), and T."""
    n_labels = plan.start.shape[0]
    return node.reshape((-1, n_labels)), edge.reshape((n_labels, n_labels)), plan.offsets[i + 1] - plan.offsets[i]


@implements(find_best, ChainPlan)
def _(plan, i, node, edge, scratch, labels):
    scores, transitions, length = shaped(plan, i, node, edge)
    return viterbi(scores, transitions, plan.start, plan.end, scratch.table, length, labels)


@implements(argmax_work, ChainPlan)
def _(plan):
    return float(plan.offsets[-1]) * len(plan.start) ** 2


@implements(find_top, ChainPlan)
def _(plan, i, node, edge, scratch, k, labels, values):
    scores, transitions, length = shaped(plan, i, node, edge)
    return top_viterbi(
        scores, transitions, plan.start, plan.end, scratch.table, length, k, scratch.beam, labels, values
    )


@implements(find_max_marginals, ChainPlan)
def _(plan, i, node, edge, scratch, out):
    scores, transitions, length = shaped(plan, i, node, edge)
    by_label = out.reshape((-1, plan.start.shape[0]))
    max_marginals(scores, transitions, plan.start, plan.end, scratch.table, length, by_label)


@implements(is_tight, ChainPlan)
def _(plan):
    return not (plan.start.any() or plan.end.any())


@implements(can_sum, ChainPlan)
def _(plan):
    return True


@implements(find_marginals, ChainPlan)
def _(plan, i, node, edge, scratch, node_out, edge_out):
    scores, transitions, length = shaped(plan, i, node, edge)
    by_label, by_pair = node_out.reshape((-1, plan.start.shape[0])), pairs_of(plan, i, edge_out)
    return forward_backward(scores, transitions, plan.start, plan.end, scratch.sums, length, by_label, by_pair)


@helper
def pairs_of(plan, i, flat):
    """Tables of all pairs of neighbours (T - 1, K, K)."""
    n_labels, count = plan.start.shape[0], plan.offsets[i + 1] - plan.offsets[i] - 1
    return flat[: count * n_labels * n_labels].reshape((count, n_labels, n_labels))


@implements(clique_size, ChainPlan)
def _(plan, i):
    n_labels = plan.start.shape[0]
    return ((plan.offsets[i + 1] - plan.offsets[i] - 1) * n_labels + 1) * n_labels  # and the labels of the last


@implements(edges_first, ChainPlan)
def _(plan):
    return True


@implements(mix_labeling, ChainPlan)
def _(plan, i, labels, gamma, cliques):
    pairs, last = pairs_of(plan, i, cliques), cliques.shape[0] - plan.start.shape[0]
    for p in range(cliques.shape[0]):
        cliques[p] *= 1.0 - gamma
    for t in range(pairs.shape[0]):
        pairs[t, labels[t], labels[t + 1]] += gamma
    cliques[last + labels[pairs.shape[0]]] += gamma


@implements(find_reweighted, ChainPlan)
def _(plan, i, cliques, node, edge, scratch, node_out, edge_out, cliques_out):
    scores, transitions, length = shaped(plan, i, node, edge)
    pairs, last = pairs_of(plan, i, cliques), cliques.shape[0] - plan.start.shape[0]
    value = reweighted(
        pairs,
        cliques[last:],
        scores,
        transitions,
        plan.start,
        plan.end,
        scratch.sums,
        length,
        node_out.reshape((-1, plan.start.shape[0])),
        pairs_of(plan, i, cliques_out),
    )
    for b in range(plan.start.shape[0]):
        cliques_out[last + b] = node_out[(length - 1) * plan.start.shape[0] + b]
    return value
