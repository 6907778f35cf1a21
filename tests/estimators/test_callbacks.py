"""Plain functions as callbacks of estimators."""

import pickle

import numpy as np
import pytest
from fit_cases import BOTH, Watcher, flat, make_data
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from maxmargin import ChainSVM, MulticlassSVM, MulticlassSVMCV
from maxmargin.solvers import BlockFrankWolfe, Record

OFTEN = BlockFrankWolfe(gap_every=1)


@BOTH
def test_a_function_is_told_every_record(cls):
    told = []
    model = cls(tol=1e-3, max_passes=20, solver=OFTEN, random_state=0).set_callbacks(told.append)
    model.fit(*make_data(cls))
    assert all(type(record) is Record for record in told)
    for name in ("passes", "seconds", "primal", "dual", "gap", "effective_passes"):
        assert [getattr(record, name) for record in told] == model.history_[name].tolist()


@BOTH
def test_a_true_answer_stops(cls):
    told = []
    model = cls(tol=0, solver=OFTEN).set_callbacks(lambda record: told.append(record) or len(told) == 3)
    model.fit(*make_data(cls))
    assert (model.status_, len(told), len(model.history_["gap"])) == ("callback", 3, 3)


@BOTH
def test_a_function_of_two_gets_the_model(cls):
    X, y = make_data(cls)
    scores, models = [], []

    def watch(record, model):
        scores.append(model.score(X, y))
        models.append(model)

    model = cls(tol=1e-6, max_passes=10, solver=OFTEN, random_state=0).set_callbacks(watch).fit(X, y)
    assert len(scores) == len(model.history_["gap"])
    assert scores[-1] == model.score(X, y)
    assert models[-1] is not model
    assert np.array_equal(flat(models[-1].predict(X)), flat(model.predict(X)))


def test_functions_and_callbacks_of_scikit_learn_go_together():
    watcher, told = Watcher(), []
    model = MulticlassSVM(tol=0.1).set_callbacks(watcher, told.append).fit(*make_data(MulticlassSVM))
    assert watcher.tasks == ["certificate"] * len(model.history_["gap"]) + ["fit"]
    assert len(told) == len(model.history_["gap"])


class Counter:
    def __init__(self):
        self.n = 0

    def __call__(self, record):
        self.n += 1

    def look(self, record, model):
        self.n += 10


def test_whatever_can_be_called():
    X, y = make_data(MulticlassSVM)
    counter = Counter()
    model = MulticlassSVM(tol=0.1).set_callbacks(counter, counter.look, lambda record, extra=3: False, print_nothing)
    model.fit(X, y)
    assert counter.n == 11 * len(model.history_["gap"])


def print_nothing(record, *others):
    assert not others


@pytest.mark.parametrize("wrong", [3, None, "print", Watcher, Counter])
def test_what_is_no_callback_is_refused(wrong):
    with pytest.raises(TypeError, match="a callback is a function of a record"):
        ChainSVM().set_callbacks(wrong)


def test_errors_of_a_function_leave_nothing_behind():
    def fail(record):
        raise LookupError("of the user")

    model = MulticlassSVM().set_callbacks(fail)
    with pytest.raises(LookupError, match="of the user"):
        model.fit(*make_data(MulticlassSVM))
    assert not hasattr(model, "coef_")


def test_clones_have_them_and_none_takes_them_away():
    X, y = make_data(MulticlassSVM)
    told = []
    model = MulticlassSVM(tol=0.1).set_callbacks(told.append)
    clone(model).fit(X, y)
    seen = len(told)
    assert seen > 0
    model.set_callbacks().fit(X, y)
    assert len(told) == seen


def test_search_and_pickle():
    X, y = make_data(MulticlassSVM, n=30)
    model = MulticlassSVM(tol=0.1).set_callbacks(print_nothing)
    search = GridSearchCV(model, {"lam": [0.1, 1.0]}, cv=2).fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert np.array_equal(again.predict(X), search.predict(X))


def test_cross_validated_estimators_take_functions():
    X, y = make_data(MulticlassSVM, n=40)
    told = []
    MulticlassSVMCV(eps=0.5, cv=2, random_state=0).set_callbacks(told.append).fit(X, y)
    assert all(type(record) is Record for record in told)
