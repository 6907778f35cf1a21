"""Inside scikit-learn's tools: clone, set_params, Pipeline, cross-validation, grid search, pickle."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from maxmargin import ChainSVM, MulticlassSVM, TransitionMask
from maxmargin.solvers import BlockFrankWolfe, FrankWolfe

NAMES = np.array(["ant", "bee", "cat"])
BOTH = pytest.mark.parametrize("cls", [ChainSVM, MulticlassSVM])


def make_sequences(n=24, seed=0):
    """Binary features; the label is the largest of three noisy ones, and often that of the position before."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for length in rng.integers(1, 6, size=n):
        labels = (np.cumsum(rng.random(length) < 0.3) + rng.integers(3)) % 3
        X.append((np.eye(3)[labels] + rng.random((length, 3)) > 0.8).astype(float))
        y.append(labels)
    return X, y


SEQUENCES, LABELS = make_sequences()


def as_dicts(x):
    return [{f"f{j}": value for j, value in enumerate(row) if value} for row in x.tolist()]


CHAIN_INPUTS = {
    "arrays": lambda: SEQUENCES,
    "csr": lambda: [sp.csr_matrix(x) for x in SEQUENCES],
    "dicts": lambda: [as_dicts(x) for x in SEQUENCES],
}
CHAIN_LABELS = {
    "integers": lambda: LABELS,
    "strings": lambda: [NAMES[y].tolist() for y in LABELS],
    "arrays of strings": lambda: [NAMES[y] for y in LABELS],
}
CLASS_INPUTS = {"array": lambda: np.vstack(SEQUENCES), "csr": lambda: sp.csr_matrix(np.vstack(SEQUENCES))}
CLASS_LABELS = {"integers": lambda: np.concatenate(LABELS), "strings": lambda: NAMES[np.concatenate(LABELS)]}
CASES = [
    *((ChainSVM, x, y) for x in CHAIN_INPUTS.values() for y in CHAIN_LABELS.values()),
    *((MulticlassSVM, x, y) for x in CLASS_INPUTS.values() for y in CLASS_LABELS.values()),
]
IDS = [
    *(f"chain-{x}-{y}" for x in CHAIN_INPUTS for y in CHAIN_LABELS),
    *(f"multiclass-{x}-{y}" for x in CLASS_INPUTS for y in CLASS_LABELS),
]
EVERY = pytest.mark.parametrize(("cls", "make_X", "make_y"), CASES, ids=IDS)


def data(cls):
    return (SEQUENCES, LABELS) if cls is ChainSVM else (np.vstack(SEQUENCES), np.concatenate(LABELS))


def flat(labels):
    return np.concatenate(labels) if isinstance(labels, list) else labels


@EVERY
def test_cross_val_score(cls, make_X, make_y):
    scores = cross_val_score(cls(tol=0.05, random_state=0), make_X(), make_y(), cv=KFold(3), error_score="raise")
    assert np.all((scores > 0.5) & (scores <= 1))


@EVERY
def test_grid_search(cls, make_X, make_y):
    X, y = make_X(), make_y()
    search = GridSearchCV(cls(tol=0.05, random_state=0), {"lam": [0.05, 50.0]}, cv=KFold(2), error_score="raise").fit(
        X, y
    )
    assert search.best_params_ == {"lam": 0.05}
    assert search.best_score_ > 0.5
    assert_array_equal(flat(search.predict(X)), flat(search.best_estimator_.predict(X)))


@EVERY
def test_pickle(cls, make_X, make_y):
    X, y = make_X(), make_y()
    model = cls(tol=0.05, random_state=0, warm_start=True).fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    assert_array_equal(flat(twin.predict(X)), flat(model.predict(X)))
    assert_array_equal(flat(twin.decision_function(X)), flat(model.decision_function(X)))
    assert twin.score(X, y) == model.score(X, y)
    assert twin.fit(X, y).n_passes_ < model.n_passes_  # the state for a warm start travels along


@BOTH
def test_grid_search_in_two_processes(cls):
    X, y = data(cls)
    grid = {"lam": [0.05, 50.0], "solver__sampling": ["uniform", "permutation"]}
    model = cls(tol=0.05, random_state=0, solver=BlockFrankWolfe())
    one, two = (
        GridSearchCV(model, grid, cv=KFold(2), n_jobs=n_jobs, error_score="raise").fit(X, y) for n_jobs in (1, 2)
    )
    assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert_array_equal(flat(one.predict(X)), flat(two.predict(X)))


def test_cross_val_predict():
    X, y = data(MulticlassSVM)
    predicted = cross_val_predict(MulticlassSVM(tol=0.05), X, y, cv=3, method="decision_function")
    assert predicted.shape == (len(y), 3)


@BOTH
@pytest.mark.parametrize("solver", ["fw", BlockFrankWolfe(gap_every=7, averaging="weighted"), FrankWolfe()])
def test_clone_is_unfitted_and_alike(cls, solver):
    X, y = data(cls)
    model = cls(lam=0.3, tol=0.05, solver=solver, random_state=0, class_weight="balanced").fit(X, y)
    twin = clone(model)
    assert not hasattr(twin, "coef_")
    assert repr(twin) == repr(model)
    if not isinstance(solver, str):
        assert twin.solver is not solver
        assert twin.solver.get_params() == solver.get_params()
    assert_array_equal(twin.fit(X, y).coef_, model.coef_)


@BOTH
def test_parameters_of_solver_objects(cls):
    X, y = data(cls)
    model = cls(tol=0, max_passes=6, solver=BlockFrankWolfe(gap_every=3), random_state=0)
    assert model.get_params()["solver__gap_every"] == 3
    with pytest.warns(UserWarning, match="gap"):
        assert_array_equal(model.fit(X, y).history_["passes"], [0, 3, 6])
    model.set_params(solver__gap_every=2)
    with pytest.warns(UserWarning, match="gap"):
        assert_array_equal(model.fit(X, y).history_["passes"], [0, 2, 4, 6])
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(solver__no_such=1)


def test_clone_keeps_masks():
    mask = TransitionMask.everything(3)
    model = ChainSVM(transition_mask=mask, tol=0.05, random_state=0)
    assert_array_equal(clone(model).transition_mask.allowed, mask.allowed)
    assert clone(model).fit(SEQUENCES, LABELS).status_ == "converged"


def double(X):
    return [2 * x for x in X]


class TestPipeline:
    def test_lists(self):
        pipe = make_pipeline(FunctionTransformer(double), ChainSVM(tol=0.05, random_state=0)).fit(SEQUENCES, LABELS)
        direct = ChainSVM(tol=0.05, random_state=0).fit(double(SEQUENCES), LABELS)
        assert_array_equal(flat(pipe.predict(SEQUENCES)), flat(direct.predict(double(SEQUENCES))))
        assert pipe.score(SEQUENCES, LABELS) == direct.score(double(SEQUENCES), LABELS)
        scores = cross_val_score(pipe, SEQUENCES, LABELS, cv=KFold(2), error_score="raise")
        assert np.all(scores > 0.5)

    def test_stacked(self):
        X, y = np.vstack(SEQUENCES), np.concatenate(LABELS)
        lengths = [len(x) for x in SEQUENCES]
        pipe = make_pipeline(StandardScaler(), ChainSVM(tol=0.05, random_state=0)).fit(X, y, chainsvm__lengths=lengths)
        scaled = StandardScaler().fit_transform(X)
        direct = ChainSVM(tol=0.05, random_state=0).fit(scaled, y, lengths=lengths)
        assert_array_equal(pipe.predict(X, lengths=lengths), direct.predict(scaled, lengths=lengths))

    def test_classes(self):
        X, y = np.vstack(SEQUENCES), NAMES[np.concatenate(LABELS)]
        pipe = make_pipeline(StandardScaler(), MulticlassSVM(tol=0.05, random_state=0))
        search = GridSearchCV(pipe, {"multiclasssvm__lam": [0.05, 50.0]}, cv=2, error_score="raise").fit(X, y)
        assert search.score(X, y) > 0.5
        pipe.fit(X, y, multiclasssvm__sample_weight=np.arange(len(y)))
        assert pipe.predict(X).dtype == y.dtype
