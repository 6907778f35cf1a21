"""The verbs of `verbs` for a ChainPlan."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements
from ..beam import Beam, new_beam
from ..verbs import argmax_work, can_sum, find_best, find_marginals, find_max_marginals, find_top, new_scratch
from .passes import ChainSums, forward_backward, max_marginals, new_chain_sums, top_viterbi, viterbi
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


@implements(can_sum, ChainPlan)
def _(plan):
    return True


@implements(find_marginals, ChainPlan)
def _(plan, i, node, edge, scratch, node_out, edge_out):
    scores, transitions, length = shaped(plan, i, node, edge)
    n_labels = plan.start.shape[0]
    by_label, size = node_out.reshape((-1, n_labels)), (length - 1) * n_labels * n_labels
    by_pair = edge_out[:size].reshape((length - 1, n_labels, n_labels))
    return forward_backward(scores, transitions, plan.start, plan.end, scratch.sums, length, by_label, by_pair)
