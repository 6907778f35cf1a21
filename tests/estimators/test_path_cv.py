"""Estimators that choose lam by cross-validation along paths."""

from __future__ import annotations

import inspect
import pickle
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from path_data import fitted, flat, make_cv, make_data, single_of
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold, cross_val_score

from maxmargin import ChainSVM, ChainSVMCV, GraphSVM, MatchingSVM, MulticlassSVMCV, TreeSVM, lam_grid
from maxmargin.estimators._path_cv import choose_lam, is_past_best
from maxmargin.solvers import BlockFrankWolfe

pytestmark = pytest.mark.usefixtures("no_compilation")

BOTH = pytest.mark.parametrize("cls", [ChainSVMCV, MulticlassSVMCV])
CHOSEN = ("lam_", "lams_", "scores_", "path_passes_", "path_oracle_calls_")


@BOTH
def test_the_lam_chosen_is_the_best(cls):
    X, y = make_data(cls)
    model = make_cv(cls, cv=3).fit(X, y)
    assert model.lam_ in model.lams_
    assert np.all(np.diff(model.lams_) < 0)
    assert model.scores_.shape == (3, len(model.lams_))
    mean = model.scores_.mean(axis=0)
    lost = model.scores_[:, [np.argmax(mean)]] - model.scores_
    alike = model.lams_[lost.mean(axis=0) <= lost.std(axis=0, ddof=1) / np.sqrt(3)]
    usual = single_of(model).fit(X, y).lam_
    assert model.lam_ == alike[np.argmin(np.abs(np.log(alike / usual)))]
    assert model.path_oracle_calls_ > 0


@BOTH
def test_of_given_values_the_best_is_chosen(cls):
    X, y = make_data(cls)
    model = make_cv(cls, cv=3, lams=[3.0, 1.0, 0.1, 0.01]).fit(X, y)
    mean = model.scores_.mean(axis=0)
    assert model.lam_ == model.lams_[np.flatnonzero(mean == mean.max())[0]]


@BOTH
def test_scores_are_those_of_the_folds_models(cls):
    X, y = make_data(cls)
    folds = list(KFold(2).split(X))
    model = make_cv(cls, cv=folds, tol=1e-3, eps=1e-3).fit(X, y)
    take = (lambda of, rows: [of[i] for i in rows]) if cls is ChainSVMCV else (lambda of, rows: of[rows])
    for (train, test), scores in zip(folds, model.scores_, strict=True):
        lams = model.lams_ * (len(y) / len(train))
        path = lam_grid(single_of(model), take(X, train), take(y, train), lams, tol=1e-4)
        own = [path.estimator_at(lam).score(take(X, test), take(y, test)) for lam in lams]
        assert np.mean(np.isclose(scores, own)) > 0.6  # a label may hang on the last digit of a gap


@BOTH
def test_values_are_a_factor_apart_around_the_usual_one(cls):
    X, y = make_data(cls)
    model = make_cv(cls).fit(X, y)
    assert model.lams_[:-1] / model.lams_[1:] == pytest.approx(3.0)
    folds = list(KFold(2).split(X)) if cls is ChainSVMCV else list(StratifiedKFold(2).split(X, y))
    train = folds[0][0]
    one = single_of(model)
    part = ([X[i] for i in train], [y[i] for i in train]) if cls is ChainSVMCV else (X[train], y[train])
    usual = one._regularization(one.encode(*part)) * len(train) / len(y)
    assert np.min(np.abs(np.log(model.lams_ / usual))) < 1e-9


@BOTH
def test_given_values_are_all_compared(cls):
    X, y = make_data(cls)
    model = make_cv(cls, lams=iter([0.1, 10.0, 1.0])).fit(X, y)
    assert model.lams_.tolist() == [10.0, 1.0, 0.1]
    assert model.lam_ in model.lams_


@pytest.mark.parametrize("target", [12.0, -4.0])
def test_the_search_follows_the_scores(target):
    X, y = make_data(ChainSVMCV)

    def peaked(model, X, y):
        return -abs(np.log(model.lam) - target)

    model = make_cv(ChainSVMCV, scoring=peaked, eps=0.01, tol=1e-4).fit(X, y)  # so that no weights serve two lam
    assert abs(np.log(2.0 * model.lam_) - target) <= np.log(
        3.0
    )  # half of the samples, twice the lam; neighbours may be alike
    assert model.lams_[0] > model.lam_ > model.lams_[-1]


class TestIsPastBest:
    def test_not_while_it_gets_better(self):
        assert not is_past_best(np.array([[0.1, 0.2], [0.2, 0.2], [0.3, 0.25]]))

    def test_a_loss_is_enough(self):
        assert is_past_best(np.array([[0.8, 0.7], [0.78, 0.68]]))
        assert is_past_best(np.array([[0.7, 0.7], [0.8, 0.7], [0.75, 0.68]]))

    def test_no_gain_in_the_mean_is_enough(self):
        assert is_past_best(np.array([[0.8, 0.7], [0.7999, 0.7001]]))
        assert is_past_best(np.array([[0.8, 0.7], [0.7, 0.75]]))

    def test_weights_that_serve_on_say_nothing(self):
        rows = [[0.8, 0.7]] * 5
        assert not is_past_best(np.array(rows[:4])) and is_past_best(np.array(rows))

    def test_one_fold(self):
        assert is_past_best(np.array([[0.8], [0.7]]))


@BOTH
def test_the_final_model_is_that_of_the_single_estimator(cls):
    X, y = make_data(cls)
    model = make_cv(cls).fit(X, y)
    single = single_of(model, lam=model.lam_).fit(X, y)
    for name in ("coef_", "intercept_", "classes_", "primal_", "dual_", "gap_", "status_", "n_passes_"):
        assert_array_equal(getattr(model, name), getattr(single, name))
    assert_array_equal(flat(model.predict(X)), flat(single.predict(X)))
    assert model.score(X, y) == single.score(X, y)
    assert model.gap_ <= 0.05


@BOTH
def test_fits_are_alike(cls):
    X, y = make_data(cls)
    model = make_cv(cls).fit(X, y)
    twin = clone(model).fit(X, y)
    for _ in range(2):
        assert (twin.lam_, twin.gap_) == (model.lam_, model.gap_)
        assert_array_equal(twin.scores_, model.scores_)
        assert_array_equal(twin.coef_, model.coef_)
        twin.fit(X, y)


class TestConventions:
    @BOTH
    def test_parameters(self, cls):
        own = set(cls().get_params(deep=False))
        single = set(cls.single().get_params(deep=False))
        assert own - single == {"lams", "eps", "cv", "scoring"}
        assert single - own == {"lam", "warm_start", "checkpoint", "checkpoint_every"}
        for name in own & single:
            assert cls().get_params()[name] == cls.single().get_params()[name]
        assert set(inspect.signature(cls).parameters) == own

    @BOTH
    def test_set_and_clone(self, cls):
        model = cls(eps=0.25, solver=BlockFrankWolfe(gap_every=3)).set_params(cv=4, solver__gap_every=7)
        assert model.get_params()["cv"] == 4
        twin = clone(model)
        assert (twin.eps, twin.cv, twin.solver.gap_every) == (0.25, 4, 7)
        assert twin.solver is not model.solver
        assert repr(twin) == repr(model)
        assert repr(cls(eps=0.25, kernel="rbf")) == f"{cls.__name__}(eps=0.25, kernel='rbf')"

    @BOTH
    def test_unknown_parameters(self, cls):
        for name in ("lam", "warm_start", "no_such"):
            with pytest.raises(TypeError, match=name):
                cls(**{name: 1})
            with pytest.raises(ValueError, match="Invalid parameter"):
                cls().set_params(**{name: 1})
        with pytest.raises(TypeError):
            cls(0.1)

    @BOTH
    def test_not_fitted(self, cls):
        X, _ = make_data(cls)
        with pytest.raises(NotFittedError):
            cls().predict(X)

    @BOTH
    def test_pickle(self, cls):
        X, y = make_data(cls)
        model = make_cv(cls).fit(X, y)
        twin = pickle.loads(pickle.dumps(model))
        assert twin.lam_ == model.lam_
        assert_array_equal(flat(twin.predict(X)), flat(model.predict(X)))
        assert repr(twin) == repr(model)

    @BOTH
    def test_inside_other_tools(self, cls):
        X, y = make_data(cls, 12)
        assert np.all(cross_val_score(make_cv(cls), X, y, cv=KFold(2), error_score="raise") > 0)
        search = GridSearchCV(make_cv(cls), {"eps": [0.3, 0.6]}, cv=KFold(2), error_score="raise").fit(X, y)
        assert search.best_params_["eps"] in (0.3, 0.6)

    @BOTH
    def test_the_splitter_is_left_alone(self, cls):
        X, y = make_data(cls)
        splitter = ShuffleSplit(2, random_state=0)
        model = make_cv(cls, cv=splitter).fit(X, y)
        assert model.cv is splitter


class TestFolds:
    @BOTH
    def test_kinds(self, cls):
        X, y = make_data(cls)
        folds = StratifiedKFold(2) if cls is MulticlassSVMCV else KFold(2)
        pairs = list(folds.split(X, y if cls is MulticlassSVMCV else None))
        models = [make_cv(cls, cv=cv).fit(X, y) for cv in (2, folds, pairs, iter(pairs))]
        for model in models[1:]:
            assert model.lam_ == models[0].lam_
            assert_array_equal(model.scores_, models[0].scores_)

    @BOTH
    def test_side_by_side(self, cls):
        X, y = make_data(cls)
        one, two = (make_cv(cls, cv=4, lams=[1.0, 0.1], n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
        assert_array_equal(one.scores_, two.scores_)  # in the order of the folds

    @BOTH
    def test_none_at_all(self, cls):
        X, y = make_data(cls)
        model = make_cv(cls, cv=iter([]))
        with pytest.raises(ValueError, match="cv has no folds"):
            model.fit(X, y)
        assert not fitted(model)

    @BOTH
    def test_three_by_default(self, cls):
        X, y = make_data(cls, 25)
        assert len(make_cv(cls, cv=None, eps=1.0).fit(X, y).scores_) == 3

    @BOTH
    def test_more_than_samples(self, cls):
        X, y = make_data(cls)
        model = make_cv(cls, cv=100)
        with pytest.raises(ValueError, match="n_splits=100"):
            model.fit(X, y)
        assert not fitted(model)

    @BOTH
    def test_scoring(self, cls):
        X, y = make_data(cls)
        seen = []

        def lowest(model, X, y):
            seen.append(type(model))
            assert model.lam_ == model.lam
            return -model.lam

        model = make_cv(cls, scoring=lowest, lams=[0.1, 1.0]).fit(X, y)
        assert model.lam_ == model.lams_[-1] == 0.1
        assert model.coef_.shape[0] == 3
        assert set(seen) == {cls.single}

    def test_scoring_by_name(self):
        X, y = make_data(MulticlassSVMCV)
        plain, named = (make_cv(MulticlassSVMCV, scoring=scoring).fit(X, y) for scoring in (None, "accuracy"))
        assert_array_equal(plain.scores_, named.scores_)
        with pytest.raises(ValueError, match="no_such"):
            make_cv(MulticlassSVMCV, scoring="no_such").fit(X, y)

    def test_chunks_are_judged_by_their_f1(self):
        X, y = make_data(ChainSVMCV)
        code = {"ant": "O", "bee": "B-x", "cat": "I-x"}
        chunks = [[code[label] for label in labels] for labels in y]
        by_default, by_name, by_share = (
            make_cv(ChainSVMCV, scoring=scoring).fit(X, chunks) for scoring in (None, "chunk_f1", "accuracy")
        )
        assert_array_equal(by_default.scores_, by_name.scores_)
        assert not np.array_equal(by_default.scores_, by_share.scores_)

    def test_labels_of_one_fold_only(self):
        X, y = make_data(ChainSVMCV)
        y = [labels.copy() for labels in y]
        y[0][0] = "dog"
        model = make_cv(ChainSVMCV).fit(X, y)
        assert "dog" in model.classes_


class TestChoosing:
    """The one function behind it, for any estimator that has a path."""

    def test_trees_and_graphs(self):
        X, y = make_data(ChainSVMCV)
        heads = [np.arange(-1, len(x) - 1) for x in X]
        edges = [np.stack([np.arange(len(x) - 1), np.arange(1, len(x))], axis=1) for x in X]
        for single, samples in (
            (TreeSVM(), list(zip(X, heads, strict=True))),
            (GraphSVM(), list(zip(X, edges, strict=True))),
        ):
            found = choose_lam(single.set_params(random_state=0, tol=0.05), samples, y, cv=2)
            assert found["scores_"].shape == (2, len(found["lams_"]))
            assert type(single)(lam=found["lam_"], random_state=0).fit(samples, y).score(samples, y) > 0.5

    def test_what_else_goes_with_a_sample(self):
        x = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.5, 0.2]]])
        given = {"ignored": [[(1, 1)]] * 6}
        found = choose_lam(MatchingSVM(random_state=0), [x] * 6, [[(0, 0)]] * 6, cv=2, **given)
        assert found["scores_"].max() == 1.0

    def test_stacked_sequences_and_weights(self):
        X, y = make_data(ChainSVMCV)
        weight = np.arange(len(y)) % 3 + 1.0
        single = ChainSVM(lam=123.0, random_state=0, tol=0.05)
        found = choose_lam(single, X, y, weight, cv=2)
        lengths = [len(x) for x in X]
        stacked = choose_lam(single, np.vstack(X), np.concatenate(y), weight, lengths=lengths, cv=2)
        assert_array_equal(found["scores_"], stacked["scores_"])
        assert single.lam == 123.0

    def test_nothing_judged_in_time_gives_the_usual_lam(self):
        X, y = make_data(ChainSVMCV)
        with pytest.warns(ConvergenceWarning, match="before any lam was judged; lam = "):
            found = choose_lam(ChainSVM(max_seconds=1e-9, random_state=0), X, y, cv=2)
        assert found["lam_"] > 0 and found["scores_"].shape == (2, 0)

    def test_a_limit_of_time_keeps_what_was_judged(self):
        X, y = make_data(ChainSVMCV)
        calls = []

        def slow(model, X, y):
            calls.append(1)
            if len(calls) == 3:  # under the second lam; later weights may be the same, and are not judged again
                time.sleep(0.6)
            return float(len(calls))

        with pytest.warns(ConvergenceWarning, match="choosing lam ended by max_passes or max_seconds"):
            found = choose_lam(ChainSVM(max_seconds=0.5, random_state=0, tol=0.05), X, y, cv=2, scoring=slow)
        assert 1 <= len(found["lams_"]) <= 3
