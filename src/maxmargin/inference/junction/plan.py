"""The eliminations of all samples' graphs, as arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..graphs import read_graphs
from .elimination import Buckets, plan_buckets


class TooWide(ValueError):
    """A graph whose junction tree would take too much time and memory.

    Examples
    --------
    >>> from maxmargin.inference import TooWide, make_junction_plan
    >>> try:
    ...     make_junction_plan([0, 3], [0, 3], [0, 1, 2], [1, 2, 0], 4, shared=True, max_width=1)
    ... except TooWide as error:
    ...     print(str(error)[:42])
    sample 0: its graph has a width of 2 or mo
    """


class JunctionPlan(NamedTuple):
    """Graphs of low tree-width. Beyond what `Graphs` have there are eliminations, one for each distinct graph.

    Bucket j belongs to one of the graphs, factor f to a bucket; the axes of a factor are those of the table that it is
    spread over, adjacent ones merged where one stride fits both.

    Examples
    --------
    >>> from maxmargin.inference import make_junction_plan
    >>> plan = make_junction_plan([0, 3, 6], [0, 3, 6], [0, 1, 2] * 2, [1, 2, 0] * 2, 4, shared=True)
    >>> plan.graphs  # both samples are triangles
    array([0, 0])
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
    table_sizes: np.ndarray  # (graphs,): and how long they are in values
    edge_sizes: np.ndarray  # (graphs,): and in beliefs
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
    room: np.ndarray  # (6,): most values, beliefs, tables of a graph; tables and labels of a bucket; axes of a factor


def make_junction_plan(
    offsets,
    edge_offsets,
    tail,
    head,
    label_counts,
    *,
    shared: bool,
    max_width: int = 16,
    max_states: int = 2**22,
) -> JunctionPlan:
    """Plan exact inference on every sample's graph.

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
    max_width : int
        Refuse graphs where eliminating a node joins more neighbours than this (1 in a tree, 2 in a cycle, m in a grid
        of m rows).
    max_states : int
        Refuse graphs with a clique of more labelings than this.

    Returns
    -------
    JunctionPlan
        To ask with the verbs of `maxmargin.inference.verbs`.

    Examples
    --------
    A triangle whose nodes want to differ, with three labels:

    >>> import numpy as np
    >>> from maxmargin.inference import make_junction_plan
    >>> from maxmargin.inference.verbs import find_best, new_scratch
    >>> plan = make_junction_plan([0, 3], [0, 3], [0, 1, 2], [1, 2, 0], 3, shared=True)
    >>> labels = np.zeros(3, int)
    >>> float(find_best(plan, 0, np.arange(9.0), -5 * np.eye(3).ravel(), new_scratch(plan, 1), labels))
    12.0
    >>> sorted(labels.tolist())
    [0, 1, 2]
    """
    graphs = read_graphs(offsets, edge_offsets, tail, head, label_counts, shared=shared)
    offsets, _, edge_offsets, tail, head, _ = graphs
    counts = graphs.label_counts
    numbers: dict[tuple, int] = {}
    found: list[Buckets] = []
    which = np.empty(len(offsets) - 1, np.int64)
    for i in range(len(which)):
        own_edges = slice(edge_offsets[i], edge_offsets[i + 1])
        own_counts = counts[offsets[i] : offsets[i + 1]]
        key = tail[own_edges].tobytes(), head[own_edges].tobytes(), own_counts.tobytes()
        if key not in numbers:
            edges = list(zip(tail[own_edges].tolist(), head[own_edges].tolist(), strict=True))
            check = _limits(i, own_counts.tolist(), max_width, max_states)
            numbers[key] = len(found)
            found.append(plan_buckets(edges, own_counts.tolist(), shared, max_width, check))
        which[i] = numbers[key]
    return JunctionPlan(*graphs, graphs=which, **_joined(found))


def _limits(i: int, counts: list[int], max_width: int, max_states: int) -> Callable:
    advice = "remove edges or merge labels"

    def check(v, left):
        if len(left) > max_width:
            raise TooWide(
                f"sample {i}: its graph has a width of {len(left)} or more (in a min-fill order), the limit is "
                f"max_width={max_width}; the cost grows exponentially with it. Raise the limit, {advice}"
            )
        states = math.prod(counts[u] for u in (v, *left))
        if states > max_states:
            raise TooWide(
                f"sample {i}: a clique of {len(left) + 1} nodes of its graph has {states} labelings, more than "
                f"{max_states}: {advice}"
            )

    return check


def _joined(found: list[Buckets]) -> dict[str, np.ndarray]:
    """The arrays of a plan, those of all graphs one after the other."""

    def joined(name, width, dtype=np.int64):
        rows = [row for one in found for row in getattr(one, name)]
        return np.array(rows, dtype).reshape((len(rows), width) if width else len(rows))

    def ends(name, of):
        starts = np.cumsum([0, *(len(getattr(one, of)) for one in found)])
        rows = [start + end for start, one in zip(starts[:-1], found, strict=True) for end in getattr(one, name)]
        return np.array([0, *rows], np.int64)

    sizes = np.array([(one.n_values, one.n_beliefs, one.n_tables) for one in found], np.int64).reshape(-1, 3)
    edge_at = np.array([one.edge_at for one in found], np.int64)
    states, axis_offsets = joined("states", 3), ends("axis_ends", "axes")
    rooms = [
        sizes.max(axis=0, initial=0),
        [(states[:, 0] * (states[:, 1] + states[:, 2])).max(initial=0)],
        [states[:, 0].max(initial=0)],
        [np.diff(axis_offsets).max(initial=0)],
    ]
    plain = ("own", "table_at", "message_at", "source", "target", "extent")
    return {
        "bucket_offsets": np.cumsum([0, *(len(one.own) for one in found)]),
        "edge_at": edge_at,
        "table_sizes": sizes[:, 0] - edge_at,
        "edge_sizes": sizes[:, 1] - edge_at,
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
