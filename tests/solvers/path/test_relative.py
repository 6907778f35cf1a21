"""Paths with gaps that are a share of the objective: against the optimum under many lam, and against a plain search."""

import numpy as np
import pytest

from maxmargin.solvers import Path, regularization_path
from maxmargin.solvers.objective import Bracket
from maxmargin.solvers.path.rules import Grid
from maxmargin.solvers.path.runs import Effort, certified
from maxmargin.solvers.tolerance import LEAST, Absolute, Relative
from maxmargin.structures import make_multiclass_problem

from ..path.checks import BOXES, LAMS, PAIRWISE, SOLVERS, check_lam, pair_of, served

pytestmark = pytest.mark.usefixtures("no_compilation")

FEW = LAMS[:40]


def follow(name, solver=PAIRWISE, **options):
    options = {"eps": 0.2, "lam_min": 0.01, "random_state": 0} | options
    return regularization_path(pair_of(name).problem, solver, **options)


def check_relative(path, name, eps, lams=FEW, box="free"):
    assert np.all(np.diff(path.breakpoints) < 0)
    assert path.worst_relative_gap <= eps * (1 + 1e-9)
    least = LEAST * path._hinge_at_zero
    for lam in served(path, lams):
        gap = check_lam(path, name, lam, box)
        assert gap <= path.worst_relative_gap * max(path.primal_at(lam), least) + 1e-12


@pytest.mark.parametrize("kind", ["batch", "fw", "pairwise", "averaged", "catalyst", "auto"])
@pytest.mark.parametrize("name", ["chain", "multiclass", "custom"])
def test_a_share_of_the_objective(name, kind):
    check_relative(follow(name, SOLVERS[kind]()), name, 0.2, LAMS)


@pytest.mark.parametrize("box", ["positive", "negative"])
@pytest.mark.parametrize("name", ["chain masked", "custom"])
def test_with_signs(name, box):
    check_relative(follow(name, SOLVERS["pairwise"](**BOXES[box])), name, 0.2, FEW, box)


@pytest.mark.parametrize(("eps", "kappa"), [(1.5, 0.9), (0.9, 0.5), (0.3, 0.05), (0.02, 0.98)])
def test_every_eps_and_kappa(eps, kappa):
    path = follow("multiclass", eps=eps, kappa=kappa)
    check_relative(path, "multiclass", eps)
    least = LEAST * path._hinge_at_zero
    primals = np.array([path.primal_at(lam) for lam in path.breakpoints])
    assert np.all(path.gaps <= kappa * eps * np.maximum(primals, least) + 1e-12)


def test_it_is_the_default_and_finer_than_the_papers_where_the_objective_is_small():
    ours, theirs = follow("chain", eps=0.1, lam_min=None), follow("chain", eps=0.1, relative=False, lam_min=None)
    assert ours.hinges[-1] < theirs.hinges[-1]
    assert theirs.worst_relative_gap > 0.1 >= ours.worst_relative_gap * (1 - 1e-9)


def test_costs_in_other_units_change_nothing():
    X, y = np.random.default_rng(0).normal(size=(6, 3)), np.arange(6) % 3
    paths = [
        regularization_path(
            make_multiclass_problem(X, y, 3, cost=unit * (1.0 - np.eye(3))), PAIRWISE, eps=0.2, random_state=0
        )
        for unit in (1.0, 2.0**-10)
    ]
    assert [path.ended for path in paths] == ["hinge", "hinge"]
    assert paths[1].breakpoints == pytest.approx(paths[0].breakpoints * 2.0**10, rel=1e-6)


def test_it_ends_where_the_hinge_loss_is_practically_0():
    path = follow("multiclass", lam_min=None)
    assert (path.ended, path.lam_end) == ("hinge", 0.0)
    assert path.hinges[-1] <= 0.2 * LEAST * path._hinge_at_zero < path.hinges[-2]


def random_brackets(n):
    """Of weights and dual points that could be such: no dual value above a primal one."""
    rng = np.random.default_rng(0)
    while n:
        square, hinge, loss, dual_square = rng.exponential(size=4) * 10.0 ** rng.uniform(-2, 1, size=4)
        bracket, lam = Bracket(square, hinge, loss, dual_square), 10.0 ** rng.uniform(-2, 1)
        if all(bracket.gap(one) >= 0 for one in np.geomspace(1e-6, 1e6, 100)):
            n -= 1
            yield bracket, lam


def test_reach_against_a_plain_search():
    for bracket, lam in random_brackets(200):
        eps = bracket.gap(lam) / bracket.primal(lam) * 1.2
        for least in (0.0, 0.3 * eps * bracket.primal(lam), 2.0 * eps * bracket.primal(lam)):
            rule = Relative(eps, least)
            lowest = rule.reach(bracket, lam, 1.0)
            assert lowest <= lam
            below = np.geomspace(1e-9 * lam, lam, 4000)[::-1]
            good = np.array([bracket.gap(one) <= rule.at(bracket.primal(one)) * (1 + 1e-9) for one in below])
            plain = below[np.argmin(good) - 1] if not good.all() else 0.0
            assert lowest <= plain * (1 + 1e-6) or lowest < below[-1]
            assert plain == 0.0 or lowest >= below[np.argmin(good)] * (1 - 1e-6)


def test_grids_take_shares_too():
    problem, rule = pair_of("chain").problem, Grid((3.0, 1.0, 0.1), Relative(0.1))
    path = Path(problem, PAIRWISE, rule, certified, Effort(1000, None, 0, None)).walk()
    assert path.breakpoints.tolist() == [3.0, 1.0, 0.1]
    for lam, gap in zip(path.breakpoints, path.gaps, strict=True):
        assert gap <= 0.1 * path.primal_at(lam) + 1e-12


def test_tolerances():
    assert Absolute(0.1).begin(3.0).at(2.0) == 0.1
    begun = Relative(0.1).begin(3.0)
    assert (begun.at(2.0), begun.at(0.0)) == (pytest.approx(0.2), pytest.approx(0.1 * LEAST * 3.0))
    assert Relative(0.1, 0.5).begin(3.0).at(2.0) == 0.5
