"""L-BFGS and OWL-QN against SciPy, over every output written out."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from maxmargin.solvers import LBFGS
from maxmargin.structures import LogLoss, make_multiclass_problem
from maxmargin.structures.likelihood import CustomLogLoss
from reference.crf import crf_optimum, crf_primal

from .conftest import LAM, check_uncertified, named_pair
from .log_losses import LOG_LOSSES, best_value, log_problem

pytestmark = pytest.mark.usefixtures("no_compilation")

each_problem = pytest.mark.parametrize("name", LOG_LOSSES)


def run(name, l1=0.0, lam=LAM, **options):
    return LBFGS(l1=l1).solve(log_problem(name), lam, **{"tol": 1e-9, "max_passes": 300} | options)


def check_enclosed(history, best):
    assert np.all(history["dual"] <= best + 1e-9)
    assert np.all(history["primal"] >= best - 1e-9)
    assert np.all(history["gap"] >= history["primal"] - best - 1e-9)
    assert np.all(np.diff(history["dual"]) >= 0.0)
    assert np.all(np.diff(history["primal"]) <= 1e-12)


@each_problem
@pytest.mark.parametrize("lam", [LAM, 1e-3])
def test_reaches_the_optimum(name, lam):
    result, pair = run(name, lam=lam), named_pair(name)
    assert result.status == "converged"
    check_enclosed(result.history, best_value(name, lam))
    v = pair.to_reference(result.w)
    assert result.primal == pytest.approx(crf_primal(pair.reference, v, lam), abs=1e-12)
    assert result.primal == pytest.approx(best_value(name, lam), abs=1e-8)
    assert v == pytest.approx(crf_optimum(pair.reference, lam)[0], abs=1e-3)


@each_problem
@pytest.mark.parametrize("l1", [0.01, 0.1])
def test_reaches_the_optimum_with_a_penalty_on_absolute_values(name, l1):
    result, pair = run(name, l1), named_pair(name)
    assert result.status == "converged"
    check_enclosed(result.history, best_value(name, LAM, l1))
    v = pair.to_reference(result.w)
    assert result.primal == pytest.approx(crf_primal(pair.reference, v, LAM, l1), abs=1e-12)
    best = crf_optimum(pair.reference, LAM, l1)[0]
    assert v == pytest.approx(best, abs=1e-3)
    assert np.all(v[np.abs(best) < 1e-7] == 0.0) and np.any(v == 0.0)
    assert result.history["nonzeros"][-1] == np.count_nonzero(v)


def test_so_large_a_penalty_leaves_nothing():
    result = run("chain", l1=10.0)
    assert result.status == "converged" and not np.any(result.w)
    assert result.gap == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("l1", [0.05, 0.0])
def test_goes_without_squares_and_without_a_certificate(l1):
    X = np.random.default_rng(0).normal(size=(30, 3))
    labels = np.random.default_rng(1).integers(3, size=30)
    problem = LogLoss(make_multiclass_problem(X, labels, 3))
    result = LBFGS(l1=l1).solve(problem, 0, tol=1e-6, max_passes=200)
    check_uncertified(result)
    if l1:
        rival = LogisticRegression(l1_ratio=1.0, C=1 / (30 * l1), solver="saga", tol=1e-10, max_iter=100_000)
        rival.fit(X, labels)  # its intercept has no penalty
        assert result.primal >= rival_value(problem, rival, 0.0, l1) - 1e-9
    else:
        rival = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, labels)
        assert result.primal == pytest.approx(rival_value(problem, rival, 0.0, 0.0), abs=1e-8)


def rival_value(problem, rival, lam, l1):
    probabilities = rival.predict_proba(problem.base.rows.values)
    loss = -np.mean(np.log(probabilities[np.arange(len(probabilities)), problem.base.labels]))
    return loss + lam / 2 * np.sum(rival.coef_**2) + l1 * np.sum(np.abs(rival.coef_))


def test_is_the_logistic_regression_of_others():
    X = np.random.default_rng(0).normal(size=(40, 5))
    labels = np.random.default_rng(1).integers(4, size=40)
    problem = LogLoss(make_multiclass_problem(X, labels, 4, intercept=False))
    result = LBFGS().solve(problem, 0.05, tol=1e-12)
    rival = LogisticRegression(C=1 / (40 * 0.05), fit_intercept=False, tol=1e-12, max_iter=1000).fit(X, labels)
    assert rival.coef_ == pytest.approx(result.w.reshape(5, 4).T, abs=1e-6)


@pytest.mark.parametrize("l1", [0.0, 0.05])
def test_goes_on_as_if_it_had_not_stopped(l1):
    whole = run("chain", l1, tol=0, max_passes=12)
    half = run("chain", l1, tol=0, max_passes=6)
    rest = run("chain", l1, tol=0, max_passes=6, state=half.state)
    assert np.array_equal(whole.w, rest.w) and (whole.primal, whole.dual) == (rest.primal, rest.dual)
    assert np.array_equal(whole.history["primal"][7:], rest.history["primal"][1:])


def test_begins_under_another_objective_where_it_was():
    first = run("chain")
    again = run("chain", lam=0.5 * LAM, state=first.state)
    cold = run("chain", lam=0.5 * LAM)
    assert again.primal == pytest.approx(cold.primal, abs=1e-8)
    assert again.history["primal"][0] < cold.history["primal"][0]
    sparse = run("chain", 0.05, state=first.state)
    assert sparse.primal == pytest.approx(best_value("chain", LAM, 0.05), abs=1e-8)


def test_refuses_what_it_cannot_do():
    with pytest.raises(TypeError, match=r"LBFGS needs the sum over outputs.*LogLoss\(problem\)"):
        LBFGS().solve(named_pair("chain").problem, LAM)
    for l1 in (-1.0, np.nan, "much", None):
        with pytest.raises(ValueError, match="l1 must be a number >= 0"):
            LBFGS(l1=l1).solve(log_problem("chain"), LAM)
    with pytest.raises(ValueError, match="memory must be an integer >= 1"):
        LBFGS(memory=0).solve(log_problem("chain"), LAM)
    with pytest.raises(ValueError, match="lam must be a number >= 0"):
        LBFGS().solve(log_problem("chain"), -1.0)


def test_learns_structures_in_plain_python():
    assert type(log_problem("complete")) is CustomLogLoss
