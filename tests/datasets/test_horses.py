"""Horses: cutting, checks and edge features on two small graphs, then the real set."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin.datasets import _horses, fetch_horses

SMALL = {
    "features": np.arange(10).reshape(5, 2).astype(np.float16),
    "labels": np.array([0, 1, 1, 0, 0], dtype=np.uint8),
    "pixels": np.array([10, 20, 30, 40, 50], dtype=np.int32),
    "fg_fraction": np.array([0, 0.75, 1, 0.25, 0.125], dtype=np.float16),
    "node_offsets": np.array([0, 3, 5], dtype=np.int32),
    "edges": np.array([[0, 1], [1, 2], [0, 1]], dtype=np.int16),
    "edge_features": np.array([[20, 0], [10, 5], [40, 20]], dtype=np.float16),
    "edge_offsets": np.array([0, 2, 3], dtype=np.int32),
    "names": np.array(["a", "b"]),
}
SIZES = {"train": (200, 27814, 73606), "test": (127, 17453, 46364)}
OF_NODES = ("X", "y", "pixels", "foreground")
OF_EDGES = ("edges", "edge_features")


def test_columns():
    columns = _horses._columns(SMALL, "raw")
    lists = {name: [part.tolist() for part in parts] for name, parts in columns.items()}
    assert lists == {
        "X": [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9]]],
        "y": [[0, 1, 1], [0, 0]],
        "pixels": [[10, 20, 30], [40, 50]],
        "foreground": [[0, 15, 30], [10, 6.25]],
        "edges": [[[0, 1], [1, 2]], [[0, 1]]],
        "edge_features": [[[20, 0], [10, 5]], [[40, 20]]],
    }


def test_similarities():
    columns = _horses._columns(SMALL, "similarity")
    near, far = np.exp(-1), np.exp(-0.25)
    assert_allclose(columns["edge_features"][0], [[1, 1, 1, 1, 1, 1], [1, near, far, 0.5, near / 2, far / 2]])
    assert_allclose(columns["edge_features"][1], [[1, np.exp(-4), near, 2, 2 * np.exp(-4), 2 * near]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node_offsets": np.array([0, 3, 6])}, "node offsets must lead from 0 to 5 in 2 steps, got 0 to 6 in 2"),
        ({"edge_offsets": np.array([0, 3])}, "edge offsets must lead from 0 to 3 in 2 steps, got 0 to 3 in 1"),
        ({"edges": np.array([[0, 1], [1, 2], [0, 2]])}, r"image 1 of 2 nodes has an edge \[0, 2\]"),
        ({"edges": np.array([[0, 1], [2, 1], [0, 1]])}, r"image 0 of 3 nodes has an edge \[2, 1\]"),
        ({"edges": np.array([[-1, 1], [1, 2], [0, 1]])}, r"image 0 of 3 nodes has an edge \[-1, 1\]"),
    ],
)
def test_bad_arrays_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        _horses._columns(SMALL | change, "raw")


@pytest.fixture(scope="module", params=["similarity", "raw"])
def data(shared_data, request):
    return fetch_horses(request.param, data_home=shared_data)


@pytest.mark.parametrize("split", SIZES)
def test_sizes(data, split):
    n_images, n_nodes, n_edges = SIZES[split]
    assert {len(data[f"{name}_{split}"]) for name in (*OF_NODES, *OF_EDGES, "names")} == {n_images}
    for names, total in ((OF_NODES, n_nodes), (OF_EDGES, n_edges)):
        sizes = [[len(part) for part in data[f"{name}_{split}"]] for name in names]
        assert all(other == sizes[0] for other in sizes) and sum(sizes[0]) == total
    assert len(data.feature_names) == 55 and data.target_names.tolist() == ["background", "horse"]


@pytest.mark.parametrize("split", SIZES)
def test_types(data, split):
    for x, y, pixels, foreground in zip(*(data[f"{name}_{split}"] for name in OF_NODES), strict=True):
        assert x.shape == (len(y), 55) and x.dtype == foreground.dtype == np.float64
        assert y.dtype == pixels.dtype == np.int64 and np.isin(y, (0, 1)).all() and 110 <= len(y) <= 164
        assert ((foreground >= 0) & (foreground <= pixels)).all()
    for edges, features in zip(*(data[f"{name}_{split}"] for name in OF_EDGES), strict=True):
        assert edges.dtype == np.int64 and len(np.unique(edges, axis=0)) == len(edges)
        assert features.shape == (len(edges), len(data.edge_feature_names)) and features.dtype == np.float64
        assert np.isfinite(features).all() and (features >= 0).all()


def test_names_fit_features(data):
    x, edges = data.X_train[0], data.edges_train[0]
    columns = {name: x[:, k] for k, name in enumerate(data.feature_names)}
    assert_allclose(columns["x*y"], columns["x"] * columns["y"], atol=1e-3)
    for channel in "Lab":
        assert_allclose(sum(columns[f"histogram_{channel}[{k}]"] for k in range(8)), 1, atol=5e-3)
    assert_allclose(sum(columns[f"lbp[{k}]"] for k in range(10)), 1, atol=5e-3)
    assert_array_equal(columns["constant"], 1)
    colours = 100 * np.stack([columns[f"mean_{channel}"] for channel in "Lab"], axis=1)
    distance = np.linalg.norm(colours[edges[:, 0]] - colours[edges[:, 1]], axis=1)
    features = {name: data.edge_features_train[0][:, k] for k, name in enumerate(data.edge_feature_names)}
    if "distance" in features:
        assert_allclose(features["distance"], distance, atol=0.06)
    else:
        assert_allclose(features["exp(-distance/5)"], np.exp(-distance / 5), atol=0.02)
        assert_allclose(features["length*exp(-distance/20)"], features["length"] * features["exp(-distance/20)"])


def test_labels_and_pixels(data):
    y, pixels, foreground = (
        np.concatenate(data[f"{name}_train"] + data[f"{name}_test"]) for name in ("y", "pixels", "foreground")
    )
    right = np.where(y == 1, foreground, pixels - foreground)
    assert right.sum() / pixels.sum() == pytest.approx(0.963, abs=5e-4)
    assert y.mean() == pytest.approx(0.242, abs=5e-4)
    assert 1 - np.concatenate(data.y_test).mean() == pytest.approx(0.742, abs=5e-4)


def test_logistic_regression_of_superpixels(shared_data):
    from sklearn.linear_model import LogisticRegression

    data = fetch_horses(data_home=shared_data)
    X, y = np.concatenate(data.X_train), np.concatenate(data.y_train)
    scale = np.maximum(X.std(axis=0), 1e-3)
    scale[-1] = 1
    model = LogisticRegression(max_iter=1000).fit(X / scale, y)
    score = model.score(np.concatenate(data.X_test) / scale, np.concatenate(data.y_test))
    assert score == pytest.approx(0.894, abs=2e-3)


def test_unknown_edge_features():
    with pytest.raises(ValueError, match="edge_features must be 'similarity' or 'raw', got 'none'"):
        fetch_horses("none")
