"""Chains behind the verbs of plans: positions follow each other and share one (K, K) table of edge scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._compile import implements
from .chain import max_marginals, viterbi
from .verbs import find_best, find_max_marginals, new_scratch


class ChainPlan(NamedTuple):
    offsets: np.ndarray  # (n + 1,)
    start: np.ndarray  # (K,) 0 or -inf
    end: np.ndarray  # (K,)
    longest: int


class ChainScratch(NamedTuple):
    table: np.ndarray  # (longest, K)


@implements(new_scratch, ChainPlan)
def _(plan, k):
    return ChainScratch(np.zeros((plan.longest, len(plan.start))))


@implements(find_best, ChainPlan)
def _(plan, i, node, edge, scratch, labels):
    n_labels, length = plan.start.shape[0], plan.offsets[i + 1] - plan.offsets[i]
    scores, transitions = node.reshape((-1, n_labels)), edge.reshape((n_labels, n_labels))
    return viterbi(scores, transitions, plan.start, plan.end, scratch.table, length, labels)


@implements(find_max_marginals, ChainPlan)
def _(plan, i, node, edge, scratch, out):
    n_labels, length = plan.start.shape[0], plan.offsets[i + 1] - plan.offsets[i]
    scores, transitions = node.reshape((-1, n_labels)), edge.reshape((n_labels, n_labels))
    max_marginals(scores, transitions, plan.start, plan.end, scratch.table, length, out.reshape((-1, n_labels)))
