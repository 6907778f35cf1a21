"""Steps to the optimum of a block: the projection itself, whole runs against the QP, and where they are refused."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, OptimalStep, get_solver
from maxmargin.structures import make_multiclass_problem
from maxmargin.structures.rows import KernelRows
from maxmargin.structures.verbs import find_corner, find_optimum, find_potentials, new_blocks, new_expectation, new_work

from ..block_coordinate.test_solver import (
    AVERAGES,
    BOXES,
    LAM,
    SAMPLINGS,
    best_of,
    check_certificates,
    pair_of,
    watched,
)
from ..test_box import EXACT


def nearest_in_simplex(v):
    """By sorting."""
    u = np.sort(v)[::-1]
    sums = np.cumsum(u) - 1.0
    rho = np.flatnonzero(u - sums / np.arange(1, len(v) + 1) > 0)[-1]
    return np.maximum(v - sums[rho] / (rho + 1), 0.0)


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("n_labels", [1, 2, 3, 26])
def test_the_block_becomes_the_nearest_point_of_the_simplex(n_labels):
    rng = np.random.default_rng(n_labels)
    X, y = rng.normal(size=(5, 4)), rng.integers(n_labels, size=5)
    problem = make_multiclass_problem(X, y, n_labels)
    blocks, work, expectation = new_blocks(problem), new_work(problem), new_expectation(problem)
    for scale in [1e-9, 1e-3, 0.3, 1.0, 100.0, 1e6]:
        for i in range(5):
            blocks.node[i] = rng.dirichlet(np.full(n_labels, 0.3))
            w = rng.normal(size=5 * n_labels) * rng.choice([0.0, 0.1, 10.0])
            find_potentials(problem, work, w, i)
            find_corner(problem, work, w, i)
            find_optimum(problem, blocks, expectation, work, i, scale)
            curvature = scale * problem.squared_norm[i]
            expected = nearest_in_simplex(blocks.node[i] + (work.node - work.node.max()) / curvature)
            assert expectation.node == pytest.approx(expected, abs=1e-9)
            assert expectation.node.sum() == pytest.approx(1.0, abs=1e-9) and np.all(expectation.node >= 0)


@pytest.mark.usefixtures("no_compilation")
def test_a_sample_without_features_goes_to_its_corner():
    problem = make_multiclass_problem(np.zeros((1, 2)), np.array([0]), 3, intercept=False)
    work, expectation = new_work(problem), new_expectation(problem)
    find_potentials(problem, work, np.zeros(6), 0)
    find_corner(problem, work, np.zeros(6), 0)
    find_optimum(problem, new_blocks(problem), expectation, work, 0, 1.0)
    assert expectation.node.tolist() == [0.0, 1.0, 0.0]
    result = BlockFrankWolfe(step="optimal").solve(problem, 0.1)
    assert result.status == "converged" and result.primal == result.dual == 1.0


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("acceleration", [None, "catalyst"])
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("averaged", AVERAGES)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_runs_find_the_optimum(sampling, averaged, box, acceleration):
    pair, best = pair_of("multiclass"), best_of("multiclass", box)
    options = {**AVERAGES[averaged], **BOXES[box], "gap_every": 2, "acceleration": acceleration}
    solver = BlockFrankWolfe(sampling, step=OptimalStep(), **options)
    result, iterates = watched(solver, pair.problem, 1e-6, 3000)
    assert result.status == "converged"
    assert result.primal == pytest.approx(best, abs=1e-6 + EXACT)
    check_certificates(pair, box, result.history, best)
    if acceleration is None:
        assert np.all(np.diff([iterate.dual for iterate in iterates]) >= -1e-12)


@pytest.mark.usefixtures("no_compilation")
def test_ten_and_ten_passes_are_twenty():
    problem, solver = pair_of("multiclass").problem, get_solver("auto", pair_of("multiclass").problem)
    assert solver.step == "optimal"
    first = solver.solve(problem, LAM, tol=0, max_passes=10, random_state=0)
    second = solver.solve(problem, LAM, tol=0, max_passes=10, state=first.state)
    whole = solver.solve(problem, LAM, tol=0, max_passes=20, random_state=0)
    assert np.array_equal(second.state.w, whole.state.w)


def test_other_structures_and_parts_that_would_be_ignored_are_refused():
    for name in ("chain", "custom"):
        with pytest.raises(TypeError, match=r"in closed form.*pairwise"):
            BlockFrankWolfe(step="optimal").solve(pair_of(name).problem, LAM)
    rows = KernelRows(np.eye(3))
    problem = make_multiclass_problem(rows, np.array([0, 1, 1]), 2)
    with pytest.raises(TypeError, match="in closed form"):
        BlockFrankWolfe(step="optimal").solve(problem, LAM)
    assert get_solver("auto", problem).step == "pairwise"
    problem = pair_of("multiclass").problem
    with pytest.raises(ValueError, match="a cache goes with steps to outputs, not with step='optimal'"):
        BlockFrankWolfe(step="optimal", cache=True).solve(problem, LAM)
    with pytest.raises(ValueError, match="safeguard=True goes with pairwise and expectation steps only"):
        BlockFrankWolfe(step="optimal", safeguard=True).solve(problem, LAM)
    with pytest.raises(ValueError, match="step must be one of"):
        BlockFrankWolfe(step=object()).solve(problem, LAM)
