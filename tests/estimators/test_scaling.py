"""Models that do not depend on units of features, costs and sample weights, on names of labels, on cuts of texts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin import BoxSVM, ChainSVM, Graph, GraphSVM, MatchingSVM, MulticlassSVM, PoseSVM, Proposals, Tree, TreeSVM
from maxmargin.datasets import load_dates
from maxmargin.estimators._scaling import LAM_OF_ONE, PLAIN, effective_count, spread_of
from maxmargin.structures.rows import KernelRows

rng = np.random.default_rng(0)
LENGTHS = (3, 5, 2, 4, 1, 3)
ROWS = [rng.normal(size=(length, 3)) + 1.0 for length in LENGTHS]
LABELS = [rng.integers(3, size=length) for length in LENGTHS]
PAIRS = [rng.normal(size=(3, 4, 2)) for _ in range(5)]
LINKS = [[(0, 1), (1, 0)], [(0, 0)], [(0, 2), (2, 3)], [(1, 1), (2, 2)], [(0, 3), (1, 1), (2, 0)]]
IMAGES = [rng.normal(size=(4, 5, 2)) for _ in range(5)]
BOXES = [(0, 0, 2, 2), (1, 1, 4, 3), (2, 0, 5, 4), (0, 1, 1, 4), (1, 0, 3, 3)]
PROPOSALS = [Proposals(np.array(BOXES), rng.normal(size=(5, 3))) for _ in range(5)]
POSES = [[(0, 0), (1, 1)], [(1, 2), (2, 3)], [(3, 0), (4, 1)], [(2, 2), (3, 2)], [(1, 1), (1, 2)]]


class Case(NamedTuple):
    model: Any
    samples: list[Any]
    y: Any
    of: Any = lambda features, sample: features  # a sample with these features instead
    features: Any = lambda sample: sample

    def fit(self, change=lambda x: x, **given):
        params = {key: given.pop(key) for key in list(given) if key != "sample_weight"}
        X = [self.of(change(self.features(sample)), sample) for sample in self.samples]
        X = np.array(X) if isinstance(self.model, MulticlassSVM) else X
        model = type(self.model)(**{**self.model.get_params(), **params})
        return model.fit(X, self.y, **given), X


def path_graph(n):
    return [(t, t + 1) for t in range(n - 1)]


def of_edges(features, sample):
    return Graph(features, sample.edges, sample.edge_features)


FIRST = [row for rows in ROWS for row in rows]
CASES = {
    "chains": Case(ChainSVM(random_state=0), ROWS, LABELS),
    "chains, sparse": Case(ChainSVM(random_state=0), [sp.csr_array(x * (x > 1.0)) for x in ROWS], LABELS),
    "chains with a kernel": Case(ChainSVM(random_state=0, kernel="linear"), ROWS, LABELS),
    "classes": Case(MulticlassSVM(random_state=0), FIRST, np.concatenate(LABELS)),
    "trees": Case(
        TreeSVM(random_state=0),
        [Tree(x, [-1, *range(len(x) - 1)]) for x in ROWS],
        LABELS,
        lambda x, sample: Tree(x, sample.heads),
        lambda sample: sample.features,
    ),
    "graphs": Case(
        GraphSVM(random_state=0),
        [Graph(x, path_graph(len(x)), rng.normal(size=(len(x) - 1, 2)) ** 2) for x in ROWS],
        LABELS,
        of_edges,
        lambda sample: sample.features,
    ),
    "cuts": Case(
        GraphSVM(random_state=0, inference="cut"),
        [Graph(x, path_graph(len(x)), rng.normal(size=(len(x) - 1, 2)) ** 2) for x in ROWS],
        [labels % 2 for labels in LABELS],
        of_edges,
        lambda sample: sample.features,
    ),
    "matchings": Case(MatchingSVM(random_state=0), PAIRS, LINKS),
    "boxes": Case(BoxSVM(random_state=0), IMAGES, BOXES),
    "proposals": Case(
        BoxSVM(random_state=0),
        PROPOSALS,
        BOXES,
        lambda x, sample: Proposals(sample.boxes, x),
        lambda sample: sample.features,
    ),
    "poses": Case(PoseSVM(random_state=0, radius=2.0, parents=[-1, 0]), IMAGES, POSES),
}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
COSTLY = pytest.mark.parametrize(
    "case", [CASES[name] for name in ("chains", "classes", "trees", "graphs", "matchings")]
)


def same_predictions(model, X, other, Z):
    for one, two in zip(model.predict(X), other.predict(Z), strict=True):
        assert_array_equal(one, two)


def weights_of(model):
    names = ("coef_", "dual_coef_", "intercept_", "boundary_", "transitions_", "edge_coef_")
    return {name: np.array(getattr(model, name)) for name in names if hasattr(model, name)}


@EACH
def test_the_scale_of_features_changes_nothing(case):
    model, X = case.fit()
    other, Z = case.fit(lambda x: 4.0 * x)  # a power of two: to the last bit
    assert other.lam_ == model.lam_ and other.primal_ == model.primal_
    assert_allclose(other.scaling_.features, 4.0 * model.scaling_.features)
    found, expected = weights_of(other), weights_of(model)
    for name, part in expected.items():
        factor = {"coef_": 0.25, "dual_coef_": 0.0625}.get(name, 1.0)
        assert_allclose(found[name], factor * part, rtol=1e-10, atol=1e-12)
    same_predictions(model, X, other, Z)


@COSTLY
def test_the_scale_of_costs_changes_nothing(case):
    n_labels = 2 if isinstance(case.model, MatchingSVM) else 3
    costs = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels))) + 0.0
    model, X = case.fit(cost_matrix=costs)
    other, Z = case.fit(cost_matrix=64.0 * costs)
    assert other.lam_ == model.lam_ and other.gap_ == model.gap_ and other.scaling_.loss == 64.0 * model.scaling_.loss
    for name, part in weights_of(model).items():
        assert_allclose(weights_of(other)[name], 64.0 * part, rtol=1e-10, atol=1e-12)
    same_predictions(model, X, other, Z)


@pytest.mark.parametrize("name", ["chains", "classes", "trees", "graphs", "cuts", "matchings", "boxes"])
def test_adding_a_number_to_dense_features_changes_nothing(name):
    case = CASES[name]
    model, _ = case.fit(tol=1e-3)
    other, _ = case.fit(lambda x: x + 1000.0, tol=1e-3)
    assert_allclose(other.primal_, model.primal_, atol=1e-3)
    assert other.n_passes_ <= 2 * model.n_passes_ + 10
    for name, part in weights_of(model).items():
        if name != "intercept_":
            assert_allclose(weights_of(other)[name], part, atol=0.3 * np.abs(part).max(initial=0.0) + 1e-6)


@EACH
def test_the_objective_is_that_of_scaled_features(case):
    given = {"tol": 1e-3} | ({"loss": "hamming"} if getattr(case.model, "loss", "") is None else {})
    model, _ = case.fit(**given)
    scaling = model.scaling_
    if isinstance(getattr(case.model, "kernel", None), str):
        plain, _ = case.fit(lambda x: x / scaling.features, scale=False, lam=model.lam_, **given)
    else:
        center = 0.0 if scaling.center is None else scaling.center
        plain, _ = case.fit(lambda x: (x - center) / scaling.features, scale=False, lam=model.lam_, **given)
    if scaling.edges != 1.0:
        return  # edges have features of their own
    assert plain.scaling_ == PLAIN
    assert_allclose(plain.primal_, model.primal_, atol=1e-3)
    again, _ = case.fit(scale=True, lam=model.lam_, **given)
    assert again.primal_ == model.primal_


@pytest.mark.parametrize("name", ["chains", "trees", "graphs"])
def test_losses_are_numbers_of_wrong_labels_where_they_are_scaled(name):
    case = CASES[name]
    left_open, counted = (case.fit(tol=1e-3, loss=loss)[0] for loss in (None, "hamming_sum"))
    assert left_open.primal_ == counted.primal_
    plain, shared = (case.fit(tol=1e-3, lam=0.1, loss=loss)[0] for loss in (None, "hamming"))
    assert plain.primal_ == shared.primal_


def test_features_of_edges_are_scaled_by_themselves():
    case = CASES["graphs"]
    model, _ = case.fit()
    changed = case._replace(of=lambda x, sample: Graph(x, sample.edges, 8.0 * sample.edge_features))
    other, _ = changed.fit()
    assert_allclose(other.scaling_.edges, 8.0 * model.scaling_.edges)
    assert_allclose(other.edge_coef_, model.edge_coef_ / 8.0, rtol=1e-10, atol=1e-12)
    assert_allclose(other.transitions_, model.transitions_, rtol=1e-10, atol=1e-12)


@EACH
def test_weights_that_sum_to_one_are_no_trap(case):
    n = len(case.samples)
    model, _ = case.fit(tol=1e-3)
    other, _ = case.fit(tol=1e-3, sample_weight=np.full(n, 1.0 / n))
    assert_allclose(other.lam_, model.lam_)
    assert_allclose(other.primal_, model.primal_, atol=1e-3)


@EACH
def test_integer_weights_are_repetitions(case):
    counts = np.arange(len(case.samples)) % 3
    kept = np.repeat(np.arange(len(counts)), counts)
    repeated = case._replace(samples=[case.samples[i] for i in kept], y=[case.y[i] for i in kept])
    assert_allclose(case.fit(sample_weight=counts)[0].lam_, repeated.fit()[0].lam_)


def test_names_of_labels_change_nothing():
    data = load_dates(n_train=40, n_test=100)
    model = ChainSVM(random_state=0).fit(data.X_train, data.y_train)
    named = ChainSVM(random_state=0).fit(data.X_train, [[f"digit {k}" for k in y] for y in data.y_train])
    assert_array_equal(model.coef_, named.coef_)
    turned = ChainSVM(random_state=0).fit(data.X_train, [9 - y for y in data.y_train])
    found = [9 - y for y in turned.predict(data.X_test)]
    assert turned.lam_ == model.lam_
    assert abs(model.score(data.X_test, data.y_test) - model.score(data.X_test, found)) < 1  # both are scores
    right = np.mean(np.concatenate(found) == np.concatenate(data.y_test))
    assert abs(right - model.score(data.X_test, data.y_test)) < 0.01


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_real_features_may_be_scaled(factor):
    data = load_dates(n_train=60, n_test=200)
    scores = [
        ChainSVM(random_state=0)
        .fit([c * x for x in data.X_train], data.y_train)
        .score([c * x for x in data.X_test], data.y_test)
        for c in (1.0, factor)
    ]
    assert abs(scores[0] - scores[1]) < 0.005


def test_real_features_may_be_shifted():
    data = load_dates(n_train=60, n_test=200)
    scores = [
        ChainSVM(random_state=0)
        .fit([x + c for x in data.X_train], data.y_train)
        .score([x + c for x in data.X_test], data.y_test)
        for c in (0.0, 10.0)
    ]
    assert abs(scores[0] - scores[1]) < 0.01


def test_a_text_may_be_cut_elsewhere():
    data = load_dates(n_train=120, n_test=300)
    X, y = np.concatenate(data.X_train), np.concatenate(data.y_train)
    scores = []
    for length in (8, 16, 96):  # dates, two of them, twelve of them
        cut = range(length, len(y), length)
        # to a small gap: what is compared are the optima, not where runs stopped
        model = ChainSVM(random_state=0, tol=1e-5, max_passes=5000, fit_boundary=False)
        model.fit(np.split(X, cut), np.split(y, cut))
        assert model.status_ == "converged"
        assert_allclose(model.lam_, LAM_OF_ONE * length / (len(y) / length))
        scores.append(model.score(data.X_test, data.y_test))
    assert max(scores) - min(scores) < 0.01


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_spread(make):
    X, weight = rng.normal(size=(50, 4)) + 3.0, rng.integers(1, 4, size=50).astype(float)
    whole = np.repeat(X, weight.astype(int), axis=0)
    found = spread_of([make(X[:20]), make(X[20:])], [weight[:20], weight[20:]])
    assert_allclose(found.mean, whole.mean(axis=0))
    assert_allclose(found.variance, whole.var(axis=0).sum())
    of_kernel = spread_of([KernelRows(X @ X.T)], [weight])
    assert_allclose(of_kernel.variance, whole.var(axis=0).sum())


def test_spread_survives_large_means():
    X = rng.normal(size=(50, 4))
    assert_allclose(spread_of([X + 1e6], [np.ones(50)]).variance, X.var(axis=0).sum(), rtol=1e-6)


def test_effective_count():
    assert effective_count(np.ones(7)) == 7
    assert effective_count(np.array([2.0, 1.0, 3.0])) == 6
    assert_allclose(effective_count(np.full(7, 1 / 7)), 7)
    assert_allclose(effective_count(np.full(7, 1e-200)), 7)


@pytest.mark.parametrize("scale", ["yes", 1, 2.0])
def test_scale_is_a_truth_value(scale):
    with pytest.raises(ValueError, match="scale must be True, False or None"):
        MulticlassSVM(scale=scale).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("params", [{}, {"fit_intercept": False}])
def test_nothing_varies(params):
    model = MulticlassSVM(random_state=0, **params).fit(np.ones((6, 2)), [0, 1, 1, 0, 1, 1])
    assert model.scaling_.features == 1.0 and np.all(np.isfinite(model.coef_))
    one = ChainSVM(random_state=0, **params).fit([np.zeros((3, 2))], [["a", "a", "a"]])
    assert one.scaling_.loss == 1.0 and one.primal_ == 0.0


def test_what_was_given_stays_as_it_was():
    X = rng.normal(size=(30, 3)) + 5.0
    before = X.copy()
    MulticlassSVM(random_state=0).fit(X, np.arange(30) % 3)
    assert_array_equal(X, before)
    matrix = sp.csr_array(X * (X > 5.0))
    before = matrix.toarray()
    MulticlassSVM(random_state=0).fit(matrix, np.arange(30) % 3)
    assert_array_equal(matrix.toarray(), before)


@EACH
def test_lam_by_cross_validation_is_one_word(case):
    model, X = case.fit(lam="cv", max_passes=5, tol=0.3)
    assert model.lam_ in model.lams_ and model.scores_.shape == (3, len(model.lams_))
    assert model.scaling_ != PLAIN
    model.set_params(lam=None).fit(X, case.y)
    assert not hasattr(model, "scores_")


@pytest.mark.parametrize("lam", ["auto", "CV", ""])
def test_other_words_are_refused(lam):
    with pytest.raises(ValueError, match='lam must be a number > 0, "cv" or None'):
        MulticlassSVM(lam).fit([[0.0], [1.0]], [0, 1])
