"""TreeSVM, GraphSVM and ChainSVM with edge features inside scikit-learn's tools; warm starts, callbacks, paths."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from graph_cases import KINDS, LABELS, LAM, NAMES, assert_optimal, case_of, enumerated, pack
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from maxmargin import ChainSVM, GraphSVM, TreeSVM, lam_grid, regularization_path
from structures.pairs import MASK

pytestmark = pytest.mark.usefixtures("no_compilation")

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def test_signatures():
    """As ChainSVM's: all by keyword, but lam needs no name."""
    shared = {
        name: one.default
        for name, one in inspect.signature(ChainSVM).parameters.items()
        if name not in ("fit_boundary", "kernel", "gamma", "degree", "coef0")
    }
    assert TreeSVM().get_params() == shared
    assert GraphSVM().get_params() == {**shared, "inference": "auto", "max_width": 8}
    assert TreeSVM(0.1).lam == 0.1
    with pytest.raises(TypeError):
        TreeSVM(0.1, "bcfw")


def test_repr():
    assert repr(TreeSVM()) == "TreeSVM()"
    assert repr(GraphSVM(max_width=3, lam=0.5)) == "GraphSVM(lam=0.5, max_width=3)"


@EVERY_KIND
def test_clone_and_set_params(kind):
    model = case_of(kind).model(transition_mask=MASK.allowed, tol=0.5)
    copy = clone(model)
    assert copy.get_params().keys() == model.get_params().keys()
    assert_array_equal(copy.transition_mask, MASK.allowed)
    assert copy.set_params(lam=7.0).lam == 7.0
    assert model.lam == LAM


@EVERY_KIND
def test_pickle(kind):
    case = case_of(kind)
    model = case.model(tol=0.05, warm_start=True).fit(case.X, LABELS)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(pack(again), pack(model))
    assert_array_equal(np.concatenate(again.predict(case.X)), np.concatenate(model.predict(case.X)))
    assert again.fit(case.X, LABELS).n_passes_ == model.fit(case.X, LABELS).n_passes_


@EVERY_KIND
def test_grid_search(kind):
    case = case_of(kind)
    X, y = case.X * 2, [NAMES[labels].tolist() for labels in LABELS] * 2
    model = case.model(tol=0.1)
    search = GridSearchCV(model, {"lam": [0.1, 10.0]}, cv=KFold(2), error_score="raise").fit(X, y)
    assert search.best_estimator_.score(X, y) == search.score(X, y)
    wanted = [clone(model).set_params(lam=0.1).fit(X[4:], y[4:]).score(X[:4], y[:4])]
    assert search.cv_results_["split0_test_score"][0] == wanted[0]


def test_nested_lists_as_features():
    """As ChainSVM takes sequences without edge features."""
    for kind in KINDS:
        case = case_of(kind)
        X = [(sample[0].tolist(), *sample[1:]) for sample in case.X]
        assert_array_equal(pack(case.model().fit(X, LABELS)), pack(case.model().fit(case.X, LABELS)))


class TestWarmStart:
    @EVERY_KIND
    @pytest.mark.parametrize("solver", ["auto", "bcfw"])
    def test_goes_on(self, kind, solver):
        case = case_of(kind)
        model = case.model(tol=0.1, warm_start=True, solver=solver).fit(case.X, LABELS)
        first = model.dual_
        model.set_params(tol=0.03).fit(case.X, LABELS)
        assert model.dual_ >= first - 1e-12
        assert_optimal(model, enumerated(case))
        assert model.fit(case.X, LABELS).status_ == "converged"

    @pytest.mark.parametrize("part", ["heads", "edges", "features", "edge_features", "mask"])
    def test_notices_other_data(self, part):
        case = case_of("cycle featured" if part == "edges" else "tree featured")
        model = case.model(tol=0.1, warm_start=True).fit(case.X, LABELS)
        X = [list(sample) for sample in case.X]
        if part == "heads":
            X[2][1] = [1, 2, -1, 2]
        elif part == "edges":
            X[2][1] = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]  # the first one turned around
        elif part == "mask":
            model.set_params(transition_mask=MASK.allowed)
        else:
            X[2][0 if part == "features" else -1] = X[2][0 if part == "features" else -1] + 1.0
        with pytest.warns(UserWarning, match="starting afresh"):
            model.fit(list(map(tuple, X)), LABELS)


class Watcher:
    def __init__(self, last=None):
        self.last, self.models = last, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
        self.models.append(fitted_estimator)
        return len(self.models) == self.last


@EVERY_KIND
def test_callbacks(kind):
    case, watcher = case_of(kind), Watcher(last=2)
    model = case.model(tol=0, solver="bcfw").set_callbacks(watcher).fit(case.X, LABELS)
    assert model.status_ == "callback"
    assert len(model.history_["gap"]) == 2
    assert_array_equal(pack(watcher.models[-1]), pack(model))
    assert_array_equal(np.concatenate(watcher.models[-1].predict(case.X)), np.concatenate(model.predict(case.X)))


@EVERY_KIND
def test_threads_give_the_same(kind):
    case = case_of(kind)
    one, two = (case.model(tol=0.05, n_jobs=n_jobs).fit(case.X, LABELS) for n_jobs in (1, 2))
    assert_array_equal(pack(one), pack(two))


@EVERY_KIND
def test_regularization_path(kind):
    case = case_of(kind)
    path = regularization_path(case.model(), case.X, LABELS, eps=0.2, lam_min=0.1)
    model = path.estimator_at(LAM)
    reference = enumerated(case)
    optimum = reference.solve(LAM)[1]
    assert reference.primal(pack(model), LAM) <= optimum + 0.2 + 1e-9
    assert [len(labels) for labels in model.predict(case.X)] == [len(x) for x in case.nodes]
    assert 0 <= path.select(case.X, LABELS).score(case.X, LABELS) <= 1


def test_default_estimators_have_paths():
    case = case_of("tree")
    path = regularization_path(TreeSVM(), case.X, LABELS, sample_weight=[1, 2, 1, 1])
    assert len(path.estimator_at(path.breakpoints[-1]).predict(case.X)) == len(case.X)


def test_lam_grid():
    case = case_of("chain featured")
    path = lam_grid(case.model(), case.X, LABELS, lams=[1.0, LAM], tol=1e-3)
    assert_optimal(path.estimator_at(LAM).set_params(tol=1e-3), enumerated(case))
