"""Chunk scores on cases worked out by hand with the rules of conlleval; alignments and boxes likewise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin.metrics import alignment_error_rate, average_precision, box_iou, chunk_f1, chunk_scores, corloc


def test_all_found():
    y = [["B-NP", "I-NP", "O", "B-VP"], ["O"]]
    assert chunk_scores(y, y) == (1, 1, 1)


def test_boundary_and_type_must_agree():
    true = [["B-NP", "I-NP", "O", "B-VP", "B-PP"]]
    pred = [["B-NP", "O", "O", "B-NP", "B-PP"]]  # short, wrong type, right
    assert chunk_scores(true, pred) == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_precision_and_recall_differ():
    true = [["B-NP", "I-NP", "I-NP", "O"]]
    pred = [["B-NP", "I-NP", "I-NP", "B-NP"]]
    assert chunk_scores(true, pred) == pytest.approx((1 / 2, 1, 2 / 3))


@pytest.mark.parametrize(
    ("labels", "same_chunks"),
    [
        (["I-NP", "I-NP"], ["B-NP", "I-NP"]),  # I- at the start of a sentence starts a chunk
        (["O", "I-NP"], ["O", "B-NP"]),  # I- after O
        (["B-NP", "I-VP"], ["B-NP", "B-VP"]),  # I- after another type
        (["B-NP", "I-VP", "I-VP"], ["B-NP", "B-VP", "I-VP"]),
    ],
)
def test_inside_that_starts_a_chunk(labels, same_chunks):
    assert chunk_f1([labels], [same_chunks]) == 1


def test_begin_splits_chunks_of_one_type():
    assert chunk_f1([["B-NP", "B-NP"]], [["B-NP", "I-NP"]]) == 0


def test_chunks_end_with_the_sentence():
    assert chunk_f1([["B-NP"], ["I-NP"]], [["B-NP"], ["B-NP"]]) == 1


def test_type_may_contain_a_dash():
    assert chunk_f1([["B-A-x", "I-A-y"]], [["B-A-x", "B-A-y"]]) == 1


def test_counts_are_summed_over_sentences():
    true = [["B-NP"], ["B-NP", "B-NP", "B-NP"]]
    pred = [["O"], ["B-NP", "B-NP", "B-NP"]]
    assert chunk_scores(true, pred) == pytest.approx((1, 3 / 4, 6 / 7))


def test_no_chunks_score_zero():
    assert chunk_scores([["O", "O"]], [["O", "O"]]) == (0, 0, 0)
    assert chunk_scores([["B-NP"]], [["O"]]) == (0, 0, 0)
    assert chunk_scores([], []) == (0, 0, 0)


def test_arrays_are_taken():
    y = [np.array(["B-NP", "I-NP", "O"])]
    assert chunk_f1(y, y) == 1


def test_number_of_sequences_must_agree():
    with pytest.raises(ValueError, match="y_true has 1 sequences, y_pred has 2"):
        chunk_f1([["O"]], [["O"], ["O"]])


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="sequence 1: y_true has 2 labels, y_pred has 1"):
        chunk_f1([["O"], ["O", "O"]], [["O"], ["O"]])


@pytest.mark.parametrize("label", ["NP", "X-NP", "B-", "B", "O-NP", ""])
def test_other_labels_are_refused(label):
    with pytest.raises(ValueError, match="sequence 0: label"):
        chunk_f1([["O"]], [[label]])


@pytest.mark.parametrize(
    ("predicted", "sure", "possible", "rate"),
    [
        ([(0, 0), (1, 1)], [(0, 0), (1, 1)], [], 0),
        ([(0, 0), (1, 1)], [(0, 0)], [(1, 1)], 0),  # possible, predicted
        ([(0, 0)], [(0, 0)], [(1, 1)], 0),  # possible, not predicted
        ([(1, 1)], [], [(1, 1)], 0),
        ([(0, 0)], [(0, 0), (1, 1)], [], 1 / 3),  # one sure link missed
        ([(0, 0), (1, 1)], [(0, 0)], [], 1 / 3),  # one link too many
        ([(0, 1)], [(1, 0)], [], 1),  # the order matters
        ([], [(0, 0)], [(1, 1)], 1),
        ([], [], [(1, 1)], 0),
        ([(0, 0), (1, 1), (1, 2)], [(0, 0), (2, 2)], [(1, 1)], 2 / 5),
    ],
)
def test_alignment_error_rate(predicted, sure, possible, rate):
    assert alignment_error_rate([predicted], [sure], [possible]) == pytest.approx(rate)
    assert alignment_error_rate([predicted], [sure], [possible + sure]) == pytest.approx(rate)
    arrays = ([np.array(links, dtype=int).reshape(-1, 2)] for links in (2 * predicted, sure, possible))
    assert alignment_error_rate(*arrays) == pytest.approx(rate)


def test_alignment_counts_are_summed_over_pairs():
    predicted, sure = [[(0, 0)], [(0, 0), (1, 1), (2, 2)]], [[(0, 1)], [(0, 0), (1, 1), (2, 2)]]
    assert alignment_error_rate(predicted, sure, [[], []]) == pytest.approx(1 / 4)
    assert alignment_error_rate([], [], []) == 0


def test_alignments_must_agree():
    with pytest.raises(ValueError, match="predicted has 1 sentence pairs, sure has 2, possible has 1"):
        alignment_error_rate([[]], [[], []], [[]])
    with pytest.raises(ValueError, match="sentence pair 1: a link is a pair"):
        alignment_error_rate([[], [(0, 1, 2)]], [[], []], [[], []])


@pytest.mark.parametrize(
    ("a", "b", "iou"),
    [
        ([1, 2, 3, 5], [1, 2, 3, 5], 1),
        ([0, 0, 2, 2], [1, 0, 3, 2], 1 / 3),
        ([0, 0, 4, 4], [1, 1, 3, 2], 2 / 16),  # one within the other
        ([0, 0, 2, 2], [2, 0, 4, 2], 0),  # they touch
        ([0, 0, 1, 1], [5, 5, 6, 7], 0),
        ([0, 0, 1, 1], [5, 0, 6, 1], 0),
        ([-1.5, 0, 0.5, 1], [-0.5, 0, 1.5, 1], 1 / 3),
        ([0, 0, 0, 2], [0, 0, 1, 2], 0),  # no area
        ([1, 1, 1, 1], [1, 1, 1, 1], 0),
    ],
)
def test_box_iou(a, b, iou):
    for value in (box_iou(a, b), box_iou(b, a)):
        assert value.shape == () and value == pytest.approx(iou)


def test_box_iou_matches_pixels():
    rng = np.random.default_rng(0)
    first, sides = rng.integers(6, size=(40, 2)), rng.integers(1, 6, size=(40, 2))
    boxes = np.concatenate([first, first + sides], axis=1)
    rows, columns = np.indices((12, 12))
    left, top, right, bottom = boxes.T[:, :, None, None]
    masks = (left <= columns) & (columns < right) & (top <= rows) & (rows < bottom)
    both, either = masks[:, None] & masks, masks[:, None] | masks
    values = box_iou(boxes[:, None], boxes)
    assert_allclose(values, both.sum(axis=(2, 3)) / either.sum(axis=(2, 3)))
    assert_array_equal(np.diag(values), 1)


def test_no_boxes():
    assert box_iou(np.empty((0, 4)), [0, 0, 1, 1]).shape == (0,)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ([0, 0, 1], r"a must have four numbers a box, got shape \(3,\)"),
        (1.0, r"got shape \(\)"),
        ([[0, 0, 1, 1], [2, 0, 1, 1]], r"left <= right and top <= bottom, got \[2.0, 0.0, 1.0, 1.0\]"),
        ([0, 0, np.nan, 1], "a must have boxes"),
        ([0, 0, np.inf, 1], "a must have boxes"),
    ],
)
def test_bad_boxes_are_refused(box, message):
    with pytest.raises(ValueError, match=message):
        box_iou(box, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="b must have"):
        box_iou([0, 0, 1, 1], box)


def test_corloc():
    true = [[0, 0, 4, 4], [0, 0, 4, 4], [1, 1, 2, 2]]
    found = [[0, 0, 4, 2], [0, 0, 4, 1], [1, 1, 2, 2]]  # IoU 1/2, 1/4, 1
    assert corloc(found, true) == corloc(true, found) == pytest.approx(2 / 3)
    assert corloc(found, true, threshold=0.6) == pytest.approx(1 / 3)


def average_precision_by_definition(boxes, scores, true, images, threshold):
    """Walk down the ranking; then, for each step of recall, look for the best precision at that recall or more."""
    taken, points, right = set(), [], 0
    ranking = sorted(range(len(boxes)), key=lambda j: -scores[j])
    for rank, j in enumerate(ranking, start=1):
        if box_iou(boxes[j], true[images[j]]) > threshold and images[j] not in taken:
            taken.add(images[j])
            right += 1
        points.append((right, right / rank))
    steps = [max(precision for found, precision in points if found >= k) for k in range(1, right + 1)]
    return sum(steps) / len(true)


@pytest.mark.parametrize("seed", range(20))
def test_average_precision_is_the_area_under_the_interpolated_curve(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 8), rng.integers(1, 25)
    corners = rng.integers(0, 3, (n, 2))
    true = np.hstack([corners, corners + 4])
    images = rng.integers(0, n, m)
    boxes = true[images] + rng.integers(0, 3, (m, 1))
    scores = rng.integers(0, 6, m) / 5  # with ties
    expected = average_precision_by_definition(boxes, scores, true, images, 0.3)
    assert average_precision(boxes, scores, true, images, threshold=0.3) == pytest.approx(expected)


def test_average_precision_of_one_box_an_image():
    true = np.array([[0, 0, 2, 2]] * 4)
    found = np.array([[0, 0, 2, 2], [4, 4, 6, 6], [0, 0, 2, 2], [0, 0, 2, 1]])  # the last one has an IoU of 0.5
    assert average_precision(true, np.zeros(4), true) == 1
    assert average_precision(found, [4, 3, 2, 1], true) == pytest.approx((1 + 2 / 3) / 4)
    assert average_precision(found, [4, 1, 3, 2], true) == corloc(found[:3], true[:3]) * 3 / 4
    assert average_precision(found, [4, 3, 2, 1], true, threshold=0.4) == pytest.approx((1 + 3 / 4 + 3 / 4) / 4)


def test_average_precision_counts_an_object_once_and_what_is_missed():
    true = [[0, 0, 2, 2], [0, 0, 2, 2]]
    assert average_precision([[0, 0, 2, 2]] * 2, [2, 1], true, images=[0, 0]) == 0.5
    assert average_precision(np.empty((0, 4)), [], true, images=[]) == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([[0, 0, 1, 1]], [1.0, 2.0], [[0, 0, 1, 1]]), "differ in number"),
        (([[0, 0, 1, 1]], [1.0], [[0, 0, 1, 1]] * 2), "without images"),
        (([[0, 0, 1, 1]], [np.nan], [[0, 0, 1, 1]]), "NaN"),
        (([[0, 0, 1, 1]], [1.0], [[0, 0, 1, 1]], [1]), "integers from 0 to 0"),
        (([[0, 0, 1, 1]], [1.0], [[0, 0, 1, 1]], [0.5]), "integers from 0 to 0"),
    ],
)
def test_average_precision_refuses_what_does_not_fit(given, message):
    with pytest.raises(ValueError, match=message):
        average_precision(*given)
