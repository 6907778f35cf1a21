"""The fetched sets have the published sizes and the promised types."""

import os
import subprocess
import sys

import numpy as np
import pytest

from maxmargin.datasets import fetch_mnist, fetch_ocr, fetch_usps


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


def test_usps(shared_data):
    data = fetch_usps(data_home=shared_data)
    assert data.X_train.shape == (7291, 256) and data.X_test.shape == (2007, 256)
    assert data.X_train.dtype == np.float64 and data.X_train.min() == -1 and data.X_train.max() == 1
    assert np.bincount(data.y_train).tolist() == [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]


def test_mnist(shared_data):
    data = fetch_mnist(data_home=shared_data)
    assert data.X_train.shape == (60000, 784) and data.X_test.shape == (10000, 784)
    assert data.X_train.dtype == np.float32 and data.X_train.min() == 0 and data.X_train.max() == 1
    assert np.bincount(data.y_test).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


def test_import_adds_nothing_heavy():
    code = (
        "import sys, maxmargin; before = set(sys.modules); import maxmargin.datasets; "
        "print({'sklearn', 'scipy', 'tqdm'} & (set(sys.modules) - before))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "set()"
