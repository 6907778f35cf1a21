"""Estimators with every solver: by name, with kernels, with weights kept >= 0, and what cannot be asked."""

import pickle

import matching_cases
import numpy as np
import pose_cases
import pytest
from test_graph_cut import make_graphs

from maxmargin import ChainSVM, GraphSVM, MatchingSVM, MulticlassSVM, regularization_path
from maxmargin.estimators import ChainSVMCV
from maxmargin.solvers import BlockFrankWolfe, CuttingPlane, ExponentiatedGradient, Perceptron, Subgradient
from maxmargin.solvers.cutting_plane import cuts
from structures.pairs import interpreted

PRESETS = ["subgradient", "perceptron", "cutting_plane", "exponentiated_gradient"]
UNCERTIFIED = ["subgradient", "perceptron"]
each_preset = pytest.mark.parametrize("preset", PRESETS)


@pytest.fixture(autouse=True)
def no_compilation(monkeypatch):
    monkeypatch.setattr(cuts, "best_mixture", cuts.best_mixture.cached)
    with interpreted():
        yield


def make_classes(n=12):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 2)) * 0.3 + np.array([[2, 0], [0, 2], [-2, -2]])[y], np.array(["a", "b", "c"])[y]


def make_sequences():
    X, y = make_classes()
    return [X[:4], X[4:6], X[6:]], [y[:4], y[4:6], y[6:]]


def settings(preset, **params):
    return {"solver": preset, "lam": 0.1, "tol": 1e-2, "max_passes": 30, "random_state": 0, **params}


@each_preset
@pytest.mark.parametrize("kind", [MulticlassSVM, ChainSVM])
def test_fits_and_predicts(kind, preset):
    X, y = make_classes() if kind is MulticlassSVM else make_sequences()
    model = kind(**settings(preset)).fit(X, y)
    assert model.score(X, y) == 1.0
    assert (model.status_ == "uncertified") == np.isnan(model.dual_) == (preset in UNCERTIFIED)
    assert (model.gap_ == np.inf) == (preset in UNCERTIFIED)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.coef_, model.coef_)


@each_preset
@pytest.mark.parametrize("kind", [MulticlassSVM, ChainSVM])
def test_linear_kernels_take_the_same_steps(kind, preset):
    X, y = make_classes() if kind is MulticlassSVM else make_sequences()
    given = settings(preset, tol=1e-3, max_passes=5)
    plain, kernel = (kind(**given, kernel=one).fit(X, y) for one in (None, "linear"))
    assert kernel.history_["primal"] == pytest.approx(plain.history_["primal"], abs=1e-4)
    if preset not in UNCERTIFIED:
        assert kernel.history_["dual"] == pytest.approx(plain.history_["dual"], abs=1e-4)
    if kind is MulticlassSVM:
        assert np.array_equal(kernel.predict(X), plain.predict(X))


@each_preset
def test_plots_of_what_is_not_certified(preset):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from maxmargin.plotting import plot_history

    model = MulticlassSVM(**settings(preset)).fit(*make_classes())
    figure = Figure()
    ax = plot_history(model, figure.subplots())
    figure.canvas.draw()
    drawn = ax.lines[0].get_ydata()
    assert np.array_equal(drawn, model.history_["primal"])


@pytest.mark.parametrize("preset", UNCERTIFIED)
def test_paths_say_that_they_need_certificates(preset):
    X, y = make_sequences()
    with pytest.raises(ValueError, match="needs certificates"):
        regularization_path(ChainSVM(**settings(preset)), X, y)
    with pytest.raises(ValueError, match="needs certificates"):
        ChainSVMCV(solver=preset, cv=3).fit(X, y)


BOUNDED = [Subgradient(), Perceptron(), CuttingPlane(), CuttingPlane("n")]


@pytest.mark.parametrize("solver", BOUNDED)
def test_cuts_and_poses_keep_their_weights_positive(solver):
    X, y = make_graphs()
    model = GraphSVM(inference="cut", **settings(solver, max_passes=4)).fit(X, y)
    assert np.all(np.concatenate([model.transitions_[None], model.edge_coef_])[:, 0, 1] <= 0)
    try:
        pose = pose_cases.model_of(solver=solver, max_passes=2).fit(pose_cases.X, pose_cases.Y)
    except TypeError as error:
        assert "decode" in str(error) and isinstance(solver, Perceptron)
    else:
        assert (pose.springs_.stiffness >= 0).all()


def test_expectations_that_are_not_there():
    for solver in ("exponentiated_gradient", ExponentiatedGradient()):
        for model, data in (
            (GraphSVM(inference="cut", **settings(solver)), make_graphs()),
            (pose_cases.model_of(solver=solver), (pose_cases.X, pose_cases.Y)),
        ):
            with pytest.raises((TypeError, ValueError), match=r"expectations|positive|>= 0|bounds") as caught:
                model.fit(*data)
            assert "Invalid parameter" not in str(caught.value)  # of scikit-learn: says nothing of the reason
            assert not hasattr(model, "coef_")
    with pytest.raises(TypeError, match="expectations"):
        model = matching_cases.model_of(solver="exponentiated_gradient")
        model.fit(matching_cases.as_given("arrays"), matching_cases.Y)


def test_matchings_by_other_solvers():
    for solver in (Subgradient(), CuttingPlane(), Perceptron()):
        model = matching_cases.model_of(solver=solver, max_passes=3)
        try:
            model.fit(matching_cases.as_given("arrays"), matching_cases.Y)
        except TypeError as error:
            assert "decode" in str(error) and isinstance(solver, Perceptron)
        else:
            assert isinstance(model, MatchingSVM) and np.isfinite(model.primal_)


def test_a_warm_start_with_another_kind_of_state_begins_afresh():
    X, y = np.eye(6), np.arange(6) % 3
    model = MulticlassSVM(solver=CuttingPlane("one"), warm_start=True).fit(X, y)
    model.set_params(solver=CuttingPlane("n"))
    with pytest.warns(UserWarning, match="goes on with the solver of the earlier fit"):
        model.fit(X, y)
    model.set_params(solver=BlockFrankWolfe(step="pairwise")).fit(X, y)  # the same blocks
