"""Where nodes, edges and tables lie, and what is no forest."""

import pytest

from maxmargin.inference.tree import make_tree_plan


def test_plan_of_a_forest():
    plan = make_tree_plan([0, 3, 3, 5], [2, 2, -1, -1, -1], [2, 3, 4, 1, 2], shared=False)
    assert plan.edge_offsets.tolist() == [0, 2, 2, 2]
    assert (plan.tail.tolist(), plan.head.tolist(), plan.tables.tolist()) == ([0, 1], [2, 2], [0, 8])
    assert plan.label_offsets.tolist() == [0, 2, 5, 9, 10, 12]
    assert plan.roots.tolist() == [2, 0, 1] and plan.root_offsets.tolist() == [0, 1, 1, 3]
    chain = make_tree_plan([0, 4, 8], [1, 2, 3, -1] * 2, 5, shared=True)
    assert chain.upward.tolist() == [0, 1, 2] * 2 and chain.tables.tolist() == [0] * 6


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([-1, 0, 1, 2, 0, -1], "sample 1: the edge 2 -> 0 closes a cycle"),
        ([-1, 0, -1, 4, -1, 2], "sample 1: the edge 1 -> 4 leads to a node outside the sample"),
        ([-1, 2, -1, 0, -1, -1], "sample 0: the edge 1 -> 2 leads to a node outside the sample"),
        ([-1, -2, -1, 0, -1, -1], "sample 0: the edge 1 -> -2 leads to a node outside the sample"),
        ([-1, 1, -1, 0, -1, -1], "sample 0: the edge 1 -> 1 leads to itself"),
        ([1, 0, 1, 0, -1, -1], "sample 0: the edge 1 -> 0 closes a cycle"),
    ],
)
def test_what_is_no_forest(parents, message):
    with pytest.raises(ValueError, match=message):
        make_tree_plan([0, 2, 6], parents, 2, shared=True)


def test_other_plans_that_cannot_be():
    with pytest.raises(ValueError, match="sample 1: node 0 has no labels"):
        make_tree_plan([0, 1, 2], [-1, -1], [2, 0], shared=False)
    with pytest.raises(ValueError, match="the same number of labels"):
        make_tree_plan([0, 2], [-1, 0], [2, 3], shared=True)
    with pytest.raises(ValueError, match="offsets"):
        make_tree_plan([0, 3], [-1, 0], 2, shared=True)
