"""Letters: the published sizes, and the promised types."""

import numpy as np
import pytest

from maxmargin.datasets import fetch_ocr


@pytest.mark.parametrize(("split", "n_train", "n_test"), [("small", 626, 6251), ("large", 6251, 626)])
def test_ocr(shared_data, split, n_train, n_test):
    data = fetch_ocr(split, data_home=shared_data)
    assert (len(data.X_train), len(data.X_test)) == (n_train, n_test)
    assert sum(map(len, data.y_train)) + sum(map(len, data.y_test)) == 52152
    for x, y in zip(data.X_train, data.y_train, strict=True):
        assert x.shape == (len(y), 128) and x.dtype == np.float64
        assert np.isin(x, (0, 1)).all() and y.min() >= 0 and y.max() <= 25
    assert set(data.folds_train).isdisjoint(data.folds_test)
    assert data.X_train[0].base is data.X_train[1].base  # views of one array


def test_ocr_letters_spell_words(shared_data):
    data = fetch_ocr(data_home=shared_data)
    assert "".join(data.target_names[data.y_train[0]]) == "ommanding"


def test_ocr_unknown_split():
    with pytest.raises(ValueError, match="split must be 'small' or 'large', got 'medium'"):
        fetch_ocr("medium")
