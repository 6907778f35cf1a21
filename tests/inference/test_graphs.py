"""Graphs as callers give them."""

import numpy as np
import pytest

from maxmargin.inference import CutPlan, JunctionPlan, RelaxedPlan, TreePlan
from maxmargin.inference.graphs import Graphs, read_graphs

TAIL, HEAD = [0, 1, 0], [1, 2, 1]


@pytest.mark.parametrize("plan", [CutPlan, JunctionPlan, RelaxedPlan, TreePlan])
def test_plans_begin_with_the_fields_of_graphs(plan):
    assert plan._fields[: len(Graphs._fields)] == Graphs._fields


def test_tables_follow_each_other_in_a_sample():
    graphs = read_graphs([0, 3, 5], [0, 2, 3], TAIL, HEAD, [2, 3, 4, 1, 2], shared=False)
    assert graphs.tables.tolist() == [0, 6, 0] and graphs.label_counts.tolist() == [2, 3, 4, 1, 2]
    assert [ends.tolist() for ends in graphs.ends()] == [[0, 1, 3], [1, 2, 4]]
    shared = read_graphs([0, 3, 5], [0, 2, 3], TAIL, HEAD, 4, shared=True)
    assert shared.tables.tolist() == [0, 0, 0] and shared.label_offsets.tolist() == [0, 4, 8, 12, 16, 20]


def test_samples_without_nodes_or_edges():
    empty = np.empty(0)
    for offsets in ([0], [0, 0, 0]):
        graphs = read_graphs(offsets, np.zeros(len(offsets)), empty, empty, 3, shared=False)
        assert graphs.label_offsets.tolist() == [0] and graphs.tables.tolist() == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"offsets": [1, 3, 5]}, "^offsets must rise from 0"),
        ({"offsets": [0, 3, 2]}, "^offsets must rise from 0"),
        ({"offsets": []}, "^offsets must rise from 0"),
        ({"edge_offsets": [0, 3, 2]}, "edge_offsets must rise from 0"),
        ({"edge_offsets": [0, 3]}, "3 offsets and 2 edge_offsets, which end at 3, do not fit 3 tails and 3 heads"),
        ({"tail": [0, 1]}, "do not fit 2 tails and 3 heads"),
        ({"head": [1, 2, 2]}, "sample 1, edge 0: it joins nodes 0 and 2, but the sample has 2 nodes"),
        ({"head": [1, 1, 1]}, "sample 0, edge 1: it joins node 1 with itself"),
        ({"label_counts": [2, 2]}, "2 label_counts for 5 nodes"),
        ({"label_counts": [2, 2, 2, 2, 0]}, "sample 1: node 1 has no labels"),
        ({"label_counts": [2, 2, 2, 2, 3]}, "the same number of labels; pass shared=False"),
    ],
)
def test_what_is_refused(given, message):
    whole = {"offsets": [0, 3, 5], "edge_offsets": [0, 2, 3], "tail": TAIL, "head": HEAD, "label_counts": 2}
    with pytest.raises(ValueError, match=message):
        read_graphs(**{**whole, **given}, shared=True)
