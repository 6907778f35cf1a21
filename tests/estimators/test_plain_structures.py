"""What holds of every estimator over a structure in plain Python: matchings, boxes, poses, relaxed graphs."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import box_cases
import matching_cases
import numpy as np
import pose_cases
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks, get_tags

from maxmargin import BoxSVM, GraphSVM, MatchingSVM, PoseSVM
from maxmargin.solvers import ExponentiatedGradient
from maxmargin.solvers.presets import PRESETS, choose

pytestmark = [
    pytest.mark.usefixtures("no_compilation"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

TRIANGLE = [(0, 1), (1, 2), (2, 0)]


class Case(NamedTuple):
    model: Any
    X: list[Any]
    y: list[Any]

    def fit(self, X=None, y=None, sample_weight=None, **params):
        model = clone(self.model).set_params(tol=0.2, max_passes=10, random_state=0, **params)
        return model.fit(self.X if X is None else X, self.y if y is None else y, sample_weight)

    def structure(self):
        return self.model.encode(self.X, self.y).problem.structure


def graphs():
    rng = np.random.default_rng(0)
    return [(rng.normal(size=(3, 2)), TRIANGLE) for _ in range(4)], [[0, 1, 2], [1, 1, 0], [2, 0, 1], [0, 0, 2]]


CASES = {
    "matching": Case(MatchingSVM(0.2), matching_cases.as_given("candidates"), matching_cases.Y),
    **{kind: Case(BoxSVM(0.2), box_cases.X[kind], box_cases.Y) for kind in box_cases.KINDS},
    "pose": Case(PoseSVM(0.2, parents=pose_cases.PARENTS, radius=2.0), pose_cases.X, pose_cases.Y),
    "relaxed graph": Case(GraphSVM(0.2, inference="lp"), *graphs()),
}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
WITH_FEATURES = pytest.mark.parametrize("name", [name for name in CASES if name != "words"])


def assert_same(one, other):
    assert all(map(np.array_equal, one, other))


# what asks for expectations, or for log-losses
OF_FEW = {"exponentiated_gradient", "partial_linearization", "lbfgs"}


@EACH
@pytest.mark.parametrize("solver", sorted(set(PRESETS) - OF_FEW))
def test_every_solver(case, solver):
    if solver in ("svrg", "casimir") and case in (CASES["pose"], CASES["relaxed graph"]):
        with pytest.raises((TypeError, ValueError), match=r"keeps no bounds|best few outputs"):
            case.fit(solver=solver)
        return
    if solver == "gdmm" and case is not CASES["relaxed graph"]:
        with pytest.raises((TypeError, ValueError), match=r"keeps no bounds|needs sites and links"):
            case.fit(solver=solver)
        return
    model = case.fit(solver=solver)
    certifies = solver not in ("subgradient", "perceptron")
    assert np.isfinite(model.primal_) and np.isfinite(model.dual_) == certifies
    assert 0 <= model.score(case.X, case.y) <= 1


@pytest.mark.parametrize("solver", ["exponentiated_gradient", "partial_linearization"])
def test_some_solvers_need_expectations(solver):
    assert CASES["proposals"].fit(solver=solver).dual_ > 0
    with pytest.raises(TypeError, match="needs expectations over outputs"):
        CASES["matching"].fit(solver=solver)


def test_exponentiated_gradient_keeps_no_bounds():
    with pytest.raises(ValueError, match="weights must be >= 0 here, but ExponentiatedGradient keeps no bounds"):
        CASES["pose"].fit(solver=ExponentiatedGradient())


@EACH
def test_decoding_is_what_the_oracle_does_where_losses_do_not_matter(case):
    """Of weights so large that losses are nothing to them, both find outputs of the same score."""
    own, rng = case.structure(), np.random.default_rng(1)
    positive = case.model.encode(case.X, case.y).positive
    for _ in range(3):
        w = 1e7 * rng.normal(size=own.n_features)
        if positive is not None:
            w[positive] = abs(w[positive])
        for i in range(own.n_samples):
            scores = [dot(own.joint_feature(i, y), w) for y in (own.decode(w, i), own.max_oracle(w, i))]
            assert scores[0] == pytest.approx(scores[1], rel=1e-5)
            assert scores[0] >= dot(own.joint_feature(i, true_output(own, i)), w) - 1e-5 * abs(scores[0])


def dot(feature, w):
    return w[feature[0]] @ feature[1] if isinstance(feature, tuple) else feature @ w


def true_output(structure, i):
    return structure.truth(i) if hasattr(structure, "truth") else structure.y[i]


def test_expectations_of_proposals():
    own, rng = CASES["proposals"].structure(), np.random.default_rng(0)
    v = rng.normal(size=own.n_features)
    for i in range(own.n_samples):
        features = np.array([own.joint_feature(i, y) for y in range(len(own.losses[i]))])
        chances = np.exp(0.7 * own.losses[i] + features @ v)
        total = np.log(chances.sum())
        chances /= chances.sum()
        vector, loss, log_sum = own.exp_oracle(v, i, 0.7)
        assert vector == pytest.approx(chances @ features) and loss == pytest.approx(chances @ own.losses[i])
        assert log_sum == pytest.approx(total)


@EACH
def test_the_choice_of_a_solver_is_plain(case):
    assert type(choose(case.model.encode(case.X, case.y).problem).cache) is bool


WITHOUT_DATA = (
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
)


@pytest.mark.parametrize("cls", [MatchingSVM, BoxSVM, PoseSVM, GraphSVM])
@pytest.mark.parametrize("check", WITHOUT_DATA)
def test_checks_of_scikit_learn_that_need_no_data(cls, check):
    """Others give matrices, which none of these takes."""
    getattr(estimator_checks, check)(cls.__name__, cls())


@EACH
def test_scikit_learn_conventions(case):
    model = clone(case.model)
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(model, method, model.predict)(case.X)
    with pytest.raises(NotFittedError):
        model.score(case.X, case.y)
    assert get_tags(model).target_tags.required
    given = model.get_params(deep=False)
    fitted = case.fit()
    assert clone(fitted).get_params(deep=False).keys() == given.keys()
    stored = clone(model).set_params(tol=0.5, random_state=0)
    before = stored.get_params(deep=False)
    stored.fit(case.X, case.y)
    assert all(stored.get_params(deep=False)[name] is value for name, value in before.items())
    assert fitted.fit(case.X, case.y) is fitted
    again = pickle.loads(pickle.dumps(fitted))
    assert_same(again.predict(case.X), fitted.predict(case.X))
    assert_same(make_pipeline(FunctionTransformer(), fitted).predict(case.X), fitted.predict(case.X))
    with pytest.raises(ValueError, match="requires y"):
        clone(model).fit(case.X, None)
    with pytest.raises(ValueError, match="one weight per sample"):
        clone(model).fit(case.X, case.y, sample_weight=[1.0])


@EACH
def test_a_seed_repeats_a_run_and_verbose_changes_nothing(case, capsys):
    one, other = case.fit(), case.fit(verbose=1)
    assert "gap" in capsys.readouterr().err
    assert_array_equal(one.coef_, other.coef_)


def with_features(name, change):
    """Samples of which the features of the second are changed."""
    X = list(CASES[name].X)
    if name == "relaxed graph":
        X[1] = (change(X[1][0]), X[1][1])
    elif hasattr(X[1], "_fields"):
        X[1] = X[1]._replace(features=change(X[1].features))
    else:
        X[1] = change(X[1])
    return X


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("change", [np.asfortranarray, read_only, lambda x: x[::-1].copy()[::-1], lambda x: x.tolist()])
@WITH_FEATURES
def test_layouts_of_features(name, change):
    assert_array_equal(CASES[name].fit(with_features(name, change)).coef_, CASES[name].fit().coef_)


@WITH_FEATURES
def test_masked_features_are_refused(name):
    X = with_features(name, lambda x: np.ma.masked_array(x, np.ones(x.shape, bool)))
    with pytest.raises(ValueError, match=r"X, sample 1.*masked values are not supported"):
        CASES[name].fit(X)
    with pytest.raises(ValueError, match=r"X, sample 1.*masked values are not supported"):
        CASES[name].fit().predict(X)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of what is computed before the scores
@WITH_FEATURES
def test_features_whose_scores_overflow(name):
    X = with_features(name, lambda x: x * 1e250)
    with pytest.raises(FloatingPointError, match="features, costs or 1/lam are too large; rescale them"):
        CASES[name].fit(X)


@pytest.mark.parametrize("name", ["matching", "dense", "pose"])
def test_predictions_whose_scores_overflow(name):
    model = CASES[name].fit()
    model.coef_ = np.ones_like(model.coef_)
    with pytest.raises(ValueError, match=r"X, sample 1: scores must be .*; rescale its features"):
        model.predict(with_features(name, lambda x: np.full(x.shape, 1.7e308)))
