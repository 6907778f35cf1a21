"""Labels, k best labelings, marginals and max-marginals of trees, graphs and chains, every labeling looked at."""

from __future__ import annotations

import numpy as np
import pytest
from graph_cases import EVERYTHING, KINDS, LABELS, K, case_of, scored
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin import ChainSVM, GraphSVM, MulticlassSVM, TreeSVM
from structures.pairs import MASK

pytestmark = pytest.mark.usefixtures("no_compilation")

ALLOWED = EVERYTHING._replace(allowed=MASK.allowed)
# GraphSVM inherits predict_topk, predict_marginals and decision_function, but junction trees have no code for them yet
CASES = [*((kind, EVERYTHING) for kind in KINDS), ("tree", ALLOWED), ("cycle featured", ALLOWED)]
CASES += [("chain featured", MASK), ("tree featured", ALLOWED)]
EVERY_CASE = pytest.mark.parametrize(
    ("kind", "mask"), CASES, ids=[kind if mask is EVERYTHING else f"{kind}, masked" for kind, mask in CASES]
)


def fitted(kind, mask=EVERYTHING, **params):
    """A model that is far from certain, on data that it has not seen."""
    case = case_of(kind)
    given = mask if case.cls is ChainSVM else mask.allowed
    boundary = {"fit_boundary": True} if case.cls is ChainSVM else {}
    model = case.model(tol=0.05, transition_mask=given, **boundary, **params).fit(case.X, LABELS)
    return model, case_of(kind, seed=1)


@EVERY_CASE
def test_predict_is_the_best_labeling(kind, mask):
    model, case = fitted(kind, mask)
    predicted = model.predict(case.X)
    assert [len(labels) for labels in predicted] == [len(x) for x in case.nodes]
    for i, labels in enumerate(predicted):
        every, scores = scored(model, case, i, mask)
        best = every[scores >= scores.max() - 1e-12]
        assert labels.tolist() in best.tolist()


@EVERY_CASE
def test_decision_function_is_the_max_marginals(kind, mask):
    model, case = fitted(kind, mask)
    for i, found in enumerate(model.decision_function(case.X)):
        every, scores = scored(model, case, i, mask)
        wanted = [[np.max(scores[column == k], initial=-np.inf) for k in range(K)] for column in every.T]
        assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@EVERY_CASE
@pytest.mark.parametrize("k", [1, 4, 100])
def test_topk(kind, mask, k):
    model, case = fitted(kind, mask)
    found, values = model.predict_topk(case.X, k)
    for i, (labelings, own) in enumerate(zip(found, values, strict=True)):
        every, scores = scored(model, case, i, mask)
        count = min(k, len(every))
        assert labelings.shape == (count, len(case.nodes[i]))
        assert len(np.unique(labelings, axis=0)) == count
        assert_allclose(own, np.sort(scores)[::-1][:count], rtol=1e-10, atol=1e-12)
        place = [int(np.flatnonzero((every == y).all(axis=1)).item()) for y in labelings]
        assert_allclose(own, scores[place], rtol=1e-10, atol=1e-12)


@EVERY_CASE
@pytest.mark.parametrize("temperature", [1, 0.2, 50.0, 1e-6])
def test_marginals(kind, mask, temperature):
    model, case = fitted(kind, mask)
    for i, found in enumerate(model.predict_marginals(case.X, temperature=temperature)):
        every, scores = scored(model, case, i, mask)
        shares = np.exp((scores - scores.max()) / temperature)
        wanted = [[shares[column == k].sum() / shares.sum() for k in range(K)] for column in every.T]
        assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)
        assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


@EVERY_CASE
def test_threads_change_nothing(kind, mask):
    one, case = fitted(kind, mask)
    two, _ = fitted(kind, mask, n_jobs=2)
    assert_array_equal(one.coef_, two.coef_)
    X = case.X * 3
    assert_array_equal(np.concatenate(one.predict(X)), np.concatenate(two.predict(X)))
    if case.cls is not GraphSVM:
        assert_array_equal(np.vstack(one.decision_function(X)), np.vstack(two.decision_function(X)))
        assert_array_equal(np.concatenate(one.predict_topk(X, 3)[1]), np.concatenate(two.predict_topk(X, 3)[1]))
        assert_array_equal(np.vstack(one.predict_marginals(X)), np.vstack(two.predict_marginals(X)))


@pytest.mark.parametrize("kind", KINDS)
def test_one_sample_alone_is_as_among_others(kind):
    model, case = fitted(kind)
    for sample, among in zip(case.X, model.predict(case.X), strict=True):
        assert_array_equal(model.predict([sample])[0], among)


@pytest.mark.parametrize("kind", KINDS)
def test_score(kind):
    model, case = fitted(kind)
    predicted = model.predict(case.X)
    assert model.score(case.X, predicted) == 1
    right = np.array([np.sum(p == y) for p, y in zip(predicted, LABELS, strict=True)])
    lengths, weight = np.array([len(y) for y in LABELS]), np.array([2, 0, 1, 3])
    assert_allclose(model.score(case.X, LABELS), right.sum() / lengths.sum())
    assert_allclose(model.score(case.X, LABELS, sample_weight=weight), (weight @ right) / (weight @ lengths))
    predicted[2] = np.array([7] * 4)  # never seen
    assert_allclose(model.score(case.X, predicted), 6 / 10)


@pytest.mark.parametrize("kind", ["tree", "tree featured", "chain featured"])
@pytest.mark.parametrize("k", [0, -1, 1.5, "3", None, True])
def test_k_is_a_count(kind, k):
    model, case = fitted(kind)
    with pytest.raises(ValueError, match="k must be an integer >= 1"):
        model.predict_topk(case.X, k)


@pytest.mark.parametrize("kind", ["tree", "tree featured", "chain featured"])
@pytest.mark.parametrize("temperature", [0, -1.0, np.nan, "1", True])
def test_a_temperature_is_above_0(kind, temperature):
    model, case = fitted(kind)
    with pytest.raises(ValueError, match="temperature must be a number > 0"):
        model.predict_marginals(case.X, temperature=temperature)


class TestNothingAllowed:
    """Only 0 below 1 is allowed: what is deeper than one edge has no labeling."""

    star = (np.ones((5, 1)), [-1, 0, 0, 0, 0])
    deep = (np.ones((3, 1)), [-1, 0, 1])
    model = TreeSVM(lam=1.0, tol=0.1, random_state=0, transition_mask=[[False, True], [False, False]])
    first, last = [deep, star], [star, deep]

    def fitted(self):
        return self.model.fit([self.star, (np.ones((1, 1)), [-1])], [[1, 0, 0, 0, 0], [0]])

    @pytest.mark.parametrize("i", [0, 1])
    @pytest.mark.parametrize("method", ["predict", "predict_marginals"])
    def test_is_said(self, i, method):
        X = self.last if i else self.first
        with pytest.raises(ValueError, match=f"X, sample {i}: transition_mask allows no labeling"):
            getattr(self.fitted(), method)(X)

    def test_topk_finds_none(self):
        labelings, scores = self.fitted().predict_topk(self.first, 3)
        assert [one.shape for one in labelings] == [(0, 3), (1, 5)]
        assert [len(one) for one in scores] == [0, 1]

    @pytest.mark.parametrize("i", [0, 1])
    def test_max_marginals_are_minus_infinity(self, i):
        found = self.fitted().decision_function(self.last if i else self.first)
        assert_array_equal(found[i], np.full((3, 2), -np.inf))
        assert_array_equal(np.isfinite(found[1 - i]), [[False, True]] + [[True, False]] * 4)


class TestMulticlass:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.integers(4, size=30)

    def scores(self, model):
        return self.X @ model.coef_.T + model.intercept_

    @pytest.mark.parametrize("k", [1, 3, 4, 9])
    @pytest.mark.parametrize("n_classes", [1, 2, 4])
    def test_topk(self, k, n_classes):
        names = np.array(["a", "b", "c", "d"])[self.y % n_classes]
        model = MulticlassSVM(tol=0.1, random_state=0).fit(self.X, names)
        found, values = model.predict_topk(self.X, k)
        m = min(k, n_classes)
        assert found.shape == values.shape == (30, m)
        scores = self.scores(model)
        assert_allclose(values, -np.sort(-scores, axis=1)[:, :m], rtol=1e-12)
        codes = np.searchsorted(model.classes_, found)
        assert_allclose(values, np.take_along_axis(scores, codes, axis=1), rtol=1e-12)
        assert all(len(set(row)) == m for row in found.tolist())
        assert_array_equal(found[:, 0], model.predict(self.X))

    @pytest.mark.parametrize("temperature", [1, 0.1, np.float32(20), 1e-9])
    @pytest.mark.parametrize("n_classes", [1, 2, 4])
    def test_marginals(self, temperature, n_classes):
        model = MulticlassSVM(tol=0.1, random_state=0).fit(self.X, self.y % n_classes)
        found = model.predict_marginals(self.X, temperature=temperature)
        scores = self.scores(model)
        shares = np.exp((scores - scores.max(axis=1, keepdims=True)) / float(temperature))
        assert_allclose(found, shares / shares.sum(axis=1, keepdims=True), rtol=1e-6, atol=1e-12)
        assert_allclose(found.sum(axis=1), 1, rtol=1e-12)

    def test_decision_function(self):
        model = MulticlassSVM(tol=0.1, random_state=0).fit(self.X, self.y)
        assert_allclose(model.decision_function(self.X), self.scores(model), rtol=1e-12)
        model.fit(self.X, self.y % 2)
        assert_allclose(model.decision_function(self.X), np.diff(self.scores(model))[:, 0], rtol=1e-10, atol=1e-12)
        assert_allclose(model.predict_topk(self.X, 2)[1].max(axis=1), self.scores(model).max(axis=1))

    def test_with_a_kernel(self):
        model = MulticlassSVM(tol=0.1, random_state=0, kernel="rbf", gamma=0.5).fit(self.X, self.y)
        scores = model.decision_function(self.X)
        found, values = model.predict_topk(self.X, 2)
        assert_allclose(values, -np.sort(-scores, axis=1)[:, :2], rtol=1e-12)
        assert_array_equal(model.predict_marginals(self.X).argmax(axis=1), np.searchsorted(model.classes_, found[:, 0]))

    @pytest.mark.parametrize("k", [0, -1, 1.5, "3", None, True])
    def test_k_is_a_count(self, k):
        model = MulticlassSVM(tol=0.1, random_state=0).fit(self.X, self.y)
        with pytest.raises(ValueError, match="k must be an integer >= 1"):
            model.predict_topk(self.X, k)

    @pytest.mark.parametrize("temperature", [0, -1.0, np.nan, "1", None, True])
    def test_a_temperature_is_above_0(self, temperature):
        model = MulticlassSVM(tol=0.1, random_state=0).fit(self.X, self.y)
        with pytest.raises(ValueError, match="temperature must be a number > 0"):
            model.predict_marginals(self.X, temperature=temperature)
