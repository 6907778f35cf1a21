"""The linear relaxation of the best labeling: shares of labels and pairs, a bound, and a labeling.

Sweeps of messages find most relaxations whose optimum is a labeling. Where they leave a gap, the linear program is
solved over the labels that come near their node's best under the messages, and over more where its own messages show
that a label left out could improve it: its optimum then is that of all labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import kernel
from .answers import MOST_SWEEPS, TOLERANCE
from .plan import RelaxedPlan
from .program import Graph, graph_of, solve_program
from .sweeps import bound_of, extend, find_distances, improving, pass_messages, score

NEAR = 0.1  # labels this near to their node's best, as a share of the gap that sweeps left, are tried first
WHOLE = 1e-6  # a share this near to 1 is all


class Relaxed(NamedTuple):
    """A point of the local polytope, and what is known of the best labeling."""

    node: np.ndarray  # shares of labels, in the layout of node scores
    edge: np.ndarray  # shares of pairs, a table for each edge, none shared
    value: float  # the score of the shares
    bound: float  # no point of the polytope scores more, so no labeling does
    labels: np.ndarray  # (T,) the best labeling found
    labels_value: float
    integral: np.ndarray  # (T,) bool: nodes with one label alone


class Room(NamedTuple):
    """What sweeps and prices work on, for one sample."""

    messages: np.ndarray
    belief: np.ndarray  # node scores with what messages add
    distance: np.ndarray  # of a label from the best of its node, under the messages
    trial: np.ndarray
    labels: np.ndarray


def new_messages(plan: RelaxedPlan, i: int) -> np.ndarray:
    return np.zeros(plan.n_messages[i])


def relax(
    plan: RelaxedPlan, i: int, node, edge, *, messages: np.ndarray | None = None, tol: float = TOLERANCE
) -> Relaxed:
    """Solve the relaxation of sample i.

    Parameters
    ----------
    node, edge : scores, finite, as in `verbs`
    messages : what an earlier call has left (`new_messages` to begin with), to go on from; changed
    tol : a labeling this near to the bound, as a share of its size, is taken for the solution
    """
    graph, room = graph_of(plan, i), _room(plan, i, messages)
    node, edge = _check_scores(graph, node, edge)
    value, bound = search(plan, room, i, node, edge, tol, MOST_SWEEPS)
    if bound - value <= tol * (1.0 + abs(bound)):
        return _labeling(graph, room.labels, value, bound)
    kept = room.distance <= NEAR * (bound - value)
    kept[graph.starts[:-1] + room.labels] = True
    return _solve(plan, i, graph, room, node, edge, kept, value)


def relax_by_program(plan: RelaxedPlan, i: int, node, edge) -> Relaxed:
    """The same by one linear program over all labels: simple, and slower."""
    graph, room = graph_of(plan, i), _room(plan, i, None)
    node, edge = _check_scores(graph, node, edge)
    return _solve(plan, i, graph, room, node, edge, np.ones(len(node), bool), -np.inf)


def bound_by_messages(plan: RelaxedPlan, i: int, node, edge, messages: np.ndarray) -> float:
    """What the messages say of these scores: no labeling, and no point of the polytope, has more."""
    return price(plan, _room(plan, i, messages), i, node, edge, np.ones(len(node), np.bool_), 0.0)


def _solve(plan, i: int, graph: Graph, room: Room, node, edge, kept: np.ndarray, value: float) -> Relaxed:
    """By linear programs; `room` holds a labeling of score `value`."""
    while True:
        shares, of_pairs, messages = solve_program(graph, node, edge, kept, len(room.messages))
        room.messages[:] = messages
        n_kept = np.count_nonzero(kept)
        bound = price(plan, room, i, node, edge, kept, TOLERANCE)
        if np.count_nonzero(kept) == n_kept:
            break
    peaks = np.maximum.reduceat(shares, graph.starts[:-1])
    ranked = np.lexsort([-shares, np.repeat(np.arange(len(peaks)), np.diff(graph.starts))])
    rounded = (ranked[graph.starts[:-1]] - graph.starts[:-1]).astype(np.int32)
    found = score(plan, i, node, edge, rounded)
    labels, value = (rounded, found) if found > value else (room.labels, value)
    total = float(node @ shares + _unshared(graph, edge) @ of_pairs)
    # the two meet up to rounding, which must not make the bound the smaller one
    return Relaxed(shares, of_pairs, total, max(bound, total, value), labels, value, peaks >= 1.0 - WHOLE)


def _labeling(graph: Graph, labels: np.ndarray, value: float, bound: float) -> Relaxed:
    """All shares on one labeling."""
    node, edge = np.zeros(graph.starts[-1]), np.zeros(graph.pairs[-1])
    node[graph.starts[:-1] + labels] = 1.0
    n_head = np.diff(graph.starts)[graph.head]
    edge[graph.pairs[:-1] + labels[graph.tail] * n_head + labels[graph.head]] = 1.0
    return Relaxed(node, edge, value, max(bound, value), labels, value, np.ones(len(labels), bool))


def _room(plan: RelaxedPlan, i: int, messages: np.ndarray | None) -> Room:
    n_nodes = plan.offsets[i + 1] - plan.offsets[i]
    n_labels = plan.label_offsets[plan.offsets[i + 1]] - plan.label_offsets[plan.offsets[i]]
    messages = new_messages(plan, i) if messages is None else messages
    labels = np.zeros((2, n_nodes), np.int32)
    return Room(messages, np.empty(n_labels), np.empty(n_labels), *labels)


def _check_scores(graph: Graph, node, edge) -> tuple[np.ndarray, np.ndarray]:
    node, edge = (np.ascontiguousarray(one, np.float64).ravel() for one in (node, edge))
    needed = int((graph.tables + np.diff(graph.pairs)).max(initial=0))
    if len(node) != graph.starts[-1] or len(edge) < needed:
        raise ValueError(f"{len(node)} node and {len(edge)} edge scores, but {graph.starts[-1]} and {needed} are needed")
    if not (np.all(np.isfinite(node)) and np.all(np.isfinite(edge[:needed]))):
        raise ValueError("the linear relaxation needs finite scores: give what is forbidden a low one")
    return node, edge


def _unshared(graph: Graph, edge: np.ndarray) -> np.ndarray:
    """The scores of all pairs of every edge."""
    sizes = np.diff(graph.pairs)
    return edge[np.repeat(graph.tables - graph.pairs[:-1], sizes) + np.arange(graph.pairs[-1])]


@kernel(n_parts=2)
def search(plan, room, i, node, edge, tol, most_sweeps):
    """Sweep; leaves labels, messages and distances behind, returns the score of the labels and the bound."""
    found = pass_messages(plan, i, node, edge, room.messages, room.belief, room.trial, tol, most_sweeps, room.labels)
    find_distances(plan, i, edge, room.messages, room.belief, room.distance)
    return found


@kernel(n_parts=2)
def price(plan, room, i, node, edge, kept, tol):
    """The bound of messages that are known for the labels kept; keeps others, too, that may have better shares."""
    extend(plan, i, edge, kept, room.messages)
    bound = bound_of(plan, i, node, edge, room.messages, room.belief)
    improving(plan, i, room.belief, kept, tol * (1.0 + abs(bound)))
    return bound
