"""The graphs of all samples as given by callers, checked."""

from __future__ import annotations

import numpy as np


def read_graphs(offsets, edge_offsets, tail, head) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The four as arrays of integers, or a ValueError that names the sample and the edge."""
    indices = (np.ascontiguousarray(one, np.int64) for one in (offsets, edge_offsets, tail, head))
    offsets, edge_offsets, tail, head = indices
    if len(offsets) != len(edge_offsets) or not edge_offsets[-1] == len(tail) == len(head):
        raise ValueError(
            f"{len(offsets)} offsets and {len(edge_offsets)} edge_offsets, which end at {edge_offsets[-1]}, do not fit "
            f"{len(tail)} tails and {len(head)} heads"
        )
    n_nodes = np.repeat(np.diff(offsets), np.diff(edge_offsets))  # of the sample that the edge is of
    wrong = (tail == head) | (np.minimum(tail, head) < 0) | (np.maximum(tail, head) >= n_nodes)
    for e in np.flatnonzero(wrong):
        i = np.searchsorted(edge_offsets, e, side="right") - 1
        name, a, b = f"sample {i}, edge {e - edge_offsets[i]}", tail[e], head[e]
        if a == b and 0 <= a < n_nodes[e]:
            raise ValueError(f"{name}: it joins node {a} with itself; add its scores to the node's")
        raise ValueError(f"{name}: it joins nodes {a} and {b}, but the sample has {n_nodes[e]} nodes")
    return offsets, edge_offsets, tail, head


def read_label_counts(label_counts, offsets: np.ndarray, shared: bool) -> np.ndarray:
    """Labels of every node (N,), or a ValueError."""
    if np.ndim(label_counts) and len(label_counts) != offsets[-1]:
        raise ValueError(f"{len(label_counts)} label_counts for {offsets[-1]} nodes")
    counts = np.broadcast_to(np.asarray(label_counts, np.int64), offsets[-1])
    if len(counts) and counts.min() < 1:
        raise ValueError("every node needs at least one label")
    if shared and len(np.unique(counts)) > 1:
        raise ValueError("edges can share one table only where all nodes have as many labels; pass shared=False")
    return counts
