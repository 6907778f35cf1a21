"""MulticlassSVM: the problem it solves, what it takes and what it leaves."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_class_weight

from maxmargin import MulticlassSVM

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, size=(30, 5)).astype(float)
Y = np.argmax(X[:, :3] + RNG.normal(size=(30, 3)), axis=1)
NAMES = np.array(["ant", "bee", "cat"])


def fit(X=X, y=Y, sample_weight=None, **params):
    return MulticlassSVM(**{"lam": 0.1, "tol": 1e-2, "random_state": 0, **params}).fit(X, y, sample_weight)


def test_signature():
    defaults = {name: one.default for name, one in inspect.signature(MulticlassSVM).parameters.items()}
    assert defaults == {
        "lam": None,
        "solver": "auto",
        "tol": None,
        "max_passes": 1000,
        "max_seconds": None,
        "class_weight": None,
        "random_state": None,
        "verbose": 0,
        "n_jobs": None,
        "warm_start": False,
        "checkpoint": None,
        "checkpoint_every": 60.0,
        "scale": None,
        "fit_intercept": True,
        "cost_matrix": None,
        "kernel": None,
        "gamma": "scale",
        "degree": 3,
        "coef0": 0.0,
    }


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_fitted_names(n_classes):
    model = fit(y=Y % n_classes)
    assert model.coef_.shape == (n_classes, 5)
    assert model.intercept_.shape == (n_classes,)
    assert model.n_features_in_ == 5
    assert_array_equal(model.classes_, np.arange(n_classes))
    assert model.decision_function(X).shape == ((30,) if n_classes == 2 else (30, n_classes))
    assert list(model.history_)[:6] == ["passes", "oracle_calls", "seconds", "primal", "dual", "gap"]
    assert {len(column) for column in model.history_.values()} == {len(model.history_["gap"])}
    for name in ("primal", "dual", "gap"):
        assert model.history_[name][-1] == getattr(model, f"{name}_")
    assert model.history_["passes"][-1] == model.n_passes_
    assert model.history_["oracle_calls"][-1] == model.n_oracle_calls_
    assert model.status_ == "converged"
    assert 0 <= model.gap_ <= 1e-2


def objective(coef, intercept, lam, X, y, cost, weight):
    scores = X @ coef.T + intercept
    truth = np.arange(len(y))
    hinges = np.max(cost[y] + scores - scores[truth, y][:, None], axis=1)
    return 0.5 * lam * (np.sum(coef**2) + np.sum(intercept**2)) + np.average(hinges, weights=weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cost", [None, np.array([[0, 1, 3], [2, 0, 1], [0.5, 1, 0]])])
@pytest.mark.parametrize("solver", ["auto", "bcfw", "fw"])
def test_primal_is_the_objective(solver, cost, weighted):
    weight = np.arange(30) % 4 if weighted else np.ones(30)
    model = fit(sample_weight=weight, solver=solver, cost_matrix=cost, tol=0.05)
    full = 1.0 - np.eye(3) if cost is None else cost
    assert_allclose(model.primal_, objective(model.coef_, model.intercept_, 0.1, X, Y, full, weight), rtol=1e-10)
    assert model.gap_ == model.primal_ - model.dual_


def test_same_problem_as_linear_svc():
    """C = 1/(lam n) and no bias: the weights differ by a shift of all classes only, and Crammer-Singer's sum to 0."""
    theirs = LinearSVC(C=1 / (0.1 * 30), multi_class="crammer_singer", fit_intercept=False, tol=1e-8, max_iter=100_000)
    theirs.fit(X, Y)
    ours = fit(tol=1e-4, max_passes=20_000, fit_intercept=False)
    at_theirs = objective(theirs.coef_, np.zeros(3), 0.1, X, Y, 1.0 - np.eye(3), None)
    assert ours.dual_ <= at_theirs + 1e-12
    assert ours.primal_ <= at_theirs + ours.gap_
    assert_allclose(ours.coef_, theirs.coef_, atol=np.sqrt(2 * ours.gap_ / 0.1) + 1e-3)
    assert_allclose(ours.coef_.sum(axis=0), 0, atol=1e-10)


def strided(x):
    wide = np.full((2 * x.shape[0], 2 * x.shape[1]), np.nan)
    wide[::2, ::2] = x
    return wide[::2, ::2]


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


DENSE = {
    "float32": lambda x: x.astype(np.float32),
    "int64": lambda x: x.astype(np.int64),
    "uint8": lambda x: x.astype(np.uint8),
    "big-endian": lambda x: x.astype(">f8"),
    "fortran": np.asfortranarray,
    "strided": strided,
    "read-only": read_only,
    "lists": lambda x: x.tolist(),
    "objects": lambda x: x.astype(object),
}
SPARSE = {
    "csr": sp.csr_matrix,
    "csr array": sp.csr_array,
    "csc": sp.csc_matrix,
    "coo": sp.coo_matrix,
    "float32": lambda x: sp.csr_matrix(x.astype(np.float32)),
    "int64 indices": lambda x: _wide_indices(sp.csr_matrix(x)),
}


def _wide_indices(x):
    x.indices, x.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
    return x


class TestInputs:
    @pytest.mark.parametrize("form", DENSE)
    def test_dense(self, form):
        model, given = fit(), DENSE[form](X)
        same = fit(given)
        assert_array_equal(same.coef_, model.coef_)
        assert_array_equal(same.predict(given), model.predict(X))
        assert_array_equal(same.decision_function(given), model.decision_function(X))

    @pytest.mark.parametrize("form", SPARSE)
    def test_sparse(self, form):
        model, given = fit(), SPARSE[form](X)
        same = fit(given)
        assert_allclose(same.coef_, model.coef_, rtol=1e-8, atol=1e-10)
        assert_array_equal(same.predict(given), model.predict(X))

    @pytest.mark.parametrize("labels", [NAMES, NAMES.astype(object), np.array([-5, 0, 7]), np.array([1.0, 2.0, 3.0])])
    def test_labels(self, labels):
        model = fit(y=labels[Y])
        assert_array_equal(model.coef_, fit().coef_)
        assert_array_equal(model.classes_, labels)
        assert_array_equal(model.predict(X), labels[fit().predict(X)])
        assert model.score(X, labels[Y]) == fit().score(X, Y)

    def test_unseen_labels_count_as_wrong(self):
        model = fit(y=NAMES[Y])
        assert model.score(X, np.full(30, "dog")) == 0
        mixed = np.where(np.arange(30) < 15, model.predict(X), "dog")
        assert model.score(X, mixed) == 0.5

    def test_nothing_is_written_to(self):
        given, labels, weight = X.copy(), Y.copy(), np.ones(30)
        fit(given, labels, weight)
        assert_array_equal(given, X)
        assert_array_equal(labels, Y)
        assert_array_equal(weight, 1)

    def test_names_of_features_are_those_of_the_last_fit(self):
        pandas = pytest.importorskip("pandas")
        model = fit(pandas.DataFrame(X, columns=list("abcde")))
        assert model.feature_names_in_.tolist() == list("abcde")
        with pytest.raises(ValueError, match="continuous"):
            model.fit(X, Y + 0.5)
        assert model.feature_names_in_.tolist() == list("abcde")
        assert not hasattr(model.fit(X, Y), "feature_names_in_")


def test_decision_function():
    model = fit()
    scores = model.decision_function(X)
    assert_allclose(scores, X @ model.coef_.T + model.intercept_)
    assert_array_equal(model.predict(X), scores.argmax(axis=1))
    binary = fit(y=NAMES[Y % 2])
    assert_array_equal(binary.predict(X), np.where(binary.decision_function(X) > 0, "bee", "ant"))


def test_without_intercept():
    model = fit(fit_intercept=False)
    assert_array_equal(model.intercept_, 0)
    assert_array_equal(model.predict(X), np.argmax(X @ model.coef_.T, axis=1))


class TestWeights:
    weight = np.arange(30) % 4

    @pytest.mark.parametrize("lam", [None, 0.1])
    @pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 2: 0.5}])
    @pytest.mark.parametrize("solver", ["auto", "fw"])
    def test_integer_weight_is_repetition(self, solver, class_weight, lam):
        params = {"solver": solver, "class_weight": class_weight, "lam": lam, "tol": 5e-3, "max_passes": 10_000}
        weighted = fit(sample_weight=self.weight, **params)
        repeated = fit(np.repeat(X, self.weight, axis=0), np.repeat(Y, self.weight), **params)
        assert abs(weighted.primal_ - repeated.primal_) <= weighted.gap_ + repeated.gap_

    @pytest.mark.parametrize("class_weight", [None, "balanced"])
    @pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
    def test_zero_is_removal(self, form, class_weight):
        weight, kept = self.weight % 3, self.weight % 3 > 0
        weighted = fit(form(X), Y, weight, class_weight=class_weight)
        removed = fit(form(X[kept]), Y[kept], weight[kept], class_weight=class_weight)
        assert_array_equal(weighted.coef_, removed.coef_)
        assert_array_equal(weighted.history_["primal"], removed.history_["primal"])

    def test_a_class_of_weight_zero_is_unknown(self):
        assert_array_equal(fit(sample_weight=(Y != 1).astype(int)).classes_, [0, 2])

    @pytest.mark.parametrize("weight", [1, 2.5, np.full(30, 2.5)])
    def test_common_factor_changes_lam_only(self, weight):
        assert_allclose(fit(sample_weight=weight).coef_, fit().coef_)

    @pytest.mark.parametrize("lam", [None, 0.1])
    @pytest.mark.parametrize("sample_weight", [None, weight + 1.0])
    @pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 1.0, 2: 0.5}, {1: 3.0}])
    def test_class_weight_multiplies_them(self, class_weight, sample_weight, lam):
        if class_weight == "balanced":
            factor = compute_class_weight("balanced", classes=np.arange(3), y=Y, sample_weight=sample_weight)
        else:
            factor = np.array([class_weight.get(label, 1.0) for label in range(3)])
        by_class = fit(sample_weight=sample_weight, class_weight=class_weight, lam=lam)
        by_sample = fit(sample_weight=factor[Y] * (1 if sample_weight is None else sample_weight), lam=lam)
        assert_allclose(by_class.coef_, by_sample.coef_, rtol=1e-10)

    def test_class_weight_of_labels_that_look_like_numbers(self):
        assert_array_equal(fit(y=Y.astype(str), class_weight={"1": 3.0}).coef_, fit(class_weight={1: 3.0}).coef_)

    def test_class_weight_of_zero(self):
        model = fit(class_weight={1: 0.0})
        assert_array_equal(model.classes_, [0, 1, 2])
        assert np.all(np.isfinite(model.coef_))
        assert model.gap_ >= 0


def test_cost_matrix_steers():
    """Where taking 1 for 0 costs a lot, 1 is predicted less often for 0."""
    cost = 1.0 - np.eye(3)
    cost[0, 1] = 20.0
    wrong = [np.sum(fit(cost_matrix=one).predict(X)[Y == 0] == 1) for one in (None, cost)]
    assert wrong[1] <= wrong[0]


def test_seeds():
    one, same, other = (clone(MulticlassSVM(tol=0.05, random_state=seed)).fit(X, Y) for seed in (0, 0, 1))
    assert_array_equal(one.coef_, same.coef_)
    assert np.any(one.coef_ != other.coef_)
    for seed in (np.random.RandomState(0), np.random.default_rng(0)):
        assert MulticlassSVM(tol=0.05, random_state=seed).fit(X, Y).status_ == "converged"
