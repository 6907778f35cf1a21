"""Boxes against a look at all of them: by branch and bound, by a scan, and by the one after the other."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin.inference.boxes import best_box, candidate_marginals, scan_boxes, search_boxes, top_boxes
from maxmargin.metrics import box_iou
from reference.boxes import all_boxes, box_values
from structures.pairs import interpreted

SPEEDS = {"compiled": nullcontext, "interpreted": interpreted}
VALUES = {
    "ties": st.sampled_from([-1.0, 0.0, 1.0]),
    "zeros": st.just(0.0),
    "any": st.floats(-10, 10),
    "negative": st.floats(-10, -0.0),
    "large and small": st.one_of(st.floats(-1e12, 1e12), st.floats(-1, 1)),
    "tiny": st.floats(-1e-270, 1e-270),
}
ANSWERS = {
    "search": lambda *args: search_boxes(*args)[:2],
    "scan": scan_boxes,
    "top": top_boxes,
}


@st.composite
def cases(draw, values, largest=4):
    shape = draw(st.tuples(st.integers(1, largest), st.integers(1, largest + 1)))
    scores = draw(arrays(np.float64, shape, elements=values))
    truth = draw(st.one_of(st.none(), st.sampled_from(all_boxes(*shape))))
    return scores, truth, draw(st.integers(1, 12))


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("values", VALUES)
def test_best_and_top(values, speed):
    """Values are those of the k best; boxes are distinct, and worth what is said."""

    @settings(max_examples=60 if speed == "compiled" else 12, deadline=None)
    @given(cases(VALUES[values]))
    def check(case):
        scores, truth, k = case
        every = box_values(scores, truth)
        best = np.sort(list(every.values()))[::-1][:k]
        rounding = 1e-13 * max(np.abs(scores).sum(), 1.0 if truth else 1e-280)
        found = {name: answer(scores, k, truth) for name, answer in ANSWERS.items()}
        for boxes, of_boxes in found.values():
            assert of_boxes == pytest.approx(best, abs=rounding, rel=0)
            assert len(set(map(tuple, boxes.tolist()))) == len(best)
            assert [every[tuple(box)] for box in boxes.tolist()] == pytest.approx(of_boxes, abs=rounding, rel=0)
            assert of_boxes.tolist() == found["search"][1].tolist()  # to the last bit, whoever found them
        box, value = best_box(scores, truth)
        assert (box.tolist(), value) == (found["top"][0][0].tolist(), found["top"][1][0]) or k > 1
        assert value == found["top"][1][0]

    with SPEEDS[speed]():
        check()


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (3, 2)])
def test_more_than_there_are(answer, shape):
    """All boxes, in the right order, however many are asked for; also where all are worth the same."""
    for scores in (np.zeros(shape), np.random.default_rng(0).normal(size=shape)):
        boxes, values = answer(scores, 10**9)
        assert sorted(map(tuple, boxes.tolist())) == sorted(all_boxes(*shape))
        assert (np.diff(values) <= 0).all()


def test_to_go_on_is_to_go_on():
    """The first of many are the few."""
    scores = np.random.default_rng(0).normal(size=(12, 15))
    many, of_many = top_boxes(scores, 200, (2, 3, 8, 9))
    few, of_few = top_boxes(scores, 20, (2, 3, 8, 9))
    assert few.tolist() == many[:20].tolist() and of_few.tolist() == of_many[:20].tolist()


@pytest.mark.parametrize("shape", [(30, 41), (41, 30)])
@pytest.mark.parametrize("kind", ["noise", "blob", "integers"])
def test_larger_maps(shape, kind):
    """Search and scan agree to the last bit where the heap has to grow; a budget too small is made up for."""
    rng = np.random.default_rng(1)
    scores = rng.integers(-2, 2, shape).astype(float) if kind == "integers" else rng.normal(size=shape)
    if kind == "blob":
        scores[5:20, 8:17] += 3.0
        scores -= 1.0
    for truth in (None, (8, 5, 17, 20)):
        boxes, values, bound = search_boxes(scores, 5, truth)
        assert values.tolist() == scan_boxes(scores, 5, truth)[1].tolist() == top_boxes(scores, 5, truth)[1].tolist()
        for box, value in zip(boxes, values, strict=True):
            left, top, right, bottom = box
            own = scores[top:bottom, left:right].sum() - (0.0 if truth is None else box_iou(box, truth))
            assert value == pytest.approx(own, abs=1e-11)
        assert bound <= values[-1]


def test_budget():
    """Stopped early, what is left is bounded."""
    scores = np.random.default_rng(0).normal(size=(30, 30))
    boxes, values, bound = search_boxes(scores, 3, max_splits=10)
    assert boxes.shape == (0, 4) and values.shape == (0,)
    assert bound >= best_box(scores)[1]
    tight = search_boxes(scores, 3, max_splits=500)[2]
    assert bound >= tight >= best_box(scores)[1]


@pytest.mark.parametrize(
    ("scores", "k", "match"),
    [
        (np.zeros(3), 1, r"scores must be a matrix .* got shape \(3,\)"),
        (np.zeros((0, 3)), 1, "at least one pixel"),
        ([[np.nan]], 1, "finite"),
        ([[np.inf]], 1, "finite"),
        ([[1e308, 1e308]], 1, "finite sum"),
        ([[1.0]], 0, "k must be an integer >= 1"),
        ([[1.0]], True, "k must be an integer >= 1"),
    ],
)
def test_refusals(scores, k, match):
    with pytest.raises(ValueError, match=match), np.errstate(over="ignore"):
        top_boxes(scores, k)


@pytest.mark.parametrize(
    "truth", [(0, 0, 3, 1), (-1, 0, 1, 1), (1, 0, 1, 1), (0, 0, 1), (0.0, 0.0, 1.0, 1.0), "box", (0, 1, 1, 3)]
)
@pytest.mark.parametrize("answer", [*ANSWERS.values()], ids=ANSWERS)
def test_truth_that_is_no_box(answer, truth):
    with pytest.raises(ValueError, match="truth must be"):
        answer(np.zeros((2, 2)), 1, truth)


def test_candidate_marginals():
    assert candidate_marginals([0.0, np.log(3.0)]) == pytest.approx([0.25, 0.75])
    assert candidate_marginals([1e5, 0.0]).tolist() == [1.0, 0.0]
