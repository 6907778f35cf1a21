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

import numpy as np


@dataclass
class Buckets:
    """The elimination of one graph: lists with an entry for each bucket, for each factor (`source` to `axis_ends`), or
    for each axis of a factor or of a message. What they mean is said in JunctionPlan."""

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


def eliminate(
    n_nodes: int, edges: list[tuple[int, int]], max_width: int, check: Callable
) -> tuple[list[int], list[list[int]]]:
    """A min-fill order (ties: fewest neighbours, then lowest number), and the neighbours each node has left in it.

    `check` sees a node and its neighbours before they are joined, and may raise.
    """
    around: list[set[int]] = [set() for _ in range(n_nodes)]
    for a, b in edges:
        around[a].add(b)
        around[b].add(a)

    def cost(v):
        if len(around[v]) > max_width:  # it waits until it has fewer, and the pairs are not looked at
            return math.inf, len(around[v]), v
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
        check(v, left)
        later.append(left)
        for a in left:
            around[a] |= around[v]
            around[a] -= {a, v}
        for u in set(left).union(*(around[a] for a in left)):  # no other cost changed
            if (new := cost(u)) != costs[u]:
                costs[u] = new
                heapq.heappush(queue, new)
    return order, [sorted(left, key=rank.__getitem__) for left in later]


def plan_buckets(
    edges: list[tuple[int, int]], counts: list[int], shared: bool, max_width: int, check: Callable
) -> Buckets:
    """Lay out the elimination of one graph whose node v has ``counts[v]`` labels.

    Values are laid out as node scores, messages, edge tables; beliefs alike, but there each edge has its own table.
    """
    order, later = eliminate(len(counts), edges, max_width, check)
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
