"""Models chosen along a path, models for given lams, and pictures."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from path_data import follow, make_data
from sklearn.base import clone
from sklearn.metrics import f1_score, make_scorer

from maxmargin import ChainSVM, MulticlassSVM, lam_grid, regularization_path

pytestmark = pytest.mark.usefixtures("no_compilation")

BOTH = pytest.mark.parametrize("cls", [ChainSVM, MulticlassSVM])


class TestSelect:
    @BOTH
    def test_the_best_of_the_largest_lam(self, cls):
        path = follow(cls)
        assert path.scores is None
        model = path.select(*make_data(cls, seed=1))
        assert path.scores.shape == path.breakpoints.shape
        assert model.lam == path.breakpoints[np.flatnonzero(path.scores == path.scores.max())[0]]
        for lam, score in zip(path.breakpoints, path.scores, strict=True):
            assert path.estimator_at(lam).score(*make_data(cls, seed=1)) == score

    @BOTH
    def test_of_equals_the_largest_lam(self, cls):
        path = follow(cls)
        assert path.select(*make_data(cls), scoring=lambda model, X, y: 0.5).lam == path.breakpoints[0]

    @BOTH
    def test_a_function(self, cls):
        path = follow(cls)
        goal = path.breakpoints[-1]
        assert path.select(*make_data(cls), scoring=lambda model, X, y: -abs(model.lam - goal)).lam == goal

    @pytest.mark.parametrize("scoring", ["f1_macro", make_scorer(f1_score, average="macro")], ids=["name", "scorer"])
    def test_scorers(self, scoring):
        X, y = make_data(MulticlassSVM, seed=1)
        path = follow(MulticlassSVM)
        path.select(X, y, scoring=scoring)
        values = [f1_score(y, path.estimator_at(lam).predict(X), average="macro") for lam in path.breakpoints]
        assert path.scores.tolist() == values

    def test_names_must_be_known(self):
        with pytest.raises(ValueError, match="no_such"):
            follow(MulticlassSVM).select(*make_data(MulticlassSVM), scoring="no_such")


class TestPlot:
    @pytest.fixture(autouse=True)
    def no_window(self):
        pytest.importorskip("matplotlib").use("Agg")

    @BOTH
    def test_with_and_without_scores(self, cls):
        path = follow(cls)
        assert len(path.plot().axes) == 4
        path.select(*make_data(cls))
        assert len(path.plot().axes) == 5

    def test_heuristic(self):
        X, y = make_data(MulticlassSVM)
        path = regularization_path(MulticlassSVM(random_state=0), X, y, eps=0.2, lam_min=0.1, heuristic=True)
        for _ in range(2):
            path.plot()
            path.certify()

    def test_one_breakpoint(self):
        X, y = make_data(MulticlassSVM)
        regularization_path(MulticlassSVM(random_state=0), X, y, eps=50.0).plot()
        lam_grid(MulticlassSVM(random_state=0), X, y, lams=[1.0]).plot()

    def test_scores_of_an_earlier_select(self):
        path = follow(MulticlassSVM, lam_min=1.0)
        path.select(*make_data(MulticlassSVM))
        path.resume(lam_min=0.1)
        path.plot()


class TestGrid:
    @BOTH
    @pytest.mark.parametrize("warm_start", [True, False])
    def test_each_value_is_solved(self, cls, warm_start):
        X, y = make_data(cls)
        model = cls(tol=0.05, random_state=0)
        path = lam_grid(model, X, y, lams=[0.1, 1.0, 0.3, 1.0], warm_start=warm_start)
        assert path.breakpoints.tolist() == [1.0, 0.3, 0.1]
        assert np.all(path.gaps <= 0.05)  # the estimator's tol
        assert np.all(lam_grid(model, X, y, lams=[0.3], tol=0.01).gaps <= 0.01)
        if not warm_start:
            assert_array_equal(path.estimator_at(0.3).coef_, clone(model).set_params(lam=0.3).fit(X, y).coef_)

    def test_select(self):
        X, y = make_data(MulticlassSVM)
        path = lam_grid(MulticlassSVM(random_state=0), X, y, lams=[0.03, 100.0], sample_weight=np.ones(len(y)))
        assert path.select(X, y).lam == 0.03
