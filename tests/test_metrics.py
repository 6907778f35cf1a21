"""Chunk scores on cases worked out by hand with the rules of conlleval."""

import numpy as np
import pytest

from maxmargin.metrics import chunk_f1, chunk_scores


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


@pytest.mark.parametrize("label", ["NP", "E-NP", "B-", "B", "O-NP", ""])
def test_other_labels_are_refused(label):
    with pytest.raises(ValueError, match="sequence 0: label"):
        chunk_f1([["O"]], [[label]])
