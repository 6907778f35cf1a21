"""MatchingSVM: the problem it solves and its answers, every matching looked at; what it refuses."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from matching_cases import (
    DENSE,
    IGNORED,
    LAM,
    PERFECT,
    SHAPES,
    Y,
    as_given,
    assert_optimal,
    enumerated,
    joint_feature,
    model_of,
    outputs,
    pack,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from maxmargin import MatchingSVM, regularization_path
from maxmargin.solvers import BlockFrankWolfe

pytestmark = pytest.mark.usefixtures("no_compilation")

KINDS = pytest.mark.parametrize("kind", ["arrays", "candidates", "sparse"])


OPTIONS = {
    "plain": ({}, {}),
    "sum": ({"loss": "hamming_sum"}, {"normalize": False}),
    "cost": ({"cost_matrix": [[0, 0.5], [3, 0]]}, {"cost": (0.5, 3)}),
    "no cost of false links": ({"cost_matrix": [[0, 0], [1.0, 0]]}, {"cost": (0, 1)}),
    "no intercept": ({"fit_intercept": False}, {"intercept": False}),
}


@KINDS
@pytest.mark.parametrize("option", OPTIONS)
def test_optimum(kind, option):
    params, options = OPTIONS[option]
    assert_optimal(model_of(**params).fit(as_given(kind), Y), enumerated(kind, **options))


@KINDS
def test_optimum_of_perfect_matchings(kind):
    model = model_of(perfect=True).fit(as_given(kind, PERFECT), [Y[i] for i in PERFECT])
    assert_optimal(model, enumerated(kind, PERFECT, perfect=True))
    predicted = model.predict(as_given(kind, PERFECT))
    assert [len(links) for links in predicted] == [SHAPES[i][0] for i in PERFECT]


@KINDS
def test_optimum_with_ignored_links(kind):
    model = model_of(cost_matrix=[[0, 1], [2, 0]]).fit(as_given(kind), Y, ignored=IGNORED)
    assert_optimal(model, enumerated(kind, cost=(1, 2), ignored=IGNORED))
    matrices = [np.zeros(shape, bool) for shape in SHAPES]
    for matrix, links in zip(matrices, IGNORED, strict=True):
        matrix[tuple(np.array(links, int).reshape(-1, 2).T)] = True
    assert_array_equal(
        pack(model), pack(model_of(cost_matrix=[[0, 1], [2, 0]]).fit(as_given(kind), Y, ignored=matrices))
    )
    weight = [1, 2, 0, 3, 1, 0.5]
    model = model_of().fit(as_given(kind), Y, sample_weight=weight, ignored=IGNORED)
    assert_optimal(model, enumerated(kind, weight=weight, ignored=IGNORED))


def test_optimum_of_perfect_matchings_with_ignored_links():
    ignored = [[(0, 0), (0, 1)], [(0, 2)], []]
    model = model_of(perfect=True).fit(as_given("arrays", PERFECT), [Y[i] for i in PERFECT], ignored=ignored)
    of_all = dict(zip(PERFECT, ignored, strict=True))
    assert_optimal(model, enumerated("arrays", PERFECT, perfect=True, ignored=of_all))


def test_ignored_links_do_not_score():
    x = np.array([[[2.0], [-1.0]], [[-1.0], [2.0]]])
    model = model_of(lam=0.1).fit([x], [[(0, 0), (1, 1)]])
    assert model.score([x], [[(0, 0)]]) == pytest.approx(2 / 3)
    assert model.score([x], [[(0, 0)]], ignored=[[(1, 1), (0, 0)]]) == 1.0
    path = regularization_path(model, [x] * 2, [[(0, 0)]] * 2, ignored=[[(1, 1)]] * 2)
    path.select([x], [[(0, 0)]], ignored=[[(1, 1)]])
    assert path.scores[-1] == 1.0


@KINDS
def test_optimum_with_sample_weights(kind):
    weight = [1, 2, 0, 3, 1, 0.5]
    model = model_of().fit(as_given(kind), Y, sample_weight=weight)
    assert_optimal(model, enumerated(kind, weight=weight))
    repeated = model_of(lam=None, tol=1e-4).fit([DENSE[0]] * 2 + [DENSE[1]], [Y[0]] * 2 + [Y[1]])
    weighted = model_of(lam=None, tol=1e-4).fit([DENSE[0], DENSE[2], DENSE[1]], [Y[0], Y[2], Y[1]], [2, 0, 1])
    assert max(repeated.dual_, weighted.dual_) <= min(repeated.primal_, weighted.primal_) + 1e-12
    removed = model_of(lam=None).fit(DENSE, Y, sample_weight=[1, 1, 0, 1, 1, 1])
    assert_array_equal(pack(removed), pack(model_of(lam=None).fit(DENSE[:2] + DENSE[3:], Y[:2] + Y[3:])))


@pytest.mark.parametrize(
    "solver",
    ["bcfw", "bcpfw", "fw", BlockFrankWolfe(step="away", cache=True), BlockFrankWolfe("gap", "weighted")],
    ids=str,
)
def test_every_solver(solver):
    assert_optimal(model_of(solver=solver, tol=2e-2).fit(as_given("sparse"), Y), enumerated("sparse"))


def test_kinds_of_samples_may_mix():
    mixed = [as_given("arrays")[0], as_given("sparse")[1], as_given("candidates")[2], tuple(as_given("sparse")[3])]
    mixed += [DENSE[4].tolist() or DENSE[4], DENSE[5].tolist()]
    assert_array_equal(pack(model_of().fit(mixed, Y)), pack(model_of().fit(as_given("sparse"), Y)))


def matrix_of(links, shape, kind=bool):
    table = np.zeros(shape, kind)
    for pair in links:
        table[pair] = 1
    return table


@pytest.mark.parametrize(
    "form",
    [
        lambda links, shape: np.array(links, float).reshape(-1, 2),
        lambda links, shape: links[::-1],
        matrix_of,
        lambda links, shape: sp.csr_matrix(matrix_of(links, shape, int)),
        lambda links, shape: matrix_of(links, shape, float) if shape[1] != 2 else links,
    ],
    ids=["floats", "another order", "bool", "sparse", "0/1"],
)
def test_forms_of_links(form):
    given = [form(links, shape) for links, shape in zip(Y, SHAPES, strict=True)]
    X = as_given("arrays")
    model = model_of(tol=0.1).fit(X, given)
    assert_array_equal(pack(model), pack(model_of(tol=0.1).fit(X, Y)))
    assert model.score(X, given) == model.score(X, Y)


def test_arrays_for_lists():
    X, y = np.array([DENSE[0], DENSE[5]]), np.array([Y[0], Y[5]])
    assert_array_equal(pack(model_of().fit(X, y)), pack(model_of().fit(list(X), list(y))))


@KINDS
def test_predictions(kind):
    X = as_given(kind)
    model = model_of(tol=0.1).fit(X, Y)
    tops, values = model.predict_topk(X, 5)
    for i, (links, peaks) in enumerate(zip(model.predict(X), model.decision_function(X), strict=True)):
        every = outputs(kind, i)
        scores = np.array([joint_feature(i, y) @ pack(model) for y in every])
        assert links.dtype.kind == "i" and links.shape[1:] == (2,)
        assert scores[every.index(tuple(map(tuple, links.tolist())))] == pytest.approx(scores.max())
        assert_array_equal(tops[i][0], links)
        assert values[i] == pytest.approx(np.sort(scores)[::-1][:5])
        found = [tuple(map(tuple, top.tolist())) for top in tops[i]]
        assert len(set(found)) == min(5, len(every))
        assert [scores[every.index(top)] for top in found] == pytest.approx(values[i].tolist())
        assert peaks.shape == SHAPES[i]
        for pair in itertools.product(*map(range, SHAPES[i])):
            having = [score for y, score in zip(every, scores, strict=True) if pair in y]
            assert peaks[pair] == pytest.approx(max(having, default=-np.inf))


def test_score():
    model = model_of(tol=0.1).fit(DENSE, Y)
    found = [set(map(tuple, links.tolist())) for links in model.predict(DENSE)]
    both = sum(len(a & set(b)) for a, b in zip(found, Y, strict=True))
    assert model.score(DENSE, Y) == pytest.approx(
        2 * both / sum(len(a) + len(b) for a, b in zip(found, Y, strict=True))
    )
    assert model.score(DENSE, model.predict(DENSE)) == 1.0
    assert model.score([DENSE[4]], [[]]) == 1.0  # nothing to find, nothing found
    weight = [1, 0, 0, 0, 0, 2]
    repeated = [DENSE[0], DENSE[5], DENSE[5]], [Y[0], Y[5], Y[5]]
    assert model.score(DENSE, Y, sample_weight=weight) == pytest.approx(model.score(*repeated))
    # all links of the truth count, though no matching has them, and no candidate is there for some
    many = [[(r, c) for r in range(n) for c in range(m)] for n, m in SHAPES]
    sparse_model, X = model_of(tol=0.1).fit(as_given("sparse"), Y), as_given("sparse")
    found = sum(map(len, sparse_model.predict(X)))
    assert sparse_model.score(X, many) == pytest.approx(2 * found / (found + sum(map(len, many))))


def test_learns():
    rng = np.random.default_rng(0)
    w, X, y = np.array([2.0, -1.0, 0.5]), [], []
    for _ in range(30):
        x = rng.normal(size=(4, 5, 3))
        links = MatchingSVM()
        links._become({"coef_": w, "intercept_": -1.0, "n_features_in_": 3, "_perfect": False})
        X.append(x)
        y += links.predict([x])
    model = MatchingSVM(lam=0.01, random_state=0).fit(X[:20], y[:20])
    assert model.score(X[20:], y[20:]) > 0.9


def test_there_are_no_marginals():
    assert not hasattr(model_of(tol=0.5).fit(DENSE, Y), "predict_marginals")


def test_signature_clone_and_pickle():
    assert repr(MatchingSVM(0.1, perfect=True)) == "MatchingSVM(lam=0.1, perfect=True)"
    cost = np.array([[0.0, 1.0], [2.0, 0.0]])
    model = model_of(cost_matrix=cost, tol=0.1)
    assert clone(model).get_params().keys() == model.get_params().keys() and model.cost_matrix is cost
    again = pickle.loads(pickle.dumps(model.fit(DENSE, Y)))
    for one, other in zip(again.predict(DENSE), model.predict(DENSE), strict=True):
        assert_array_equal(one, other)


@KINDS
def test_grid_search(kind):
    X, y = as_given(kind), Y
    grid = {"lam": [0.1, 10.0], "cost_matrix": [None, [[0, 1], [3, 0]]]}
    search = GridSearchCV(model_of(tol=0.1), grid, cv=KFold(2), error_score="raise").fit(X, y)
    assert search.best_estimator_.score(X, y) == search.score(X, y)


def test_a_seed_repeats_a_run():
    assert_array_equal(pack(model_of().fit(DENSE, Y)), pack(model_of().fit(DENSE, Y)))


def test_path():
    path = regularization_path(model_of(), DENSE, Y, eps=0.1, lam_min=0.1)
    model = path.estimator_at(LAM)
    reference = enumerated("arrays")
    assert_allclose(model.primal_, reference.primal(pack(model), LAM), rtol=1e-9)
    assert model.dual_ - 1e-7 <= reference.solve(LAM)[1] <= model.primal_ + 1e-7
    assert path.select(DENSE, Y).score(DENSE, Y) >= 0


class TestWarmStart:
    def test_goes_on(self):
        model = model_of(tol=0.1, warm_start=True).fit(DENSE, Y)
        first = model.dual_
        model.set_params(tol=1e-3).fit(DENSE, Y)
        assert model.dual_ >= first - 1e-12
        assert_optimal(model, enumerated("arrays"))

    @pytest.mark.parametrize("part", ["cost_matrix", "loss", "perfect", "features", "candidates"])
    def test_notices_other_data(self, part):
        """Also of pairs that are not true, which a user's own structure could not know of."""
        X, y = as_given("candidates", PERFECT), [Y[i] for i in PERFECT]
        model = model_of(tol=0.1, warm_start=True).fit(X, y)
        changes = {"cost_matrix": [[0, 1], [2, 0]], "loss": "hamming_sum", "perfect": True}
        model.set_params(**{name: value for name, value in changes.items() if name == part})
        wrong = next(i for i, pair in enumerate(X[1].pairs.tolist()) if tuple(pair) not in y[1])
        if part == "features":
            features = X[1].features.copy()
            features[wrong] += 1.0
            X[1] = X[1]._replace(features=features)
        elif part == "candidates":
            X[1] = X[1]._replace(pairs=np.delete(X[1].pairs, wrong, 0), features=np.delete(X[1].features, wrong, 0))
        with pytest.warns(UserWarning, match="starting afresh"):
            model.fit(X, y)
