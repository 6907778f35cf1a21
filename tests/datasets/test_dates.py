"""Handwritten dates: valid, reproducible, and without images shared between training and test."""

import datetime

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from maxmargin.datasets import load_dates


def test_shapes_and_types():
    data = load_dates(n_train=7, n_test=11)
    assert len(data.X_train) == len(data.y_train) == len(data.dates_train) == 7
    assert len(data.X_test) == len(data.y_test) == len(data.dates_test) == 11
    for x, y in zip(data.X_train + data.X_test, data.y_train + data.y_test, strict=True):
        assert x.shape == (8, 64) and x.dtype == np.float64 and x.min() >= 0 and x.max() <= 1
        assert y.shape == (8,) and np.issubdtype(y.dtype, np.integer)
    assert len(data.feature_names) == 64
    assert "No image occurs on both sides" in data.DESCR


def test_labels_spell_valid_dates_of_the_range():
    data = load_dates(n_train=300, n_test=300)
    for date, y in zip(data.dates_train + data.dates_test, data.y_train + data.y_test, strict=True):
        assert "".join(map(str, y)) == date
        assert 1900 <= datetime.datetime.strptime(date, "%d%m%Y").year <= 2029


def test_images_show_their_labels():
    data = load_dates(n_train=20)
    digits = load_digits()
    for x, y, images in zip(data.X_train, data.y_train, data.images_train, strict=True):
        legible = images >= 0
        assert_array_equal(digits.target[images[legible]], y[legible])
        assert_array_equal(digits.data[images[legible]] / 16, x[legible])
        assert not x[~legible].any()


def test_train_and_test_share_no_image():
    data = load_dates(n_train=2000, n_test=2000)
    used_train = set(data.images_train.ravel()) - {-1}
    used_test = set(data.images_test.ravel()) - {-1}
    assert len(used_train) > 800 and len(used_test) > 800
    assert not used_train & used_test


@pytest.mark.parametrize("illegible", [0, 0.25, 1])
def test_share_of_illegible_digits(illegible):
    data = load_dates(n_train=1000, illegible=illegible)
    assert np.mean(data.images_train == -1) == pytest.approx(illegible, abs=0.03)


def test_seed_reproduces_and_other_seed_differs():
    first, again, other = load_dates(), load_dates(), load_dates(random_state=1)
    assert_array_equal(first.X_train, again.X_train)
    assert_array_equal(first.X_test, again.X_test)
    assert first.dates_train == again.dates_train != other.dates_train


@pytest.mark.parametrize("name", ["n_train", "n_test"])
def test_bad_counts_are_refused(name):
    with pytest.raises(ValueError, match=name):
        load_dates(**{name: 0})
    with pytest.raises(TypeError, match=name):
        load_dates(**{name: 2.5})


@pytest.mark.parametrize("illegible", [-0.1, 1.1])
def test_bad_probability_is_refused(illegible):
    with pytest.raises(ValueError, match="illegible"):
        load_dates(illegible=illegible)
