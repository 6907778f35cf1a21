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


def graph_of(plan: RelaxedPlan, i: int) -> Graph:
    begin, end = plan.offsets[i], plan.offsets[i + 1]
    edges = slice(plan.edge_offsets[i], plan.edge_offsets[i + 1])
    starts, tail, head = plan.label_offsets[begin : end + 1], plan.tail[edges], plan.head[edges]
    counts = np.diff(starts)
    pairs = np.concatenate([[0], np.cumsum(counts[tail] * counts[head])])
    return Graph(starts - starts[0], tail, head, plan.tables[edges], pairs, plan.message_at[edges])


class Solved(NamedTuple):
    node: np.ndarray  # in the layout of node scores
    edge: np.ndarray  # a table for each edge, none shared
    messages: np.ndarray  # optimal for the labels that were kept


def solve_program(graph: Graph, node: np.ndarray, edge: np.ndarray, kept: np.ndarray, n_messages: int) -> Solved:
    """Optimal shares and messages, where only labels that are kept may have shares."""
    labels = np.flatnonzero(kept)
    first = np.searchsorted(labels, graph.starts)  # where the kept labels of a node begin
    counts = np.diff(first)
    n_pairs = counts[graph.tail] * counts[graph.head]
    edges = np.repeat(np.arange(len(n_pairs)), n_pairs)
    place = np.arange(len(edges)) - np.repeat(np.cumsum(n_pairs) - n_pairs, n_pairs)
    at_tail, at_head = np.divmod(place, counts[graph.head[edges]])
    ends = [(graph.tail, at_tail), (graph.head, at_head)]
    x, y = (labels[first[end[edges]] + at] - graph.starts[end[edges]] for end, at in ends)
    in_table = x * np.diff(graph.starts)[graph.head[edges]] + y

    # a row for the shares of every label at every end of an edge, then one for each node
    sizes = np.stack([counts[graph.tail], counts[graph.head]], axis=1).ravel()
    rows = np.concatenate([[0], np.cumsum(sizes)])
    of_row = np.repeat(np.stack([graph.tail, graph.head], axis=1).ravel(), sizes)
    in_row = np.arange(rows[-1]) - np.repeat(rows[:-1], sizes)
    columns = len(labels) + np.arange(len(edges))
    owner = np.repeat(np.arange(len(counts)), counts)
    parts = [
        (rows[2 * edges] + at_tail, columns, 1.0),
        (rows[2 * edges + 1] + at_head, columns, 1.0),
        (np.arange(rows[-1]), first[of_row] + in_row, -1.0),
        (rows[-1] + owner, np.arange(len(labels)), 1.0),
    ]
    entries = np.concatenate([np.full(len(row), sign) for row, _, sign in parts])
    place_of = tuple(np.concatenate([part[axis] for part in parts]) for axis in (0, 1))
    shape = rows[-1] + len(counts), len(labels) + len(edges)
    found = linprog(
        -np.concatenate([node[labels], edge[graph.tables[edges] + in_table]]),
        A_eq=csr_array((entries, place_of), shape),
        b_eq=np.repeat([0.0, 1.0], [rows[-1], len(counts)]),
        method="highs-ds",  # a corner of the polytope, the same in every run
        options={"primal_feasibility_tolerance": FEASIBLE, "dual_feasibility_tolerance": FEASIBLE},
    )
    if found.x is None:
        raise RuntimeError(f"HiGHS did not solve a relaxation: {found.message}")
    shares = np.clip(found.x, 0.0, 1.0)
    of_labels, of_pairs, messages = np.zeros(len(node)), np.zeros(graph.pairs[-1]), np.zeros(n_messages)
    of_labels[labels] = shares[: len(labels)]
    of_pairs[graph.pairs[edges] + in_table] = shares[len(labels) :]
    is_head = np.repeat(np.arange(len(sizes)) % 2, sizes)
    edge_of_row = np.repeat(np.arange(len(sizes)) // 2, sizes)
    before = is_head * np.diff(graph.starts)[graph.tail[edge_of_row]]
    own = labels[first[of_row] + in_row] - graph.starts[of_row]
    messages[graph.messages[edge_of_row] + before + own] = -found.eqlin.marginals[: rows[-1]]
    return Solved(of_labels, of_pairs, messages)
