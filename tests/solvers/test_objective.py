"""The dual value of a point, and the best one on a segment, against the definition."""

from itertools import product

import numpy as np
import pytest

from maxmargin.solvers.box import make_box
from maxmargin.solvers.objective import DualPoint, Objective

from .block_coordinate.test_solver import BOXES, LAM, each_problem, pair_of
from .test_box import bounds_of

GRID = np.linspace(0, 1, 501)


def dual_value(point, lam, lower, upper):
    """The least over the box of the Lagrangian."""
    w = np.clip(point.vector / lam, lower, upper)
    return point.loss - w @ point.vector + 0.5 * lam * w @ w


def between(start, end, share):
    return DualPoint(*((1 - share) * one + share * other for one, other in zip(start, end, strict=True)))


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("lam", [LAM, 0.02])
@pytest.mark.parametrize("box", BOXES)
@each_problem
def test_best_point_between_two(name, box, lam):
    pair, rng, inside = pair_of(name), np.random.default_rng(0), 0
    reference, bounds = pair.reference, bounds_of(BOXES[box], pair.reference.d)
    objective = Objective(pair.problem, lam, make_box(*bounds, None, reference.d))

    def random_point(spread):
        alpha = [rng.dirichlet(np.full(len(losses), spread)) for losses in reference.losses]
        return DualPoint(pair.from_reference(reference.weights_of(alpha, 1.0)), reference.ell_of(alpha))

    for spreads in product([0.01, 0.3, 5.0], repeat=2):
        start, end = map(random_point, spreads)
        found, share = objective.best_between(start, end)
        value = dual_value(found, lam, *bounds)
        assert objective.dual(found) == pytest.approx(value, abs=1e-12)
        assert value >= max(dual_value(between(start, end, share), lam, *bounds) for share in GRID) - 1e-12
        assert 0 <= share <= 1
        assert found.vector == pytest.approx(between(start, end, share).vector)
        assert found.loss == pytest.approx(between(start, end, share).loss)
        inside += 0 < share < 1
        back, _ = objective.best_between(found, start)
        assert dual_value(back, lam, *bounds) == pytest.approx(value, abs=1e-12)
        assert objective.best_between(start, start) == (start, 0.0)
    assert inside > 0 or box == "boxed"  # most of whose slopes are constant


@pytest.mark.usefixtures("no_compilation")
def test_ends_of_a_segment():
    objective = Objective(pair_of("multiclass").problem, LAM, make_box(None, None, None, 15))
    low, high = DualPoint(np.zeros(15), 0.0), DualPoint(np.zeros(15), 1.0)  # they differ in their losses only
    assert objective.best_between(low, high)[1] == 1.0
    assert objective.best_between(high, low)[1] == 0.0


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("box", BOXES)
@each_problem
def test_best_value_is_that_of_the_best_point(name, box):
    pair, rng = pair_of(name), np.random.default_rng(1)
    bounds = bounds_of(BOXES[box], pair.reference.d)
    objective = Objective(pair.problem, LAM, make_box(*bounds, None, pair.reference.d))
    for _ in range(20):
        start, end = (DualPoint(rng.normal(size=pair.reference.d), rng.normal()) for _ in range(2))
        found, value = objective.best_between(start, end)[0], objective.best_value(start, end)
        assert value == pytest.approx(objective.value(found), abs=1e-10)
