"""Kernels in both estimators: the problem they solve, what they leave behind, what they refuse."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_circles
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import ChainSVM, MulticlassSVM
from maxmargin.estimators import _kernels
from maxmargin.solvers import BlockFrankWolfe
from reference import enumerate_chain, enumerate_multiclass

RNG = np.random.default_rng(0)
LENGTHS = np.array([3, 1, 4, 2, 5, 3, 2, 4])
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
N = int(OFFSETS[-1])
X = RNG.normal(size=(N, 4)) * (RNG.random((N, 4)) < 0.6)
Y = np.argmax(X[:, :3] ** 2 + RNG.random((N, 3)), axis=1)
GRAM = rbf_kernel(X, gamma=0.3)
RBF = {"kernel": "rbf", "gamma": 0.3}
LAM = 0.1

# gap sampling and pairwise steps decide by rounding between equals: paths would part
STEADY = BlockFrankWolfe("permutation", "weighted")

KINDS = ("multiclass", "chain")
BOTH = pytest.mark.parametrize("kind", KINDS)


def given(kind, rows):
    """Rows the way an estimator takes them; those of a chain as a list."""
    if kind == "multiclass":
        return rows
    return [rows[first:last] for first, last in pairwise(OFFSETS)]


def make(kind, **params):
    cls = MulticlassSVM if kind == "multiclass" else ChainSVM
    return cls(**{"lam": LAM, "solver": STEADY, "tol": 1e-2, "random_state": 0, **params})


def fit(kind, rows=X, **params):
    return make(kind, **params).fit(given(kind, rows), given(kind, Y))


def predicted(kind, model, rows=X):
    return np.concatenate(model.predict(given(kind, rows))) if kind == "chain" else model.predict(rows)


@BOTH
@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", [STEADY, "fw", BlockFrankWolfe(step="away")], ids=["averaged", "fw", "away"])
def test_linear_kernel_is_the_linear_model(kind, matrix, solver):
    rows = matrix(X)
    primal, dual = (fit(kind, rows, kernel=kernel, solver=solver, tol=0.01) for kernel in (None, "linear"))
    assert_allclose(dual.history_["primal"], primal.history_["primal"], rtol=1e-9)
    assert_allclose(dual.history_["dual"], primal.history_["dual"], rtol=1e-9, atol=1e-12)
    assert_array_equal(predicted(kind, dual, rows), predicted(kind, primal, rows))
    assert_allclose((X[dual.support_].T @ dual.dual_coef_).T, primal.coef_, atol=1e-9)
    assert_allclose(dual.intercept_, primal.intercept_, atol=1e-9)
    for name in ("transitions_", "boundary_") if kind == "chain" else ():
        assert_allclose(getattr(dual, name), getattr(primal, name), atol=1e-9)


@BOTH
@pytest.mark.parametrize("bias", [True, False])
def test_rbf_against_the_enumerated_problem(kind, bias):
    """Rows of a Cholesky factor of the kernel matrix are features of the same problem."""
    keep = np.sort(np.unique(X, axis=0, return_index=True)[1])[:8]
    rows, labels = X[keep], Y[keep]
    factor = np.linalg.cholesky(rbf_kernel(rows, gamma=0.3))
    params = {**RBF, "lam": LAM, "tol": 1e-7, "fit_intercept": bias, "solver": BlockFrankWolfe(step="pairwise")}
    if kind == "multiclass":
        model = MulticlassSVM(**params).fit(rows, labels)
        optimum = enumerate_multiclass(factor, labels, 3, intercept=bias).solve(LAM)[1]
    else:
        cut = [3, 4]
        model = ChainSVM(**params, fit_boundary=bias).fit(np.split(rows, cut), np.split(labels, cut))
        sequences, targets = np.split(factor, cut), np.split(labels, cut)
        optimum = enumerate_chain(sequences, targets, 3, intercept=bias, boundary=bias).solve(LAM)[1]
    assert model.primal_ == pytest.approx(optimum, abs=2e-7)
    assert model.dual_ == pytest.approx(optimum, abs=2e-7)


@BOTH
@pytest.mark.parametrize("weighted", [False, True])
def test_other_ways_to_say_rbf(kind, weighted):
    size = N if kind == "multiclass" else len(LENGTHS)
    weight = np.arange(size) % 3 if weighted else np.ones(size)
    ways = {
        "rbf": (X, RBF),
        "sparse": (sp.csr_matrix(X), RBF),
        "precomputed": (GRAM, {"kernel": "precomputed"}),
        "function": (X, {"kernel": lambda A, B: rbf_kernel(A, B, gamma=0.3)}),
    }
    models = {
        name: make(kind, **params).fit(given(kind, rows), given(kind, Y), weight)
        for name, (rows, params) in ways.items()
    }
    first = models["rbf"]
    assert first.gap_ <= 1e-2
    for name, model in models.items():
        rows = ways[name][0]
        assert_allclose(model.history_["primal"], first.history_["primal"], rtol=1e-9)
        assert_array_equal(model.support_, first.support_)
        assert_allclose(model.dual_coef_, first.dual_coef_, atol=1e-9)
        assert_array_equal(predicted(kind, model, rows), predicted(kind, first))
        assert hasattr(model, "support_vectors_") == (name != "precomputed")
    if weighted:  # samples of weight 0 are not there, and numbers are those of the samples given
        by_position = weight if kind == "multiclass" else np.repeat(weight, LENGTHS)
        assert np.all(by_position[first.support_] > 0)
    assert_array_equal(first.support_vectors_, X[first.support_])


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_decision_function_by_hand(kernel):
    model = fit("multiclass", kernel=kernel, gamma="scale", degree=2, coef0=1.0)
    new = RNG.normal(size=(7, 4))
    products, gamma = new @ X[model.support_].T, 1 / (4 * X.var())
    distances = np.sum((new[:, None] - X[model.support_]) ** 2, axis=2)
    values = {"linear": products, "rbf": np.exp(-gamma * distances), "poly": (gamma * products + 1) ** 2}[kernel]
    assert_allclose(model.decision_function(new), values @ model.dual_coef_ + model.intercept_, atol=1e-10)


def test_max_marginals_by_hand():
    """Sequences of one position have node scores for max-marginals."""
    model = fit("chain", **RBF)
    new = RNG.normal(size=(5, 4))
    values = rbf_kernel(new, X[model.support_], gamma=0.3)
    expected = values @ model.dual_coef_ + model.intercept_ + model.boundary_.sum(axis=0)
    assert_allclose(np.vstack(model.decision_function(list(new[:, None]))), expected, atol=1e-10)
    assert_allclose(model.decision_function(new, lengths=[1] * 5), expected, atol=1e-10)


@BOTH
def test_primal_is_the_objective(kind):
    model = fit(kind, **RBF)
    beta = np.zeros((N, 3))
    beta[model.support_] = model.dual_coef_
    square = np.sum(beta * (GRAM @ beta)) + np.sum(model.intercept_**2)
    node = GRAM @ beta + model.intercept_
    if kind == "multiclass":
        margins = 1 - np.eye(3)[Y] + node - node[np.arange(N), Y][:, None]
        hinge = margins.max(axis=1).mean()
    else:
        square += np.sum(model.transitions_**2) + np.sum(model.boundary_**2)
        parts = [beta, model.transitions_, model.intercept_, model.boundary_]
        reference = enumerate_chain(given(kind, GRAM), given(kind, Y), 3)  # rows of the matrix score like features
        hinge = reference.primal(np.concatenate([part.ravel() for part in parts]), 0.0)
    assert model.primal_ == pytest.approx(LAM / 2 * square + hinge, rel=1e-9)


def test_circles_need_a_kernel():
    points, labels = make_circles(200, noise=0.1, factor=0.4, random_state=0)
    train, test = slice(0, 100), slice(100, 200)
    scores = {
        kernel: MulticlassSVM(kernel=kernel, random_state=0)
        .fit(points[train], labels[train])
        .score(points[test], labels[test])
        for kernel in (None, "rbf")
    }
    assert scores[None] < 0.75
    assert scores["rbf"] > 0.95
    sequences, targets = list(points.reshape(50, 4, 2)), list(labels.reshape(50, 4))
    chain = ChainSVM(kernel="rbf", tol=0.05, random_state=0).fit(sequences[:25], targets[:25])
    assert chain.score(sequences[25:], targets[25:]) > 0.95


@BOTH
def test_two_kinds_of_model_in_one_object(kind):
    """A fit leaves the attributes of its own kind only."""
    model = make(kind)
    for kernel in (None, "rbf", None, "precomputed", "rbf"):
        rows = GRAM if kernel == "precomputed" else X
        model.set_params(kernel=kernel).fit(given(kind, rows), given(kind, Y))
        assert hasattr(model, "coef_") == (kernel is None)
        for name in ("support_", "dual_coef_"):
            assert hasattr(model, name) == (kernel is not None)
        assert hasattr(model, "support_vectors_") == (kernel == "rbf")
        assert model.__sklearn_is_fitted__()
    before = predicted(kind, model)
    assert_array_equal(predicted(kind, model.set_params(kernel=None)), before)  # parameters matter to fit alone


@BOTH
def test_pickle_and_clone(kind):
    model = fit(kind, **RBF)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(predicted(kind, again), predicted(kind, model))
    assert_array_equal(fit(kind, **clone(model).get_params(deep=False)).dual_coef_, model.dual_coef_)


def test_scoring_in_chunks(monkeypatch):
    model = fit("multiclass", **RBF)
    whole = model.decision_function(X)
    monkeypatch.setattr(_kernels, "CHUNK_BYTES", 8 * len(model.support_) * 3)
    assert_allclose(model.decision_function(X), whole, rtol=1e-12)
    assert_allclose(model.decision_function(sp.csr_matrix(X)), whole, rtol=1e-9, atol=1e-12)


@BOTH
def test_warm_start(kind):
    model = make(kind, **RBF, warm_start=True, tol=0.2).fit(given(kind, X), given(kind, Y))
    first = model.gap_
    model.set_params(tol=1e-2).fit(given(kind, X), given(kind, Y))
    assert model.gap_ <= 1e-2 < first
    with pytest.warns(UserWarning, match="data"):
        model.set_params(gamma=0.1).fit(given(kind, X), given(kind, Y))


def test_one_class():
    model = MulticlassSVM(kernel="rbf").fit(X, np.zeros(N))
    assert len(model.support_) == 0
    assert_array_equal(model.predict(X), np.zeros(N))


def test_feature_dicts():
    dicts = [[{f"f{j}": value for j, value in enumerate(row)} for row in x.tolist()] for x in given("chain", X)]
    model = make("chain", **RBF).fit(dicts, given("chain", Y))
    assert_array_equal(np.concatenate(model.predict(dicts)), predicted("chain", fit("chain", **RBF)))


class TestModelSelection:
    @BOTH
    def test_grid_search(self, kind):
        search = GridSearchCV(make(kind, tol=0.05), {"kernel": [None, "rbf"], "gamma": [0.1, 1.0]}, cv=2)
        search.fit(given(kind, X), given(kind, Y))
        assert 0 <= search.best_score_ <= 1

    def test_pipeline(self):
        model = make_pipeline(StandardScaler(), make("multiclass", **RBF)).fit(X, Y)
        assert model.score(X, Y) > 0.5

    def test_precomputed_matrix_is_cut_both_ways(self):
        theirs = cross_val_score(make("multiclass", kernel="precomputed"), GRAM, Y, cv=3)
        assert_array_equal(theirs, cross_val_score(make("multiclass", **RBF), X, Y, cv=3))


class TestRefusals:
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"kernel": "gauss"}, "kernel must be None, a function or one of"),
            ({"kernel": 3}, "kernel must be None, a function or one of"),
            ({"kernel": "rbf", "gamma": -1.0}, "gamma must be"),
            ({"kernel": "rbf", "gamma": "wide"}, "gamma must be"),
            ({"kernel": "rbf", "gamma": np.nan}, "gamma must be"),
            ({"kernel": "poly", "degree": 1.5}, "degree must be"),
            ({"kernel": "poly", "degree": -1}, "degree must be"),
            ({"kernel": "poly", "coef0": np.inf}, "coef0 must be"),
            ({"kernel": "sigmoid", "gamma": 2.0, "coef0": -1.0}, "not positive semi-definite"),
            ({"kernel": lambda A, B: -A @ B.T}, "not positive semi-definite"),
            ({"kernel": lambda A, B: np.ones(3)}, "one value for each pair"),
            ({"kernel": lambda A, B: A @ np.diag([1, 2, 3, 4]) @ (B + 1).T}, "not symmetric"),
            ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, "nan at positions 0 and 0"),
            ({"kernel": "rbf", "solver": BlockFrankWolfe(lower=0.0)}, "a model with a kernel has none"),
        ],
    )
    @BOTH
    def test_bad_kernels(self, kind, params, message):
        model = make(kind, **params)
        before = dict(vars(model))
        with pytest.raises(ValueError, match=message):
            model.fit(given(kind, X), given(kind, Y))
        assert vars(model) == before

    @pytest.mark.parametrize(
        ("spoil", "message"),
        [
            (lambda gram: gram[:, :-1], "kernel values of all positions with all positions"),
            (lambda gram: gram + np.triu(np.full_like(gram, 1e-6), 1), "not symmetric"),
            (lambda gram: gram - 2 * np.eye(N), "not positive semi-definite"),
            (lambda gram: gram - 0.9 * np.eye(N), "not positive semi-definite"),
            (lambda gram: np.where(np.eye(N), np.inf, gram), "infinity"),
        ],
    )
    @BOTH
    def test_bad_matrices(self, kind, spoil, message):
        with pytest.raises(ValueError, match=message):
            fit(kind, spoil(GRAM), kernel="precomputed")

    @BOTH
    def test_too_large_a_matrix(self, kind, monkeypatch):
        monkeypatch.setattr(_kernels, "MAX_GRAM_BYTES", 8.0 * N * N - 1)
        with pytest.raises(MemoryError, match=f"{N} positions takes .* GB.*Nystroem"):
            fit(kind, **RBF)
        fit(kind, GRAM, kernel="precomputed")  # it is there already

    @BOTH
    def test_wrong_width_at_prediction(self, kind):
        model = fit(kind, GRAM, kernel="precomputed")
        with pytest.raises(ValueError, match=f"expecting {N} features"):
            model.predict(given(kind, X))

    def test_no_finite_scores(self):
        model = fit("multiclass", kernel="poly", degree=3)
        with pytest.raises(ValueError, match="row 1: its kernel values"), np.errstate(all="ignore"):
            model.predict([[1.0] * 4, [1e300] * 4])

    @BOTH
    def test_nothing_of_the_users_is_written_to(self, kind):
        gram = GRAM * (1 + 1e-12 * np.triu(np.ones_like(GRAM), 1))
        before = gram.copy()
        fit(kind, gram, kernel="precomputed")
        assert_array_equal(gram, before)
        gram.flags.writeable = False
        fit(kind, gram, kernel="precomputed")


ORDER_OF_STEPS = "repeated samples are other blocks in another order; test_other_ways_to_say_rbf weighs samples"
NO_KERNEL = "the check calls a matrix a kernel that is not symmetric or has negative eigenvalues"


def expected_failures(estimator):
    names = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    failures = dict.fromkeys(names, ORDER_OF_STEPS)
    if estimator.kernel == "precomputed":
        names = ("positive_only_tag_during_fit", "estimators_dtypes", "classifiers_one_label_sample_weights")
        failures |= {f"check_{name}": NO_KERNEL for name in names}
    return failures


@parametrize_with_checks(
    [MulticlassSVM(kernel="rbf"), MulticlassSVM(kernel="precomputed")],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sklearn_check(estimator, check):
    check(estimator)
