"""Estimators that choose lam by cross-validation along paths."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from path_data import fitted, flat, make_cv, make_data, single_of
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold, cross_val_score

from maxmargin import ChainSVMCV, MulticlassSVMCV, regularization_path
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
    assert model.lam_ == model.lams_[np.flatnonzero(mean == mean.max())[0]]
    assert model.path_oracle_calls_ > 0


@BOTH
def test_scores_are_those_of_the_folds_paths(cls):
    X, y = make_data(cls)
    folds = list(KFold(2).split(X))
    model = make_cv(cls, cv=folds).fit(X, y)
    take = (lambda of, rows: [of[i] for i in rows]) if cls is ChainSVMCV else (lambda of, rows: of[rows])
    for (train, test), scores in zip(folds, model.scores_, strict=True):
        path = regularization_path(single_of(model), take(X, train), take(y, train), eps=0.3, lam_min=0.05)
        own = [path.estimator_at(lam).score(take(X, test), take(y, test)) for lam in model.lams_]
        assert scores == pytest.approx(own)
        assert set(path.breakpoints[path.breakpoints >= model.lams_[-1]]) <= set(model.lams_)


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
        assert own - single == {"eps", "kappa", "lam_min", "heuristic", "cv", "scoring"}
        assert single - own == {"lam", "warm_start"}
        for name in own & single:
            assert cls().get_params()[name] == cls.single().get_params()[name]
        assert set(inspect.signature(cls).parameters) == own

    @BOTH
    def test_set_and_clone(self, cls):
        model = cls(eps=0.5, solver=BlockFrankWolfe(gap_every=3)).set_params(cv=4, solver__gap_every=7)
        assert model.get_params()["cv"] == 4
        twin = clone(model)
        assert (twin.eps, twin.cv, twin.solver.gap_every) == (0.5, 4, 7)
        assert twin.solver is not model.solver
        assert repr(twin) == repr(model)
        assert repr(cls(eps=0.5, kernel="rbf")) == f"{cls.__name__}(eps=0.5, kernel='rbf')"

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
    def test_five_by_default(self, cls):
        X, y = make_data(cls, 25)
        assert len(make_cv(cls, cv=None, eps=1.0).fit(X, y).scores_) == 5

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
            return -model.lam

        model = make_cv(cls, scoring=lowest).fit(X, y)
        assert model.lam_ == model.lams_[-1]
        assert set(seen) == {cls.single}

    def test_scoring_by_name(self):
        X, y = make_data(MulticlassSVMCV)
        plain, named = (make_cv(MulticlassSVMCV, scoring=scoring).fit(X, y) for scoring in (None, "accuracy"))
        assert_array_equal(plain.scores_, named.scores_)
        with pytest.raises(ValueError, match="no_such"):
            make_cv(MulticlassSVMCV, scoring="no_such").fit(X, y)

    @BOTH
    def test_heuristic_paths(self, cls):
        X, y = make_data(cls)
        model = make_cv(cls, heuristic=True).fit(X, y)
        assert model.gap_ <= 0.05  # the final fit is certified
        assert model.lam_ in model.lams_

    def test_labels_of_one_fold_only(self):
        X, y = make_data(ChainSVMCV)
        y = [labels.copy() for labels in y]
        y[0][0] = "dog"
        model = make_cv(ChainSVMCV).fit(X, y)
        assert "dog" in model.classes_
