"""Sample weights: one a sample, none of them strange; and the samples that are left without those of weight 0."""

from __future__ import annotations

import numpy as np
import pytest
from input_forms import LENGTHS, ROWS, SAMPLES, Frame
from numpy.testing import assert_array_equal

from maxmargin.estimators.inputs.arrays import rows_of, take
from maxmargin.estimators.inputs.graphs import numbered
from maxmargin.estimators.inputs.sequences import stack_sequences
from maxmargin.estimators.inputs.weights import check_sample_weight


def test_sample_weight():
    assert_array_equal(check_sample_weight(None, 3), [1, 1, 1])
    assert_array_equal(check_sample_weight(2, 3), [2, 2, 2])
    for weights in ([0, 1, 2], np.array([0, 1, 2], dtype=np.int8), Frame([0, 1, 2]), np.array([0, 9, 1, 9, 2.0])[::2]):
        checked = check_sample_weight(weights, 3)
        assert_array_equal(checked, [0, 1, 2])
        assert checked.dtype == np.float64
        assert checked.flags.c_contiguous


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1, 2], ValueError, r"sample_weight.shape == \(2,\), expected \(3,\): one weight per sample"),
        (np.ones((3, 1)), ValueError, r"shape == \(3, 1\)"),
        ([1, -1, 1], ValueError, "sample 1: weight -1"),
        ([1, 1, np.nan], ValueError, "sample 2: weight nan"),
        ([np.inf, 1, 1], ValueError, "sample 0: weight inf"),
        ([0, 0, 0], ValueError, "sums to 0"),
        ([1.7e308, 1.7e308, 1], ValueError, "sums to inf"),
        (["1", "2", "3"], TypeError, "real numbers"),
        ([1j, 1, 1], TypeError, "real numbers"),
        ({}, TypeError, "real numbers"),
    ],
)
def test_bad_sample_weight(weights, error, message):
    with pytest.raises(error, match=message):
        check_sample_weight(weights, 3)


def test_what_is_left_of_samples():
    kept = np.array([0, 2])
    assert_array_equal(rows_of(np.array(LENGTHS), kept), [0, 1, 3, 4, 5, 6])
    assert take(SAMPLES, np.arange(3)) is SAMPLES and take(ROWS, np.arange(7)) is ROWS
    assert [x is y for x, y in zip(take(SAMPLES, kept), SAMPLES[::2], strict=True)] == [True, True]
    stacked = stack_sequences(SAMPLES).take(kept)
    assert_array_equal(stacked.rows, np.vstack(SAMPLES[::2]))
    assert_array_equal(stacked.offsets, [0, 2, 6])


@pytest.mark.parametrize("prefix", ["", "X, "])
def test_errors_name_samples_as_users_count_them(prefix):
    with pytest.raises(ValueError, match=r"^X, sample 7: has\na cycle, sample 1$"), numbered(np.array([3, 7])):
        raise ValueError(f"{prefix}sample 1: has\na cycle, sample 1")
    with pytest.raises(ValueError, match=r"^no sample 1$"), numbered(np.array([3, 7])):
        raise ValueError("no sample 1")
