"""Weights for given values of lam."""

import pickle

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, lam_grid

from ..path.checks import LAMS, PAIRWISE, SOLVERS, check_lam, pair_of, same_paths, served

pytestmark = pytest.mark.usefixtures("no_compilation")

GRID = [3.0, 1.0, 0.3, 0.1, 0.03]
each_start = pytest.mark.parametrize("warm_start", [True, False], ids=["warm", "cold"])


def solve(name, solver=PAIRWISE, **options):
    return lam_grid(pair_of(name).problem, solver, **{"lams": GRID, "tol": 0.01, "random_state": 0} | options)


@each_start
@pytest.mark.parametrize("kind", ["fw", "pairwise", "averaged", "catalyst", "auto"])
@pytest.mark.parametrize("name", ["chain", "multiclass weighted", "custom"])
def test_each_value_is_solved(name, kind, warm_start):
    path = solve(name, SOLVERS[kind](), warm_start=warm_start, tol=0.05)
    assert path.breakpoints.tolist() == GRID
    assert (path.ended, path.lam_end) == ("lam_min", 0.03)
    assert np.all(path.gaps <= 0.05)
    for lam in GRID:
        assert check_lam(path, name, lam) <= 0.05


@pytest.mark.parametrize("name", ["chain", "multiclass", "custom"])
def test_gaps_between_and_above_the_values_hold(name):
    path = solve(name)
    for lam in served(path, LAMS[:60]):
        value = pair_of(name).reference.primal(pair_of(name).to_reference(path.coef_at(lam)), lam)
        assert value - pair_of(name).reference.solve(lam)[1] <= path.gap_at(lam) + 1e-8


def test_no_gap_is_worse_than_the_worst():
    path = solve("multiclass", lams=[0.01, 1e-3], tol=1e-3)
    for lam in np.geomspace(path.lam_end, 1e3, 100):
        assert path.gap_at(lam) <= path.worst_gap + 1e-12


@each_start
def test_order_and_repetitions_do_not_matter(warm_start):
    one = solve("multiclass", warm_start=warm_start)
    for lams in ([0.1, 3.0, 0.03, 0.3, 1.0, 0.1], np.array(GRID[::-1]), iter(GRID), tuple(GRID * 2)):
        assert same_paths(solve("multiclass", lams=lams, warm_start=warm_start), one)


def test_cold_starts_do_not_know_of_each_other():
    path = solve("custom", warm_start=False)
    for j, lam in enumerate(GRID):
        alone = PAIRWISE.solve(pair_of("custom").problem, lam, tol=0.01, random_state=0)
        assert np.array_equal(path.weights(j), alone.w)
        assert path.passes[j] == alone.n_passes


def test_warm_starts_save_passes():
    warm, cold = (solve("chain", lams=np.geomspace(3, 0.3, 20), warm_start=warm) for warm in (True, False))
    assert warm.passes.sum() < cold.passes.sum()


def test_the_papers_grid():
    path = solve("multiclass", lams=[2.0**k for k in range(15, -16, -1)])
    default = lam_grid(pair_of("multiclass").problem, PAIRWISE, tol=0.01, random_state=0)
    assert same_paths(path, default)
    for lam in (2.0**15, 1.0, 2.0**-8):
        check_lam(path, "multiclass", lam)


@each_start
def test_stops_and_goes_on(warm_start):
    seen = []
    whole = solve("multiclass", warm_start=warm_start)
    path = solve("multiclass", warm_start=warm_start, callbacks=[lambda told: seen.append(told) or len(seen) == 2])
    assert (path.ended, len(path), path.lam_end) == ("callback", 2, 0.3)
    twin = pickle.loads(pickle.dumps(path))
    assert same_paths(path.resume(), whole)
    assert same_paths(twin.resume(), whole)
    assert [told.lam for told in seen] == GRID[:2]  # the first one, too


@each_start
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_stopped_before_the_first_value(warm_start):
    path = solve("chain", lams=[0.1, 0.03], tol=1e-3, max_passes=1, warm_start=warm_start)
    assert (len(path), path.ended, path.worst_gap) == (0, "max_passes", np.inf)
    assert "without breakpoints" in repr(path)
    assert path.breakpoints.shape == path.gaps.shape == path.norms.shape == (0,)
    with pytest.raises(ValueError, match="no breakpoint yet"):
        path.coef_at(1.0)
    path.resume(max_passes=1000)
    assert path.breakpoints.tolist() == [0.1, 0.03]
    assert np.all(path.gaps <= 1e-3)


def test_a_grid_has_no_other_end():
    with pytest.raises(ValueError, match="lam_min does not apply"):
        solve("chain").resume(lam_min=1e-3)


@pytest.mark.parametrize("lams", [[], [0.0], [-1.0, 1.0], [np.nan], [np.inf, 1.0], [None]])
def test_bad_lams_are_named(lams):
    with pytest.raises(ValueError, match="lams must be finite numbers > 0"):
        solve("chain", lams=lams)


@pytest.mark.parametrize("lams", [[True], ["1"], "ab", 0.5, None, [[1.0, 2.0]]])
def test_lams_that_are_no_numbers_are_named(lams):
    with pytest.raises(ValueError, match="lams must be"):
        solve("chain", lams=lams)


@pytest.mark.parametrize("tol", [0, -1.0, np.nan, True, "1", None])
def test_bad_tol_is_named(tol):
    with pytest.raises(ValueError, match="tol must be a number > 0"):
        solve("chain", tol=tol)


def test_bounds_that_are_no_signs_are_refused():
    with pytest.raises(ValueError, match="bounds must be 0 or infinite"):
        solve("multiclass", BlockFrankWolfe(lower=-1.0))


@each_start
def test_a_grid_from_huge_to_small(warm_start):
    path = solve("multiclass with costs", lams=[1e16, 0.01], tol=1e-3, warm_start=warm_start)
    check_lam(path, "multiclass with costs", 0.01)
