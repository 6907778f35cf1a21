"""Partial linearization at every temperature: optima of the enumerated QP, dual values that rise, tilts of users."""

import contextlib
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest

from maxmargin.solvers import ExponentiatedGradient, PartialLinearization
from maxmargin.structures import make_multiclass_problem
from maxmargin.structures.rows import KernelRows
from reference import enumerate_multiclass, softmax
from structures import pairs
from structures.pairs import COST, K, chain_pair, graph_pair, interpreted, multiclass_pair

from .conftest import EXACT, LAM, Complete, check_bracket, named_pair, visits
from .test_box import bounds_of, boxed_optimum
from .test_partial_linearization import (
    PYTHON,
    begun,
    best_of,
    duals_of,
    each_problem,
    inner_steps,
    pair_of,
    run,
    take_all,
    walked,
)

pytestmark = pytest.mark.usefixtures("no_compilation")

TAUS = [10.0, 1.0, 0.1, 1e-3, 1e-8, None]


# optima


@each_problem
@pytest.mark.parametrize("tau", [None, 0.1])
def test_reaches_the_optimum(name, tau):
    result, best = run(name, PartialLinearization(tau, gap_every=50), 300, lam=1.0), best_of(name, 1.0)
    check_bracket(result, best)
    assert best - result.dual <= 1e-6
    assert result.primal - best <= 1e-3


@pytest.mark.parametrize("tau", [None, 1.0, 0.1])
@pytest.mark.parametrize("name", ["chain weighted", "chain masked", "tree featured", "cycle"])
def test_reaches_the_optimum_where_lam_is_small(name, tau):
    result = run(name, PartialLinearization(tau, gap_every=100), 300)
    check_bracket(result, best_of(name, LAM))
    assert best_of(name, LAM) - result.dual <= 1e-6
    assert result.primal - best_of(name, LAM) <= 1e-3


@pytest.mark.parametrize("sampling", ["uniform", "gap", "active"])
@pytest.mark.parametrize("name", ["chain masked", "multiclass weighted", "tree masked", "cycle"])
def test_reaches_the_optimum_however_blocks_are_drawn(name, sampling):
    for options in ({"safeguard": True}, {"averaging": "weighted"}, {"acceleration": "catalyst"}):
        solver = PartialLinearization(None, sampling, gap_every=10, **options)
        result = run(name, solver, 300, lam=1.0)
        check_bracket(result, best_of(name, 1.0))
        assert best_of(name, 1.0) - result.dual <= 1e-6, options


@pytest.mark.parametrize("tau", [None, 0.1])
@pytest.mark.parametrize("name", ["chain weighted", "multiclass", "tree featured", "cycle", "complete"])
def test_reaches_the_bounded_optimum(name, tau):
    pair, box = pair_of(name), {"positive": slice(None, None, 2), "upper": 0.1}
    lower, upper = bounds_of(box, pair.reference.d)
    best = boxed_optimum(pair, 1.0, lower, upper)
    result = run(name, PartialLinearization(tau, gap_every=50, **box), 400, lam=1.0)
    check_bracket(result, best)
    assert np.all(lower <= result.w) and np.all(result.w <= upper)
    assert best - result.dual <= 1e-6
    assert result.primal - best <= 1e-3
    assert best > best_of(name, 1.0) + 1e-3  # the bounds bind


def test_reaches_the_optimum_with_a_kernel():
    rng = np.random.default_rng(0)
    points, labels, weights = rng.normal(size=(7, 2)), np.arange(7) % K, [1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 1.0]
    gram = np.exp(-0.5 * np.sum((points[:, None] - points[None]) ** 2, axis=2))
    reference = enumerate_multiclass(np.linalg.cholesky(gram), labels, K, cost=COST, sample_weight=weights)
    problem = make_multiclass_problem(KernelRows(gram), labels, K, cost=COST, sample_weight=weights)
    best = reference.solve(LAM)[1]
    for tau in (None, 0.3):
        result = PartialLinearization(tau, gap_every=50).solve(problem, LAM, tol=0, max_passes=1000, random_state=0)
        check_bracket(result, best)
        assert best - result.dual <= 1e-6
        assert result.primal - best <= 1e-3


# every temperature


@each_problem
@pytest.mark.parametrize("tau", TAUS)
def test_dual_values_never_fall(name, tau):
    for lam in (1e-6, 1e-2, LAM, 100.0):
        duals = duals_of(walked(begun(name, PartialLinearization(tau), lam), 4 * pair_of(name).reference.n))
        assert np.all(np.diff(duals) >= -1e-12 * max(1.0, np.abs(duals).max())), lam
        assert duals[-1] > duals[0] or name in PYTHON, lam
        assert duals[-1] <= best_of(name, max(lam, 1e-3)) + EXACT  # the optimum rises with lam


@pytest.mark.parametrize("name", ["chain", "multiclass weighted", "cycle"])
@pytest.mark.parametrize("options", [{"safeguard": True}, {"positive": slice(None, None, 2)}], ids=str)
def test_dual_values_never_fall_with_other_parts(name, options):
    for tau in TAUS:
        found = walked(begun(name, PartialLinearization(tau, **options)), 4 * pair_of(name).reference.n)
        assert np.all(np.diff(duals_of(found)) >= -1e-12), tau


@cache
def enlarged(name):
    """Features times 1000."""
    make = {"chain": chain_pair, "multiclass": multiclass_pair, "cycle": lambda: graph_pair("cycle", n_edge_features=2)}
    features = pairs.features
    with interpreted(), patch.object(pairs, "features", lambda *args: 1e3 * features(*args)):
        return make[name]()


@pytest.mark.parametrize("name", ["chain", "multiclass", "cycle"])
@pytest.mark.parametrize("tau", [1e-10, 1e-3, 1.0, None])
@pytest.mark.parametrize("lam", [1e-8, 1.0])
@pytest.mark.filterwarnings("error")
def test_tiny_temperatures_and_huge_features_stay_finite(name, tau, lam):
    for pair in (pair_of(name), enlarged(name)):
        for safeguard in (False, True):
            engine = PartialLinearization(tau, safeguard=safeguard).start(pair.problem, lam, None, 0, None)
            found = walked(engine, 4 * pair.reference.n)
            duals = duals_of(found)
            assert all(np.isfinite(one.primal) and np.all(np.isfinite(one.w)) for one in found)
            assert np.all(np.isfinite(duals))
            assert np.all(np.diff(duals) >= -1e-12 * max(1.0, np.abs(duals).max()))
            w = pair.to_reference(found[-1].w)
            assert found[-1].primal == pytest.approx(pair.reference.primal(w, lam), rel=1e-8)
            assert found[-1].dual <= found[-1].primal


@pytest.mark.parametrize(("name", "tau", "lam"), [("tree featured", 0.003, 1.0), ("multiclass", 0.03, 0.1)])
def test_blocks_do_not_get_stuck_at_facets(name, tau, lam):
    # where a full step took the mass of an output that is wanted again later
    solver, best = PartialLinearization(tau, gap_every=400), best_of(name, lam)
    first = run(name, solver, 400, lam)
    second = run(name, solver, 400, lam, state=first.state)
    assert best - second.dual < max(0.99 * (best - first.dual), 1e-9)


@pytest.mark.parametrize("name", ["multiclass weighted", "cycle"])
def test_outputs_without_mass_come_back(name):
    # a start at which others than the truth have exp(-70) and less, and then steps to corners
    engine = begun(name, inner_steps(0, odds=70.0), 1.0)
    take_all(engine, pair_of(name).reference.n)
    result = run(name, PartialLinearization(0.1, gap_every=100), 500, lam=1.0, state=engine.state())
    assert best_of(name, 1.0) - result.dual <= 1e-6


# structures in plain Python


@pytest.mark.parametrize("tau", [None, 1.0, 0.2])
def test_a_python_structure_is_followed_through_its_tilts(tau):
    # emphasis adds up the etas, weights add up eta w; no eta is above 1/tau
    pair = named_pair("complete")
    structure, reference, n = Complete(1), pair.reference, pair.reference.n
    engine = PartialLinearization(tau).start(structure, LAM, None, 0, None)
    w = engine.certify()[0].w
    known = {i: (v, emphasis) for v, i, emphasis in structure.tilts}
    assert sorted(known) == list(range(n))
    for i in visits("permutation", 0, n, 4 * n):
        structure.tilts.clear()
        engine.advance(1)
        asked = [emphasis - known[i][1] for _, _, emphasis in structure.tilts]
        assert all(j == i for _, j, _ in structure.tilts)
        assert asked[1:] == pytest.approx(np.array(asked[:-1]) / 2)
        assert tau is None or max(asked) <= (1 + 1e-12) / tau
        now = engine.certify()[0]
        if not np.array_equal(now.w, w):
            known[i] = structure.tilts[-1][0], structure.tilts[-1][2]
            assert known[i][0] == pytest.approx(structure.tilts[0][0] + (asked[-1] - asked[0]) * w, abs=1e-9)
        alpha = [softmax(known[j][1] * reference.losses[j] + pair.phi[j] @ known[j][0]) for j in range(n)]
        assert now.w == pytest.approx(reference.weights_of(alpha, LAM), abs=1e-9)
        assert now.dual == pytest.approx(reference.dual(alpha, LAM), abs=1e-10)
        w = now.w


@pytest.mark.parametrize("tau", [1.0, 1e-3])
@pytest.mark.parametrize("safeguard", [False, True])
def test_every_oracle_call_is_counted(tau, safeguard):
    structure = Complete()
    result = PartialLinearization(tau, safeguard=safeguard, gap_every=3).solve(
        structure, LAM, tol=0, max_passes=8, random_state=0
    )
    assert result.n_oracle_calls == structure.asked.total()
    assert structure.asked["max_oracle"] == (4 + 8 * safeguard) * 5  # certificates at 0, 3, 6, 8


def test_odds_left_open_do_not_lead_a_users_structure_below_the_truth():
    assert begun("complete", inner_steps(0.1), 1e-4).certify()[0].dual >= 0


@pytest.mark.parametrize(("tau", "lam"), [(0.01, 0.1), (1e-3, 0.1), (1e-3, 1e-3), (1e-6, 0.1)])
def test_low_temperatures_do_not_stop_a_python_structure_short_of_the_optimum(tau, lam):
    solver, best = PartialLinearization(tau, gap_every=500), best_of("complete", lam)
    first = run("complete", solver, 500, lam)
    second = run("complete", solver, 500, lam, state=first.state)
    assert best - second.dual <= max(0.9 * (best - first.dual), 1e-6)


def test_a_warmer_run_of_a_python_structure_keeps_to_its_own_eta():
    structure = Complete(1)
    cold = PartialLinearization(1e-3).solve(structure, 1.0, tol=0, max_passes=3, random_state=0)
    engine = PartialLinearization(10.0).start(structure, 1.0, cold.state, 0, None)
    before = [tilt.emphasis for tilt in engine.step.base]
    structure.tilts.clear()
    engine.advance(1)
    assert all(emphasis - before[i] <= 0.1 + 1e-12 for _, i, emphasis in structure.tilts)


# nothing to learn, nothing to divide by


@pytest.mark.parametrize("solver", [PartialLinearization(), ExponentiatedGradient()], ids=str)
def test_without_losses_nothing_is_learned(solver):
    pair = multiclass_pair(cost=np.zeros((K, K)))
    result = solver.solve(pair.problem, LAM, tol=1e-3, random_state=0)
    assert result.status == "converged"
    assert result.primal == pytest.approx(0.0, abs=1e-3)


def test_without_features_losses_alone_count():
    problem = make_multiclass_problem(np.zeros((3, 2)), np.arange(3), K, intercept=False)
    for tau in (None, 0.1):
        result = PartialLinearization(tau).solve(problem, LAM, tol=1e-9, random_state=0)
        assert (result.primal, result.dual) == pytest.approx((1.0, 1.0))


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
@pytest.mark.parametrize("name", ["chain", "multiclass", "complete"])
def test_temperatures_whose_inverse_overflows_are_taken_for_0_or_refused(name):
    with contextlib.suppress(ValueError):
        result = run(name, PartialLinearization(1e-310), 5)
        assert result.dual == pytest.approx(run(name, PartialLinearization(1e-300), 5).dual, abs=1e-6)
        return
    with pytest.raises(ValueError, match="tau"):
        PartialLinearization(1e-310).solve(pair_of(name).problem, LAM)
