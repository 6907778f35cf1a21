"""Exponentiated gradient over every output written out: its steps, its rates of learning, its certificates."""

import numpy as np
import pytest
from scipy.optimize import brentq

from maxmargin.solvers import ExponentiatedGradient
from maxmargin.structures import CustomProblem
from reference import softmax, tilted
from structures.pairs import Subsets

from .conftest import (
    EXACT,
    KINDS,
    LAM,
    Complete,
    check_bracket,
    complete_pair,
    named_pair,
    optimum,
    visits,
)
from .test_approximate import Greedy

pytestmark = pytest.mark.usefixtures("no_compilation")

EXPECTED = [*KINDS, "chain masked", "multiclass", "cycle", "complete"]
each_problem = pytest.mark.parametrize("name", EXPECTED)


def run(name, passes, lam=LAM, solver=None, **options):
    solver = ExponentiatedGradient(gap_every=5) if solver is None else solver
    return solver.solve(named_pair(name).problem, lam, max_passes=passes, **{"tol": 0, "random_state": 0} | options)


@each_problem
def test_certificates_enclose_the_optimum(name):
    result, best = run(name, 60), optimum(name)
    check_bracket(result, best)
    primal = named_pair(name).reference.primal(named_pair(name).to_reference(result.w), LAM)
    assert result.primal == pytest.approx(primal, abs=1e-10)
    assert set(result.history["passes"]) == {*range(0, 61, 5)}


@each_problem
def test_reaches_the_optimum_at_its_rate(name):
    result, best = run(name, 300, lam=1.0, solver=ExponentiatedGradient(gap_every=30)), optimum(name, 1.0)
    check_bracket(result, best)
    assert best - result.dual <= 1e-3
    assert result.primal - best <= 1e-2


@each_problem
@pytest.mark.parametrize("rate", [0.1, 10.0, 1e4])
def test_dual_values_never_fall(name, rate):
    pair = named_pair(name)
    engine = ExponentiatedGradient(rate).start(pair.problem, LAM, None, 0, None)
    duals = [engine.certify()[0].dual]
    for _ in range(4 * pair.reference.n):
        engine.advance(1)
        duals.append(engine.certify()[0].dual)
    assert np.all(np.diff(duals) >= -1e-12)
    assert duals[-1] > duals[0]
    assert duals[-1] <= optimum(name) + EXACT


def start_of(pair, w):
    """The distributions ``exp(-odds (number of wrong parts))`` that have these weights, the odds found by search."""
    reference = pair.reference
    wrong = [
        np.array([np.sum(np.asarray(y) != np.asarray(labels[truth])) for y in labels], float)
        for labels, truth in zip(reference.labelings, reference.truth, strict=True)
    ]

    def alpha_of(odds):
        return [softmax(-odds * count) for count in wrong]

    def excess(odds):
        return np.linalg.norm(reference.weights_of(alpha_of(odds), LAM)) - np.linalg.norm(w)

    return alpha_of(brentq(excess, 0.0, 50.0, xtol=1e-14))


BUILT_IN = ["chain", "chain weighted", "multiclass weighted", "tree featured", "cycle"]


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("rate", [0.1, 3.0])
def test_steps_multiply_probabilities_by_exponentials(name, rate):
    pair, lam = named_pair(name), LAM
    reference, n = pair.reference, pair.reference.n
    engine = ExponentiatedGradient(rate).start(pair.problem, lam, None, 0, None)
    w = pair.to_reference(engine.certify()[0].w)
    alpha = start_of(pair, w)
    assert reference.weights_of(alpha, lam) == pytest.approx(w, abs=1e-9)
    first_rates = {}
    for i in visits("permutation", 0, n, 2 * n):
        engine.advance(1)
        now = engine.certify()[0]
        w, target = reference.weights_of(alpha, lam), pair.to_reference(now.w)
        if np.linalg.norm(target - w) > 1e-9:  # else no eta was short enough, or the sample has no weight
            eta = found_rate(reference, i, alpha[i], w, lam, target)
            first_rates.setdefault(i, eta)
            alpha[i] = tilted(reference, i, alpha[i], w, eta)
        assert pair.to_reference(now.w) == pytest.approx(reference.weights_of(alpha, lam), abs=1e-6)
        assert now.dual == pytest.approx(reference.dual(alpha, lam), abs=1e-7)
    equal = np.ptp(reference.weights) == 0
    for eta in first_rates.values():
        halvings = np.log2(rate * lam * n / eta)
        assert not equal or halvings == pytest.approx(round(halvings), abs=1e-3)
        assert not equal or halvings >= -1e-3


def found_rate(reference, i, alpha, w, lam, target):
    """The eta whose step leads from `w` to `target`, if any does."""
    share = reference.shares[i] / lam

    def moved(eta):
        return w + share * (tilted(reference, i, alpha, w, eta) - alpha) @ reference.psi[i]

    direction = target - w

    def behind(log_eta):
        return (moved(np.exp(log_eta)) - target) @ direction

    return np.exp(brentq(behind, -30.0, 12.0, xtol=1e-13))


@pytest.mark.parametrize("rate", [0.1, 5.0])
def test_a_python_structure_is_asked_for_the_tilts_of_the_steps(rate):
    # emphasis adds up the etas, weights add up eta w; the dual variables never leave log space
    pair = complete_pair()
    structure, reference, n = pair.problem.structure, pair.reference, pair.reference.n
    engine = ExponentiatedGradient(rate).start(pair.problem, LAM, None, 0, None)
    w = engine.certify()[0].w
    known = {i: (v, emphasis) for v, i, emphasis in structure.tilts}
    assert sorted(known) == list(range(n))
    for i in visits("permutation", 0, n, 4 * n):
        structure.tilts.clear()
        engine.advance(1)
        for v, asked, emphasis in structure.tilts:
            assert asked == i
            eta = emphasis - known[i][1]
            assert eta > 0
            assert v == pytest.approx(known[i][0] + eta * w, abs=1e-10)
        now = engine.certify()[0]
        v, _, emphasis = structure.tilts[-1]
        if not np.array_equal(now.w, w):  # else no eta was short enough
            known[i] = v, emphasis
        alpha = alpha_of(pair, structure, known)
        assert now.w == pytest.approx(reference.weights_of(alpha, LAM), abs=1e-9)
        assert now.dual == pytest.approx(reference.dual(alpha, LAM), abs=1e-10)
        w = now.w


def alpha_of(pair, structure, tilts):
    features = [np.array([structure.joint_feature(i, y) for y in structure.outputs]) for i in range(len(tilts))]
    return [softmax(tilts[i][1] * pair.reference.losses[i] + features[i] @ tilts[i][0]) for i in range(len(tilts))]


def test_first_rates_are_relative_to_lam_and_the_number_of_samples():
    for lam in (0.1, 1.0):
        structure = Complete()
        engine = ExponentiatedGradient(0.01).start(CustomProblem(structure), lam, None, 0, None)
        engine.certify()
        before = {i: emphasis for _, i, emphasis in structure.tilts}
        structure.tilts.clear()
        engine.advance(5)
        for _, i, emphasis in structure.tilts[:1]:
            assert emphasis - before[i] == pytest.approx(0.01 * lam * 5)


def test_probabilities_near_0_stay_finite():
    # log space: a rate that multiplies by exp(1e6)
    for name in ("chain", "multiclass", "complete"):
        result = run(name, 20, lam=1e-3, solver=ExponentiatedGradient(1e6, gap_every=5))
        check_bracket(result, optimum(name, 1e-3))
        assert np.all(np.isfinite(result.w))


def test_every_oracle_call_is_counted():
    for rate in (0.1, 1e3):
        structure = Complete()
        result = ExponentiatedGradient(rate, gap_every=3).solve(structure, LAM, tol=0, max_passes=8, random_state=0)
        assert result.n_oracle_calls == structure.asked.total()
        assert structure.asked["exp_oracle"] >= 8 * 5
        assert structure.asked["max_oracle"] == 4 * 5  # certificates at 0, 3, 6, 8
        assert not structure.asked["decode"]


def test_a_structure_without_expectations_is_told_what_to_add():
    with pytest.raises((TypeError, ValueError), match="exp_oracle"):
        ExponentiatedGradient().solve(Subsets(), LAM)


class Approximate(Complete, Greedy):
    """A max oracle that may miss, expectations that do not."""

    def max_oracle(self, w, i):
        return Greedy.max_oracle(self, w, i)


def test_approximate_oracles_certify_nothing():
    result = ExponentiatedGradient().solve(Approximate(), LAM, tol=1.0, max_passes=10, random_state=0)
    assert (result.status, result.gap) == ("uncertified", np.inf)
    assert result.dual <= optimum("custom") + EXACT


BROKEN = {
    "loss NaN": lambda v, i, emphasis: (np.zeros(6), np.nan),
    "too short": lambda v, i, emphasis: (np.zeros(5), 0.5),
    "feature NaN": lambda v, i, emphasis: (np.full(6, np.nan), 0.5),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_bad_expectations_are_named(kind):
    structure = Complete()
    structure.exp_oracle = BROKEN[kind]
    with pytest.raises(ValueError, match=r"sample \d: .*exp_oracle"):
        ExponentiatedGradient().solve(structure, LAM, max_passes=2)


def test_weight_0_is_removal():
    weights = np.array([1, 2, 0, 0.5, 1])
    pair = complete_pair(weights)
    result = ExponentiatedGradient().solve(pair.problem, 1.0, tol=0, max_passes=100, random_state=0)
    check_bracket(result, pair.reference.solve(1.0)[1])
    assert result.gap <= 0.02


def test_tol_stops_with_a_certificate():
    result = run("chain", 1000, lam=1.0, tol=0.02)
    assert result.status == "converged"
    assert result.gap <= 0.02 < result.history["gap"][-2]


BAD = {
    "rate": {"rate": 0.0},
    "rate negative": {"rate": -1.0},
    "rate NaN": {"rate": np.nan},
    "rate as a word": {"rate": "fast"},
    "sampling": {"sampling": "gap"},
    "gap_every": {"gap_every": 0},
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_parameters_are_named(kind):
    with pytest.raises(ValueError, match=kind.split()[0]):
        ExponentiatedGradient(**BAD[kind]).solve(named_pair("chain").problem, LAM)
