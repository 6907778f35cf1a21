"""What cross-validated estimators are given to fit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from path_data import fitted, flat, make_cv, make_data, single_of

from maxmargin import ChainSVM, ChainSVMCV, MulticlassSVMCV

pytestmark = pytest.mark.usefixtures("no_compilation")

LAMS = [1.0, 0.1]
BOTH = pytest.mark.parametrize("cls", [ChainSVMCV, MulticlassSVMCV])


class TestInputs:
    def test_stacked_sequences(self):
        X, y = make_data(ChainSVMCV)
        lengths = [len(x) for x in X]
        model = make_cv(ChainSVMCV).fit(X, y)
        stacked = make_cv(ChainSVMCV).fit(np.vstack(X), np.concatenate(y), lengths=lengths)
        assert stacked.lam_ == model.lam_
        assert_array_equal(stacked.scores_, model.scores_)
        assert_array_equal(stacked.coef_, model.coef_)
        assert_array_equal(stacked.predict(np.vstack(X), lengths=lengths), flat(model.predict(X)))

    def test_feature_dicts(self):
        X, y = make_data(ChainSVMCV)
        dicts = [[{f"f{j}": value for j, value in enumerate(row)} for row in x.tolist()] for x in X]
        exact = {"lams": LAMS, "eps": 1e-3, "tol": 1e-3}
        model = make_cv(ChainSVMCV, **exact).fit(dicts, [labels.tolist() for labels in y])
        assert model.lam_ == make_cv(ChainSVMCV, **exact).fit(X, y).lam_
        assert len(model.vectorizer_.feature_names_) == 3

    @pytest.mark.parametrize("cls", [ChainSVMCV, MulticlassSVMCV])
    def test_sparse_features(self, cls):
        X, y = make_data(cls)
        thin = [sp.csr_matrix(x) for x in X] if cls is ChainSVMCV else sp.csr_matrix(X)
        # what is summed in another order may end a pass earlier
        scores = [make_cv(cls, lams=LAMS, eps=1e-3, tol=1e-3).fit(of, y).scores_ for of in (thin, X)]
        assert scores[0] == pytest.approx(scores[1])

    @BOTH
    def test_kernels(self, cls):
        X, y = make_data(cls)
        model = make_cv(cls, kernel="rbf", gamma=0.5).fit(X, y)
        single = single_of(model, lam=model.lam_).fit(X, y)
        assert_array_equal(model.dual_coef_, single.dual_coef_)
        with pytest.raises(ValueError, match="precomputed"):
            make_cv(cls, kernel="precomputed").fit(*make_data(cls))

    @BOTH
    def test_sample_weights(self, cls):
        X, y = make_data(cls)
        ones, weight = np.ones(len(y)), np.arange(len(y)) % 3 + 1.0
        plain, same, other = (make_cv(cls).fit(X, y, sample_weight=given) for given in (None, ones.tolist(), weight))
        assert_array_equal(same.scores_, plain.scores_)
        assert_array_equal(same.coef_, plain.coef_)
        assert not np.array_equal(other.lams_, plain.lams_)
        single = single_of(other, lam=other.lam_).fit(X, y, sample_weight=weight)
        assert_array_equal(other.coef_, single.coef_)


SPOILT = {
    "X empty": lambda X, y: ([], []),
    "labels missing": lambda X, y: (X, y[:-1]),
    "no labels": lambda X, y: (X, None),
    "X a number": lambda X, y: (3, y),
}


@BOTH
@pytest.mark.parametrize("kind", SPOILT)
def test_bad_input_leaves_nothing(cls, kind):
    X, y = SPOILT[kind](*make_data(cls))
    model = make_cv(cls)
    with pytest.raises((ValueError, TypeError)):
        model.fit(X, y)
    assert not fitted(model)


@BOTH
@pytest.mark.parametrize(("name", "value"), [("eps", 0), ("lams", [-1.0]), ("max_passes", 0)])
def test_bad_parameters_leave_nothing(cls, name, value):
    model = make_cv(cls, **{name: value})
    with pytest.raises(ValueError, match=f"{name} must be"):
        model.fit(*make_data(cls))
    assert not fitted(model)


@BOTH
def test_a_final_fit_that_fails_leaves_nothing(cls):
    model = make_cv(cls, tol=-1)
    with pytest.raises(ValueError, match="tol must be"):
        model.fit(*make_data(cls))
    assert not fitted(model)


@BOTH
@pytest.mark.parametrize("weight", [[1.0], np.ones(100), "much", 2.0], ids=["short", "long", "a name", "a number"])
def test_bad_weights_are_told_as_the_single_estimator_tells_it(cls, weight):
    X, y = make_data(cls)
    model, single = make_cv(cls), single_of(make_cv(cls))
    try:
        single.fit(X, y, sample_weight=weight)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error), match="sample_weight"):
            model.fit(X, y, sample_weight=weight)
        assert not fitted(model)
    else:
        model.fit(X, y, sample_weight=weight)


def test_feature_dicts_without_labels_are_told_as_the_single_estimator_tells_it():
    dicts = [[{"a": 1.0}, {"b": 1.0}] for _ in range(6)]
    for model in (ChainSVM(), make_cv(ChainSVMCV)):
        with pytest.raises(ValueError, match="5 label sequences"):
            model.fit(dicts, [["x", "y"]] * 5)


def test_a_cost_matrix_though_a_fold_lacks_a_label():
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.array([2] + [0, 1] * 5 + [0])
    folds = [(np.arange(6), np.arange(6, 12)), (np.arange(6, 12), np.arange(6))]
    make_cv(MulticlassSVMCV, cv=folds, cost_matrix=1.0 - np.eye(3)).fit(X, y)
