"""Widths, sizes, and graphs that are refused."""

import numpy as np
import pytest

from inference.shapes import CLIQUE, CYCLE, grid
from maxmargin.inference import verbs
from maxmargin.inference.junction import make_junction_plan


def plan_of(n_nodes, edges, **options):
    tail, head = np.array(edges, int).reshape(-1, 2).T
    options = {"label_counts": 2, "shared": False} | options
    return make_junction_plan([0, n_nodes], [0, len(edges)], tail, head, **options)


def width(n_nodes, edges):
    return int(np.diff(plan_of(n_nodes, edges).scope_offsets).max())


def test_widths():
    assert width(9, [(v, v + 1) for v in range(8)]) == 1
    assert width(9, [(0, v) for v in range(1, 9)]) == 1
    assert width(5, CYCLE) == 2
    assert width(4, CLIQUE) == 3
    assert [width(3 * m, grid(3, m)) for m in range(3, 31, 9)] == [3] * 4
    assert width(3, []) == 0


def test_equal_graphs_are_planned_once_and_scratch_follows_the_largest():
    edges = grid(3, 10)
    tail, head = np.tile(edges, (50, 1)).T
    many = make_junction_plan(30 * np.arange(51), len(edges) * np.arange(51), tail, head, 4, shared=True)
    one = plan_of(30, edges, label_counts=4, shared=True)
    assert len(many.own) == len(one.own) == 30
    sizes = [[part.nbytes for part in verbs.new_scratch(plan, 1)] for plan in (one, many)]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize(
    "n_nodes, edges, options, message",
    [
        (3, [(0, 1), (1, 1)], {}, "sample 0, edge 1: it joins node 1 with itself"),
        (3, [(0, 3)], {}, "sample 0, edge 0: it joins nodes 0 and 3, but the sample has 3 nodes"),
        (3, [(-1, 2)], {}, "sample 0, edge 0: it joins nodes -1 and 2"),
        (4, CLIQUE, {"max_width": 2}, "sample 0: its graph has a width of 3 or more .* limit is max_width=2.* Raise"),
        (4, CLIQUE, {"max_states": 15}, "sample 0: a clique of 4 nodes .* has 16 labelings, more than 15"),
        (2, [(0, 1)], {"label_counts": [2, 3], "shared": True}, "share one table only where"),
        (2, [(0, 1)], {"label_counts": [2, 0]}, "at least one label"),
        (2, [(0, 1)], {"label_counts": [2, 2, 2]}, "3 label_counts for 2 nodes"),
    ],
)
def test_what_cannot_be_planned(n_nodes, edges, options, message):
    with pytest.raises(ValueError, match=message):
        plan_of(n_nodes, edges, **options)


def test_errors_name_the_sample():
    with pytest.raises(ValueError, match="sample 1, edge 0: it joins nodes 0 and 2"):
        make_junction_plan([0, 3, 5], [0, 1, 2], [0, 0], [2, 2], 2, shared=True)
    with pytest.raises(ValueError, match="do not fit"):
        make_junction_plan([0, 3], [0, 2], [0], [1], 2, shared=True)
