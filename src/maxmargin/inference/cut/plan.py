"""Graphs of two labels a node, laid out for flows, and the check that their scores are submodular."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..._compile import helper
from ..graphs import most, read_graphs, running_sum

TOLERANCE = 1e-9  # of the size of a table's scores: a smaller violation is rounding


class CutPlan(NamedTuple):
    """Graphs of any shape, two labels a node. Beyond what `Graphs` have, each edge is two arcs, there and back.

    The arcs of a sample are sorted by the node they leave, and counted inside the sample; so are the nodes.

    Examples
    --------
    >>> from maxmargin.inference import make_cut_plan
    >>> plan = make_cut_plan([0, 3], [0, 2], [0, 1], [1, 2], shared=True)
    >>> plan.to  # from node 0, from node 1 twice, from node 2
    array([1, 2, 0, 1])
    """

    offsets: np.ndarray
    label_offsets: np.ndarray
    edge_offsets: np.ndarray
    tail: np.ndarray
    head: np.ndarray
    tables: np.ndarray
    first: np.ndarray  # (N + n,): from ``offsets[i] + i`` on, where the arcs of each node of sample i begin, and an end
    to: np.ndarray  # (2E,): from ``2 * edge_offsets[i]`` on, where each arc of sample i leads
    back: np.ndarray  # (2E,): alike, the arc the other way
    arc: np.ndarray  # (E,): the arc from tail to head
    room: np.ndarray  # (2,): most nodes and most arcs of a sample


def make_cut_plan(offsets, edge_offsets, tail, head, *, shared: bool) -> CutPlan:
    """Plan exact inference by minimum cuts, for two labels a node and submodular scores (`first_nonsubmodular`).

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
    shared : bool
        All edges share one table of scores; else each edge has its own, in the order of the sample's edges.

    Returns
    -------
    CutPlan
        To ask with the verbs of `maxmargin.inference.verbs`.

    Examples
    --------
    Three nodes in a row; the one in the middle has no preference of its own:

    >>> import numpy as np
    >>> from maxmargin.inference import make_cut_plan
    >>> from maxmargin.inference.verbs import find_best, new_scratch
    >>> plan = make_cut_plan([0, 3], [0, 2], [0, 1], [1, 2], shared=True)
    >>> node, edge = np.array([0.0, 2.0, 0.0, 0.0, 1.0, 0.0]), np.array([0.5, 0.0, 0.0, 1.0])
    >>> labels = np.zeros(3, int)
    >>> float(find_best(plan, 0, node, edge, new_scratch(plan, 1), labels))
    4.0
    >>> labels
    array([1, 1, 0])
    """
    graphs = read_graphs(offsets, edge_offsets, tail, head, 2, shared=shared)
    offsets, edge_offsets, tail, head = graphs.offsets, graphs.edge_offsets, graphs.tail, graphs.head
    n_edges, n_nodes = np.diff(edge_offsets), np.diff(offsets)
    begins = np.repeat(edge_offsets[:-1], n_edges)  # of the sample that an edge is of
    leaves = np.concatenate(graphs.ends())  # counted over all samples, as are the places below
    order = np.argsort(leaves, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    start = np.concatenate([2 * begins, 2 * begins])  # where the arcs of the sample begin
    other = np.concatenate([place[len(tail) :], place[: len(tail)]])
    counts = running_sum(np.bincount(leaves, minlength=offsets[-1]))
    first = [counts[a : b + 1] - counts[a] for a, b in pairwise(offsets)]
    return CutPlan(
        *graphs,
        first=np.concatenate([np.empty(0, np.int64), *first]),
        to=np.concatenate([head, tail])[order],
        back=(other - start)[order],
        arc=place[: len(tail)] - 2 * begins,
        room=np.array([most(n_nodes), 2 * most(n_edges)]),
    )


@helper
def first_nonsubmodular(plan, i, edge):
    """The first edge of sample i, counted inside it, whose scores are not submodular; -1 if there is none.

    A table [[a, b], [c, d]] is submodular where ``a + d >= b + c``: equal labels are worth as much as different ones,
    after what each node likes for itself. A cut answers for no others. Violations of 1e-9 of the size of the scores are
    let pass, and count as 0.

    Parameters
    ----------
    plan : CutPlan
        The graphs of all samples.
    i : int
        The sample.
    edge : ndarray
        Its tables of edge scores, one after the other, as `plan` has them.

    Returns
    -------
    int
        The number of the edge, or -1.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import first_nonsubmodular, make_cut_plan
    >>> plan = make_cut_plan([0, 3], [0, 2], [0, 1], [1, 2], shared=False)
    >>> int(first_nonsubmodular(plan, 0, np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0])))
    1
    """
    tables, begin = plan.tables, plan.edge_offsets[i]
    for e in range(begin, plan.edge_offsets[i + 1]):
        at = tables[e]
        a, b, c, d = edge[at], edge[at + 1], edge[at + 2], edge[at + 3]
        if b == -np.inf or c == -np.inf:
            continue
        size = abs(a) + abs(b) + abs(c) + abs(d)
        if a == -np.inf or d == -np.inf or b + c - a - d > TOLERANCE * size:
            return e - begin
    return -1
