"""Where the nodes, edges and tables of forests lie, and in which order messages go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..graphs import most, place_of, read_graphs, read_offsets, running_sum, starts_in_sample


class TreePlan(NamedTuple):
    """Trees and forests. Beyond what `Graphs` have, it says in which order messages go.

    Nodes and edges are counted inside their sample.

    Examples
    --------
    >>> from maxmargin.inference import make_tree_plan
    >>> plan = make_tree_plan([0, 4], [1, -1, 1, 2], 3, shared=True)
    >>> plan.tail[plan.upward], plan.roots  # leaves first
    (array([3, 0, 2]), array([1]))
    """

    offsets: np.ndarray  # (n + 1,)
    label_offsets: np.ndarray  # (N + 1,)
    edge_offsets: np.ndarray  # (n + 1,)
    tail: np.ndarray  # (E,)
    head: np.ndarray  # (E,)
    tables: np.ndarray  # (E,)
    upward: np.ndarray  # (E,) the edges of each sample, each after all edges into its tail
    messages: np.ndarray  # (E,) where the message of an edge begins, one number a label of the head
    pairs: np.ndarray  # (E,) where an edge begins among tables that are not shared
    root_offsets: np.ndarray  # (n + 1,)
    roots: np.ndarray  # (N - E,)
    sizes: np.ndarray  # (4,) the most nodes, labels, message entries and table entries of a sample


def make_tree_plan(offsets: ArrayLike, parents: ArrayLike, label_counts: int | ArrayLike, *, shared: bool) -> TreePlan:
    """Plan exact inference on trees and forests.

    Parameters
    ----------
    offsets : array_like of shape (n + 1,)
        Sample i has the nodes ``offsets[i]:offsets[i + 1]``.
    parents : array_like of shape (N,)
        The parent of each node, counted inside the sample; -1 for roots. Every node that has one makes an edge, its
        tail, with the parent as the head; edges come in the order of their tails.
    label_counts : int or array_like of shape (N,)
        Labels of all nodes, or of each.
    shared : bool
        All edges share one table of scores (then all nodes have as many labels); else each edge has its own, in the
        order of the sample's edges.

    Returns
    -------
    TreePlan
        To ask with the verbs of `maxmargin.inference.verbs`.

    Examples
    --------
    A root with two children; only the children have scores of their own, and equal labels are worth 1:

    >>> import numpy as np
    >>> from maxmargin.inference import make_tree_plan
    >>> from maxmargin.inference.verbs import find_best, new_scratch
    >>> plan = make_tree_plan([0, 3], [-1, 0, 0], 2, shared=True)
    >>> labels = np.zeros(3, int)
    >>> node = np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.5])
    >>> float(find_best(plan, 0, node, np.eye(2).ravel(), new_scratch(plan, 1), labels))
    5.0
    >>> labels
    array([0, 0, 0])
    """
    offsets, parents = read_offsets(offsets), np.asarray(parents, np.int64)
    if parents.shape != (offsets[-1],):
        raise ValueError(f"offsets end at {offsets[-1]}, which does not fit parents of shape {parents.shape}")
    depth = _depths(offsets, parents)
    sample = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    nodes, top = np.flatnonzero(parents >= 0), np.flatnonzero(parents < 0)
    edge_offsets = running_sum(np.bincount(sample[nodes], minlength=len(offsets) - 1))
    tail = nodes - offsets[sample[nodes]]
    graphs = read_graphs(offsets, edge_offsets, tail, parents[nodes], label_counts, shared=shared)
    of_tail, of_head = (graphs.label_counts[ends] for ends in graphs.ends())
    # stable: within a depth in the order of the tails
    upward = np.lexsort((-depth[nodes], sample[nodes])) - np.repeat(edge_offsets[:-1], np.diff(edge_offsets))
    messages, n_messages = starts_in_sample(of_head, edge_offsets)
    sizes = np.diff(offsets), np.diff(graphs.label_offsets[offsets]), n_messages, graphs.tables + of_tail * of_head
    return TreePlan(
        *graphs,
        upward=upward,
        messages=messages,
        pairs=starts_in_sample(of_tail * of_head, edge_offsets)[0],
        root_offsets=offsets - edge_offsets,
        roots=top - offsets[sample[top]],
        sizes=np.array([most(size) for size in sizes]),
    )


def _depths(offsets: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Edges between each node and its root, by paths that double in length each round."""
    n_nodes, lengths = len(parents), np.diff(offsets)
    begin = np.repeat(offsets[:-1], lengths)
    local = np.arange(n_nodes) - begin
    outside = (parents < -1) | (parents >= np.repeat(lengths, lengths))
    for wrong, what in [(outside, "a node outside the sample"), (parents == local, "itself")]:
        if np.any(wrong):
            v = int(np.argmax(wrong))
            sample, node = place_of(offsets, v)
            raise ValueError(
                f"sample {sample}: the edge {node} -> {parents[v]} leads to {what}; nodes count from 0, roots have -1"
            )
    above = np.append(np.where(parents < 0, n_nodes, begin + parents), n_nodes)  # the last entry: above all roots
    depth = (above != n_nodes).astype(np.int64)
    for _ in range(int(np.max(lengths, initial=0)).bit_length()):
        depth, above = depth + depth[above], above[above]
    if np.any(above != n_nodes):
        _raise_cycle(offsets, parents, int(np.argmax(above != n_nodes)))
    return depth[:-1]


def _raise_cycle(offsets: np.ndarray, parents: np.ndarray, v: int) -> None:
    """Name the last edge of the cycle above node v."""
    sample, node = place_of(offsets, v)
    up = parents[offsets[sample] : offsets[sample + 1]]
    for _ in range(len(up)):
        node = int(up[node])
    cycle = [node]
    while up[cycle[-1]] != node:
        cycle.append(int(up[cycle[-1]]))
    last = max(cycle)
    raise ValueError(f"sample {sample}: the edge {last} -> {up[last]} closes a cycle")
