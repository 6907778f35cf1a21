"""Labelings by messages: the verbs of `verbs` for a RelaxedPlan, of which only the best labeling can be asked for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import implements
from ..verbs import find_best, find_marginals, find_max_marginals, find_top, new_scratch
from .plan import RelaxedPlan
from .sweeps import pass_messages

TOLERANCE = 1e-9  # of the size of the bound: labels this near to it are the best
MOST_SWEEPS = 1000
NOT_EXACT = (
    "the linear relaxation knows a labeling and a bound, not max-marginals, the k best labelings or marginals: take "
    "junction trees where the width of the graphs is low, or cuts for two labels"
)


class RelaxedScratch(NamedTuple):
    messages: np.ndarray
    belief: np.ndarray  # node scores with what messages add
    trial: np.ndarray  # labels


@implements(new_scratch, RelaxedPlan)
def _(plan, k):
    n_nodes, n_labels, n_messages = plan.room
    return RelaxedScratch(np.zeros(n_messages), np.zeros(n_labels), np.zeros(n_nodes, np.int32))


@implements(find_best, RelaxedPlan)
def _(plan, i, node, edge, scratch, labels):
    """The best that sweeps come upon, from no messages; it is the best of all where the bound says so."""
    messages, belief, trial = scratch.messages, scratch.belief, scratch.trial
    messages[:] = 0.0
    return pass_messages(plan, i, node, edge, messages, belief, trial, -np.inf, TOLERANCE, MOST_SWEEPS, labels)[0]


@implements(find_top, RelaxedPlan)
def _(plan, i, node, edge, scratch, k, labels, values):
    if len(node) > -1:  # always; but compiled code must know what would be returned
        raise NotImplementedError(NOT_EXACT)
    return 0


@implements(find_max_marginals, RelaxedPlan)
def _(plan, i, node, edge, scratch, out):
    if len(node) > -1:
        raise NotImplementedError(NOT_EXACT)


@implements(find_marginals, RelaxedPlan)
def _(plan, i, node, edge, scratch, node_out, edge_out):
    if len(node) > -1:
        raise NotImplementedError(NOT_EXACT)
    return np.nan
