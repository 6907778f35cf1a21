"""Drawn figures: what they are, and that a seed repeats them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from maxmargin.datasets import make_figures


@pytest.fixture(scope="module")
def figures():
    return make_figures(12, size=40, random_state=0)


def test_shapes(figures):
    assert figures.images.shape == (12, 40, 40)
    assert figures.X.shape == (12, 40, 40, len(figures.feature_names))
    assert figures.y.shape == (12, len(figures.part_names), 2) and figures.y.dtype == np.int64
    assert np.isfinite(figures.X).all()
    assert figures.y.min() >= 0 and figures.y.max() < 40
    assert len(set(figures.part_names)) == 14 and len(set(figures.feature_names)) == 54


def test_tree(figures):
    parents = figures.parents
    assert (parents == -1).sum() == 1
    for part in range(len(parents)):
        steps = 0
        while parents[part] >= 0:
            part, steps = parents[part], steps + 1
            assert steps < len(parents)
    names = figures.part_names.tolist()
    assert names[parents[names.index("left hand")]] == "left elbow"


def test_a_seed_repeats_them(figures):
    again, other = make_figures(12, size=40, random_state=0), make_figures(12, size=40, random_state=1)
    assert_array_equal(again.X, figures.X)
    assert_array_equal(again.y, figures.y)
    assert not np.array_equal(other.y, figures.y)


def test_parts_lie_on_bright_pixels():
    clean = make_figures(8, size=64, clutter=0, noise=0.0, random_state=0)
    for image, pose in zip(clean.images, clean.y, strict=True):
        assert (image[pose[:, 1], pose[:, 0]] > 0.3).all()
        assert np.mean(image < 0.1) > 0.7


def test_features_are_those_of_the_pixel_and_around(figures):
    """The first six channels again at the places of the ring; nothing lies beyond the border."""
    x = figures.X[0]
    here, below = x[:, :, :6], x[:, :, 6 + 2 * 6 : 6 + 3 * 6]
    reach = round(40 / 16)
    names = figures.feature_names.tolist()
    assert names[6 + 2 * 6].endswith("90 degrees around")
    assert_array_equal(below[:-reach], here[reach:])
    assert not below[-reach:].any()


@pytest.mark.parametrize("given", [{"size": 20}, {"n_samples": 0}, {"clutter": -1}, {"noise": -0.1}, {"noise": np.nan}])
def test_refuses(given):
    with pytest.raises(ValueError, match="must be"):
        make_figures(**{"n_samples": 1, **given})
