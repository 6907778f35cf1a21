"""Graphs that are refused."""

import pytest

from maxmargin.inference.lp import make_relaxed_plan


@pytest.mark.parametrize(
    ("tail", "head", "counts", "message"),
    [
        ([0], [0], 2, "joins node 0 with itself"),
        ([0], [5], 2, "joins nodes 0 and 5"),
        ([0], [1], [2, 2], "2 label_counts for 3 nodes"),
        ([0], [1], [2, 2, 0], "at least one label"),
        ([0], [1], [2, 2, 3], "pass shared=False"),
    ],
)
def test_what_cannot_be_planned(tail, head, counts, message):
    with pytest.raises(ValueError, match=message):
        make_relaxed_plan([0, 3], [0, 1], tail, head, counts, shared=True)
