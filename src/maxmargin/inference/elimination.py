"""Bucket elimination, planned: in which order the nodes of a graph go, and which tables meet when one goes.

Eliminating node v, with the neighbours N(v) it has left, makes a table over v and N(v); its maximum (or sum) over the
labels of v is a *message* over N(v), which the bucket of the first eliminated of N(v) takes in. Every table that a
bucket takes in has v as an axis. Where a neighbour z is in no message that comes in (the newly met node of a grid), the
bucket's table splits into ``left[x, o] + right[x, z]``: x the label of v, o the labels of the rest of N(v). The left
part has a factor K fewer states than the whole, and ``message[z, o] = max_x left[x, o] + right[x, z]`` is all that
touches every state of the clique, with a long inner loop over o. Else z is an axis of one label. `right` always has
the node's own scores.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np


@dataclass
class Buckets:
    """The elimination of one graph: lists with an entry for each bucket, for each factor (`source` to `axis_ends`), or
    for each axis of a factor or of a message. What they mean is said in JunctionPlan."""

    width: int = 0
    largest: int = 0
    edge_at: int = 0
    n_values: int = 0
    n_beliefs: int = 0
    n_tables: int = 0
    tables: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)
    states: list[tuple[int, int, int]] = field(default_factory=list)
    table_at: list[int] = field(default_factory=list)
    message_at: list[int] = field(default_factory=list)
    is_root: list[bool] = field(default_factory=list)
    factor_ends: list[int] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    extent: list[int] = field(default_factory=list)
    in_right: list[bool] = field(default_factory=list)
    axis_ends: list[int] = field(default_factory=list)
    axes: list[tuple[int, int]] = field(default_factory=list)
    scope_ends: list[int] = field(default_factory=list)
    scope: list[tuple[int, int]] = field(default_factory=list)


def eliminate(n_nodes: int, edges: list[tuple[int, int]], accept: Callable) -> tuple[list[int], list[list[int]]]:
    """A min-fill order (ties: fewest neighbours, then lowest number), and the neighbours each node has left in it.

    `accept` sees a node and its neighbours before they are joined, and may raise.
    """
    around: list[set[int]] = [set() for _ in range(n_nodes)]
    for a, b in edges:
        around[a].add(b)
        around[b].add(a)

    def cost(v):
        return sum(b not in around[a] for a, b in combinations(around[v], 2)), len(around[v]), v

    costs = [cost(v) for v in range(n_nodes)]
    queue = costs.copy()
    heapq.heapify(queue)
    order: list[int] = []
    rank = [n_nodes] * n_nodes
    later: list[list[int]] = []
    while queue:
        found = heapq.heappop(queue)
        v = found[2]
        if found != costs[v] or rank[v] < n_nodes:
            continue  # an older cost of v
        rank[v] = len(order)
        order.append(v)
        left = sorted(around[v])
        accept(v, left)
        later.append(left)
        for a in left:
            around[a] |= around[v]
            around[a] -= {a, v}
        for u in set(left).union(*(around[a] for a in left)):  # no other cost changed
            if (new := cost(u)) != costs[u]:
                costs[u] = new
                heapq.heappush(queue, new)
    return order, [sorted(left, key=rank.__getitem__) for left in later]


def plan_buckets(edges: list[tuple[int, int]], counts: list[int], shared: bool, accept: Callable) -> Buckets:
    """Lay out the elimination of one graph whose node v has ``counts[v]`` labels.

    Values are laid out as node scores, messages, edge tables; beliefs alike, but there each edge has its own table.
    """
    order, later = eliminate(len(counts), edges, accept)
    out = Buckets()
    node_at = np.concatenate([[0], np.cumsum(counts)]).tolist()
    sizes = [counts[a] * counts[b] for a, b in edges]
    own_tables = np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist()
    out.tables = [0] * len(edges) if shared else own_tables[:-1]
    edge_at = out.edge_at = node_at[-1] + sum(math.prod(counts[u] for u in left) for left in later)
    out.n_values = edge_at + (max(sizes, default=0) if shared else own_tables[-1])
    out.n_beliefs = edge_at + own_tables[-1]
    rank = {v: j for j, v in enumerate(order)}
    edges_of: list[list[int]] = [[] for _ in counts]
    for e, (a, b) in enumerate(edges):
        edges_of[min(a, b, key=rank.__getitem__)].append(e)
    incoming: list[list[tuple[int, tuple[int, ...]]]] = [[] for _ in counts]  # (where, axes) of messages
    message_at = node_at[-1]
    for v, left in zip(order, later, strict=True):
        covered = set().union(*(axes for _, axes in incoming[v]))
        fresh = [u for u in left if u not in covered] if len(left) > 1 else []
        split = [max(reversed(fresh), key=counts.__getitem__)] if fresh else []
        rest = _in_order_of(max(incoming[v], key=lambda one: len(one[1]), default=(0, ()))[1], left, split)
        for where, axes in incoming[v]:
            _add_factor(out, [v, *rest], counts, False, where, where, axes)
        for e in edges_of[v]:
            is_split = sum(edges[e]) - v in split
            target = [v, *split] if is_split else [v, *rest]
            _add_factor(out, target, counts, is_split, edge_at + out.tables[e], edge_at + own_tables[e], edges[e])
        _add_factor(out, [v, *split], counts, True, node_at[v], node_at[v], (v,))
        states = counts[v], math.prod(counts[u] for u in split), math.prod(counts[u] for u in rest)
        _add_bucket(out, v, states, message_at, left)
        out.scope += _strides([*split, *rest], counts).items()
        out.scope_ends.append(len(out.scope))
        if left:
            incoming[left[0]].append((message_at, (*split, *rest)))
        message_at += states[1] * states[2]
    return out


def _in_order_of(axes, left: list[int], split: list[int]) -> list[int]:
    """The neighbours but the split one, first those of the largest message in its order: it is copied in runs."""
    first = [u for u in axes if u in left and u not in split]
    return first + [u for u in left if u not in first and u not in split]


def _strides(axes, counts: list[int]) -> dict[int, int]:
    strides, stride = {}, 1
    for u in reversed(axes):
        strides[u] = stride
        stride *= counts[u]
    return {u: strides[u] for u in axes}


def _add_factor(out: Buckets, onto: list[int], counts: list[int], in_right: bool, source, target, axes) -> None:
    """A table over `axes`, to be spread over a table over `onto`: how far it moves along each axis of that."""
    strides = _strides(axes, counts)
    merged: list[tuple[int, int]] = []
    for u in onto:
        size, stride = counts[u], strides.get(u, 0)
        if size == 1:
            continue
        if merged and merged[-1][1] == stride * size:  # one run over both
            merged[-1] = merged[-1][0] * size, stride
        else:
            merged.append((size, stride))
    out.source.append(source)
    out.target.append(target)
    out.extent.append(math.prod(counts[u] for u in axes))
    out.in_right.append(in_right)
    out.axes += merged or [(1, 0)]
    out.axis_ends.append(len(out.axes))


def _add_bucket(out: Buckets, v: int, states: tuple[int, int, int], message_at: int, left: list[int]) -> None:
    n_x, n_z, n_o = states
    out.own.append(v)
    out.states.append(states)
    out.table_at.append(out.n_tables)
    out.message_at.append(message_at)
    out.is_root.append(not left)
    out.factor_ends.append(len(out.source))
    out.n_tables += n_x * (n_z + n_o)
    out.largest = max(out.largest, n_x * n_z * n_o)
    out.width = max(out.width, len(left))


class JunctionPlan(NamedTuple):
    """Graphs of low tree-width, any labels a node. Beyond what every plan has: eliminations, one for each distinct graph.

    Bucket j belongs to one of the graphs, factor f to a bucket; the axes of a factor are those of the table that it is
    spread over, adjacent ones merged where one stride fits both.
    """

    offsets: np.ndarray
    label_offsets: np.ndarray
    edge_offsets: np.ndarray
    tail: np.ndarray
    head: np.ndarray
    tables: np.ndarray
    graphs: np.ndarray  # (n,): which elimination a sample has
    bucket_offsets: np.ndarray  # (graphs + 1,)
    edge_at: np.ndarray  # (graphs,): where the edge tables begin in values and beliefs
    own: np.ndarray  # (B,): the node that goes
    states: np.ndarray  # (B, 3): labels of the node, of the split neighbour (or 1), and of the rest
    table_at: np.ndarray  # (B,): where left[x, o] begins in the scratch's tables; right[x, z] follows
    message_at: np.ndarray  # (B,): where message[z, o] begins in values and beliefs
    is_root: np.ndarray  # (B,): nobody takes the message in, it is a number
    scope_offsets: np.ndarray  # (B + 1,)
    scope: np.ndarray  # (., 2): a node of the message, and how far one label of it moves in the message
    factor_offsets: np.ndarray  # (B + 1,)
    source: np.ndarray  # (F,): where the factor begins in values
    target: np.ndarray  # (F,): and in beliefs
    extent: np.ndarray  # (F,): its size
    in_right: np.ndarray  # (F,): spread over right, not left
    axis_offsets: np.ndarray  # (F + 1,)
    axes: np.ndarray  # (., 2): size, and how far one step moves in the factor
    room: np.ndarray  # (6,): largest values, beliefs, tables of a graph; left and right of a bucket; axes of a factor


def make_junction_plan(
    offsets,
    edge_offsets,
    tail,
    head,
    label_counts,
    *,
    shared: bool,
    max_width: int = 16,
    max_states: int = 2**24,
) -> JunctionPlan:
    """Plan exact inference on every sample's graph.

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
    max_width : int
        Refuse graphs for which eliminating some node would join more neighbours than this.
    max_states : int
        Refuse graphs with a clique of more labelings than this.
    """
    offsets, edge_offsets, tail, head = (np.asarray(one, np.int64) for one in (offsets, edge_offsets, tail, head))
    counts = np.broadcast_to(np.asarray(label_counts, np.int64), offsets[-1])
    if len(counts) and counts.min() < 1:
        raise ValueError("every node needs at least one label")
    if shared and len(np.unique(counts)) > 1:
        raise ValueError("edges can share one table only where all nodes have as many labels; pass shared=False")
    numbers: dict[tuple, int] = {}
    found: list[Buckets] = []
    graphs = np.empty(len(offsets) - 1, np.int64)
    for i in range(len(graphs)):
        own_edges = slice(edge_offsets[i], edge_offsets[i + 1])
        own_counts = counts[offsets[i] : offsets[i + 1]]
        _check_edges(i, tail[own_edges], head[own_edges], len(own_counts))
        key = tail[own_edges].tobytes(), head[own_edges].tobytes(), own_counts.tobytes()
        if key not in numbers:
            edges = list(zip(tail[own_edges].tolist(), head[own_edges].tolist(), strict=True))
            accept = _limits(i, own_counts.tolist(), max_width, max_states)
            numbers[key] = len(found)
            found.append(plan_buckets(edges, own_counts.tolist(), shared, accept))
        graphs[i] = numbers[key]
    tables = np.array([at for g in graphs for at in found[g].tables], np.int64)
    label_offsets = np.concatenate([[0], np.cumsum(counts)])
    return JunctionPlan(offsets, label_offsets, edge_offsets, tail, head, tables, graphs, **_joined(found))


def _check_edges(i: int, tail: np.ndarray, head: np.ndarray, n_nodes: int) -> None:
    for e, (a, b) in enumerate(zip(tail.tolist(), head.tolist(), strict=True)):
        if not (0 <= a < n_nodes and 0 <= b < n_nodes):
            raise ValueError(f"sample {i}, edge {e}: it joins nodes {a} and {b}, but the sample has {n_nodes} nodes")
        if a == b:
            raise ValueError(f"sample {i}, edge {e}: it joins node {a} with itself; add its scores to the node's")


def _limits(i: int, counts: list[int], max_width: int, max_states: int) -> Callable:
    advice = "remove edges, or use inference that is not exact"

    def accept(v, left):
        if len(left) > max_width:
            raise ValueError(
                f"sample {i}: its graph has a tree-width of {len(left)} or more by the min-fill order, the limit is "
                f"max_width={max_width}; the cost grows exponentially with it. Raise the limit, {advice}"
            )
        states = math.prod(counts[u] for u in (v, *left))
        if states > max_states:
            raise ValueError(
                f"sample {i}: a clique of {len(left) + 1} nodes of its graph has {states} labelings, the limit is "
                f"max_states={max_states}. Raise the limit, {advice}"
            )

    return accept


def _joined(found: list[Buckets]) -> dict[str, np.ndarray]:
    """The arrays of a plan, those of all graphs one after the other."""

    def joined(name, width, dtype=np.int64):
        rows = [row for one in found for row in getattr(one, name)]
        return np.array(rows, dtype).reshape((len(rows), width) if width else len(rows))

    def ends(name, of):
        starts = np.cumsum([0, *(len(getattr(one, of)) for one in found)])
        rows = [start + end for start, one in zip(starts[:-1], found, strict=True) for end in getattr(one, name)]
        return np.array([0, *rows], np.int64)

    sizes = [(one.n_values, one.n_beliefs, one.n_tables) for one in found]
    states, axis_offsets = joined("states", 3), ends("axis_ends", "axes")
    rooms = [np.array(sizes, np.int64).reshape(-1, 3).max(axis=0, initial=0)]
    rooms += [(states[:, :1] * states[:, :0:-1]).max(axis=0, initial=0), [np.diff(axis_offsets).max(initial=0)]]
    plain = ("own", "table_at", "message_at", "source", "target", "extent")
    return {
        "bucket_offsets": np.cumsum([0, *(len(one.own) for one in found)]),
        "edge_at": np.array([one.edge_at for one in found], np.int64),
        "states": states,
        "is_root": joined("is_root", 0, np.bool_),
        "scope_offsets": ends("scope_ends", "scope"),
        "scope": joined("scope", 2),
        "factor_offsets": ends("factor_ends", "source"),
        "in_right": joined("in_right", 0, np.bool_),
        "axis_offsets": axis_offsets,
        "axes": joined("axes", 2),
        "room": np.concatenate(rooms).astype(np.int64),
        **{name: joined(name, 0) for name in plain},
    }
