"""Snakes: windows, edges and their features, against loops over pixels."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from maxmargin.datasets import _snakes, fetch_snakes

COLOURS = list(_snakes.COLOURS)
STEPS = {"red": (-1, 0), "green": (1, 0), "cyan": (0, -1), "yellow": (0, 1)}


def arrays(names, labels, shapes):
    pixels = np.array([_snakes.COLOURS[name] for name in names], dtype=np.uint8)
    return {"shape_train": np.array(shapes, dtype=np.int16), "X_train": pixels, "Y_train": np.array(labels, np.uint8)}


SMALL = arrays(
    ["blue", "red", "blue", "yellow", "green", "blue", "cyan", "blue"], [0, 2, 0, 1, 3, 0, 4, 0], [(2, 3), (2, 1)]
)


def test_images():
    images, labels = _snakes._images(SMALL, "train")
    assert [[[COLOURS[code] for code in row] for row in image] for image in images] == [
        [["blue", "red", "blue"], ["yellow", "green", "blue"]],
        [["cyan"], ["blue"]],
    ]
    assert [y.tolist() for y in labels] == [[0, 2, 0, 1, 3, 0], [4, 0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape_train": np.array([(2, 3), (2, 2)])}, "add up to 10 pixels, but there are 8 and 8 labels"),
        ({"Y_train": SMALL["Y_train"][:-1]}, "there are 8 and 7 labels"),
        ({"Y_train": SMALL["Y_train"] + 7}, "must be at most 10, got 11"),
        ({"X_train": SMALL["X_train"] // 2}, r"unknown colour \[0, 0, 127\], expected one of blue, red"),
    ],
)
def test_bad_arrays_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        _snakes._images(SMALL | change, "train")


def test_windows_match_pixels():
    image = np.random.default_rng(0).integers(5, size=(3, 4))
    expected = np.zeros((3, 4, 3, 3, 5))
    for i, j, down, right in np.ndindex(3, 4, 3, 3):
        row, col = i + down - 1, j + right - 1
        inside = 0 <= row < 3 and 0 <= col < 4
        expected[i, j, down, right, image[row, col] if inside else COLOURS.index("blue")] = 1
    assert_array_equal(_snakes._windows(image), expected.reshape(12, 45))


def test_grid_edges():
    edges, vertical = _snakes._grid_edges(2, 3)
    assert edges.tolist() == [[0, 1], [1, 2], [3, 4], [4, 5], [0, 3], [1, 4], [2, 5]]
    assert vertical.tolist() == [0, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(("shape", "edges"), [((1, 1), []), ((1, 2), [[0, 1]]), ((2, 1), [[0, 1]])])
def test_narrow_grids(shape, edges):
    found, vertical = _snakes._grid_edges(*shape)
    assert found.shape == (len(edges), 2) and found.tolist() == edges
    x = np.ones((shape[0] * shape[1], 45))
    assert _snakes._edge_features("windows", x, found, vertical).shape == (len(edges), 180)


@pytest.fixture(scope="module", params=["direction", "windows"])
def data(shared_data, request):
    return fetch_snakes(request.param, data_home=shared_data)


@pytest.mark.parametrize(("split", "n_images", "n_pixels"), [("train", 200, 7566), ("test", 100, 3750)])
def test_sizes(data, split, n_images, n_pixels):
    names = ("X", "edges", "edge_features", "y", "shapes")
    assert {len(data[f"{name}_{split}"]) for name in names} == {n_images}
    assert sum(map(len, data[f"y_{split}"])) == n_pixels
    background = n_pixels - 10 * n_images
    assert np.bincount(np.concatenate(data[f"y_{split}"])).tolist() == [background] + [n_images] * 10
    for x, edges, features, y, (height, width) in zip(*(data[f"{name}_{split}"] for name in names), strict=True):
        assert x.shape == (height * width, 45) and x.dtype == np.float64 and (x.sum(axis=1) == 9).all()
        assert edges.shape == (2 * height * width - height - width, 2) and edges.dtype == np.int64
        assert features.shape == (len(edges), len(data.edge_feature_names)) and features.dtype == np.float64
        assert y.shape == (height * width,) and y.dtype == np.int64
    assert len(data.feature_names) == 45 and data.target_names.tolist() == list(range(11))


def test_colours_say_where_the_snake_goes(data):
    for x, y, shape in zip(data.X_train, data.y_train, data.shapes_train, strict=True):
        centre = [name.removeprefix("colour[0,0]=") for name in data.feature_names[20:25]]
        colours = [centre[code] for code in x[:, 20:25].argmax(axis=1)]
        assert_array_equal(y == 0, np.array(colours) == "blue")
        for label in range(1, 10):
            here, there = (np.flatnonzero(y == label + k)[0] for k in (0, 1))
            step = np.subtract(np.unravel_index(there, shape), np.unravel_index(here, shape))
            assert tuple(step) == STEPS[colours[here]]


def test_edge_features(data):
    edges, features, x = data.edges_train[0], data.edge_features_train[0], data.X_train[0]
    names = list(data.edge_feature_names)
    for (first, second), row in zip(edges, features, strict=True):
        way = "horizontal" if second == first + 1 else "vertical"
        if len(names) == 2:
            expected = {way}
        else:
            ends = (("first", first), ("second", second))
            expected = {f"{way}:{end}:{name}" for end, node in ends for name in data.feature_names[x[node] == 1]}
        assert {names[k] for k in np.flatnonzero(row)} == expected and set(row) == {0, 1}


def test_unknown_edge_features():
    with pytest.raises(ValueError, match="edge_features must be 'direction' or 'windows', got 'none'"):
        fetch_snakes("none")
