"""`GraphSVM(inference="auto")`: junction trees where they can be, else a relaxation, and it says which."""

from __future__ import annotations

import numpy as np
import pytest
from graph_cases import LABELS, NAMES, assert_same_optimum, case_of

from maxmargin import GraphSVM
from maxmargin.structures.graphs import Auto

pytestmark = pytest.mark.usefixtures("no_compilation")

CYCLE = case_of("cycle")
COMPLETE = [(a, b) for a in range(4) for b in range(a)]
WIDE = [*CYCLE.X[:2], (CYCLE.nodes[2], COMPLETE), CYCLE.X[3]]
SETTINGS = {"lam": 0.3, "tol": 1e-3, "random_state": 0}


def test_narrow_graphs_are_searched_exactly():
    model = GraphSVM(**SETTINGS).fit(CYCLE.X, LABELS)
    exact = GraphSVM(inference="junction", **SETTINGS).fit(CYCLE.X, LABELS)
    assert model.inference_ == exact.inference_ == "junction"
    np.testing.assert_array_equal(model.coef_, exact.coef_)
    assert hasattr(model, "predict_marginals") and not hasattr(model, "relaxation")


def test_wide_graphs_are_relaxed():
    model = GraphSVM(max_width=2, **SETTINGS).fit(WIDE, LABELS)
    relaxed = GraphSVM(inference="lp", **SETTINGS).fit(WIDE, LABELS)
    assert model.inference_ == relaxed.inference_ == "lp"
    assert_same_optimum(model, relaxed)
    assert hasattr(model, "relaxation") and not hasattr(model, "predict_topk")
    assert all(map(np.array_equal, model.predict(WIDE), relaxed.predict(WIDE)))


@pytest.mark.parametrize(("n_labels", "name"), [(64, "junction"), (65, "lp")])
def test_cliques_of_many_labelings_are_relaxed(n_labels, name):
    """A triangle is narrow, but its labels may be many."""
    triangle = np.array([0, 3]), np.array([0, 1, 2]), np.array([1, 2, 0])
    assert Auto(8).settle(np.array([0, 3]), triangle, n_labels, shared=True)[0].name == name


def test_two_labels_do_not_make_cuts():
    """They would forbid weights that favour neighbours to differ."""
    y = [np.minimum(labels, 1) for labels in LABELS]
    assert GraphSVM(max_width=2, **SETTINGS).fit(WIDE, y).inference_ == "lp"
    assert GraphSVM(**SETTINGS).fit(CYCLE.X, y).inference_ == "junction"


def test_a_second_fit_chooses_anew():
    model = GraphSVM(max_width=2, **SETTINGS).fit(WIDE, LABELS)
    assert model.fit(CYCLE.X, LABELS).inference_ == "junction"


def test_what_is_too_wide_to_predict_says_what_to_do():
    model = GraphSVM(max_width=2, **SETTINGS).fit(CYCLE.X, LABELS)
    with pytest.raises(ValueError, match=r'X, sample 2: .*width of 3.*inference="lp"'):
        model.predict(WIDE)
    assert [len(labels) for labels in model.set_params(inference="lp").predict(WIDE)] == [3, 1, 4, 2]


def test_masks_ask_for_junction_trees():
    everything = np.ones((3, 3), bool)
    assert GraphSVM(transition_mask=everything, **SETTINGS).fit(CYCLE.X, LABELS).inference_ == "junction"
    with pytest.raises(ValueError, match=r"width of 3.*without a transition_mask"):
        GraphSVM(transition_mask=everything, max_width=2).fit(WIDE, LABELS)


def test_names_of_nodes():
    """Messages speak of graphs and nodes."""
    named = [NAMES[labels] for labels in LABELS]
    with pytest.raises(ValueError, match="y, sample 2: 3 labels, but the graph has 4 nodes"):
        GraphSVM().fit(CYCLE.X, [*named[:2], named[2][:3], named[3]])
    with pytest.raises(ValueError, match="X, sample 3, node 1: X contains NaN"):
        GraphSVM().fit([*CYCLE.X[:3], (np.array([[0.0] * 3, [np.nan] * 3]), [])], named)
    dicts = [([{"a": 1}] * len(x), edges) for x, (_, edges) in zip(CYCLE.nodes, CYCLE.X, strict=True)]
    dicts[3][0][1] = 3
    with pytest.raises(TypeError, match="X, sample 3, node 1: expected a feature dict, got int"):
        GraphSVM().fit(dicts, named)
