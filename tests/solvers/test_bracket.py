"""Weights and a dual point under any lam: their values, and how far down they serve, against the definition."""

import numpy as np
import pytest

from maxmargin.solvers.box import make_box, truncate
from maxmargin.solvers.objective import Bracket, Certified, DualPoint, Objective

from .block_coordinate.test_solver import each_problem, pair_of
from .path.checks import BOXES
from .test_box import bounds_of

pytestmark = pytest.mark.usefixtures("no_compilation")

SHARES = np.linspace(0, 1, 2001)
LAMS = np.geomspace(1e-3, 1e3, 25)
each_box = pytest.mark.parametrize("box", BOXES)


def random_bracket(pair, box, rng):
    """A bracket of random weights and a random dual point, and the values it has to give."""
    reference, d = pair.reference, pair.reference.d
    made = make_box(*bounds_of(BOXES[box], d), None, d)
    alpha = [rng.dirichlet(np.full(len(losses), 0.3)) for losses in reference.losses]
    point = DualPoint(pair.from_reference(reference.weights_of(alpha, 1.0)), reference.ell_of(alpha))
    w, lam = truncate(made, rng.normal(size=d) * rng.choice([0.1, 1.0]))[0], float(np.exp(rng.normal()))
    objective = Objective(pair.problem, lam, made)
    bracket = objective.bracket(objective.certified(w, reference.primal(pair.to_reference(w), lam), point))

    def primal(lam):
        return reference.primal(pair.to_reference(w), lam)

    def dual(lam):
        """The best of the points between this one and the true outputs, by trial."""
        lower, upper = bounds_of(BOXES[box], d)
        w = np.clip(SHARES[:, None] * point.vector / lam, lower, upper)
        values = SHARES * point.loss + lam * (0.5 * np.sum(w * w, axis=1)) - SHARES * (w @ point.vector)
        return values.max()

    return bracket, primal, dual


@each_box
@each_problem
def test_values_under_any_lam(name, box):
    rng = np.random.default_rng(0)
    for _ in range(5):
        bracket, primal, dual = random_bracket(pair_of(name), box, rng)
        for lam in LAMS:
            assert bracket.primal(lam) == pytest.approx(primal(lam), rel=1e-10)
            found = dual(lam)
            assert bracket.dual(lam) >= found - 1e-10
            assert bracket.dual(lam) == pytest.approx(found, rel=1e-3, abs=1e-3)  # the trial is a grid
            assert bracket.gap(lam) == pytest.approx(bracket.primal(lam) - bracket.dual(lam), abs=1e-12)
            assert 0 <= bracket.share(lam) <= 1


@each_problem
def test_dual_values_are_below_every_primal_value(name):
    pair, rng = pair_of(name), np.random.default_rng(1)
    optima = {lam: pair.reference.solve(lam)[1] for lam in LAMS[::6]}
    for _ in range(20):
        bracket, *_ = random_bracket(pair, "free", rng)
        for lam, optimum in optima.items():
            assert bracket.dual(lam) <= optimum + 1e-7
            assert bracket.primal(lam) >= optimum - 1e-7


def random_numbers(rng):
    square, hinge, loss, dual_square = np.exp(rng.normal(size=4) * 2)
    return Bracket(*map(float, (square, hinge, loss, dual_square)))


def test_gaps_are_convex():
    rng = np.random.default_rng(0)
    for _ in range(200):
        bracket = random_numbers(rng)
        for low, high in np.exp(rng.normal(size=(20, 2)) * 2):
            middle = 0.5 * (bracket.gap(low) + bracket.gap(high))
            assert bracket.gap(0.5 * (low + high)) <= middle + 1e-9 * abs(middle)


def test_reach_is_the_lowest_lam_with_that_gap():
    rng, ends = np.random.default_rng(0), 0
    for _ in range(2000):
        bracket, lam = random_numbers(rng), float(np.exp(rng.normal() * 2))
        eps = bracket.gap(lam) * (1 + rng.random())
        # a dual point counts as it is, where it was found: all of it
        if eps <= 0 or bracket.share(lam) < 1.0:
            continue
        lowest = bracket.reach(eps)
        assert 0.0 <= lowest <= lam * (1 + 1e-9)
        if lowest == 0.0:
            assert bracket.hinge <= eps
            ends += 1
            continue
        assert bracket.gap(lowest) == pytest.approx(eps, rel=1e-6, abs=1e-9)
        assert bracket.gap(lowest * (1 - 1e-3)) > eps
    assert ends > 50


def test_reach_without_weights():
    # gap = 1 - (1 - 1/(2 lam)) while lam >= 1, then 1 - lam/2
    bracket = Bracket(0.0, 1.0, 1.0, 1.0)
    assert bracket.reach(0.25) == pytest.approx(2.0)
    assert bracket.reach(0.5) == pytest.approx(1.0)
    assert bracket.reach(0.75) == pytest.approx(0.5)
    assert bracket.reach(1.0) == 0.0


def test_reach_of_a_dual_point_without_a_vector():
    assert Bracket(0.0, 1.0, 1.0, 0.0).reach(0.1) == 0.0
    assert Bracket(0.0, 1.0, 1.0, 0.0).dual(1e-300) == 1.0
    assert Bracket(4.0, 1.05, 1.0, 0.0).reach(0.1) == 0.0


@pytest.mark.parametrize("lam", [1e-300, 5e-324])
def test_values_next_to_zero(lam):
    bracket = Bracket(2.0, 0.05, 1.0, 3.0)
    assert bracket.gap(lam) == bracket.gap(0.0) == pytest.approx(0.05)


def test_the_dual_point_of_the_truth_is_worth_nothing():
    bracket = Bracket(0.0, 1.0, 0.0, 0.0)
    assert bracket.dual(1.0) == 0.0
    assert bracket.gap(1.0) == 1.0


UNREACHABLE = [
    Bracket(1.0, 5.0, 1.0, 1.0),
    Bracket(1.0, 5.0, 1.0, 2.0),
    Bracket(1.0, 5.0, 1.0, 0.5),
    Bracket(0.0, 1.0, 0.0, 0.0),
]


@pytest.mark.parametrize("bracket", UNREACHABLE)
def test_weights_never_within_eps_reach_nowhere(bracket):
    # a heuristic path, once certified, has such pieces, and resume(lam_min) asks them
    assert min(bracket.gap(lam) for lam in np.geomspace(1e-9, 1e9, 10_000)) > 0.1
    assert bracket.reach(0.1) == np.inf


@each_problem
def test_carried_values_hold_under_the_other_lam(name):
    pair, rng = pair_of(name), np.random.default_rng(2)
    reference = pair.reference
    for _ in range(10):
        alpha = [rng.dirichlet(np.full(len(losses), 0.3)) for losses in reference.losses]
        point = DualPoint(pair.from_reference(reference.weights_of(alpha, 1.0)), reference.ell_of(alpha))
        before, after = (Objective(pair.problem, lam, make_box(None, None, None, reference.d)) for lam in (0.7, 0.05))
        w = rng.normal(size=reference.d)
        found = before.certified(w, reference.primal(pair.to_reference(w), 0.7), point)
        carried = after.carried(found, 0.7)
        assert carried.primal == pytest.approx(reference.primal(pair.to_reference(w), 0.05), rel=1e-10)
        assert carried.dual <= reference.solve(0.05)[1] + 1e-7
        assert carried.dual >= max(after.dual(point), 0.0) - 1e-10
        # and back: the loss that goes with the value is that of the share that was taken
        again = before.carried(carried, 0.05)
        assert again.dual <= reference.solve(0.7)[1] + 1e-7


@pytest.mark.parametrize("lam", [1e12, 1e16])
def test_what_was_found_under_a_large_lam_holds_under_a_small_one(lam):
    pair = pair_of("multiclass")
    reference, d = pair.reference, pair.reference.d
    alpha = [np.eye(len(losses))[np.argmax(losses)] for losses in reference.losses]
    point = DualPoint(pair.from_reference(reference.weights_of(alpha, 1.0)), reference.ell_of(alpha))
    box = make_box(None, None, None, d)
    nothing = np.zeros(d)
    found = Objective(pair.problem, lam, box).certified(nothing, reference.primal(nothing, lam), point)
    bracket = Objective(pair.problem, lam, box).bracket(Certified(*found))
    assert bracket.dual_square == pytest.approx(point.vector @ point.vector, rel=1e-9)
    assert Objective(pair.problem, 0.01, box).carried(found, lam).dual <= reference.solve(0.01)[1] + 1e-7
