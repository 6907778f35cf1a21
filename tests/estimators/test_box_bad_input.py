"""What BoxSVM refuses: the words name the sample and the part."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import refusals
import scipy.sparse as sp
from box_cases import X, Y, model_of
from sklearn.exceptions import NotFittedError

from maxmargin import BoxSVM, Proposals

pytestmark = pytest.mark.usefixtures("no_compilation")


@cache
def older():
    return model_of(tol=0.5, max_passes=1).fit(X["proposals"][:2], Y[:2])


def assert_refuses(model, samples, y, match, **given):
    refusals.assert_refuses(model, older(), samples, y, match, **given)


def with_second(values, one):
    return [values[0], one, *values[2:]]


BOXES = {
    "beyond the right": ((0, 0, 4, 2), "y, sample 1: right is 4, outside of the image, which is 3 pixels wide"),
    "beyond the left": ((-1, 0, 2, 2), "y, sample 1: left is -1, outside of the image"),
    "beyond the top": ((0, -3, 2, 2), "y, sample 1: top is -3, outside of the image"),
    "beyond the bottom": ((0, 0, 2, 5), "y, sample 1: bottom is 5, outside of the image, which is 4 pixels high"),
    "no width": ((2, 0, 2, 2), "y, sample 1: left is 2 and right 2, but left < right"),
    "upside down": ((0, 3, 2, 2), "y, sample 1: top is 3 and bottom 2, but top < bottom"),
    "half a pixel": ((0, 0.5, 2, 2), "y, sample 1: top is 0.5, but must be a whole number of pixels"),
    "NaN": ((0, 0, np.nan, 2), "y, sample 1: right is nan, but must be a finite number"),
    "infinity": ((-np.inf, 0, 1, 2), "y, sample 1: left is -inf, but must be a finite number"),
    "three numbers": ((0, 0, 2), "y, sample 1: must be a box of four numbers"),
    "a number": (3, "y, sample 1: must be a box of four numbers"),
    "None": (None, "y, sample 1: must be a box of four numbers"),
    "text": (("a", "b", "c", "d"), "y, sample 1: must hold real numbers"),
    "bool": ((False, False, True, True), "y, sample 1: must hold real numbers, got bool"),
    "ragged": (((0, 1), 2, 3, 4), "y, sample 1: "),
}


@pytest.mark.parametrize("kind", ["words", "dense"])
@pytest.mark.parametrize("case", BOXES)
def test_boxes(case, kind):
    box, match = BOXES[case]
    assert_refuses(BoxSVM(), X[kind], with_second(Y, box), match)


@pytest.mark.parametrize("y", [None, Y[:3], 3, "boxes", np.zeros((0, 4))])
def test_no_list_of_boxes(y):
    match = "requires y|y must hold the boxes .* of 5 samples"
    assert_refuses(BoxSVM(), X["dense"], y, match)
    with pytest.raises(ValueError, match=match):
        model_of(tol=0.5).fit(X["dense"], Y).score(X["dense"], y)


WORDS = {
    "floats": (np.zeros((4, 3)), r"X, sample 1: words must be integers, got float64; give one feature .* \(H, W, 1\)"),
    "negative": (np.full((4, 3), -1), "X, sample 1: words must be integers >= 0, got -1"),
    "bool": (np.ones((4, 3), bool), "X, sample 1: words must be integers"),
    "huge": (np.full((4, 3), 2**63, np.uint64), "X, sample 1: word 9223372036854775808, but .*: renumber them"),
    "1-d": (np.zeros(3, int), r"X, sample 1: must be .* got shape \(3,\)"),
    "no pixel": (np.zeros((0, 3), int), "X, sample 1: must be .* with at least one pixel"),
    "None": (None, "X, sample 1: must be .* got NoneType"),
    "text": ("image", "X, sample 1: must be .* got str"),
    "a tuple": ((1, 2), "X, sample 1: must be .* got tuple"),
    "features": (X["dense"][1], "X, sample 1: must be an image of words, like sample 0, but is an image of features"),
    "proposals": (X["proposals"][1], "X, sample 1: must be an image of words, like sample 0, but is Proposals"),
    "ragged": ([[1, 2], [3]], "X, sample 1: "),
}
DENSE = {
    "NaN": (X["dense"][1] * np.nan, "X, sample 1: features hold NaN or infinity"),
    "complex": (X["dense"][1] * 1j, "X, sample 1: features must hold real numbers"),
    "another width": (X["dense"][1][:, :, :1], "X, sample 1: 1 features, but the samples before have 2"),
    "no features": (X["dense"][1][:, :, :0], "X, sample 1: there are no features"),
    "4-d": (X["dense"][1][None], r"X, sample 1: must be .* got shape \(1, 4, 3, 2\)"),
}
PROPOSALS = {
    "no boxes": (Proposals(np.zeros((0, 4)), np.zeros((0, 2))), r"X, sample 1: boxes: must be \(c, 4\), at least one"),
    "too few features": (Proposals([Y[1]] * 2, np.zeros((1, 2))), "X, sample 1: features must have 2 rows, one a box"),
    "empty box": (Proposals([(1, 1, 1, 2)], np.zeros((1, 2))), "X, sample 1: boxes: left is 1 and right 1"),
    "NaN box": (Proposals([(1, np.nan, 2, 2)], np.zeros((1, 2))), "X, sample 1: boxes: top is nan"),
    "NaN": (Proposals([Y[1]], [[0.0, np.nan]]), "X, sample 1: features hold NaN"),
    "sparse": (Proposals([Y[1]], sp.csr_matrix([[0.0, 1.0]])), r"X, sample 1: features .* sparse matrix: take its to"),
    "1-d features": (Proposals([Y[1]], [0.0]), "X, sample 1: features must have 1 rows, one a box, and 2 dimensions"),
    "elsewhere": (Proposals([(90, 90, 91, 91)], np.zeros((1, 2))), "y, sample 1: no proposed box overlaps"),
}
SAMPLES = {"words": WORDS, "dense": DENSE, "proposals": PROPOSALS}


@pytest.mark.parametrize(("kind", "case"), [(kind, case) for kind, cases in SAMPLES.items() for case in cases])
def test_samples(kind, case):
    sample, match = SAMPLES[kind][case]
    assert_refuses(BoxSVM(), with_second(X[kind], sample), Y, match)


@pytest.mark.parametrize("samples", [[], 3, None, "images", X["proposals"][0]])
def test_no_list_of_samples(samples):
    assert_refuses(BoxSVM(), samples, Y, "X must be a list of samples")


class TestAfterFit:
    def test_unknown_words(self):
        model = model_of(tol=0.5).fit(X["words"], Y)
        with pytest.raises(ValueError, match="X, sample 1: word 4, but BoxSVM is expecting words below 4; set n_words"):
            model.predict([X["words"][0], np.full((2, 2), 4)])

    def test_another_number_of_features(self):
        with pytest.raises(ValueError, match="X, sample 0: 1 features, but BoxSVM is expecting 2"):
            model_of(tol=0.5).fit(X["dense"], Y).predict([x[:, :, :1] for x in X["dense"]])

    def test_another_kind(self):
        with pytest.raises(
            ValueError, match="X, sample 0: must be Proposals, as BoxSVM was fitted to, but is an image"
        ):
            model_of(tol=0.5).fit(X["proposals"], Y).predict(X["dense"])

    @pytest.mark.parametrize("k", [0, 1.5, True, None])
    def test_counts_that_are_none(self, k):
        with pytest.raises(ValueError, match="k must be an integer >= 1"):
            model_of(tol=0.5).fit(X["proposals"], Y).predict_topk(X["proposals"], k)


@pytest.mark.parametrize("weight", [[1] * 4, [0] * 5, [1, -1, 1, 1, 1], [1, np.nan, 1, 1, 1]])
def test_sample_weights(weight):
    assert_refuses(BoxSVM(), X["dense"], Y, "sample_weight", sample_weight=weight)


@pytest.mark.parametrize("params", [{"lam": 0}, {"solver": "x"}, {"tol": -1}, {"n_words": 2}, {"n_words": 1.5}])
def test_parameters(params):
    assert_refuses(BoxSVM(**params), X["words"], Y, next(iter(params)))


def test_words_where_there_are_none():
    assert_refuses(BoxSVM(n_words=4), X["dense"], Y, "n_words is for images of words, but X has an image of features")


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_marginals"])
def test_not_fitted(method):
    with pytest.raises(NotFittedError):
        getattr(BoxSVM(), method)(X["dense"])


def test_unknown_parameters():
    with pytest.raises(TypeError, match=r"BoxSVM\.__init__\(\) got an unexpected keyword argument 'n_jobs'"):
        BoxSVM(n_jobs=2)
