"""PoseSVM: the problem it solves and its answers, every pose looked at."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pose_cases import LAM, SHAPES, X, Y, enumerated, loss_of, model_of, outputs, score_of
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from maxmargin import PoseSVM, regularization_path
from maxmargin.solvers import BlockFrankWolfe
from maxmargin.structures.relations import find_anchors, nearest_types, steadiest_tree

pytestmark = pytest.mark.usefixtures("no_compilation")


def assert_optimal(model, weight=None):
    """The objective is that of the weights, and the certificate encloses the optimum under the constraints."""
    _, optimum = enumerated(model, weight)
    assert model.status_ == "converged"
    assert model.dual_ - 1e-7 <= optimum <= model.primal_ + 1e-7
    assert 0 <= model.gap_ <= model.tol
    assert (model.springs_.stiffness >= 0).all()


OPTIONS = {
    "plain": {},
    "one type": {"n_types": 1},
    "its own tree": {"parents": None},
    "alone": {"parents": [-1, -1, -1]},
    "radius by parts": {"radius": (0, 1)},
}


@pytest.mark.parametrize("option", OPTIONS)
def test_optimum(option):
    assert_optimal(model_of(tol=5e-3, **OPTIONS[option]).fit(X, Y))


def test_optimum_with_sample_weights():
    weight = [1, 2, 0, 3, 0.5]
    assert_optimal(model_of(tol=5e-3).fit(X, Y, sample_weight=weight), weight)
    kept = [0, 1, 3, 4]
    removed = model_of(lam=None, tol=0.1).fit(X, Y, sample_weight=[1, 1, 0, 1, 1])
    without = model_of(lam=None, tol=0.1).fit([X[i] for i in kept], [Y[i] for i in kept])
    assert_array_equal(removed.coef_, without.coef_)


@pytest.mark.parametrize("solver", ["bcfw", "fw", BlockFrankWolfe("gap", cache=True)], ids=str)
def test_every_solver(solver):
    assert_optimal(model_of(solver=solver, tol=5e-2).fit(X, Y))


def test_attributes_mean_what_they_say():
    """Scores by the attributes are those the solver saw; so are the loss and the best poses."""
    model = model_of(tol=0.05).fit(X, Y)
    own = model.encode(X, Y).problem.structure
    rng = np.random.default_rng(0)
    w = rng.normal(size=own.n_features)
    w[own.model.stiffness_places()] = rng.random(len(own.model.stiffness_places()))
    model.coef_, model.springs_ = own.model.unpack(w).values()
    for i, shape in enumerate(SHAPES):
        every = list(outputs(shape, model.parents_, 2))
        scores = np.array([score_of(model, X[i], pose) for pose in every])
        losses = np.array([loss_of(Y[i], pose.positions, 2.0) for pose in every])
        for j in rng.integers(len(every), size=10):
            assert own.joint_feature(i, every[j]) @ w == pytest.approx(scores[j])
            assert own.loss(i, every[j]) == pytest.approx(losses[j])
        found = own.max_oracle(w, i)
        assert score_of(model, X[i], found) + own.loss(i, found) == pytest.approx((scores + losses).max())
        predicted = model.predict([X[i]])[0]
        same = [score for pose, score in zip(every, scores, strict=True) if np.array_equal(pose.positions, predicted)]
        assert max(same) == pytest.approx(scores.max())
        assert own.loss(i, own.y[i]) == 0.0


def test_springs_that_would_push_are_held_at_zero():
    """The second part is two columns from the first, on either side, never between: pushing it away would be best."""
    image = np.zeros((1, 5, 1))
    image[0, 2] = 1.0
    poses = [[(2, 0), (0, 0)], [(2, 0), (4, 0)]]
    model = model_of(parents=[-1, 0], n_types=1, tol=1e-2).fit([image] * 2, poses)
    assert model.springs_.stiffness[1, 0, 0] == 0.0


def test_forms_of_input():
    model = model_of(tol=0.1).fit(X, Y)
    again = model_of(tol=0.1).fit([x.tolist() for x in X], np.array(Y, float))
    assert_array_equal(model.coef_, again.coef_)
    images = np.array([X[0], X[4]])
    assert_array_equal(model.predict(images), model.predict([X[0], X[4]]))
    assert model.predict(X).shape == (5, 3, 2) and model.predict(X).dtype == np.int64
    before = [x.copy() for x in X]
    model.predict(X)
    assert all(map(np.array_equal, before, X))


def test_score():
    model = model_of(tol=0.1).fit(X, Y)
    losses = [loss_of(y, found, 2.0) for y, found in zip(Y, model.predict(X), strict=True)]
    assert model.score(X, Y) == pytest.approx(1 - np.mean(losses))
    assert model.score(X, model.predict(X)) == 1.0
    weight = [0, 1, 0, 0, 3]
    assert model.score(X, Y, sample_weight=weight) == pytest.approx(1 - np.average(losses, weights=weight))


class TestRelations:
    def test_tree(self):
        """Parts that keep their distance go together."""
        rng = np.random.default_rng(0)
        root = rng.integers(20, 80, size=(50, 2))
        arm = root + rng.integers(-8, 9, size=(50, 2))
        hand = arm + rng.integers(-2, 3, size=(50, 2))
        positions = np.stack([root, hand, arm], axis=1)
        assert steadiest_tree(positions, np.ones(50)).tolist() == [-1, 2, 0]
        assert steadiest_tree(positions[:, :1], np.ones(50)).tolist() == [-1]
        assert sorted(steadiest_tree(positions[:1], np.ones(1)).tolist())[0] == -1  # nothing varies: any tree
        assert steadiest_tree(np.concatenate([positions[:, :1]] * 3, axis=1), np.ones(50)).tolist().count(-1) == 1

    def test_anchors(self):
        apart = np.array([(5, 0), (5, 1), (-5, 0), (-5, -1), (5, 2)])
        positions = np.stack([np.full_like(apart, 10), apart + 10], axis=1)
        parents = np.array([-1, 0])
        anchors = find_anchors(positions, parents, 2, np.ones(5))
        assert_allclose(sorted(anchors[1].tolist()), [[-5.0, -0.5], [5.0, 1.0]])
        types, squares = nearest_types(positions, parents, anchors)
        assert (types[:, 0] == -1).all() and (squares[:, 0] == 0).all()
        assert_allclose(anchors[1][types[:, 1], 0], [5, 5, -5, -5, 5])
        assert_allclose(squares[:, 1], [1, 0, 0.25, 0.25, 1])
        assert_allclose(find_anchors(positions, parents, 1, np.array([1, 0, 0, 0, 1]))[1], [[5, 1]])

    def test_fewer_displacements_than_types(self):
        assert_optimal(model_of(n_types=3, parents=[-1, 0, -1], tol=5e-2).fit(X, Y))
        positions = np.array([[(0, 0), (1, 0)]] * 3)
        assert_allclose(find_anchors(positions, np.array([-1, 0]), 3, np.ones(3))[1], [[1, 0]] * 3)


def test_signature_clone_and_pickle():
    assert repr(PoseSVM(0.1, n_types=3)) == "PoseSVM(lam=0.1, n_types=3)"
    model = model_of(tol=0.1)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model.fit(X, Y)))
    assert_array_equal(again.predict(X), model.predict(X))


def test_grid_search():
    grid = {"lam": [0.1, 10.0], "n_types": [1, 2]}
    search = GridSearchCV(model_of(tol=0.2), grid, cv=KFold(2), error_score="raise").fit(X, Y)
    assert search.best_estimator_.score(X, Y) == search.score(X, Y)


def test_path():
    path = regularization_path(model_of(), X, Y, eps=0.2, lam_min=0.1)
    model = path.estimator_at(LAM)
    assert (model.springs_.stiffness >= 0).all()
    assert model.dual_ - 1e-7 <= enumerated(model_of())[1] <= model.primal_ + 1e-7


@pytest.mark.parametrize("part", ["features", "radius", "n_types", "parents"])
def test_warm_start_notices_other_data(part):
    model = model_of(tol=0.2, warm_start=True).fit(X, Y)
    images = [x.copy() for x in X]
    if part == "features":
        images[1][0, 0] += 1.0  # where no true part is
    changes = {"radius": {"radius": 3.0}, "n_types": {"n_types": 1}, "parents": {"parents": [2, -1, 1]}}
    with pytest.warns(UserWarning, match="starting afresh"):
        model.set_params(**changes.get(part, {})).fit(images, Y)


def test_warm_start_goes_on():
    model = model_of(tol=0.2, warm_start=True).fit(X, Y)
    first = model.dual_
    assert model.set_params(tol=1e-2).fit(X, Y).dual_ >= first - 1e-12
    assert_optimal(model)
