"""What PoseSVM refuses: the words name the sample and the part."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import refusals
import scipy.sparse as sp
from pose_cases import X, Y, model_of

from maxmargin import PoseSVM
from maxmargin.solvers import BlockFrankWolfe

pytestmark = pytest.mark.usefixtures("no_compilation")


@cache
def older():
    return model_of(tol=0.5).fit(X, Y)


def assert_refuses(model, images, y, match, **given):
    refusals.assert_refuses(model, older(), images, y, match, **given)


def with_sample(samples, i, sample):
    return [*samples[:i], sample, *samples[i + 1 :]]


def with_number(number):
    image = X[1].copy()
    image[2, 1, 0] = number
    return image


IMAGES = {
    "2-d": (np.zeros((3, 2)), r"X, sample 1: must be an \(H, W, F\) array of features, .* got shape \(3, 2\)"),
    "empty": (np.zeros((0, 2, 2)), "X, sample 1: must be"),
    "no features": (np.zeros((3, 2, 0)), "X, sample 1: must be"),
    "None": (None, "X, sample 1: must be"),
    "text": ("image", "X, sample 1: must be"),
    "ragged": ([[[1.0, 2.0]], [[1.0]]], "X, sample 1: "),
    "NaN": (with_number(np.nan), "X, sample 1: features at column 1, row 2 hold NaN or infinity"),
    "infinity": (with_number(-np.inf), "X, sample 1: features at column 1, row 2 hold NaN"),
    "complex": (X[1] * 1j, "X, sample 1: features must hold real numbers"),
    "strings": (X[1].astype(str), "X, sample 1: features must hold real numbers"),
    "objects": (X[1].astype(object), "X, sample 1: features must hold real numbers"),
    "other features": (X[1][:, :, :1], "X, sample 1: 1 features, but .* 2"),
}


@pytest.mark.parametrize("case", IMAGES)
def test_images(case):
    image, match = IMAGES[case]
    images = with_sample(X, 1, image)
    assert_refuses(PoseSVM(), images, Y, match)
    with pytest.raises(ValueError, match=match):
        older().predict(images)


@pytest.mark.parametrize("images", [None, 3, "X", [], np.zeros(()), sp.csr_matrix(np.eye(3)), {"X": 1}], ids=str)
def test_no_list_of_images(images):
    assert_refuses(PoseSVM(), images, Y, "X must be a list of images, at least one")


POSES = {
    "right of the image": (
        [(0, 0), (2, 1), (0, 0)],
        r"part 1 is at \(2, 1\), outside the image of 2 columns and 3 rows",
    ),
    "below the image": ([(0, 0), (1, 1), (0, 3)], r"part 2 is at \(0, 3\), outside the image of 2 columns and 3 rows"),
    "below 0": ([(0, -1), (1, 1), (0, 0)], r"part 0 is at \(0, -1\), outside"),
    "between pixels": ([(0, 0), (0.5, 1), (0, 0)], r"part 1 is at \(0.5, 1\), but positions are whole numbers: round"),
    "NaN": ([(0, 0), (1, 1), (np.nan, 0)], r"part 2 is at \(nan, 0\), but positions are whole numbers"),
    "infinity": ([(0, 0), (1, np.inf), (0, 0)], r"part 1 is at \(1, inf\)"),
    "one part less": ([(0, 0), (1, 1)], "positions of 2 parts, but the samples before have 3"),
    "no parts": ([], r"must be \(P, 2\), column and row of each part"),
    "flat": ([0, 0, 1, 1, 0, 0], r"must be \(P, 2\)"),
    "three numbers": (np.zeros((3, 3)), r"must be \(P, 2\)"),
    "text": ([("a", "b")] * 3, "must hold whole numbers"),
    "bool": (np.zeros((3, 2), bool), "must hold whole numbers"),
    "ragged": ([(0, 0), (1,), (0, 0)], ""),
    "None": (None, r"must be \(P, 2\)"),
}


@pytest.mark.parametrize("case", POSES)
def test_poses(case):
    pose, match = POSES[case]
    assert_refuses(PoseSVM(), X, with_sample(Y, 1, pose), f"y, sample 1: {match}")


@pytest.mark.parametrize("y", [Y[:-1], None, 3, "y", {}], ids=["one too few", "None", "number", "text", "dict"])
def test_no_list_of_poses(y):
    match = "requires y|y must hold the positions of the parts of 5 samples"
    assert_refuses(PoseSVM(), X, y, match)
    with pytest.raises(ValueError, match=match):
        older().score(X, y)


def test_other_parts_than_learned():
    with pytest.raises(ValueError, match="y, sample 0: positions of 2 parts, but the model has 3"):
        older().score(X, [pose[:2] for pose in Y])


def test_another_number_of_features():
    with pytest.raises(ValueError, match="X, sample 0: 1 features, but PoseSVM is expecting 2"):
        older().predict([x[:, :, :1] for x in X])


@pytest.mark.parametrize(
    "parents, match",
    [
        ([1, 0, -1], "parents: the edge 1 -> 0 closes a cycle; make the parts a tree"),
        ([-1, 1, 0], "parents: the edge 1 -> 1 leads to itself"),
        ([-1, 3, 0], "parents must be 3 whole numbers, .* but that of part 1 is 3"),
        ([-1, -2, 0], "but that of part 1 is -2"),
        ([-1, 0], r"parents must be 3 whole numbers, .* got int64 of shape \(2,\)"),
        ([-1.0, 0.0, 1.0], "parents must be 3 whole numbers, .* got float64"),
        ("tree", "parents must be 3 whole numbers"),
        ([[-1], [0, 1]], "parents: "),
    ],
    ids=str,
)
def test_parents(parents, match):
    assert_refuses(PoseSVM(parents=parents), X, Y, match)


@pytest.mark.parametrize("radius", [0, -1.0, np.nan, np.inf, None, "wide", True, (0,), (0, 3), (0, 1.5), (-1, 0)])
def test_radius(radius):
    assert_refuses(PoseSVM(radius=radius), X, Y, "radius must be a finite number > 0 or a pair of")


def test_radius_of_parts_at_one_position():
    y = with_sample(Y, 2, [(1, 1), (0, 0), (1, 1)])
    assert_refuses(PoseSVM(radius=(0, 2)), X, y, "y, sample 2: parts 0 and 2 are at the same position")
    weight = [0, 1, 1, 1, 1]
    assert_refuses(PoseSVM(radius=(0, 2)), X, y, "y, sample 2: parts 0 and 2 are", sample_weight=weight)


@pytest.mark.parametrize("n_types", [0, -1, 1.5, True, None])
def test_types(n_types):
    assert_refuses(PoseSVM(n_types=n_types), X, Y, "n_types must be")


@pytest.mark.parametrize("weight", [[1] * 4, [0] * 5, [1, -1, 1, 1, 1], [1, np.nan, 1, 1, 1]])
def test_sample_weights(weight):
    assert_refuses(PoseSVM(), X, Y, "sample_weight", sample_weight=weight)


@pytest.mark.parametrize("params", [{"lam": 0}, {"solver": "x"}, {"tol": -1}])
def test_parameters(params):
    assert_refuses(PoseSVM(**params), X, Y, next(iter(params)))


def test_bounds_of_the_solver():
    assert_refuses(PoseSVM(solver=BlockFrankWolfe(lower=-1.0)), X, Y, "leave lower, upper and positive")


def test_unknown_parameters():
    with pytest.raises(TypeError, match=r"PoseSVM\.__init__\(\) got an unexpected keyword argument 'n_jobs'"):
        PoseSVM(n_jobs=2)
