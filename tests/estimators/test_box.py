"""BoxSVM: the problem it solves and its answers, every box looked at."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from box_cases import (
    EVERY,
    KINDS,
    LAM,
    X,
    Y,
    assert_optimal,
    enumerated,
    model_of,
    outputs,
    pack,
    pixel_sum,
    scale_of,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from maxmargin import BoxSVM, Proposals, regularization_path
from maxmargin.metrics import box_iou
from reference.boxes import overlap

pytestmark = pytest.mark.usefixtures("no_compilation")

EACH_KIND = pytest.mark.parametrize("kind", KINDS)
IMAGES = pytest.mark.parametrize("kind", ["words", "dense"])


@EACH_KIND
def test_optimum(kind):
    assert_optimal(model_of().fit(X[kind], Y), enumerated(kind), scale_of(kind, EVERY))


@IMAGES
def test_optimum_without_intercept(kind):
    model = model_of(fit_intercept=False).fit(X[kind], Y)
    assert_optimal(model, enumerated(kind, intercept=False), scale_of(kind, EVERY))
    assert model.intercept_ == 0.0


@EACH_KIND
def test_optimum_with_sample_weights(kind):
    weight = [1, 2, 0, 3, 0.5]
    model = model_of().fit(X[kind], Y, sample_weight=weight)
    assert_optimal(model, enumerated(kind, weight=weight), scale_of(kind, EVERY, weight))
    removed = model_of(lam=None, tol=0.1).fit(X[kind], Y, sample_weight=[1, 1, 0, 1, 1])
    left = [i for i in EVERY if i != 2]
    without = model_of(lam=None, tol=0.1, n_words=4 if kind == "words" else None)
    assert_array_equal(pack(removed), pack(without.fit([X[kind][i] for i in left], [Y[i] for i in left])))


@pytest.mark.parametrize("solver", ["bcfw", "bcpfw", "fw"])
def test_every_solver(solver):
    model = model_of(solver=solver, tol=2e-2).fit(X["dense"], Y)
    assert_optimal(model, enumerated("dense"), scale_of("dense", EVERY))


@EACH_KIND
def test_predictions(kind):
    model = model_of(tol=0.1).fit(X[kind], Y)
    tops, values = model.predict_topk(X[kind], 7)
    predicted, best = model.predict(X[kind]), model.decision_function(X[kind])
    assert predicted.shape == (len(Y), 4) and predicted.dtype.kind == "i"
    for i in EVERY:
        every = outputs(kind, i)
        scores = np.array([pixel_sum(kind, i, box) @ pack(model) for box in every])
        assert values[i] == pytest.approx(np.sort(scores)[::-1][:7])
        found = [tuple(box) for box in tops[i].tolist()]
        assert len(set(found)) == len(found) == min(7, len(every))
        assert [scores[every.index(box)] for box in found] == pytest.approx(values[i].tolist())
        assert scores[every.index(tuple(predicted[i]))] == pytest.approx(best[i]) == values[i][0]


@EACH_KIND
def test_more_boxes_than_there_are(kind):
    tops, values = model_of(tol=0.5).fit(X[kind], Y).predict_topk(X[kind], 10**6)
    for i in EVERY:
        assert sorted(map(tuple, tops[i].tolist())) == sorted(outputs(kind, i))
        assert (np.diff(values[i]) <= 0).all()


def test_marginals():
    model = model_of(tol=0.1).fit(X["proposals"], Y)
    for i, chances in enumerate(model.predict_marginals(X["proposals"])):
        weights = np.exp([pixel_sum("proposals", i, box) @ pack(model) for box in outputs("proposals", i)])
        assert chances == pytest.approx(weights / weights.sum())


@IMAGES
def test_images_have_no_marginals(kind):
    assert not hasattr(model_of(tol=0.5).fit(X[kind], Y), "predict_marginals")


def test_truth_that_is_not_proposed():
    """The nearest proposal is learned, and the loss of the others counts from its IoU."""
    samples = [Proposals([(0, 0, 4, 4), (0, 0, 2, 4), (3, 3, 4, 4)], np.eye(3))]
    model = model_of(lam=1e-3, tol=1e-4).fit(samples, [(0.0, 0.5, 4.0, 4.0)])
    assert model.predict(samples).tolist() == [[0, 0, 4, 4]]
    losses = [0.0, overlap_gap((0, 0, 2, 4)), overlap_gap((3, 3, 4, 4))]
    scores = model.coef_[0] - model.coef_
    assert (scores >= np.array(losses) - 0.02).all()  # each margin is its loss, as far as lam lets it


def overlap_gap(box):
    truth = (0.0, 0.5, 4.0, 4.0)
    return float(box_iou((0, 0, 4, 4), truth) - box_iou(box, truth))


@EACH_KIND
def test_score(kind):
    model = model_of(tol=0.1).fit(X[kind], Y)
    found = model.predict(X[kind])
    ious = [overlap(tuple(a), b) for a, b in zip(found.tolist(), Y, strict=True)]
    assert model.score(X[kind], Y) == pytest.approx(np.mean(ious))
    assert model.score(X[kind], found) == 1.0
    assert model.score(X[kind], Y, [1, 0, 0, 0, 3]) == pytest.approx((ious[0] + 3 * ious[4]) / 4)
    assert model.score(X[kind], np.add(Y, [-0.5, 0, 0.5, 0])) > 0  # not whole pixels, and beyond the image


def test_forms_of_input():
    """Arrays for lists, lists for arrays, and any integers for words."""
    dense = np.random.default_rng(0).normal(size=(3, 3, 4, 2))
    boxes = [(0, 0, 2, 1), (1, 1, 4, 3), (2, 0, 3, 3)]
    one = model_of().fit(dense, np.array(boxes, float))
    assert_array_equal(pack(one), pack(model_of().fit([x.tolist() for x in dense], boxes)))
    assert_array_equal(one.predict(dense), one.predict(list(dense)))
    words = (dense[..., 0] > 0).astype(np.uint8)
    assert_array_equal(pack(model_of().fit(words, boxes)), pack(model_of().fit(words.astype(int).tolist(), boxes)))


def test_n_words():
    model = model_of(n_words=9, tol=0.1).fit(X["words"], Y)
    assert model.coef_.shape == (9,) and model.n_features_in_ == 9
    assert (model.coef_[4:] == 0).all()
    assert model.predict([np.full((2, 3), 8)]).shape == (1, 4)


def test_size_of_images_does_not_matter():
    """Twice as many pixels a side, and boxes with them: what is learned from stays."""
    doubled = np.kron(X["dense"][0].transpose(2, 0, 1), np.ones((2, 2))).transpose(1, 2, 0)
    small = model_of().encode(X["dense"][:1], Y[:1]).problem
    large = model_of().encode([doubled], [2 * np.array(Y[0])]).problem
    for box in outputs("dense", 0):
        one, two = small.feature(0, np.array(box)), large.feature(0, 2 * np.array(box))
        assert_allclose(two.values, one.values, atol=1e-14)
        assert large.loss(0, 2 * np.array(box)) == pytest.approx(small.loss(0, np.array(box)))


def test_learns():
    rng = np.random.default_rng(0)
    images, boxes = [], []
    for _ in range(24):
        left, top = rng.integers(0, 4, 2)
        right, bottom = left + rng.integers(2, 5), top + rng.integers(2, 5)
        image = rng.normal(size=(8, 8, 2))
        image[top:bottom, left:right, 0] += 3.0
        images.append(image)
        boxes.append((left, top, right, bottom))
    model = BoxSVM(lam=0.01, tol=0.1, random_state=0, max_passes=20, solver="bcfw").fit(images[:12], boxes[:12])
    assert model.score(images[12:], boxes[12:]) > 0.7


def test_signature_clone_and_pickle():
    assert repr(BoxSVM(0.1, n_words=5)) == "BoxSVM(lam=0.1, n_words=5)"
    model = model_of(tol=0.1)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model.fit(X["words"], Y)))
    assert_array_equal(again.predict(X["words"]), model.predict(X["words"]))


@EACH_KIND
def test_grid_search(kind):
    model = model_of(tol=0.5, n_words=4 if kind == "words" else None)
    search = GridSearchCV(model, {"lam": [0.1, 10.0]}, cv=KFold(2), error_score="raise").fit(X[kind], Y)
    assert search.best_estimator_.score(X[kind], Y) == search.score(X[kind], Y)


def test_path():
    path = regularization_path(model_of(), X["dense"], Y, eps=0.1, lam_min=0.1)
    model, reference = path.estimator_at(LAM), enumerated("dense")
    assert_allclose(model.primal_, reference.primal(pack(model) * scale_of("dense", EVERY), LAM), rtol=1e-9)
    assert model.dual_ - 1e-7 <= reference.solve(LAM)[1] <= model.primal_ + 1e-7


class TestWarmStart:
    @EACH_KIND
    def test_goes_on(self, kind):
        model = model_of(tol=0.1, warm_start=True).fit(X[kind], Y)
        first = model.dual_
        model.set_params(tol=1e-2).fit(X[kind], Y)
        assert model.dual_ >= first - 1e-12
        assert_optimal(model, enumerated(kind), scale_of(kind, EVERY))

    @EACH_KIND
    def test_notices_other_data(self, kind):
        """Also of pixels that no true box has."""
        model = model_of(tol=0.5, warm_start=True).fit(X[kind], Y)
        samples = list(X[kind])
        if kind == "proposals":
            features = samples[0].features.copy()
            features[next(c for c, box in enumerate(outputs(kind, 0)) if box != Y[0])] += 1.0
            samples[0] = samples[0]._replace(features=features)
        else:
            samples[0] = samples[0].copy()
            samples[0][2, 0] += 1
        with pytest.warns(UserWarning, match="starting afresh"):
            model.fit(samples, Y)
