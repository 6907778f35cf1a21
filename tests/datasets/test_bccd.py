"""Blood cells: choice of images, shrunk boxes and colour words by hand, then the real set."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from maxmargin.datasets import _bccd, fetch_bccd
from maxmargin.metrics import box_iou

SIZES = {"train": 194, "val": 85, "test": 65}
SMALL = {
    "images": np.zeros((4, 6, 8, 3), dtype=np.uint8),
    "boxes": np.array([[1, 2, 9, 8], [1, 1, 2, 2], [3, 3, 9, 9], [8, 8, 20, 16], [9, 9, 3, 3], [5, 5, 7, 9]]),
    "box_image": np.array([3, 2, 2, 0, 0, 1], dtype=np.int16),
    "box_class": np.array([0, 0, 0, 0, 1, 2], dtype=np.uint8),
    "names": np.array(["a", "b", "c", "d"]),
}


def test_images_with_one_white_cell():
    chosen, boxes = _bccd._single_white_cells(SMALL)  # image 1 has none, image 2 has two
    assert chosen.tolist() == [0, 3] and boxes.tolist() == [[8, 8, 20, 16], [1, 2, 9, 8]]


def test_white_cell_without_area_is_refused():
    boxes = SMALL["boxes"].copy()
    boxes[0] = [9, 2, 9, 8]
    with pytest.raises(ValueError, match=r"image d has a white cell without area, \[9, 2, 9, 8\]"):
        _bccd._single_white_cells(SMALL | {"boxes": boxes})


@pytest.mark.parametrize(
    ("box", "shrunk"),
    [
        ([8, 16, 40, 24], [1, 2, 5, 3]),
        ([11, 13, 21, 19], [1, 2, 3, 3]),
        ([1, 1, 640, 480], [0, 0, 80, 60]),
        ([9, 9, 10, 11], [1, 1, 2, 2]),  # at least one pixel
        ([637, 477, 640, 480], [79, 59, 80, 60]),
    ],
)
def test_shrunk_boxes(box, shrunk):
    assert _bccd._shrunk(np.array([box]), (60, 80)).tolist() == [shrunk]


def test_words():
    grey = np.array([0, 1, 2, 3], dtype=np.uint8)
    images = np.stack([grey, grey[::-1], np.full(4, 7, np.uint8)], axis=-1).reshape(1, 2, 2, 3)
    levels = _bccd._levels(images, 2)
    assert levels.tolist() == [[1.5], [1.5], [7]]
    assert _bccd._words(images, levels).tolist() == [[[3, 3], [5, 5]]]
    assert_array_equal(_bccd._words(images, _bccd._levels(images, 1)), 0)


@pytest.fixture(scope="module")
def data(shared_data):
    return fetch_bccd(data_home=shared_data)


@pytest.mark.parametrize(("split", "n_images"), SIZES.items())
def test_sizes_and_types(data, split, n_images):
    X, words, y, boxes, names = (data[f"{name}_{split}"] for name in ("X", "words", "y", "boxes", "names"))
    assert X.shape == (n_images, 60, 80, 3) and X.dtype == np.float64 and X.min() >= 0 and X.max() <= 1
    assert words.shape == (n_images, 60, 80) and words.dtype == np.int64 and words.min() >= 0 and words.max() < 512
    assert y.shape == boxes.shape == (n_images, 4) and y.dtype == boxes.dtype == np.int64
    assert (y[:, :2] >= 0).all() and (y[:, 2:] <= (80, 60)).all() and (y[:, 2:] > y[:, :2]).all()
    assert names.shape == (n_images,)


def test_splits_are_disjoint(data):
    names = np.concatenate([data[f"names_{split}"] for split in SIZES])
    assert len(set(names)) == 344


def test_rounding_keeps_the_boxes(data):
    for split in SIZES:
        overlap = box_iou(data.scale * data[f"y_{split}"], data[f"boxes_{split}"])
        assert overlap.min() > 0.9 and overlap.mean() == pytest.approx(0.96, abs=5e-3)


def test_white_cells_are_darker(data):
    """The boxes lie where the images show a stained nucleus."""
    for x, (left, top, right, bottom) in zip(data.X_test, data.y_test, strict=True):
        green = x[..., 1]
        assert green[top:bottom, left:right].mean() < green.mean()


@pytest.mark.parametrize("n_levels", [1, 2])
def test_levels(shared_data, data, n_levels):
    other = fetch_bccd(n_levels=n_levels, data_home=shared_data)
    assert other.levels.shape == (3, n_levels - 1) and other.words_train.max() == n_levels**3 - 1
    assert_array_equal(other.y_test, data.y_test)


def test_bad_number_of_levels():
    for n_levels in (0, 17):
        with pytest.raises(ValueError, match="n_levels"):
            fetch_bccd(n_levels=n_levels)
    with pytest.raises(TypeError, match="n_levels"):
        fetch_bccd(n_levels=1.5)
