"""Graphs of any shape and size, laid out for messages that sweep over their nodes to and fro."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from ..graphs import most, read_graphs, running_sum, starts_in_sample


class RelaxedPlan(NamedTuple):
    """Graphs of any shape. Beyond what `Graphs` have, there is an order of the nodes, and where messages lie.

    The messages of edge e begin at ``message_at[e]`` of the sample's: one number for each label of its tail, then one
    for each of its head. Scores must be finite.

    Examples
    --------
    >>> from maxmargin.inference import make_relaxed_plan
    >>> make_relaxed_plan([0, 3], [0, 2], [0, 1], [1, 2], [2, 3, 2], shared=False).message_at
    array([0, 5])
    """

    offsets: np.ndarray
    label_offsets: np.ndarray
    edge_offsets: np.ndarray
    tail: np.ndarray
    head: np.ndarray
    tables: np.ndarray
    message_at: np.ndarray  # (E,)
    n_messages: np.ndarray  # (n,): of a sample
    order: np.ndarray  # (N,): the nodes of each sample as they are swept over
    first: np.ndarray  # (N + 1,): where the edges of a node begin in `around`
    middle: np.ndarray  # (N,): where those begin that lead to nodes later in the order
    around: np.ndarray  # (2E,): edges, counted over all samples
    room: np.ndarray  # (3,): most nodes, labels and messages of a sample


def make_relaxed_plan(offsets, edge_offsets, tail, head, label_counts, *, shared: bool) -> RelaxedPlan:
    """Plan the relaxation of every sample's graph.

    Parameters
    ----------
    offsets : array_like of shape (n + 1,)
        Sample i has the nodes ``offsets[i]:offsets[i + 1]``.
    edge_offsets : array_like of shape (n + 1,)
        Sample i has the edges ``edge_offsets[i]:edge_offsets[i + 1]``.
    tail : array_like of shape (E,)
        Where the edges begin, counted inside the sample. Two edges may join the same nodes; their scores add up.
    head : array_like of shape (E,)
        Where they end.
    label_counts : int or array_like of shape (N,)
        Labels of all nodes, or of each.
    shared : bool
        All edges share one table of scores (then all nodes have as many labels); else each edge has its own, in the
        order of the sample's edges.

    Returns
    -------
    RelaxedPlan
        To solve with :func:`relax`; of the verbs of `maxmargin.inference.verbs`, only `find_best` answers.

    Examples
    --------
    >>> from maxmargin.inference import make_relaxed_plan
    >>> make_relaxed_plan([0, 3], [0, 3], [0, 1, 2], [1, 2, 0], 2, shared=True).n_messages
    array([12])
    """
    graphs = read_graphs(offsets, edge_offsets, tail, head, label_counts, shared=shared)
    offsets, edge_offsets, counts = graphs.offsets, graphs.edge_offsets, graphs.label_counts
    tails, heads = graphs.ends()  # counted over all samples
    ends = np.concatenate([tails, heads])
    n_edges, n_nodes = len(tails), int(offsets[-1])
    order = _breadth_first(offsets, tails, heads)
    rank = np.empty(n_nodes, np.int64)
    rank[order] = np.arange(n_nodes)
    other = np.concatenate([heads, tails])
    is_later = rank[other] > rank[ends]
    arcs = np.lexsort([is_later, ends])  # an edge of node ends[a], seen from there
    first = running_sum(np.bincount(ends, minlength=n_nodes))
    middle = first[:-1] + np.bincount(ends[~is_later], minlength=n_nodes)
    message_at, n_messages = starts_in_sample(counts[tails] + counts[heads], edge_offsets)
    return RelaxedPlan(
        *graphs,
        message_at=message_at,
        n_messages=n_messages,
        order=order - np.repeat(offsets[:-1], np.diff(offsets)),
        first=first,
        middle=middle,
        around=arcs % max(n_edges, 1),
        room=np.array([most(np.diff(offsets)), most(np.diff(graphs.label_offsets[offsets])), most(n_messages)]),
    )


def _breadth_first(offsets: np.ndarray, tail: np.ndarray, head: np.ndarray) -> np.ndarray:
    """All nodes, those of a sample together: in a tree each comes after just one of its neighbours."""
    near: list[list[int]] = [[] for _ in range(int(offsets[-1]))]
    for u, v in zip(tail.tolist(), head.tolist(), strict=True):
        near[u].append(v)
        near[v].append(u)
    seen, order = np.zeros(len(near), bool), []
    for root in range(len(near)):  # those of a sample are numbered together, and edges lead to no other
        waiting = deque([] if seen[root] else [root])
        seen[root] = True
        while waiting:
            u = waiting.popleft()
            order.append(u)
            for v in near[u]:
                if not seen[v]:
                    seen[v] = True
                    waiting.append(v)
    return np.array(order, np.int64)
