"""Numbered features: only columns that training has."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import maxmargin
from maxmargin import IndexEncoder, persistence

ROWS = sp.csr_matrix([[0, 2.0, 0, 1.0], [0, 0, 0, 3.0]])


def test_columns_that_are_there():
    encoder = IndexEncoder()
    assert_array_equal(encoder.fit_transform(ROWS).toarray(), [[2, 1], [0, 3]])
    assert encoder.get_feature_names_out().tolist() == ["1", "3"]
    assert_array_equal(encoder.transform(sp.csr_matrix([[9.0, 1, 9, 0, 9]])).toarray(), [[1, 0]])
    assert_array_equal(encoder.transform(sp.csr_matrix([[9.0]])).toarray(), [[0, 0]])


def test_lists_of_matrices():
    encoder = IndexEncoder().fit([ROWS[:1, :2], ROWS[1:]])
    assert [rows.toarray().tolist() for rows in encoder.transform([ROWS[:1], ROWS[1:]])] == [[[2, 1]], [[0, 3]]]


def test_numbers_of_billions_take_no_room():
    wide = sp.csr_matrix((np.ones(2), np.array([0, 2**31 - 1]), np.array([0, 2])), shape=(1, 2**31))
    assert IndexEncoder().fit_transform(wide).shape == (1, 2)


def test_nothing_at_all():
    assert IndexEncoder().fit_transform(sp.csr_matrix((2, 5))).shape == (2, 0)


def test_files(tmp_path):
    persistence.save(IndexEncoder().fit(ROWS), tmp_path / "encoder.npz")
    assert maxmargin.load(tmp_path / "encoder.npz").indices_.tolist() == [1, 3]


def test_files_that_lie_are_refused(tmp_path):
    encoder = IndexEncoder().fit(ROWS)
    encoder.indices_ = np.array([3, 1])
    persistence.save(encoder, tmp_path / "encoder.npz")
    with pytest.raises(persistence.ModelFileError, match="not ascending"):
        maxmargin.load(tmp_path / "encoder.npz")
