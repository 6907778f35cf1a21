"""scikit-learn's conventions: its own checks, callbacks, warm starts, threads, and data at the edge of sense."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from fit_cases import BOTH, Watcher, flat, make_data
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.callback import FitCallback, ProgressBar, ScoringMonitor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import ChainCRF, ChainSVM, ChainSVMCV, MulticlassSVM, MulticlassSVMCV, MultilabelSVM, regularization_path
from maxmargin.solvers import BlockFrankWolfe, FrankWolfe

SOLVERS = pytest.mark.parametrize("solver", ["auto", "bcfw", "fw"])

PER_SEQUENCE = (
    "a 2-d X without lengths is one sequence, so that one sample weight is due, and the check gives one a row; "
    "weights of sequences are tested in test_chain.py"
)
NEIGHBOURS = "the rows of a 2-d X without lengths are one sequence: the labels of a row depend on those beside it"
ORDER_OF_STEPS = (
    "asks for decision values equal to 1e-7, but repeated samples are other blocks, drawn in another order, and the "
    "iterates agree only to within the duality gap; test_multiclass.py compares the objectives up to the gaps"
)
THROUGH_THE_ORIGIN = (
    "asks that a class of huge weight be given nearly all points; without intercepts every boundary goes through the "
    "origin, in the midst of them"
)


ONE_COLUMN = (
    "gives classes other than 0 and 1 in one column, or none but them in one dimension, and y is a column a label"
)
BY_CLASS = (
    "estimators_dtypes",
    "sample_weights_pandas_series",
    "sample_weights_not_an_array",
    "sample_weights_shape",
    "sample_weights_not_overwritten",
    "classifier_data_not_an_array",
    "classifiers_one_label",
    "classifiers_one_label_sample_weights",
    "classifiers_classes",
    "classifiers_train",
    "classifier_not_supporting_multiclass",
    "fit2d_1feature",
)


def expected_failures(estimator):
    if isinstance(estimator, MultilabelSVM):
        order = ("sample_weight_equivalence_on_dense_data", "sample_weight_equivalence_on_sparse_data")
        reasons = {**dict.fromkeys(BY_CLASS, ONE_COLUMN), **dict.fromkeys(order, ORDER_OF_STEPS)}
        return {f"check_{name}": reason for name, reason in reasons.items()}
    if isinstance(estimator, MulticlassSVMCV):
        return expected_failures(MulticlassSVM())
    if isinstance(estimator, ChainSVM | ChainCRF):
        weights = ("not_an_array", "list", "pandas_series", "shape", "not_overwritten")
        return {
            **{f"check_sample_weights_{name}": PER_SEQUENCE for name in weights},
            "check_all_zero_sample_weights_error": PER_SEQUENCE,
            "check_sample_weight_equivalence_on_dense_data": PER_SEQUENCE,
            "check_sample_weight_equivalence_on_sparse_data": PER_SEQUENCE,
            "check_methods_sample_order_invariance": NEIGHBOURS,
            "check_methods_subset_invariance": NEIGHBOURS,
        }
    if estimator.solver == "fw":  # asks all samples at every step: no order of blocks
        return {}
    failures = {
        "check_sample_weight_equivalence_on_dense_data": ORDER_OF_STEPS,
        "check_sample_weight_equivalence_on_sparse_data": ORDER_OF_STEPS,
    }
    if not estimator.fit_intercept:
        failures["check_class_weight_classifiers"] = THROUGH_THE_ORIGIN
    return failures


@parametrize_with_checks(
    [
        MulticlassSVM(),
        MulticlassSVM(lam=0.1, solver="bcfw", n_jobs=2, fit_intercept=False),
        MulticlassSVM(solver="fw"),
        MulticlassSVM(solver=BlockFrankWolfe(averaging="weighted", line_search=False, gap_every=5), warm_start=True),
        MulticlassSVM(class_weight="balanced", tol=0.1),
        ChainSVM(),
        ChainSVM(lam=1.0, solver="fw", loss="hamming_sum", fit_intercept=False, fit_boundary=False),
        ChainCRF(),
        ChainCRF(lam=1.0, solver="lbfgs", fit_intercept=False, fit_boundary=False),
        ChainCRF(lam=0.1, l1=0.01),
        MulticlassSVMCV(cv=2, tol=0.1),
        MultilabelSVM(),
        ChainSVMCV(cv=[([0], [0])], lams=[1.0], tol=0.1),  # the one sequence that a 2-d X is
    ],
    expected_failed_checks=expected_failures,
    xfail_strict=True,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sklearn_check(estimator, check):
    check(estimator)


def test_what_kind_of_estimator():
    assert not isinstance(ChainSVM(), ClassifierMixin)
    assert not is_classifier(ChainSVM())
    assert is_classifier(MulticlassSVM())


class TestCallbacks:
    @BOTH
    @SOLVERS
    def test_stops_the_fit(self, cls, solver):
        X, y = make_data(cls)
        watcher = Watcher(lambda n: n == 2)
        assert isinstance(watcher, FitCallback)
        model = cls(tol=0, solver=solver, random_state=0).set_callbacks(watcher).fit(X, y)
        assert model.status_ == "callback"
        assert watcher.tasks == ["certificate", "certificate", "fit"]
        assert len(model.history_["gap"]) == 2
        assert watcher.torn_down == 1

    @BOTH
    def test_receives_models_that_predict(self, cls):
        X, y = make_data(cls)
        watcher = Watcher()
        model = cls(tol=1e-3, max_passes=50, solver=BlockFrankWolfe(gap_every=10), random_state=0)
        with pytest.warns(ConvergenceWarning):
            model.set_callbacks(watcher).fit(X, y)
        *certified, last = watcher.models
        assert len(certified) == len(model.history_["gap"])
        for one in (certified[-1], last):
            assert one is not model
            assert_array_equal(one.coef_, model.coef_)
            assert_array_equal(flat(one.predict(X)), flat(model.predict(X)))
        assert not np.any(certified[0].coef_)  # w = 0 is where Frank-Wolfe starts
        assert np.any(certified[1].coef_ != certified[-1].coef_)

    @BOTH
    def test_a_fit_does_not_depend_on_them(self, cls):
        X, y = make_data(cls)
        model = cls(tol=0.05, random_state=0)
        watched = clone(model).set_callbacks(Watcher()).fit(X, y)
        assert_array_equal(watched.coef_, model.fit(X, y).coef_)

    @BOTH
    def test_scoring_monitor(self, cls):
        X, y = make_data(cls)

        def scores(estimator, X, y, **metadata):
            return {"share": estimator.score(X, y, **metadata)}

        monitor = ScoringMonitor(scoring=scores)
        model = cls(tol=0.05, random_state=0).set_callbacks(monitor).fit(X, y)
        rows = [row for row in monitor.get_logs().data if row["task_name"] == "certificate"]
        assert len(rows) == len(model.history_["gap"])
        assert rows[-1]["share"] == model.score(X, y)

    def test_lengths_and_weights_come_along(self):
        X, y = make_data(ChainSVM)
        lengths, weight = [len(x) for x in X], np.arange(1.0, len(X) + 1)
        watcher = Watcher()
        model = ChainSVM(tol=0.1).set_callbacks(watcher)
        model.fit(np.vstack(X), np.concatenate(y), sample_weight=weight, lengths=lengths)
        assert watcher.metadata == {"lengths": lengths, "sample_weight": weight}
        shares = watcher.models[-1].score(np.vstack(X), np.concatenate(y), **watcher.metadata)
        assert shares == model.score(X, y, sample_weight=weight)

    @BOTH
    def test_progress_bar(self, cls, capsys):
        pytest.importorskip("rich")
        X, y = make_data(cls)
        assert cls(tol=0.1).set_callbacks(ProgressBar()).fit(X, y).status_ == "converged"

    @BOTH
    def test_own_progress_bar(self, cls, capsys):
        X, y = make_data(cls)
        cls(tol=0.1, verbose=1).fit(X, y)
        assert "gap" in capsys.readouterr().err
        cls(tol=0.1).fit(X, y)
        assert capsys.readouterr() == ("", "")


class TestWarmStart:
    @BOTH
    @SOLVERS
    def test_goes_on(self, cls, solver):
        X, y = make_data(cls)
        model = cls(tol=0, max_passes=40, warm_start=True, solver=solver, random_state=0)
        with pytest.warns(ConvergenceWarning):
            first = model.fit(X, y).history_
        with pytest.warns(ConvergenceWarning):
            second = model.fit(X, y).history_
        assert model.gap_ < first["gap"][-1]
        # Frank-Wolfe's dual never falls, so that this tells where the second fit began
        assert second["dual"][0] >= first["dual"][-1] - 1e-12

    @BOTH
    @SOLVERS
    def test_needs_fewer_passes(self, cls, solver):
        X, y = make_data(cls)
        model = cls(tol=0.05, warm_start=True, solver=solver, random_state=0, lam=0.2)
        first = model.fit(X, y).n_passes_
        assert model.fit(X, y).n_passes_ < first
        assert model.status_ == "converged"

    @BOTH
    @SOLVERS
    def test_without_it_fits_are_alike(self, cls, solver):
        X, y = make_data(cls)
        model = cls(tol=0.05, solver=solver, random_state=3)
        first = clone(model).fit(X, y)
        again = model.fit(X, y).fit(X, y)
        assert_array_equal(again.coef_, first.coef_)
        for column in ("passes", "oracle_calls", "primal", "dual", "gap"):
            assert_array_equal(again.history_[column], first.history_[column])

    @BOTH
    def test_another_lam_may_follow(self, cls):
        X, y = make_data(cls)
        model = cls(lam=1.0, tol=1e-2, warm_start=True, random_state=0).fit(X, y)
        fresh = clone(model).set_params(lam=0.5).fit(X, y)
        model.set_params(lam=0.5).fit(X, y)
        assert abs(model.primal_ - fresh.primal_) <= model.gap_ + fresh.gap_

    @BOTH
    @pytest.mark.parametrize("change", ["data", "labels", "solver"])
    def test_what_has_changed_starts_afresh(self, cls, change):
        X, y = make_data(cls)
        model = cls(tol=0.05, warm_start=True, random_state=0).fit(X, y)
        if change == "data":
            X = [x**2 for x in X] if cls is ChainSVM else X**2
        elif change == "labels":
            y = [labels[::-1] for labels in y] if cls is ChainSVM else y[::-1]
        else:
            model.set_params(solver="fw")
        with pytest.warns(UserWarning, match=f"{'solver' if change == 'solver' else 'data'}.*afresh") as caught:
            model.fit(X, y)
        assert caught[0].filename == __file__
        assert_array_equal(model.coef_, clone(model).fit(X, y).coef_)


class TestStopping:
    @BOTH
    def test_max_passes_warns(self, cls):
        X, y = make_data(cls)
        with pytest.warns(ConvergenceWarning, match="gap") as caught:
            model = cls(tol=1e-9, max_passes=3, random_state=0).fit(X, y)
        assert (model.status_, model.n_passes_) == ("max_passes", 3)
        assert model.gap_ > 1e-9
        assert caught[0].filename == __file__  # the line that called fit

    @BOTH
    def test_max_seconds(self, cls):
        X, y = make_data(cls)
        # Frank-Wolfe steps never close the gap; those of "auto" do, to the last digit
        model = cls(solver="bcfw", tol=0, max_passes=1e9, max_seconds=0.2, random_state=0).fit(X, y)
        assert model.status_ == "max_seconds"
        assert model.history_["seconds"][-1] < 5


@BOTH
@SOLVERS
def test_threads_change_nothing(cls, solver):
    X, y = make_data(cls, n=15)
    one = cls(tol=0.05, solver=solver, random_state=0).fit(X, y)
    two = clone(one).set_params(n_jobs=2).fit(X, y)
    every = clone(one).set_params(n_jobs=-1).fit(X, y)
    for other in (two, every):
        assert_array_equal(flat(other.predict(X)), flat(one.predict(X)))
        assert_allclose(other.coef_, one.coef_, rtol=1e-10)


@BOTH
def test_threads_change_no_path(cls):
    X, y = make_data(cls, n=15)
    one, two = (
        regularization_path(cls(random_state=0, n_jobs=n_jobs), X, y, eps=0.3, lam_min=0.1) for n_jobs in (None, 2)
    )
    assert_array_equal(two.breakpoints, one.breakpoints)
    for j in range(len(one)):
        assert_array_equal(two.weights(j), one.weights(j))


EDGES = {
    "one label": {"n_labels": 1},
    "two labels": {"n_labels": 2},
    "one sequence": {"n": 1},
    "more labels than samples": {"n": 2, "n_labels": 50},
    "huge features": {"scale": 1e8},
    "tiny features": {"scale": 1e-8},
    "zero features": {"scale": 0.0},
}


@BOTH
@SOLVERS
@pytest.mark.parametrize("lam", [None, 1e-12, 1e12])
@pytest.mark.parametrize("edge", EDGES)
def test_edges(cls, solver, lam, edge):
    X, y = make_data(cls, **EDGES[edge])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = cls(lam=lam, solver=solver, max_passes=30, random_state=0).fit(X, y)
        predicted, scores = flat(model.predict(X)), flat(model.decision_function(X))
    for name in ("coef_", "intercept_", "primal_", "dual_", "gap_"):
        assert np.all(np.isfinite(getattr(model, name))), name
    assert model.gap_ >= 0
    assert np.all(np.isfinite(scores))
    assert np.all(np.isin(predicted, flat(y)))
    if edge == "one label":
        assert model.score(X, y) == 1
        assert model.primal_ == 0
    if lam == 1e12 and edge != "huge features":
        assert_allclose(model.coef_, 0, atol=1e-6)


@BOTH
def test_one_position(cls):
    x = np.array([[1.0, 2.0]])
    model = cls().fit([x] if cls is ChainSVM else x, [["a"]] if cls is ChainSVM else ["a"])
    assert flat(model.predict([x] if cls is ChainSVM else x)).tolist() == ["a"]
    assert model.gap_ == 0


@BOTH
def test_solver_object_is_left_alone(cls):
    X, y = make_data(cls)
    solver = FrankWolfe(gap_every=5)
    before = solver.get_params()
    model = cls(solver=solver, tol=0.1).fit(X, y)
    assert model.solver is solver
    assert solver.get_params() == before
    assert sorted(vars(solver)) == sorted(before)
