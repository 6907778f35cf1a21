"""Models for every lam: `regularization_path` and `lam_grid` of the estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from path_data import NAMES, flat, follow, make_data
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

import maxmargin
from maxmargin import ChainSVM, MulticlassSVM, lam_grid, regularization_path
from maxmargin.solvers import BlockFrankWolfe, FrankWolfe

pytestmark = pytest.mark.usefixtures("no_compilation")

BOTH = pytest.mark.parametrize("cls", [ChainSVM, MulticlassSVM])


def hinge(model, x, y):
    """``max over labelings of loss + score - score of y``, every labeling tried."""
    K, T = len(model.classes_), len(x)
    codes = np.searchsorted(model.classes_, y)
    node = x @ model.coef_.T + model.intercept_

    def score(labels):
        total = node[np.arange(T), labels].sum()
        if hasattr(model, "transitions_"):
            total += model.transitions_[labels[:-1], labels[1:]].sum()
            total += model.boundary_[0, labels[0]] + model.boundary_[1, labels[-1]]
        return total

    labelings = [np.array(labels) for labels in np.ndindex(*[K] * T)]
    return max(np.mean(labels != codes) + score(labels) for labels in labelings) - score(codes)


def objective(model, X, y, weight=None):
    """The training objective, from the fitted attributes only."""
    is_chain = isinstance(X, list)
    pairs = zip(X, y, strict=True)
    hinges = [hinge(model, x, labels) if is_chain else hinge(model, x[None], [labels]) for x, labels in pairs]
    names = ("coef_", "intercept_", "transitions_", "boundary_")
    square = sum(np.sum(getattr(model, name) ** 2) for name in names if hasattr(model, name))
    return model.lam / 2 * square + np.average(hinges, weights=weight)


@BOTH
def test_models_have_the_objective_they_say(cls):
    X, y = make_data(cls)
    path = follow(cls)
    first = path.breakpoints[0]
    for lam in [*path.breakpoints, *np.geomspace(path.lam_end, first, 7), 3 * first]:
        model = path.estimator_at(lam)
        value = objective(model, X, y)
        if lam <= first:
            assert model.primal_ == pytest.approx(value, abs=1e-10)
        else:
            assert value <= model.primal_ + 1e-12
        exact = cls(lam=lam, tol=1e-4, random_state=0).fit(X, y)
        assert model.dual_ <= exact.primal_ + 1e-12
        assert value - exact.dual_ <= model.gap_ + exact.gap_ + 1e-12
        assert model.gap_ == pytest.approx(model.primal_ - model.dual_, abs=1e-12)
        assert model.gap_ <= 0.2
        assert model.status_ == "converged"
        assert model.n_oracle_calls_ > 0
        assert model.history_["gap"].tolist() == [model.gap_]


@BOTH
def test_models_are_those_of_their_lam(cls):
    X, y = make_data(cls)
    path = follow(cls, max_passes=500)
    for lam in (path.lam_end, 0.5, 10 * path.breakpoints[0]):
        model = path.estimator_at(lam)
        check_is_fitted(model)
        assert type(model) is cls
        assert model.get_params()["lam"] == lam
        assert model.get_params() == {**path.estimator.get_params(), "lam": lam}
        twin = pickle.loads(pickle.dumps(model))
        assert_array_equal(flat(twin.predict(X)), flat(model.predict(X)))
        assert_array_equal(flat(twin.decision_function(X)), flat(model.decision_function(X)))
        assert not hasattr(clone(model), "coef_")
        assert clone(model).fit(X, y).lam == lam
    if cls is MulticlassSVM:
        scores = X @ model.coef_.T + model.intercept_
        assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


@BOTH
def test_models_do_not_share_their_weights(cls):
    path = follow(cls)
    model = path.estimator_at(0.5)
    model.coef_[:] = 7.0
    assert not np.any(path.estimator_at(0.5).coef_ == 7.0)


@BOTH
def test_the_estimator_is_left_alone(cls):
    X, y = make_data(cls)
    model = cls(lam=3.0, tol=1e-9, random_state=0)
    before = dict(vars(model))
    path = regularization_path(model, X, y, eps=0.2, lam_min=0.1)  # its lam and tol do not matter
    assert vars(model) == before
    assert_array_equal(path.breakpoints, follow(cls).breakpoints)


@BOTH
def test_solver(cls):
    X, y = make_data(cls)
    given = FrankWolfe(gap_every=3)
    for path in (
        follow(cls, solver=given),
        regularization_path(cls(solver="bcfw"), X, y, eps=0.2, lam_min=0.1, solver=given),
    ):
        assert path.estimator_at(1.0).solver_.get_params() == given.get_params()
        assert path.worst_relative_gap <= 0.2


@BOTH
def test_going_on_and_pickling(cls):
    whole, path = follow(cls), follow(cls, lam_min=1.0)
    twin = pickle.loads(pickle.dumps(path))
    for one in (path, twin):
        one.resume(lam_min=0.1)
        assert_array_equal(one.breakpoints, whole.breakpoints)
        assert_array_equal(one.estimator_at(0.2).coef_, whole.estimator_at(0.2).coef_)


@BOTH
def test_below_the_end_there_is_no_model(cls):
    with pytest.raises(ValueError, match="resume"):
        follow(cls).estimator_at(1e-3)


@BOTH
def test_heuristic_models_are_not_certified(cls):
    X, y = make_data(cls)
    path = regularization_path(cls(random_state=0), X, y, eps=0.2, lam_min=0.1, heuristic=True)
    model = path.estimator_at(path.lam_end)
    assert (model.status_, model.gap_) == ("uncertified", np.inf)
    path.certify()
    model = path.estimator_at(path.lam_end)
    assert model.status_ == "converged"
    assert model.primal_ == pytest.approx(objective(model, X, y), abs=1e-10)


@BOTH
def test_sample_weights(cls):
    X, y = make_data(cls)
    weight = np.arange(len(y)) % 3
    path = follow(cls, given={"sample_weight": weight})
    # an integer weight equals repetition, 0 removal
    rows = np.repeat(np.arange(len(y)), weight)
    again = [X[i] for i in rows] if cls is ChainSVM else X[rows]
    repeated = regularization_path(cls(random_state=0), again, [y[i] for i in rows], eps=0.2, lam_min=0.1)
    for lam in (0.1, 0.5, 2.0):
        model, other = path.estimator_at(lam), repeated.estimator_at(lam)
        kept_X = [x for x, w in zip(X, weight, strict=True) if w] if cls is ChainSVM else X[weight > 0]
        kept_y = [labels for labels, w in zip(y, weight, strict=True) if w]
        assert model.primal_ == pytest.approx(objective(model, kept_X, kept_y, weight[weight > 0]), abs=1e-10)
        assert model.dual_ <= other.primal_ + 1e-12
        assert other.dual_ <= model.primal_ + 1e-12


def test_stacked_sequences():
    X, y = make_data(ChainSVM)
    lengths = [len(x) for x in X]
    stacked = regularization_path(
        ChainSVM(random_state=0), np.vstack(X), np.concatenate(y), eps=0.2, lam_min=0.1, lengths=lengths
    )
    path = follow(ChainSVM)
    assert_array_equal(stacked.breakpoints, path.breakpoints)
    assert_array_equal(stacked.coef_at(0.3), path.coef_at(0.3))
    predicted = stacked.estimator_at(0.3).predict(np.vstack(X), lengths=lengths)
    assert_array_equal(predicted, flat(path.estimator_at(0.3).predict(X)))


def test_feature_dicts():
    X, y = make_data(ChainSVM)
    dicts = [[{f"f{j}": value for j, value in enumerate(row)} for row in x.tolist()] for x in X]
    path = regularization_path(ChainSVM(random_state=0), dicts, y, eps=0.2, lam_min=0.1)
    assert_array_equal(path.breakpoints, follow(ChainSVM).breakpoints)
    assert_array_equal(flat(path.select(dicts, y).predict(dicts)), flat(follow(ChainSVM).select(X, y).predict(X)))


def test_sparse_features():
    X, y = make_data(MulticlassSVM)
    path = regularization_path(MulticlassSVM(random_state=0), sp.csr_matrix(X), y, eps=0.2, lam_min=0.1)
    assert path.worst_relative_gap <= 0.2
    model = path.estimator_at(0.3)
    assert model.primal_ == pytest.approx(objective(model, X, y), abs=1e-10)


@BOTH
def test_kernels(cls):
    X, y = make_data(cls)
    path = follow(cls, kernel="rbf", gamma=0.5)
    assert path.worst_relative_gap <= 0.2
    model = path.estimator_at(0.3)
    assert hasattr(model, "dual_coef_") and not hasattr(model, "coef_")
    exact = cls(lam=0.3, tol=1e-4, random_state=0, kernel="rbf", gamma=0.5).fit(X, y)
    assert model.dual_ <= exact.primal_ + 1e-12
    assert exact.dual_ <= model.primal_ + 1e-12
    assert set(flat(model.predict(X))) <= set(NAMES)
    # above the first breakpoint, too
    assert path.estimator_at(5 * path.breakpoints[0]).gap_ <= 0.2


@BOTH
def test_the_linear_kernel_has_the_path_of_the_features(cls):
    linear, path = follow(cls, kernel="linear"), follow(cls)
    for lam in np.geomspace(max(linear.lam_end, path.lam_end), 20.0, 30):
        assert linear.dual_at(lam) <= path.primal_at(lam) + 1e-9
        assert path.dual_at(lam) <= linear.primal_at(lam) + 1e-9


BAD = {
    "X": (lambda X, y: (np.full_like(X, np.nan), y), "NaN"),
    "y": (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
    "dimensions": (lambda X, y: (X[:, 0], y), "2D array"),
    "numbers": (lambda X, y: (X, np.linspace(0, 1, len(y))), "continuous"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("function", [regularization_path, lam_grid])
def test_bad_input_is_told_as_fit_tells_it(function, kind):
    spoil, message = BAD[kind]
    X, y = spoil(*make_data(MulticlassSVM))
    model = MulticlassSVM()
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        function(model, X, y)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert vars(model) == before


def test_bad_sequences_are_told_as_fit_tells_it():
    X, y = make_data(ChainSVM)
    with pytest.raises(ValueError, match="label sequences"):
        regularization_path(ChainSVM(), X, y[:-1])
    with pytest.raises(ValueError, match="sample_weight"):
        regularization_path(ChainSVM(), X, y, sample_weight=[1.0])
    with pytest.raises(TypeError, match="weights"):
        regularization_path(ChainSVM(), X, y, weights=[1.0])


@pytest.mark.parametrize(
    ("name", "value"), [("eps", 0), ("eps", True), ("kappa", 1), ("kappa", np.nan), ("lam_min", -1)]
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        regularization_path(MulticlassSVM(), *make_data(MulticlassSVM), **{name: value})


def test_general_bounds_are_refused():
    with pytest.raises(ValueError, match="bounds must be 0 or infinite"):
        follow(MulticlassSVM, solver=BlockFrankWolfe(lower=-1.0))


def test_signs():
    path = follow(MulticlassSVM, solver=BlockFrankWolfe(step="pairwise", positive=slice(None)))
    assert path.worst_relative_gap <= 0.2
    for lam in (0.1, 1.0, 100.0):
        assert np.all(path.estimator_at(lam).coef_ >= 0)


def test_one_label():
    X, _ = make_data(MulticlassSVM)
    path = regularization_path(MulticlassSVM(), X, np.full(len(X), "ant"))
    assert path.lam_end == 0
    assert accuracy_score(np.full(len(X), "ant"), path.estimator_at(1e-9).predict(X)) == 1


def test_names_are_public():
    assert maxmargin.regularization_path is regularization_path
    assert {"regularization_path", "lam_grid", "ChainSVMCV", "MulticlassSVMCV"} <= set(maxmargin.__all__)
