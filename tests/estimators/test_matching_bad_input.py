"""What MatchingSVM refuses: the words name the sample and the part."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import refusals
import scipy.sparse as sp
from matching_cases import DENSE, PERFECT, Y, as_given, model_of
from sklearn.exceptions import NotFittedError

from maxmargin import Bipartite, MatchingSVM

pytestmark = pytest.mark.usefixtures("no_compilation")


@cache
def older():
    return model_of(tol=0.5).fit(DENSE, Y)


def assert_refuses(model, X, y, match, **given):
    refusals.assert_refuses(model, older(), X, y, match, **given)


def with_sample(X, i, sample):
    return [*X[:i], sample, *X[i + 1 :]]


GOOD = as_given("candidates")[1]
SAMPLES = {
    "2-d": (np.zeros((3, 3)), r"X, sample 1: must be an \(n, m, F\) array .* got shape \(3, 3\)"),
    "a number": (3.0, r"X, sample 1: must be .* got shape \(\)"),
    "None": (None, "X, sample 1: must be .* got NoneType"),
    "text": ("pairs", "X, sample 1: must be .* got str"),
    "a sparse matrix": (sp.csr_matrix(np.eye(3)), "X, sample 1: must be .* got csr_matrix"),
    "ragged": ([[[1.0, 2.0]], [[1.0]]], "X, sample 1: "),
    "NaN": (DENSE[1] * np.nan, "X, sample 1: features hold NaN"),
    "infinity": (DENSE[1] + np.inf, "X, sample 1: features hold NaN or infinity"),
    "complex": (DENSE[1] * 1j, "X, sample 1: features must hold real numbers"),
    "strings": (DENSE[1].astype(str), "X, sample 1: features must hold real numbers"),
    "other features": (DENSE[1][:, :, :2], "X, sample 1: 2 features, but .* 3"),
    "three parts": (GOOD[:3], "X, sample 1: must be .* got a tuple of 3"),
    "a size below 0": (GOOD._replace(n_rows=-1), "X, sample 1: n_rows must be an integer >= 0, got -1"),
    "a size that is none": (GOOD._replace(n_columns=3.0), "X, sample 1: n_columns must be an integer"),
    "a pair outside": (GOOD._replace(n_rows=2), r"X, sample 1: pairs: \(2, .\) is no pair of one of 2 rows"),
    "a pair below 0": (GOOD._replace(pairs=-GOOD.pairs), r"X, sample 1: pairs: \(.*-.*\) is no pair"),
    "half a pair": (GOOD._replace(pairs=GOOD.pairs + 0.5), "X, sample 1: pairs: .* is no pair"),
    "a NaN pair": (GOOD._replace(pairs=GOOD.pairs * np.nan), "X, sample 1: pairs: .* is no pair"),
    "flat pairs": (GOOD._replace(pairs=GOOD.pairs[:, 0]), r"X, sample 1: pairs: must be \(c, 2\)"),
    "pairs of strings": (GOOD._replace(pairs=GOOD.pairs.astype(str)), "X, sample 1: pairs: must hold whole numbers"),
    "a pair twice": (
        Bipartite(3, 3, [(0, 0), (1, 2), (2, 1), (0, 0)], np.ones((4, 3))),
        r"X, sample 1: pair \(0, 0\) is given twice",
    ),
    "too few features": (GOOD._replace(features=GOOD.features[:-1]), "X, sample 1: features must have 6 rows"),
    "no features": (GOOD._replace(features=None), "X, sample 1: features must have 6 rows"),
    "sparse NaN": (GOOD._replace(features=sp.csr_matrix(GOOD.features * np.nan)), "X, sample 1: features hold NaN"),
}


@pytest.mark.parametrize("case", SAMPLES)
def test_samples(case):
    sample, match = SAMPLES[case]
    X = with_sample(DENSE, 1, sample)
    assert_refuses(MatchingSVM(), X, Y, match)
    with pytest.raises(ValueError, match=match):
        model_of(tol=0.5).fit(DENSE, Y).predict(X)


@pytest.mark.parametrize("X", [None, 3, "X", [], np.zeros(()), sp.csr_matrix(np.eye(3)), GOOD, {"X": 1}], ids=str)
def test_no_list_of_samples(X):
    assert_refuses(MatchingSVM(), X, Y, "X must be a list of samples, at least one")


LINKS = {
    "a row twice": ([(0, 0), (0, 1)], "y, sample 1: row 0 has 2 links, but in a matching"),
    "a column twice": ([(0, 1), (2, 1)], "y, sample 1: column 1 has 2 links"),
    "outside": ([(0, 3)], r"y, sample 1: \(0, 3\) is no pair of one of 3 rows and one of 3 columns"),
    "below 0": ([(0, -1)], r"y, sample 1: \(0, -1\) is no pair"),
    "no candidate": ([(0, 2)], r"y, sample 1: link \(0, 2\) is no candidate pair of X"),
    "half a link": ([(0, 0.5)], "y, sample 1: .* is no pair"),
    "NaN": ([(0, np.nan)], "y, sample 1: .* is no pair"),
    "text": ([("a", "b")], "y, sample 1: must hold whole numbers"),
    "flat": ([0, 1], r"y, sample 1: must be \(l, 2\) links or a 0/1 matrix of shape \(3, 3\)"),
    "ragged": ([(0, 1), (2,)], "y, sample 1: "),
    "None": (None, r"y, sample 1: must be \(l, 2\) links"),
    "a number": (1, r"y, sample 1: must be \(l, 2\) links"),
    "a matrix of another shape": (np.eye(4), r"y, sample 1: must be \(l, 2\) links"),
    "a bool matrix of two columns": (np.eye(2, dtype=bool), r"y, sample 1: must be \(l, 2\) links"),
    "a matrix of other numbers": (2 * np.eye(3), "y, sample 1: a matrix of links must hold 0 and 1 only"),
}


@pytest.mark.parametrize("case", LINKS)
def test_links(case):
    links, match = LINKS[case]
    assert_refuses(MatchingSVM(), as_given("candidates"), with_sample(Y, 1, links), match)


@pytest.mark.parametrize("y", [Y[:-1], None, 3, "links", {}], ids=["one too few", "None", "number", "text", "dict"])
def test_no_list_of_links(y):
    assert_refuses(MatchingSVM(), DENSE, y, r"requires y|y must hold the links of 6 samples")
    with pytest.raises(ValueError, match=r"requires y|y must hold the links of 6 samples"):
        model_of(tol=0.5).fit(DENSE, Y).score(DENSE, y)


def test_ignored_links():
    X = as_given("candidates")
    outside = with_sample(Y, 1, [(0, 3)])
    assert_refuses(MatchingSVM(), X, Y, r"ignored, sample 1: \(0, 3\) is no pair of one of 3 rows", ignored=outside)
    assert_refuses(MatchingSVM(), X, Y, "ignored must hold the links of 6 samples, .* got 5", ignored=Y[:-1])
    assert_refuses(MatchingSVM(), X, Y, "ignored, sample 1: must hold whole", ignored=with_sample(Y, 1, [("a", "b")]))
    with pytest.raises(ValueError, match="ignored, sample 1: "):
        model_of(tol=0.5).fit(DENSE, Y).score(DENSE, Y, ignored=outside)


def test_nothing_to_learn_from():
    empty = [np.zeros((0, 2, 3)), Bipartite(2, 2, [], []), Bipartite(2, 2, [], np.zeros((0, 3)))]
    assert_refuses(MatchingSVM(), empty, [[]] * 3, "no candidate pairs")
    assert_refuses(MatchingSVM(), [np.zeros((2, 2, 0))], [[]], "no candidate pairs with features")
    model = model_of(tol=0.5).fit(DENSE, Y)
    assert [links.tolist() for links in model.predict(empty)] == [[]] * 3


def test_another_number_of_features():
    with pytest.raises(ValueError, match="X, sample 0: 2 features, but MatchingSVM is expecting 3"):
        model_of(tol=0.5).fit(DENSE, Y).predict([x[:, :, :2] for x in DENSE])


def test_perfect_matchings_that_are_not():
    assert_refuses(MatchingSVM(perfect=True), DENSE[:3], Y[:3], "y, sample 2: row 0 has no link, but perfect=True")
    X = as_given("arrays", PERFECT)
    model = model_of(tol=0.5, perfect=True).fit(X, [Y[i] for i in PERFECT])
    for answer in (model.predict, lambda X: model.predict_topk(X, 2)):
        with pytest.raises(ValueError, match="X, sample 1: its candidate pairs allow no matching of every row"):
            answer([DENSE[0], DENSE[2]])
    assert (model.decision_function([DENSE[2]])[0] == -np.inf).all()


@pytest.mark.parametrize("weight", [[1] * 5, [0] * 6, [1, -1, 1, 1, 1, 1], [1, np.nan, 1, 1, 1, 1]])
def test_sample_weights(weight):
    assert_refuses(MatchingSVM(), DENSE, Y, "sample_weight", sample_weight=weight)


BAD_COSTS = [
    1,
    (1, 1),
    np.ones((3, 3)) - np.eye(3),
    np.eye(2),
    [[0, -1], [1, 0]],
    [[0, np.nan], [1, 0]],
    [[0, np.inf], [1, 0]],
]


@pytest.mark.parametrize("cost_matrix", BAD_COSTS, ids=str)
def test_costs(cost_matrix):
    assert_refuses(MatchingSVM(cost_matrix=cost_matrix), DENSE, Y, "cost_matrix")


@pytest.mark.parametrize("params", [{"loss": "squared"}, {"loss": None}, {"lam": 0}, {"solver": "x"}, {"tol": -1}])
def test_parameters(params):
    assert_refuses(MatchingSVM(**params), DENSE, Y, next(iter(params)))


@pytest.mark.parametrize("k", [0, 1.5, True, None])
def test_counts_that_are_none(k):
    with pytest.raises(ValueError, match="k must be an integer >= 1"):
        model_of(tol=0.5).fit(DENSE, Y).predict_topk(DENSE, k)


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_not_fitted(method):
    with pytest.raises(NotFittedError):
        getattr(MatchingSVM(), method)(DENSE)


def test_unknown_parameters():
    with pytest.raises(TypeError, match=r"MatchingSVM\.__init__\(\) got an unexpected keyword argument 'n_jobs'"):
        MatchingSVM(n_jobs=2)
