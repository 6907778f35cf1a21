"""USPS and MNIST: the published sizes, and the promised types."""

import numpy as np

from maxmargin.datasets import fetch_mnist, fetch_usps


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
