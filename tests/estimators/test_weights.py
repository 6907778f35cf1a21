"""Attributes that are views of a model's flat weights: there is one copy, and what is changed counts."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from maxmargin import ChainSVM, GraphSVM, MulticlassSVM, TreeSVM, regularization_path
from maxmargin.solvers import BlockFrankWolfe

pytestmark = pytest.mark.usefixtures("no_compilation")

RNG = np.random.default_rng(0)
ROWS = [RNG.normal(size=(length, 2)) for length in (3, 2, 4)]
LABELS = [np.array([0, 1, 2]), np.array([2, 0]), np.array([1, 1, 0, 2])]
SOLVER = BlockFrankWolfe(step="pairwise")
DATA = {
    ChainSVM: (ROWS, LABELS),
    TreeSVM: ([(x, np.arange(-1, len(x) - 1)) for x in ROWS], LABELS),
    GraphSVM: ([(x, [(0, 1)]) for x in ROWS], LABELS),
    MulticlassSVM: (np.vstack(ROWS), np.concatenate(LABELS)),
}
PARTS = {cls: ["coef_", "intercept_", "transitions_", "edge_coef_"] for cls in (ChainSVM, TreeSVM, GraphSVM)}
PARTS[ChainSVM] = [*PARTS[ChainSVM], "boundary_"]
PARTS[MulticlassSVM] = ["coef_", "intercept_"]
EACH = pytest.mark.parametrize("cls", DATA)


def fit(cls, **params):
    return cls(lam=0.1, tol=0.1, random_state=0, solver=SOLVER, **params).fit(*DATA[cls])


def flat(labels):
    return np.concatenate(labels) if isinstance(labels, list) else labels


@EACH
def test_there_are_none_before_a_fit(cls):
    model = cls()
    assert not any(hasattr(model, name) for name in PARTS[cls])
    with pytest.raises(AttributeError, match=f"'{cls.__name__}' object has no attribute 'coef_'"):
        model.coef_ = np.zeros((3, 2))
    fitted = fit(cls)
    check_is_fitted(fitted)
    assert all(hasattr(fitted, name) for name in PARTS[cls])
    assert not hasattr(clone(fitted), "coef_")


@EACH
def test_they_are_all_of_the_weights(cls):
    model = fit(cls)
    assert sum(getattr(model, name).size for name in PARTS[cls]) == model._weights.flat.size
    assert all(
        np.shares_memory(getattr(model, name), model._weights.flat) for name in PARTS[cls] if name != "edge_coef_"
    )


@EACH
def test_what_is_changed_in_place_is_predicted_with(cls):
    model = fit(cls)
    X = DATA[cls][0]
    model.coef_[:] = 0.0
    model.intercept_[:] = [0.0, 0.0, 100.0]
    assert_array_equal(flat(model.predict(X)), 2)
    model.coef_ *= 2.0
    model.intercept_ = np.array([0.0, 100.0, 0.0])
    assert_array_equal(flat(model.predict(X)), 1)
    with pytest.raises(ValueError, match=r"coef: the shape must be \(3, 2\), got \(2, 3\)"):
        model.coef_ = model.coef_.T
    with pytest.raises(ValueError, match="coef"):
        model.coef_ = "x"
    assert_array_equal(flat(model.predict(X)), 1)


def test_transitions_that_are_changed():
    model = fit(ChainSVM)
    model.coef_[:], model.boundary_[:], model.intercept_[:] = 0.0, 0.0, 0.0
    model.transitions_ = 50.0 * np.roll(np.eye(3), 1, axis=1)  # 0, 1, 2, 0, ...
    model.boundary_[0, 1] = 1.0
    assert model.predict([np.zeros((4, 2))])[0].tolist() == [1, 2, 0, 1]
    (sharp,), (flatter,) = (model.predict_marginals([np.zeros((4, 2))], temperature) for temperature in (0.1, 1000.0))
    assert sharp[0, 1] > 0.99 and flatter[0, 1] < 0.4


@EACH
def test_biases_that_were_not_learned(cls):
    model = fit(cls, fit_intercept=False)
    assert_array_equal(model.intercept_, np.zeros(3))
    with pytest.raises(ValueError, match="read-only"):
        model.intercept_[0] = 1.0
    with pytest.raises(ValueError, match="intercept: it was not learned"):
        model.intercept_ = np.ones(3)
    model.coef_[:] = 0.0
    assert flat(model.predict(DATA[cls][0])).size == 9


@EACH
def test_copies_are_as_large_as_the_weights_and_apart(cls):
    rng = np.random.default_rng(0)
    X = np.zeros((9, 5000))
    X[:, :2] = np.vstack(ROWS)
    wide = cls(lam=0.1, tol=0.5, random_state=0, solver=SOLVER)
    if cls is MulticlassSVM:
        wide.fit(X, np.concatenate(LABELS))
    else:
        parts = np.split(X, [3, 5])
        samples = parts if cls is ChainSVM else [(x, *rest) for x, (_, *rest) in zip(parts, DATA[cls][0], strict=True)]
        wide.fit(samples, LABELS)
    stored = pickle.dumps(wide)
    assert len(stored) < 1.2 * wide._weights.flat.nbytes
    for same in (pickle.loads(stored), copy.deepcopy(wide)):
        assert_array_equal(same.coef_, wide.coef_)
        same.coef_[:] = rng.normal(size=same.coef_.shape)
        assert not np.array_equal(same.coef_, wide.coef_)


@EACH
def test_weights_in_read_only_memory(cls):
    """As workers of joblib have them."""
    model = fit(cls)
    expected = flat(model.predict(DATA[cls][0]))
    model._weights.flat.flags.writeable = False
    assert_array_equal(flat(model.predict(DATA[cls][0])), expected)


def test_a_fit_does_not_go_on_with_weights_that_were_changed():
    model = fit(ChainSVM, warm_start=True)
    model.coef_[:] = 1e6
    again = model.fit(*DATA[ChainSVM])
    assert np.abs(again.coef_).max() < 1e3 and again.primal_ < 10


@pytest.mark.parametrize("cls", [ChainSVM, MulticlassSVM])
def test_kernels_have_a_support_instead(cls):
    model = fit(cls, kernel="rbf")
    assert not hasattr(model, "coef_") and model.dual_coef_.shape == (len(model.support_), 3)
    before = model.decision_function(DATA[cls][0])
    model.intercept_ += [0.0, 0.0, 1000.0]
    assert_array_equal(flat(model.predict(DATA[cls][0])), 2)
    model.intercept_ -= [0.0, 0.0, 1000.0]
    for one, other in zip(before, model.decision_function(DATA[cls][0]), strict=True):
        assert_allclose(one, other, atol=1e-9)
    linear = model.set_params(kernel=None).fit(*DATA[cls])
    assert hasattr(linear, "coef_") and not hasattr(linear, "dual_coef_")


@EACH
def test_models_from_weights(cls):
    X, y = DATA[cls]
    encoded = cls(scale=False).encode(X, y)
    result = encoded.solver(SOLVER).solve(encoded.problem, 0.1, tol=0.1, random_state=0)
    model = encoded.model(result.w)
    assert_array_equal(model.coef_, fit(cls).coef_)
    model.coef_[:] = 7.0
    assert not np.any(encoded.model(result.w).coef_ == 7.0)
    assert not hasattr(encoded.estimator, "coef_")


def test_models_of_a_path():
    path = regularization_path(ChainSVM(random_state=0, solver=SOLVER), *DATA[ChainSVM], eps=0.3, lam_min=0.2)
    model = path.estimator_at(0.5)
    before = model.coef_.copy()
    model.coef_[:] = 7.0
    assert_array_equal(path.estimator_at(0.5).coef_, before)
    again = pickle.loads(pickle.dumps(path))
    assert_array_equal(again.estimator_at(0.5).coef_, before)
    assert len(again) == len(path) and again.worst_gap == path.worst_gap and "ChainSVM" in repr(path)
    with pytest.raises(AttributeError):
        path.nonsense  # noqa: B018
