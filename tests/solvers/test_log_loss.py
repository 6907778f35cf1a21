"""Gibbs steps on log-losses: optima from SciPy, duals that rise, and the other parts of the block loop beside them."""

from itertools import pairwise

import numpy as np
import pytest

from maxmargin.solvers import (
    BlockFrankWolfe,
    CuttingPlane,
    ExponentiatedGradient,
    FrankWolfe,
    GibbsStep,
    PartialLinearization,
    Perceptron,
    Subgradient,
    get_solver,
)
from maxmargin.structures import LogLoss, make_multiclass_problem
from reference.crf import crf_dual, crf_optimum, crf_primal

from .conftest import LAM, named_pair
from .log_losses import LOG_LOSSES, best_value, log_problem

pytestmark = pytest.mark.usefixtures("no_compilation")

each_problem = pytest.mark.parametrize("name", LOG_LOSSES)


def run(name, lam=LAM, *, sampling="permutation", tol=1e-8, max_passes=300, state=None, seed=0, **parameters):
    solver = BlockFrankWolfe(sampling, **{"step": "gibbs", "gap_every": 2} | parameters)
    return solver.solve(log_problem(name), lam, tol=tol, max_passes=max_passes, state=state, random_state=seed)


def check_enclosed(history, best):
    assert np.all(history["dual"] <= best + 1e-9)
    assert np.all(history["primal"] >= best - 1e-9)
    assert np.all(history["gap"] >= history["primal"] - best - 1e-9)


@each_problem
@pytest.mark.parametrize("lam", [LAM, 0.03])
@pytest.mark.parametrize("sampling", ["permutation", "gap"])
def test_reaches_the_optimum(name, lam, sampling):
    result, pair = run(name, lam, sampling=sampling), named_pair(name)
    assert result.status == "converged"
    check_enclosed(result.history, best_value(name, lam))
    v = pair.to_reference(result.w)
    assert result.primal == pytest.approx(crf_primal(pair.reference, v, lam), abs=1e-12)
    assert result.primal == pytest.approx(best_value(name, lam), abs=1e-7)
    assert v == pytest.approx(crf_optimum(pair.reference, lam)[0], abs=1e-2)


OTHERS = {
    "accelerated": {"acceleration": "catalyst"},
    "accelerated, drawn by gaps": {"acceleration": "catalyst", "sampling": "gap"},
    "averaged": {"averaging": "weighted"},
    "accelerated and averaged": {"acceleration": "catalyst", "averaging": "weighted"},
    "drawn at random": {"sampling": "uniform"},
    "active": {"sampling": "active"},
    "from further inside": {"step": GibbsStep(odds=1.0)},
    "from near corners": {"step": GibbsStep(odds=30.0)},
}


@pytest.mark.parametrize("name", ["chain weighted", "cycle", "multiclass", "complete weighted"])
@pytest.mark.parametrize("kind", OTHERS)
def test_goes_with_the_other_parts(name, kind):
    result = run(name, 0.03, **OTHERS[kind])
    assert result.status == "converged"
    check_enclosed(result.history, best_value(name, 0.03))


@pytest.mark.parametrize("name", ["chain", "multiclass"])
def test_keeps_weights_within_bounds(name):
    result = run(name, lower=0.0, upper=0.3)
    assert result.status == "converged" and np.all((result.w >= 0.0) & (result.w <= 0.3))
    assert result.primal > best_value(name)


@each_problem
@pytest.mark.parametrize("lam", [1.0, 1e-3])
def test_dual_values_never_fall(name, lam):
    pair = named_pair(name)
    engine = BlockFrankWolfe("permutation", step="gibbs").start(log_problem(name), lam, None, 0, None)
    duals = [engine.certify()[0].dual]
    for _ in range(6 * pair.reference.n):
        engine.advance(1)
        duals.append(engine.certify()[0].dual)
    assert np.all(np.diff(duals) >= -1e-12)
    assert 0.0 <= duals[0] < duals[-1] <= best_value(name, lam) + 1e-9


def test_known_gaps_are_those_of_certificates():
    """At the optimum of the quadratic model they are the same; early they are of the same size."""
    problem, ratios = log_problem("chain"), []
    engine = BlockFrankWolfe("permutation", step="gibbs").start(problem, LAM, None, 0, None)
    for _ in range(40):
        engine.certify()
        exact = engine.gaps.copy()
        engine.advance(1)
        (moved,) = np.flatnonzero(engine.gaps != exact)
        ratios.append(engine.gaps[moved] / exact[moved])
    assert np.all((np.array(ratios[8:]) > 0.3) & (np.array(ratios[8:]) < 3.0))
    assert ratios[-4:] == pytest.approx([1.0] * 4, abs=0.1)


def test_duals_are_those_of_distributions_over_all_outputs():
    """The marginals of a block and its entropy are those of potentials between those of all weights it ever saw."""
    pair, problem = named_pair("chain"), log_problem("chain")
    engine = BlockFrankWolfe("permutation", step="gibbs").start(problem, LAM, None, 0, None)
    engine.advance(3 * pair.reference.n)
    alpha = [mass_of(engine.step.base, problem.base, pair.reference.labelings[i], i) for i in range(pair.reference.n)]
    assert engine.certify()[0].dual == pytest.approx(crf_dual(pair.reference, alpha, LAM), abs=1e-10)


def mass_of(tilts, problem, labelings, i):
    begin, k = problem.sites.offsets[i], problem.cost.shape[0]
    edge = tilts.edge[i].reshape(k, k)
    values = np.array(
        [
            sum(tilts.node[begin + t, label] for t, label in enumerate(y)) + sum(edge[a, b] for a, b in pairwise(y))
            for y in labelings
        ]
    )
    return np.exp(values - np.logaddexp.reduce(values))


@pytest.mark.parametrize("parts", [{}, {"sampling": "gap"}, {"acceleration": "catalyst", "averaging": "weighted"}])
def test_goes_on_as_if_it_had_not_stopped(parts):
    whole = run("chain", tol=0, max_passes=20, **parts)
    half = run("chain", tol=0, max_passes=10, **parts)
    rest = run("chain", tol=0, max_passes=10, state=half.state, seed=None, **parts)
    assert rest.w == pytest.approx(whole.w, abs=1e-12)
    assert (rest.primal, rest.dual) == pytest.approx((whole.primal, whole.dual), abs=1e-13)


def test_begins_under_another_lam_where_it_was():
    first = run("chain")
    again, cold = (run("chain", 0.7 * LAM, state=state) for state in (first.state, None))
    assert again.primal == pytest.approx(cold.primal, abs=1e-7)
    assert again.history["gap"][0] < cold.history["gap"][0]
    assert again.n_passes < cold.n_passes


def test_takes_every_block_with_any_weights():
    """Samples of no weight, and samples whose only output is the true one."""
    X, labels = np.array([[1e6], [-1e6], [1e-6], [0.0]]), np.array([0, 1, 0, 1])
    problem = LogLoss(make_multiclass_problem(X, labels, 2, sample_weight=[1, 1, 0, 1]))
    result = BlockFrankWolfe("gap", step="gibbs").solve(problem, 1e-6, tol=1e-3, max_passes=500, random_state=0)
    assert np.all(np.isfinite(result.w)) and result.gap <= 1e-3
    alone = LogLoss(make_multiclass_problem(X, np.zeros(4, int), 1))
    assert BlockFrankWolfe(step="gibbs").solve(alone, 1.0, tol=1e-9, random_state=0).primal == 0.0


@each_problem
def test_auto_takes_accelerated_gibbs_steps(name):
    solver = get_solver("auto", log_problem(name))
    assert (solver.step, solver.acceleration, solver.sampling) == ("gibbs", "catalyst", "gap")
    result = solver.solve(log_problem(name), LAM, tol=1e-6, random_state=0)
    assert result.status == "converged" and result.primal == pytest.approx(best_value(name), abs=1e-5)


REFUSED = [
    BlockFrankWolfe(),
    BlockFrankWolfe(step="away"),
    BlockFrankWolfe(step="pairwise", cache=True),
    BlockFrankWolfe(step="optimal"),
    BlockFrankWolfe(step="exponentiated"),
    BlockFrankWolfe(step="pairwise", working_set=True),
    BlockFrankWolfe(step="pairwise", pieces=2),
    CuttingPlane(),
    ExponentiatedGradient(),
    FrankWolfe(),
    PartialLinearization(),
    Perceptron(),
    Subgradient(),
]


@pytest.mark.parametrize("solver", REFUSED)
@pytest.mark.parametrize("name", ["chain", "complete"])
def test_solvers_that_maximise_say_so(solver, name):
    with pytest.raises(
        TypeError, match=r"needs the outputs that maximise.*LBFGS\(\) or BlockFrankWolfe\(step='gibbs'\)"
    ):
        solver.solve(log_problem(name), LAM)


def test_gibbs_steps_go_with_log_losses_and_without_outputs():
    with pytest.raises(TypeError, match=r"BlockFrankWolfe needs the sum over outputs.*LogLoss\(problem\)"):
        BlockFrankWolfe(step="gibbs").solve(named_pair("chain").problem, LAM)
    for parameters in ({"cache": True}, {"working_set": True}, {"pieces": 2}):
        with pytest.raises(ValueError, match="steps to outputs"):
            run("chain", **parameters)
    for parameters in ({"safeguard": True}, {"line_search": False}):
        with pytest.raises(ValueError, match="only, not with"):
            run("chain", **parameters)
