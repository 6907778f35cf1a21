"""Mulan's collection: the published sizes, and samples without labels or features."""

import numpy as np
import pytest

from maxmargin.datasets import _multilabel, fetch_multilabel

# train, test, features, labels, cardinality of both, distinct label sets
SIZES = {
    "yeast": (1500, 917, 103, 14, 4.228, 4.252, 198),
    "scene": (1211, 1196, 294, 6, 1.062, 1.086, 15),
    "emotions": (391, 202, 72, 6, 1.813, 1.975, 27),
    "bibtex": (4880, 2515, 1836, 159, 2.380, 2.444, 2856),
    "enron": (1123, 579, 1001, 53, 3.387, 3.363, 753),
    "medical": (333, 645, 1449, 45, 1.255, 1.240, 94),
    "delicious": (12920, 3185, 500, 983, 19.047, 18.910, 15806),
    "tmc2007-500": (21519, 7077, 500, 22, 2.226, 1.952, 1341),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name, shared_data):
    data = fetch_multilabel(name, data_home=shared_data)
    n_train, n_test, n_features, n_labels, in_train, in_test, n_sets = SIZES[name]
    assert data.X_train.shape == (n_train, n_features) and data.X_test.shape == (n_test, n_features)
    assert data.y_train.shape == (n_train, n_labels) and data.y_test.shape == (n_test, n_labels)
    assert len(data.target_names) == n_labels and str(n_labels) in data.DESCR
    sets = {tuple(row.indices) for y in (data.y_train, data.y_test) for row in y}
    assert len(sets) == n_sets
    for y, cardinality in ((data.y_train, in_train), (data.y_test, in_test)):
        assert np.all(y.data == 1) and y.has_sorted_indices
        # Rounded twice in the table: 3.3865 is its 3.387.
        assert y.sum() / y.shape[0] == pytest.approx(cardinality, abs=1e-3)


def test_parse():
    X, y = _multilabel._parse(b"2,0 1:0.5 3:2\n 2:1\n1\n", n_features=3, n_labels=4)
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert X.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0], [0, 0, 0]]
    assert y.toarray().tolist() == [[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]]


def test_unknown_name():
    with pytest.raises(ValueError, match=r"'bibtex', .* got 'reuters'"):
        fetch_multilabel("reuters")
