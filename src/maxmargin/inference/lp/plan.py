"""Graphs of any shape and size, laid out for messages that sweep over their nodes to and fro."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from ..graph_arrays import read_graphs, read_label_counts


class RelaxedPlan(NamedTuple):
    """Graphs of any shape. Beyond what every plan has, there is an order of the nodes, and where messages lie.

    The messages of edge e begin at ``message_at[e]`` of the sample's: one number for each label of its tail, then one
    for each of its head. Scores must be finite.
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
    offsets, edge_offsets : array_like of shape (n + 1,)
        Sample i has the nodes ``offsets[i]:offsets[i + 1]`` and the edges ``edge_offsets[i]:edge_offsets[i + 1]``.
    tail, head : array_like of shape (E,)
        Ends of the edges, counted inside the sample. Two edges may join the same nodes; their scores add up.
    label_counts : int or array_like of shape (N,)
        Labels of all nodes, or of each.
    shared : bool
        All edges share one table of scores (then all nodes have as many labels); else each edge has its own, in the
        order of the sample's edges.
    """
    offsets, edge_offsets, tail, head = read_graphs(offsets, edge_offsets, tail, head)
    counts = read_label_counts(label_counts, offsets, shared)
    nodes = np.repeat(offsets[:-1], np.diff(edge_offsets))
    ends = np.concatenate([tail + nodes, head + nodes])  # counted over all samples
    n_edges, n_nodes = len(tail), int(offsets[-1])
    of_tail, of_head = counts[ends[:n_edges]], counts[ends[n_edges:]]
    order = _breadth_first(offsets, ends[:n_edges], ends[n_edges:])
    rank = np.empty(n_nodes, np.int64)
    rank[order] = np.arange(n_nodes)
    other = np.concatenate([ends[n_edges:], ends[:n_edges]])
    is_later = rank[other] > rank[ends]
    arcs = np.lexsort([is_later, ends])  # an edge of node ends[a], seen from there
    first = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n_nodes))])
    middle = first[:-1] + np.bincount(ends[~is_later], minlength=n_nodes)
    label_offsets = np.concatenate([[0], np.cumsum(counts)])
    message_at, n_messages = _from_sample_start(of_tail + of_head, edge_offsets)
    return RelaxedPlan(
        offsets,
        label_offsets,
        edge_offsets,
        tail,
        head,
        np.zeros_like(tail) if shared else _from_sample_start(of_tail * of_head, edge_offsets)[0],
        message_at,
        n_messages,
        order - np.repeat(offsets[:-1], np.diff(offsets)),
        first,
        middle,
        arcs % max(n_edges, 1),
        np.array([_most(np.diff(offsets)), _most(np.diff(label_offsets[offsets])), _most(n_messages)]),
    )


def _most(numbers: np.ndarray) -> int:
    return int(numbers.max(initial=0))


def _from_sample_start(sizes: np.ndarray, edge_offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where what has these sizes, one an edge, begins, counted from the start of each sample; and how much it has."""
    ends = np.concatenate([[0], np.cumsum(sizes)])
    starts = ends[edge_offsets]
    return ends[:-1] - np.repeat(starts[:-1], np.diff(edge_offsets)), np.diff(starts)


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
