"""Nothing is answered with nothing: no samples, and samples without a site among others."""

from __future__ import annotations

import numpy as np
import pytest
from graph_cases import KINDS, LABELS, case_of
from numpy.testing import assert_array_equal

from maxmargin import BoxSVM, ChainSVM, GraphSVM, MatchingSVM, MulticlassSVM, PoseSVM

pytestmark = pytest.mark.usefixtures("no_compilation")

METHODS = ("predict", "decision_function", "predict_marginals")


def empty_sample(case):
    """One without a node, like the others."""
    if case.cls is ChainSVM:
        return (np.zeros((0, 3)), np.zeros((0, 2)))
    return ([], *([] for _ in case.X[0][1:]))


@pytest.mark.parametrize("at", [0, 2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_without_sites(kind, at):
    case = case_of(kind)
    model = case.model(tol=0.5).fit(case.X, LABELS)
    X = [*case.X[:at], empty_sample(case), *case.X[at:]]
    y = [*LABELS[:at], [], *LABELS[at:]]
    for method in METHODS:
        answers, plain = getattr(model, method)(X), getattr(model, method)(case.X)
        assert len(answers.pop(at)) == 0
        assert all(map(np.array_equal, answers, plain))
    labelings, scores = model.predict_topk(X, 3)
    assert labelings.pop(at).shape == (1, 0)
    assert_array_equal(scores.pop(at), [0.0])
    assert all(map(np.array_equal, labelings, model.predict_topk(case.X, 3)[0]))
    assert model.score(X, y) == model.score(case.X, LABELS)
    calibrated = model.calibrate(case.X, LABELS).temperature_
    assert model.calibrate(X, y).temperature_ == calibrated
    with pytest.raises(ValueError, match=f"X, sample {at}: empty (sequence|tree|graph)"):
        case.model().fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_no_samples(kind):
    case = case_of(kind)
    model = case.model(tol=0.5).fit(case.X, LABELS)
    for method in METHODS:
        assert getattr(model, method)([]) == []
    assert model.predict_topk([], 2) == ([], [])
    with pytest.raises(ValueError, match="X is empty"):
        model.score([], [])


@pytest.mark.parametrize("kind", ["tree", "cycle"])
def test_edges_of_no_nodes(kind):
    case = case_of(kind)
    model = case.model(tol=0.5).fit(case.X, LABELS)
    with pytest.raises(ValueError, match="X, sample 1: it has edges, but no nodes"):
        model.predict([case.X[0], ([], case.X[0][1])])


def test_errors_count_samples_without_sites():
    """The third one of four, though the second is left out of the plan."""
    case = case_of("cycle")
    model = case.model(tol=0.5).fit(case.X, LABELS)
    with pytest.raises(ValueError, match="X, sample 2, edge 0: it joins nodes 0 and 9"):
        model.predict([case.X[0], ([], []), (case.nodes[2], [(0, 9)])])


def test_relaxations_of_nothing():
    case = case_of("cycle")
    model = GraphSVM(inference="lp", tol=0.5, max_passes=3).fit(case.X, LABELS)
    found = model.relaxation([([], []), case.X[0]])
    assert [len(labels) for labels in found.labelings] == [0, 3]
    assert_array_equal(found.scores[:1], found.bounds[:1])
    assert found.integral[0] == 1.0


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_kernels(kernel):
    case = case_of("chain featured")
    model = ChainSVM(kernel=kernel, tol=0.5).fit(case.nodes, LABELS)
    assert [len(labels) for labels in model.predict([case.nodes[0], []])] == [3, 0]
    assert model.predict([]) == []


def test_dicts():
    model = ChainSVM(tol=0.5).fit([[{"a": 1}, {"b": 1}], [{"a": 1}]], [["x", "y"], ["x"]])
    assert [labels.tolist() for labels in model.predict([[], [{"a": 1}], []])] == [[], ["x"], []]
    assert [labels.tolist() for labels in model.predict([[], []])] == [[], []]
    with pytest.raises(ValueError, match="X, sample 1: empty sequence"):
        ChainSVM().fit([[{"a": 1}], []], [["x"], []])


def test_classes():
    model = MulticlassSVM(tol=0.5).fit(np.eye(3), ["a", "b", "c"])
    for nothing in ([], np.zeros((0, 3))):
        assert model.predict(nothing).shape == (0,)
        assert model.decision_function(nothing).shape == (0, 3)
        with pytest.raises(ValueError, match="X is empty"):
            model.score(nothing, [])


def test_matchings_boxes_and_poses():
    images = [np.ones((2, 2, 1)), np.zeros((2, 2, 1))]
    matching = MatchingSVM(tol=0.5).fit(images, [[(0, 0)], []])
    assert matching.predict([]) == [] and matching.decision_function([]) == []
    box = BoxSVM(tol=0.5).fit(images, [(0, 0, 1, 1), (0, 0, 2, 1)])
    assert box.predict([]).shape == (0, 4)
    pose = PoseSVM(tol=0.5, radius=2.0).fit(images, [[(0, 0), (1, 0)], [(0, 0), (1, 1)]])
    assert pose.predict([]).shape == (0, 2, 2)
    for model, y in ((matching, []), (box, []), (pose, [])):
        with pytest.raises(ValueError, match="X"):
            model.score([], y)
