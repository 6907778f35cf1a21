"""Sets of labels: the objective, predictions, thresholds, interactions, and data at the edge of sense."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

from maxmargin import MultilabelSVM, regularization_path
from maxmargin.estimators.multilabel import thresholds_for_f1
from reference import enumerate_multilabel

pytestmark = pytest.mark.usefixtures("no_compilation")

X, Y = make_multilabel_classification(60, n_features=4, n_classes=3, random_state=0)
X_TEST, Y_TEST = X[40:], Y[40:]
X, Y = X[:40], Y[:40]
WEIGHT = np.random.default_rng(0).integers(3, size=40)

EVERY = {"alone": {}, "exact": {"interactions": "pairwise"}, "lp": {"interactions": "pairwise", "inference": "lp"}}
every_kind = pytest.mark.parametrize("kind", EVERY)
SMALL = {"tol": 0.02, "random_state": 0}


def model_of(kind, **parameters):
    return MultilabelSVM(**EVERY[kind], **{**SMALL, **parameters})


def flat_weights(model):
    parts = [model.coef_.T.ravel(), model.intercept_]
    if model.interactions is not None:
        parts.append(model.interactions_[np.triu_indices(3, 1)])
    return np.concatenate(parts)


@pytest.mark.parametrize("kind", ["alone", "exact"])
@pytest.mark.parametrize("loss", [None, "hamming", "hamming_sum"])
def test_objective(kind, loss):
    costs = {"missed": np.array([1.0, 2.0, 0.5]), "wrong": 0.7}
    share = 1 if loss == "hamming_sum" else 1 / 3
    reference = enumerate_multilabel(
        X,
        Y,
        interactions=kind == "exact",
        sample_weight=WEIGHT,
        **{name: cost * share for name, cost in costs.items()},
    )
    options = {f"{name}_cost": cost for name, cost in costs.items()}
    model = model_of(kind, lam=0.5, loss=loss, **options).fit(X, Y, sample_weight=WEIGHT)
    assert model.primal_ == pytest.approx(reference.primal(flat_weights(model), 0.5))
    best = reference.solve(0.5)[1]
    assert model.gap_ >= model.primal_ - best >= -1e-7
    assert model.status_ == "converged"


@every_kind
def test_predictions_are_the_best_sets(kind):
    model = model_of(kind, thresholds=[0.1, -0.2, 0.0]).fit(X, Y)
    alone = X_TEST @ model.coef_.T + model.intercept_
    pairs = np.triu(model.interactions_, 1) if kind != "alone" else np.zeros((3, 3))
    sets = np.array(list(itertools.product((0, 1), repeat=3)))
    values = (alone - model.thresholds_) @ sets.T + np.sum((sets @ pairs) * sets, axis=1)
    found = model.predict(X_TEST)
    assert_array_equal(found, sets[values.argmax(axis=1)])
    scores = model.decision_function(X_TEST)
    assert_array_equal(found, scores > model.thresholds_)
    assert_allclose(scores, alone + found @ (pairs + pairs.T))


def test_labels_alone_are_those_of_binary_svms():
    model = MultilabelSVM(lam=0.05, tol=1e-5, loss="hamming_sum", random_state=0).fit(X, Y)
    biased = np.column_stack([X, np.ones(len(X))])  # biases are regularised here
    svms = LinearSVC(C=1 / (0.05 * len(X)), loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6)
    peers = OneVsRestClassifier(svms).fit(biased, Y)
    w = np.vstack([one.coef_[0] for one in peers.estimators_])
    assert_allclose(np.column_stack([model.coef_, model.intercept_]), w, atol=2e-2)


def test_the_rule_for_lam_counts_labels_as_positions():
    model = model_of("alone").fit(X, Y, sample_weight=WEIGHT)
    assert model.lam_ == pytest.approx(0.5 * 3 / WEIGHT.sum())
    assert model.scaling_.loss == pytest.approx(3.0)


@every_kind
def test_units_change_nothing(kind):
    plain = model_of(kind, tol=1e-3).fit(X, Y)
    other = model_of(kind, tol=1e-3, missed_cost=10.0, wrong_cost=10.0).fit(8.0 * X, Y)
    assert other.primal_ == pytest.approx(plain.primal_, abs=1e-3)
    assert_array_equal(other.predict(8.0 * X_TEST), plain.predict(X_TEST))


@every_kind
def test_weights_are_repetitions(kind):
    weighted = model_of(kind, lam=0.1, tol=1e-3).fit(X, Y, sample_weight=WEIGHT)
    repeated = model_of(kind, lam=0.1, tol=1e-3).fit(np.repeat(X, WEIGHT, axis=0), np.repeat(Y, WEIGHT, axis=0))
    assert abs(weighted.primal_ - repeated.primal_) <= weighted.gap_ + repeated.gap_
    assert weighted.score(X, Y, WEIGHT) == pytest.approx(
        weighted.score(np.repeat(X, WEIGHT, axis=0), np.repeat(Y, WEIGHT, axis=0))
    )


@every_kind
def test_sparse_in_sparse_out(kind):
    dense = model_of(kind).fit(X, Y)
    model = model_of(kind).fit(sp.csr_matrix(X), sp.csr_matrix(Y))
    found = model.predict(sp.csc_array(X_TEST))
    assert sp.issparse(found) and found.format == "csr"
    assert isinstance(dense.predict(X_TEST), np.ndarray)
    assert model.score(X_TEST, sp.coo_matrix(Y_TEST)) == model.score(X_TEST, Y_TEST)
    assert abs(model.primal_ - model_of(kind, scale=True).fit(X, Y).primal_) < 0.1  # only dense features are centred


def test_score_is_that_of_scikit_learn():
    model = model_of("alone").fit(X, Y)
    assert model.score(X_TEST, Y_TEST) == accuracy_score(Y_TEST, model.predict(X_TEST))


@every_kind
def test_labels_without_examples(kind):
    """One that no sample has, one that all have, and samples without labels."""
    y = np.column_stack([np.zeros(40), np.ones(40), Y[:, 0]]).astype(int)
    y[:3, 2] = 0
    model = model_of(kind, tol=1e-3).fit(X, y)
    found = model.predict(X)
    assert not found[:, 0].any() and found[:, 1].all()


@every_kind
def test_one_label(kind):
    model = model_of(kind).fit(X, Y[:, :1])
    assert model.predict(X_TEST).shape == model.decision_function(X_TEST).shape == (20, 1)
    assert 0 <= model.score(X_TEST, Y_TEST[:, :1]) <= 1
    assert model.n_labels_ == 1 and model.classes_.tolist() == [0]


@every_kind
def test_no_labels_at_all(kind):
    model = model_of(kind, tol=1e-3).fit(X, np.zeros_like(Y))
    assert not model.predict(X).any()


@every_kind
def test_no_samples(kind):
    model = model_of(kind).fit(X, Y)
    for empty in (np.zeros((0, 4)), []):
        assert model.predict(empty).shape == model.decision_function(empty).shape == (0, 3)


@every_kind
def test_nothing_is_changed(kind):
    x, y = X.copy(), Y.copy()
    model_of(kind).fit(x, y).predict(x)
    assert_array_equal(x, X)
    assert_array_equal(y, Y)


class TestInteractions:
    def test_attributes(self):
        alone, model = model_of("alone").fit(X, Y), model_of("exact").fit(X, Y)
        assert not hasattr(alone, "interactions_") and alone.inference_ is None
        assert model.inference_ == "exact" and model_of("lp").fit(X, Y).inference_ == "lp"
        table = model.interactions_
        assert_array_equal(table, table.T)
        assert not np.diag(table).any()
        model.interactions_ = 100 * (1 - np.eye(3))
        assert model.predict(X_TEST).all()

    def test_they_are_learned(self):
        """Features tell the first two labels; the third is there with both of them alone, the fourth with one."""
        x = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (5, 1))
        y = np.column_stack([x, x[:, 0] & x[:, 1], x[:, 0] ^ x[:, 1]])
        alone = MultilabelSVM(1e-3, tol=1e-3, random_state=0).fit(x, y)
        model = MultilabelSVM(1e-3, interactions="pairwise", tol=1e-3, random_state=0).fit(x, y)
        assert alone.score(x, y) < 1 == model.score(x, y)

    def test_relaxation(self):
        model = model_of("lp").fit(X, Y)
        model.interactions_ = -5.0 * (1 - np.eye(3))
        model.coef_ *= 0.0
        model.intercept_ = [2.0, 2.5, 2.0]
        found = model.relaxation(X_TEST)
        assert_array_equal(found.labels, model.predict(X_TEST))
        assert_allclose(found.scores, 2.5)
        assert_array_equal(found.scores, found.bounds)  # few labels are open: all are tried
        assert_array_equal(found.integral, 0)
        assert not hasattr(model_of("alone"), "relaxation")

    def test_many_labels_are_relaxed(self):
        many = np.random.default_rng(0).integers(2, size=(6, 17))
        model = MultilabelSVM(1.0, interactions="pairwise", max_passes=3, random_state=0)
        with pytest.warns(UserWarning):
            model.fit(X[:6], many)
        assert model.inference_ == "lp"
        with pytest.raises(ValueError, match='inference="exact" is for up to 16 labels, and y has 17: take "lp"'):
            clone(model).set_params(inference="exact").fit(X[:6], many)


class TestThresholds:
    def test_given(self):
        model = model_of("alone", thresholds=[-np.float32(1e9), 1e9, 0.0]).fit(X, Y)
        found = model.predict(X_TEST)
        assert found[:, 0].all() and not found[:, 1].any()

    @every_kind
    def test_chosen(self, kind):
        model = model_of(kind).fit(X, Y)
        before = f1_score(Y_TEST, model.predict(X_TEST), average=None, zero_division=0)
        assert model.choose_thresholds(X_TEST, Y_TEST) is model
        if kind == "alone":
            assert np.all(f1_score(Y_TEST, model.predict(X_TEST), average=None) >= before)

    def test_against_all(self):
        rng = np.random.default_rng(0)
        scores, present = rng.integers(5, size=(30, 4)).astype(float), rng.integers(2, size=(30, 4))
        present[:, 3] = 0
        chosen = thresholds_for_f1(scores, present, np.full(4, 7.0))
        assert chosen[3] == 7.0
        for k in range(3):
            every = [f1_score(present[:, k], scores[:, k] > t, zero_division=0) for t in np.arange(-1, 6) + 0.5]
            assert f1_score(present[:, k], scores[:, k] > chosen[k]) == max(every)


class TestScikitLearn:
    def test_tags(self):
        tags = MultilabelSVM().__sklearn_tags__()
        assert is_classifier(MultilabelSVM())
        assert tags.classifier_tags.multi_label and not tags.target_tags.single_output

    def test_model_selection(self):
        search = GridSearchCV(MultilabelSVM(tol=0.1), {"lam": [0.1, 1.0]}, cv=2, scoring="f1_micro").fit(X, Y)
        assert search.predict(X_TEST).shape == (20, 3)
        pipeline = make_pipeline(MaxAbsScaler(), MultilabelSVM(tol=0.1))
        assert len(cross_val_score(pipeline, sp.csr_matrix(X), Y, cv=2)) == 2

    def test_lam_by_cross_validation(self):
        model = MultilabelSVM("cv", tol=0.1, random_state=0).fit(X, sp.csr_matrix(Y))
        assert model.lam_ in model.lams_ and model.sparse_output_
        with pytest.raises(ValueError, match="y must hold a set of labels"):
            MultilabelSVM("cv").fit(X, Y[:, 0])

    def test_path(self):
        path = regularization_path(MultilabelSVM(random_state=0), X, Y, eps=0.5, lam_min=0.5)
        assert len(path) > 0

    @every_kind
    def test_warm_start(self, kind):
        model = model_of(kind, warm_start=True, lam=0.2).fit(X, Y)
        first = model.n_passes_
        assert model.fit(X, Y).n_passes_ <= first
        with pytest.warns(UserWarning, match="afresh"):
            model.fit(X, 1 - Y)

    @every_kind
    @pytest.mark.parametrize("lam", [1e-10, 1e10])
    @pytest.mark.parametrize("scale", [0.0, 1e-8, 1e8])
    def test_edges(self, kind, lam, scale):
        model = model_of(kind, lam=lam, max_passes=5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(scale * X, Y)
        assert np.all(np.isfinite(model.coef_)) and np.isfinite(model.gap_) and model.gap_ >= 0
        assert set(np.unique(model.predict(scale * X))) <= {0, 1}
