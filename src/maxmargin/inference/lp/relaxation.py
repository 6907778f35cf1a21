"""The linear relaxation of the best labeling: shares of labels and pairs, a bound, and a labeling.

Sweeps of messages find most relaxations whose optimum is a labeling. Where they leave a gap, the linear program is
solved over the few labels that come near their node's best under the messages. Most often its optimum meets the bound
of the messages, so that it is that of all labels; if not, the program of all labels is solved. Measured on snakes (38
nodes of 11 labels on average): 0.3 ms, 10 ms where there is a gap, 50 to 90 ms for the program of all labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import kernel
from .answers import MOST_SWEEPS, TOLERANCE
from .plan import RelaxedPlan
from .program import Graph, Solved, graph_of, solve_program
from .sweeps import find_distances, pass_messages, score

# Labels tried first are this near to the best of their node, in units of the gap that sweeps left divided by all nodes.
NEAR = 3.0
MOST_PAIRS = 100_000
WHOLE = 1e-6  # a share this near to 1 is all


class Relaxed(NamedTuple):
    """A point of the local polytope, and what is known of the best labeling.

    Attributes
    ----------
    node : ndarray
        Shares of labels, in the layout of node scores.
    edge : ndarray
        Shares of pairs, a table for each edge, none shared.
    value : float
        The score of the shares.
    bound : float
        No point of the polytope scores more, so no labeling does.
    labels : ndarray of shape (T,)
        The best labeling found.
    labels_value : float
        Its score.
    integral : ndarray of shape (T,)
        Whether a node has one label alone.

    Examples
    --------
    >>> from maxmargin.inference import Relaxed
    >>> Relaxed._fields[:4]
    ('node', 'edge', 'value', 'bound')
    """

    node: np.ndarray
    edge: np.ndarray
    value: float
    bound: float
    labels: np.ndarray
    labels_value: float
    integral: np.ndarray


class Room(NamedTuple):
    """What sweeps work on, for one sample."""

    messages: np.ndarray
    belief: np.ndarray  # node scores with what messages add
    distance: np.ndarray  # of a label from the best of its node, under the messages
    trial: np.ndarray
    labels: np.ndarray


def new_messages(plan: RelaxedPlan, i: int) -> np.ndarray:
    return np.zeros(plan.n_messages[i])


def relax(
    plan: RelaxedPlan,
    i: int,
    node,
    edge,
    *,
    messages: np.ndarray | None = None,
    tol: float = TOLERANCE,
    most_pairs: int = MOST_PAIRS,
) -> Relaxed:
    """Solve the relaxation of sample i.

    Parameters
    ----------
    plan : RelaxedPlan
        The graphs of all samples.
    i : int
        The sample.
    node : array_like
        The scores of its nodes' labels, one after the other, finite.
    edge : array_like
        Its tables of edge scores, one after the other, as `plan` has them, finite.
    messages : ndarray, optional
        What an earlier call has left (`new_messages` to begin with), to go on from; changed.
    tol : float
        Values this near to the bound, as a share of its size, are the solution.
    most_pairs : int
        Linear programs with more pairs of labels than this are not tried; the value may stay below the bound.

    Returns
    -------
    Relaxed
        The solution, a bound and a labeling.

    Examples
    --------
    Three nodes that all want to differ, with two labels: the relaxation is content with halves.

    >>> import numpy as np
    >>> from maxmargin.inference import make_relaxed_plan, relax
    >>> plan = make_relaxed_plan([0, 3], [0, 3], [0, 1, 2], [1, 2, 0], 2, shared=True)
    >>> found = relax(plan, 0, np.zeros(6), 1.0 - np.eye(2))
    >>> found.node.round(6) + 0.0, round(float(found.value), 6), float(found.labels_value)
    (array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5]), 3.0, 2.0)
    """
    graph, room = graph_of(plan, i), _room(plan, i, messages)
    node, edge = _check_scores(graph, node, edge)
    value, bound = search(plan, room, i, node, edge, -np.inf, tol, MOST_SWEEPS)
    best = _labeling(graph, room.labels.copy(), value, bound)
    kept = room.distance <= NEAR * (bound - value) / len(room.labels)
    kept[graph.starts[:-1] + room.labels] = True
    for some in (kept, np.ones(len(node), np.bool_)):
        if best.bound - best.value <= tol * (1.0 + abs(best.bound)) or graph.count_pairs(some) > most_pairs:
            break
        solved = solve_program(graph, node, edge, some, len(room.messages))
        value, bound = search(plan, room, i, node, edge, solved.value, tol, MOST_SWEEPS)
        if value > solved.value:  # a labeling with labels that were not kept
            best = best._replace(labels=room.labels.copy(), labels_value=value)
        if some.all():
            own_bound = bound_by_messages(plan, i, node, edge, solved.messages)
            if own_bound < bound:
                bound, room.messages[:] = own_bound, solved.messages
        best = _rounded(plan, i, graph, node, edge, solved, bound, best)
    return best


def relax_by_program(plan: RelaxedPlan, i: int, node, edge) -> Relaxed:
    """The same by one linear program over all labels: simple, and slower.

    Parameters
    ----------
    plan : RelaxedPlan
        The graphs of all samples.
    i : int
        The sample.
    node : array_like
        The scores of its nodes' labels, one after the other, finite.
    edge : array_like
        Its tables of edge scores, one after the other, as `plan` has them, finite.

    Returns
    -------
    Relaxed
        The solution, a bound and a labeling.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import make_relaxed_plan, relax_by_program
    >>> plan = make_relaxed_plan([0, 2], [0, 1], [0], [1], 2, shared=True)
    >>> relax_by_program(plan, 0, [0.0, 1.0, 0.5, 0.0], np.eye(2)).labels
    array([1, 1], dtype=int32)
    """
    graph = graph_of(plan, i)
    node, edge = _check_scores(graph, node, edge)
    solved = solve_program(graph, node, edge, np.ones(len(node), np.bool_), plan.n_messages[i])
    bound = bound_by_messages(plan, i, node, edge, solved.messages)
    none = _labeling(graph, np.zeros(len(graph.starts) - 1, np.int32), -np.inf, np.inf)
    return _rounded(plan, i, graph, node, edge, solved, bound, none)


def bound_by_messages(plan: RelaxedPlan, i: int, node, edge, messages: np.ndarray) -> float:
    """What the messages say of these scores: no labeling, and no point of the polytope, has more."""
    return search(plan, _room(plan, i, messages), i, node, edge, -np.inf, 0.0, 0)[1]


def _rounded(
    plan: RelaxedPlan, i: int, graph: Graph, node, edge, solved: Solved, bound: float, before: Relaxed
) -> Relaxed:
    """The solution of a program with the better of two labelings: the one before, and its own, rounded."""
    owner = np.repeat(np.arange(len(before.labels)), np.diff(graph.starts))
    first = np.lexsort([-solved.node, owner])[graph.starts[:-1]]  # the first of the largest shares
    labels = (first - graph.starts[:-1]).astype(np.int32)
    value = score(plan, i, node, edge, labels)
    if value <= before.labels_value:
        labels, value = before.labels, before.labels_value
    # value and bound meet up to rounding, which must not make the bound the smaller one
    bound = max(bound, solved.value, value)
    return Relaxed(solved.node, solved.edge, solved.value, bound, labels, value, solved.node[first] >= 1.0 - WHOLE)


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
        raise ValueError(
            f"{len(node)} node and {len(edge)} edge scores, but {graph.starts[-1]} and {needed} are needed"
        )
    if not (np.all(np.isfinite(node)) and np.all(np.isfinite(edge[:needed]))):
        raise ValueError("the linear relaxation needs finite scores: give what is forbidden a low one")
    return node, edge


@kernel
def search(plan, room, i, node, edge, value, tol, most_sweeps):
    """`pass_messages`, which leaves labels, messages and distances behind."""
    messages, belief, trial, labels = room.messages, room.belief, room.trial, room.labels
    found = pass_messages(plan, i, node, edge, messages, belief, trial, value, tol, most_sweeps, labels)
    find_distances(plan, i, edge, room.messages, room.belief, room.distance)
    return found
