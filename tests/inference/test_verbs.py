"""What plans say they can do is what they do."""

import numpy as np
import pytest

from maxmargin.inference import (
    Bounded,
    ChainPlan,
    make_cut_plan,
    make_junction_plan,
    make_relaxed_plan,
    make_tree_plan,
)
from maxmargin.inference.verbs import can_sum, find_marginals, new_scratch

ENDS, EDGES = np.zeros(2), ([0, 3], [0, 2], [0, 1], [1, 2])
TREE = make_tree_plan([0, 3], [1, 2, -1], 2, shared=True)
RELAXED = make_relaxed_plan(*EDGES, 2, shared=True)
PLANS = {
    "chain": (ChainPlan(np.array([0, 3]), ENDS, ENDS, 3), True),
    "tree": (TREE, True),
    "junction": (make_junction_plan(*EDGES, 2, shared=True), True),
    "cut": (make_cut_plan(*EDGES, shared=True), False),
    "relaxed": (RELAXED, False),
    "bounded tree": (Bounded(TREE, ENDS, ENDS, 3), True),
    "bounded relaxation": (Bounded(RELAXED, ENDS, ENDS, 3), False),
}


@pytest.mark.parametrize("name", PLANS)
def test_plans_that_cannot_sum_say_so(name):
    plan, sums = PLANS[name]
    node, edge, pairs = np.zeros(6), np.zeros(4), np.zeros(8)
    assert can_sum(plan) is sums
    if sums:
        assert find_marginals(plan, 0, node, edge, new_scratch(plan, 1), node, pairs) == pytest.approx(np.log(8))
    else:
        with pytest.raises(NotImplementedError):
            find_marginals(plan, 0, node, edge, new_scratch(plan, 1), node, pairs)


def test_a_plan_that_says_nothing_is_not_asked_for_sums():
    assert can_sum(object()) is False
