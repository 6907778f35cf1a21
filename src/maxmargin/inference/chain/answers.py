"""The verbs of `verbs` for a ChainPlan and a SparseChainPlan."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements
from ..beam import Beam, new_beam
from ..verbs import (
    argmax_work,
    can_sum,
    change_flat_score,
    change_score,
    clique_size,
    edges_first,
    find_best,
    find_marginals,
    find_max_marginals,
    find_reweighted,
    find_top,
    forget_tables,
    is_tight,
    mix_labeling,
    new_scratch,
)
from .passes import ChainSums, forward_backward, max_marginals, new_chain_sums, reweighted, top_viterbi, viterbi
from .plan import ChainPlan, SparseChainPlan
from .sparse import EdgeLists, follow_change, know_table, new_edge_lists, sparse_viterbi

# What a label of a position costs where edge scores are mostly 0, in units of a pair of labels: 30 to 80 as measured.
SPARSE_WORK = 50.0


class ChainScratch(NamedTuple):
    table: np.ndarray  # (longest, K)
    sums: ChainSums
    beam: Beam


class SparseScratch(NamedTuple):
    table: np.ndarray  # (longest, K)
    sums: ChainSums
    beam: Beam
    lists: EdgeLists


@implements(new_scratch, ChainPlan)
def new_chain_scratch(plan, k):
    n_labels = len(plan.start)
    return ChainScratch(
        np.zeros((plan.longest, n_labels)), new_chain_sums(plan.longest, n_labels), new_beam(plan.longest, k)
    )


@implements(new_scratch, SparseChainPlan)
def _(plan, k):
    return SparseScratch(*new_chain_scratch(plan, k), new_edge_lists(plan.longest, len(plan.start)))


@implements(change_score, SparseScratch)
def _(scratch, table, a, b, amount):
    if amount != 0.0:
        table[a, b] += amount
        follow_change(scratch.lists, table, a, b)


@implements(change_flat_score, SparseScratch)
def _(scratch, scores, n_labels, pair, amount):
    change_score(scratch, scores.reshape((n_labels, n_labels)), pair // n_labels, pair % n_labels, amount)


@implements(forget_tables, SparseScratch)
def _(scratch):
    scratch.lists.address[0] = 0


@helper
def shaped(plan, i, node, edge):
    """Node scores (T, K), edge scores (K, K), and T."""
    n_labels = plan.start.shape[0]
    return node.reshape((-1, n_labels)), edge.reshape((n_labels, n_labels)), plan.offsets[i + 1] - plan.offsets[i]


@implements(find_best, ChainPlan)
def _(plan, i, node, edge, scratch, labels):
    scores, transitions, length = shaped(plan, i, node, edge)
    return viterbi(scores, transitions, plan.start, plan.end, scratch.table, length, labels)


@implements(find_best, SparseChainPlan)
def _(plan, i, node, edge, scratch, labels):
    scores, transitions, length = shaped(plan, i, node, edge)
    know_table(scratch.lists, transitions)
    return sparse_viterbi(scores, transitions, plan.start, plan.end, scratch.lists, scratch.table, length, labels)


@implements(argmax_work, ChainPlan)
def _(plan):
    return float(plan.offsets[-1]) * len(plan.start) ** 2


@implements(argmax_work, SparseChainPlan)
def _(plan):
    return SPARSE_WORK * float(plan.offsets[-1]) * len(plan.start)


@implements(find_top, ChainPlan, SparseChainPlan)
def _(plan, i, node, edge, scratch, k, labels, values):
    scores, transitions, length = shaped(plan, i, node, edge)
    return top_viterbi(
        scores, transitions, plan.start, plan.end, scratch.table, length, k, scratch.beam, labels, values
    )


@implements(find_max_marginals, ChainPlan, SparseChainPlan)
def _(plan, i, node, edge, scratch, out):
    scores, transitions, length = shaped(plan, i, node, edge)
    by_label = out.reshape((-1, plan.start.shape[0]))
    max_marginals(scores, transitions, plan.start, plan.end, scratch.table, length, by_label)


@implements(is_tight, ChainPlan, SparseChainPlan)
def _(plan):
    return not (plan.start.any() or plan.end.any())


@implements(can_sum, ChainPlan, SparseChainPlan)
def _(plan):
    return True


@implements(find_marginals, ChainPlan, SparseChainPlan)
def _(plan, i, node, edge, scratch, node_out, edge_out):
    scores, transitions, length = shaped(plan, i, node, edge)
    by_label, by_pair = node_out.reshape((-1, plan.start.shape[0])), pairs_of(plan, i, edge_out)
    return forward_backward(scores, transitions, plan.start, plan.end, scratch.sums, length, by_label, by_pair)


@helper
def pairs_of(plan, i, flat):
    """Tables of all pairs of neighbours (T - 1, K, K)."""
    n_labels, count = plan.start.shape[0], plan.offsets[i + 1] - plan.offsets[i] - 1
    return flat[: count * n_labels * n_labels].reshape((count, n_labels, n_labels))


@implements(clique_size, ChainPlan, SparseChainPlan)
def _(plan, i):
    n_labels = plan.start.shape[0]
    return ((plan.offsets[i + 1] - plan.offsets[i] - 1) * n_labels + 1) * n_labels  # and the labels of the last


@implements(edges_first, ChainPlan, SparseChainPlan)
def _(plan):
    return True


@implements(mix_labeling, ChainPlan, SparseChainPlan)
def _(plan, i, labels, gamma, cliques):
    pairs, last = pairs_of(plan, i, cliques), cliques.shape[0] - plan.start.shape[0]
    for p in range(cliques.shape[0]):
        cliques[p] *= 1.0 - gamma
    for t in range(pairs.shape[0]):
        pairs[t, labels[t], labels[t + 1]] += gamma
    cliques[last + labels[pairs.shape[0]]] += gamma


@implements(find_reweighted, ChainPlan, SparseChainPlan)
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
