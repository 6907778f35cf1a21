"""Where the nodes, edges and tables of forests lie, and in which order messages go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class TreePlan(NamedTuple):
    """Fields as in `verbs`, and in which order messages go. Nodes and edges are counted inside their sample."""

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
    """The plan of forests: sample i has the nodes ``offsets[i]`` to ``offsets[i + 1]``.

    ``parents`` (N,) are counted inside the sample, -1 for roots; edges come in the order of their tails.
    ``label_counts`` is one number or one a node. With `shared` all edges use table 0; otherwise each has its own, one
    after the other from 0 in each sample.
    """
    offsets, parents = np.asarray(offsets, np.int64), np.asarray(parents, np.int64)
    counts = np.broadcast_to(np.asarray(label_counts, np.int64), parents.shape)
    if len(offsets) < 1 or offsets[0] != 0 or np.any(np.diff(offsets) < 0) or parents.shape != (offsets[-1],):
        raise ValueError("offsets must rise from 0 to the number of nodes, the length of parents")
    if np.any(counts < 1):
        sample_at, node_at = _place_of(offsets, int(np.argmax(counts < 1)))
        raise ValueError(f"sample {sample_at}: node {node_at} has no labels")
    if shared and np.any(counts != counts[:1]):
        raise ValueError("a table shared by all edges needs the same number of labels at all nodes")
    depth = _depths(offsets, parents)

    sample = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    nodes, top = np.flatnonzero(parents >= 0), np.flatnonzero(parents < 0)
    begin = offsets[sample[nodes]]
    n_edges = np.bincount(sample[nodes], minlength=len(offsets) - 1)
    edge_offsets = _running_sum(n_edges)
    first = np.repeat(edge_offsets[:-1], n_edges)
    upward = np.lexsort((-depth[nodes], sample[nodes])) - first  # stable: within a depth in the order of the tails
    heads = counts[begin + parents[nodes]]
    messages, pairs = _running_sum(heads), _running_sum(counts[nodes] * heads)
    label_offsets = _running_sum(counts)
    starts = np.zeros_like(pairs[:-1]) if shared else pairs[:-1] - pairs[first]
    ends = starts + counts[nodes] * heads
    sizes = [np.diff(offsets), np.diff(label_offsets[offsets]), np.diff(messages[edge_offsets]), ends]
    return TreePlan(
        offsets=offsets,
        label_offsets=label_offsets,
        edge_offsets=edge_offsets,
        tail=nodes - begin,
        head=parents[nodes],
        tables=starts,
        upward=upward,
        messages=messages[:-1] - messages[first],
        pairs=pairs[:-1] - pairs[first],
        root_offsets=offsets - edge_offsets,
        roots=top - offsets[sample[top]],
        sizes=np.array([np.max(size, initial=0) for size in sizes]),
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
            sample, node = _place_of(offsets, v)
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
    sample, node = _place_of(offsets, v)
    up = parents[offsets[sample] : offsets[sample + 1]]
    for _ in range(len(up)):
        node = int(up[node])
    cycle = [node]
    while up[cycle[-1]] != node:
        cycle.append(int(up[cycle[-1]]))
    last = max(cycle)
    raise ValueError(f"sample {sample}: the edge {last} -> {up[last]} closes a cycle")


def _running_sum(values: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(values, dtype=np.int64)])


def _place_of(offsets: np.ndarray, v: int) -> tuple[int, int]:
    sample = int(np.searchsorted(offsets, v, side="right")) - 1
    return sample, v - int(offsets[sample])
