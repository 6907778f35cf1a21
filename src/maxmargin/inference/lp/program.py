"""The relaxation as a linear program, over all labels or some of them, by SciPy's HiGHS.

Maximise ``<node, mu> + <edge, mu_e>`` where the labels of every node have shares mu >= 0 that sum to 1, and those of
the pairs of an edge, summed over one end, are those of the labels at the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from .plan import RelaxedPlan

FEASIBLE = 1e-10  # the least that HiGHS takes


class Graph(NamedTuple):
    """The graph of one sample, everything counted inside it."""

    starts: np.ndarray  # (T + 1,): the labels of each node in the node scores
    tail: np.ndarray
    head: np.ndarray
    tables: np.ndarray  # (m,): the scores of each edge
    pairs: np.ndarray  # (m + 1,): the tables of each edge, one after the other
    messages: np.ndarray  # (m,)

    def count_pairs(self, kept: np.ndarray) -> int:
        """Pairs of labels along edges, of those kept."""
        counts = np.add.reduceat(kept.astype(np.int64), self.starts[:-1])
        return int(counts[self.tail] @ counts[self.head])


def graph_of(plan: RelaxedPlan, i: int) -> Graph:
    begin, end = plan.offsets[i], plan.offsets[i + 1]
    edges = slice(plan.edge_offsets[i], plan.edge_offsets[i + 1])
    starts, tail, head = plan.label_offsets[begin : end + 1], plan.tail[edges], plan.head[edges]
    counts = np.diff(starts)
    pairs = np.concatenate([[0], np.cumsum(counts[tail] * counts[head])])
    return Graph(starts - starts[0], tail, head, plan.tables[edges], pairs, plan.message_at[edges])


class Columns(NamedTuple):
    """The variables: shares of the labels that are kept, then those of their pairs along each edge."""

    labels: np.ndarray  # in the layout of node scores
    first: np.ndarray  # (T + 1,): where those of each node begin
    edges: np.ndarray  # the edge of a pair
    at_tail: np.ndarray  # which of the kept labels of its tail a pair has
    at_head: np.ndarray
    in_table: np.ndarray  # where it is in its edge's table


class Ends(NamedTuple):
    """The constraints of pairs, each for a kept label of an end of an edge; its multiplier is a message."""

    labels: np.ndarray  # as numbered by `Columns`
    messages: np.ndarray  # where the message lies


class Solved(NamedTuple):
    node: np.ndarray  # in the layout of node scores
    edge: np.ndarray  # a table for each edge, none shared
    value: float  # of the shares
    messages: np.ndarray  # optimal for the labels that were kept


def solve_program(graph: Graph, node: np.ndarray, edge: np.ndarray, kept: np.ndarray, n_messages: int) -> Solved:
    """Optimal shares and messages, where only labels that are kept may have shares."""
    columns = _columns(graph, kept)
    matrix, ends = _constraints(graph, columns)
    labels, edges, in_table = columns.labels, columns.edges, columns.in_table
    scores = np.concatenate([node[labels], edge[graph.tables[edges] + in_table]])
    n_ends = len(ends.labels)
    found = linprog(
        -scores,
        A_eq=matrix,
        b_eq=np.repeat([0.0, 1.0], [n_ends, matrix.shape[0] - n_ends]),
        method="highs-ds",  # a corner of the polytope, the same in every run
        options={"primal_feasibility_tolerance": FEASIBLE, "dual_feasibility_tolerance": FEASIBLE},
    )
    if found.x is None:
        raise RuntimeError(f"HiGHS did not solve a relaxation: {found.message}")
    shares = np.clip(found.x, 0.0, 1.0)
    of_labels, of_pairs, messages = np.zeros(len(node)), np.zeros(graph.pairs[-1]), np.zeros(n_messages)
    of_labels[labels] = shares[: len(labels)]
    of_pairs[graph.pairs[edges] + in_table] = shares[len(labels) :]
    messages[ends.messages] = -found.eqlin.marginals[:n_ends]
    return Solved(of_labels, of_pairs, float(scores @ shares), messages)


def _columns(graph: Graph, kept: np.ndarray) -> Columns:
    labels = np.flatnonzero(kept)
    first = np.searchsorted(labels, graph.starts)
    counts = np.diff(first)
    n_pairs = counts[graph.tail] * counts[graph.head]
    edges = np.repeat(np.arange(len(n_pairs)), n_pairs)
    tail, head = graph.tail[edges], graph.head[edges]
    place = np.arange(len(edges)) - np.repeat(np.cumsum(n_pairs) - n_pairs, n_pairs)
    at_tail, at_head = np.divmod(place, counts[head])
    x, y = labels[first[tail] + at_tail] - graph.starts[tail], labels[first[head] + at_head] - graph.starts[head]
    return Columns(labels, first, edges, at_tail, at_head, x * np.diff(graph.starts)[head] + y)


def _constraints(graph: Graph, columns: Columns) -> tuple[csr_array, Ends]:
    """Rows for the labels at every end of an edge, then one for each node, whose shares sum to 1."""
    counts, n_edges = np.diff(columns.first), len(graph.tail)
    nodes = np.stack([graph.tail, graph.head], axis=1).ravel()  # the ends of edges
    sizes = counts[nodes]
    rows = np.concatenate([[0], np.cumsum(sizes)])
    node, edge = np.repeat(nodes, sizes), np.repeat(np.repeat(np.arange(n_edges), 2), sizes)
    own = columns.first[node] + np.arange(rows[-1]) - np.repeat(rows[:-1], sizes)
    n_labels, n_pairs = len(columns.labels), len(columns.edges)
    pairs = n_labels + np.arange(n_pairs)
    parts = [
        (rows[2 * columns.edges] + columns.at_tail, pairs, 1.0),
        (rows[2 * columns.edges + 1] + columns.at_head, pairs, 1.0),
        (np.arange(rows[-1]), own, -1.0),
        (rows[-1] + np.repeat(np.arange(len(counts)), counts), np.arange(n_labels), 1.0),
    ]
    entries = np.concatenate([np.full(len(row), sign) for row, _, sign in parts])
    places = tuple(np.concatenate([part[axis] for part in parts]) for axis in (0, 1))
    matrix = csr_array((entries, places), (rows[-1] + len(counts), n_labels + n_pairs))
    is_head = np.repeat(np.tile([0, 1], n_edges), sizes)
    before = graph.messages[edge] + is_head * np.diff(graph.starts)[graph.tail[edge]]
    return matrix, Ends(own, before + columns.labels[own] - graph.starts[node])
