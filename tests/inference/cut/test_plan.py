"""Graphs of two labels a node."""

import itertools

import numpy as np
import pytest

from inference.shapes import grid
from maxmargin.inference import verbs
from maxmargin.inference.cut import first_nonsubmodular, make_cut_plan


def first_bad(tables):
    n = len(tables) // 4
    plan = make_cut_plan([0, 2, 4], [0, 1, 1 + n], [0] * (1 + n), [1] * (1 + n), shared=False)
    return first_nonsubmodular(plan, 1, np.array(tables, float))


def test_scores_that_no_cut_answers_for_are_found():
    good, ban = [1.0, 0.0, 0.0, 0.0], -np.inf
    assert first_bad([]) == -1
    assert first_bad(good + [0.0] * 4) == -1
    assert first_bad([*good, *good, 0.0, 1.0, 0.0, 0.0]) == 2
    assert first_bad([0.1 + 0.2, 0.3, 0.0, 0.0, 0.3, 0.1 + 0.2, 0.0, 0.0]) == -1  # rounding
    assert first_bad([1e6, 1e6 + 1.0, 0.0, 0.0]) == 0
    assert first_bad([ban, 1.0, 1.0, 5.0]) == 0
    assert first_bad([5.0, 1.0, 1.0, ban]) == 0
    for table in itertools.product([ban, 0.0], repeat=4):
        a, b, c, d = table
        assert first_bad(table) == (-1 if a + d >= b + c else 0)


def plan_of(n_nodes, edges):
    return make_cut_plan([0, n_nodes], [0, len(edges)], *np.array(edges, int).reshape(-1, 2).T, shared=True)


def test_scratch_follows_the_largest():
    edges = grid(3, 10)
    tail, head = np.tile(edges, (50, 1)).T
    many = make_cut_plan(30 * np.arange(51), len(edges) * np.arange(51), tail, head, shared=True)
    sizes = [[part.nbytes for part in verbs.new_scratch(plan, 1)] for plan in (plan_of(30, edges), many)]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize(
    "n_nodes, edges, message",
    [
        (3, [(0, 1), (1, 1)], "sample 0, edge 1: it joins node 1 with itself"),
        (3, [(0, 3)], "sample 0, edge 0: it joins nodes 0 and 3, but the sample has 3 nodes"),
        (3, [(-1, 2)], "sample 0, edge 0: it joins nodes -1 and 2"),
    ],
)
def test_what_cannot_be_planned(n_nodes, edges, message):
    with pytest.raises(ValueError, match=message):
        plan_of(n_nodes, edges)


def test_errors_name_the_sample():
    with pytest.raises(ValueError, match="sample 1, edge 0: it joins nodes 0 and 2"):
        make_cut_plan([0, 3, 5], [0, 1, 2], [0, 0], [2, 2], shared=True)
    with pytest.raises(ValueError, match="do not fit"):
        make_cut_plan([0, 3], [0, 2], [0], [1], shared=True)
