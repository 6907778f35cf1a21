"""The graphs of all samples as given by callers: checked, and laid out as every plan of graphs has them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Graphs(NamedTuple):
    """The first fields of every plan of graphs, in this order; what they hold is said in `verbs`."""

    offsets: np.ndarray  # (n + 1,)
    label_offsets: np.ndarray  # (N + 1,)
    edge_offsets: np.ndarray  # (n + 1,)
    tail: np.ndarray  # (E,)
    head: np.ndarray  # (E,)
    tables: np.ndarray  # (E,)

    @property
    def label_counts(self) -> np.ndarray:
        """(N,)"""
        return np.diff(self.label_offsets)

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Tails and heads, counted over all samples."""
        first = np.repeat(self.offsets[:-1], np.diff(self.edge_offsets))
        return self.tail + first, self.head + first


def read_graphs(
    offsets: ArrayLike,
    edge_offsets: ArrayLike,
    tail: ArrayLike,
    head: ArrayLike,
    label_counts: int | ArrayLike,
    *,
    shared: bool,
) -> Graphs:
    """Check graphs, or raise a ValueError that names the sample; `shared` edges have table 0, others one each."""
    offsets, edge_offsets = read_offsets(offsets), read_offsets(edge_offsets, "edge_offsets")
    tail, head = (np.ascontiguousarray(one, np.int64) for one in (tail, head))
    if len(offsets) != len(edge_offsets) or not edge_offsets[-1] == len(tail) == len(head):
        raise ValueError(
            f"{len(offsets)} offsets and {len(edge_offsets)} edge_offsets, which end at {edge_offsets[-1]}, do not fit "
            f"{len(tail)} tails and {len(head)} heads"
        )
    _check_ends(offsets, edge_offsets, tail, head)
    counts = _read_label_counts(label_counts, offsets, shared)
    graphs = Graphs(offsets, running_sum(counts), edge_offsets, tail, head, np.zeros_like(tail))
    if shared:
        return graphs
    tails, heads = graphs.ends()
    return graphs._replace(tables=starts_in_sample(counts[tails] * counts[heads], edge_offsets)[0])


def read_offsets(offsets: ArrayLike, name: str = "offsets") -> np.ndarray:
    """Where samples begin, and the end of the last one."""
    offsets = np.ascontiguousarray(offsets, np.int64)
    if offsets.ndim != 1 or len(offsets) < 1 or offsets[0] != 0 or np.any(np.diff(offsets) < 0):
        raise ValueError(f"{name} must rise from 0, one number a sample and one more")
    return offsets


def _check_ends(offsets: np.ndarray, edge_offsets: np.ndarray, tail: np.ndarray, head: np.ndarray) -> None:
    n_nodes = np.repeat(np.diff(offsets), np.diff(edge_offsets))  # of the sample that the edge is of
    wrong = (tail == head) | (np.minimum(tail, head) < 0) | (np.maximum(tail, head) >= n_nodes)
    for e in np.flatnonzero(wrong):
        sample, number = place_of(edge_offsets, int(e))
        name, a, b = f"sample {sample}, edge {number}", tail[e], head[e]
        if a == b and 0 <= a < n_nodes[e]:
            raise ValueError(f"{name}: it joins node {a} with itself; add its scores to the node's")
        raise ValueError(f"{name}: it joins nodes {a} and {b}, but the sample has {n_nodes[e]} nodes")


def _read_label_counts(label_counts: int | ArrayLike, offsets: np.ndarray, shared: bool) -> np.ndarray:
    """Labels of every node (N,)."""
    given = np.asarray(label_counts, np.int64)
    if given.ndim and given.shape != (offsets[-1],):
        raise ValueError(f"{len(given)} label_counts for {offsets[-1]} nodes")
    counts = np.broadcast_to(given, offsets[-1])
    for v in np.flatnonzero(counts < 1):
        sample, node = place_of(offsets, int(v))
        raise ValueError(f"sample {sample}: node {node} has no labels; every node needs at least one label")
    if shared and np.any(counts != counts[:1]):
        raise ValueError(
            "edges can share one table only where all nodes have the same number of labels; pass shared=False"
        )
    return counts


def running_sum(values: ArrayLike) -> np.ndarray:
    """Sums of the first none, one, two, ... values."""
    return np.concatenate([[0], np.cumsum(values, dtype=np.int64)])


def starts_in_sample(sizes: np.ndarray, edge_offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where what has these sizes, one an edge, begins, counted from the start of each sample; and how much it has."""
    ends = running_sum(sizes)
    starts = ends[edge_offsets]
    return ends[:-1] - np.repeat(starts[:-1], np.diff(edge_offsets)), np.diff(starts)


def place_of(offsets: np.ndarray, at: int) -> tuple[int, int]:
    """The sample of a node or edge that is counted over all of them, and its number inside the sample."""
    sample = int(np.searchsorted(offsets, at, side="right")) - 1
    return sample, int(at - offsets[sample])


def most(numbers: np.ndarray) -> int:
    """The largest; 0 if there is none."""
    return int(numbers.max(initial=0))
