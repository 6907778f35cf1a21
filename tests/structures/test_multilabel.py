"""Sets of labels: optima against the enumerated QP; their verbs are walked through with those of other structures."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, get_solver
from maxmargin.structures.verbs import (
    find_corner,
    find_optimum,
    find_potentials,
    new_blocks,
    new_expectation,
    new_work,
)

from .pairs import multilabel_pair

LAM = 0.1
PAIRS = {
    "plain": {},
    "bare": {"intercept": False, "missed": 3.0},
    "sparse": {"is_sparse": True, "sample_weight": [1, 2, 0, 0.5, 3], "missed": [1.0, 2, 0.5], "wrong": [0.3, 1, 2]},
}
every_pair = pytest.mark.parametrize("options", PAIRS.values(), ids=PAIRS)
SOLVERS = ["auto", "bcfw", "bcpfw", "bcafw", "fw", "cutting_plane", "subgradient"]


@every_pair
@pytest.mark.parametrize("solver", SOLVERS)
def test_optimum(options, solver):
    pair = multilabel_pair(**options)
    best = pair.reference.solve(LAM)[1]
    limit = 1e-2 if solver in ("bcfw", "fw", "subgradient") else 1e-5
    result = get_solver(solver, pair.problem).solve(pair.problem, LAM, tol=limit, max_passes=400, random_state=0)
    assert result.primal == pytest.approx(pair.reference.primal(result.w, LAM), abs=1e-9)
    assert result.gap >= result.primal - best - 1e-8 >= -2e-8
    if solver != "subgradient":  # which knows no dual value worth the name
        assert result.gap <= limit


@every_pair
def test_optimum_of_a_block(options):
    """No other masses are better, and the closed form costs no step along the way."""
    pair, rng = multilabel_pair(**options), np.random.default_rng(0)
    problem = pair.problem
    blocks, work, goal = new_blocks(problem), new_work(problem), new_expectation(problem)
    blocks.node[:] = rng.random(blocks.node.shape)
    for turn in range(40):
        i, scale = turn % 5, float(rng.choice([0.1, 1.0, 10.0]))
        w = rng.normal(size=pair.reference.d)
        find_potentials(problem, work, w, i)
        find_corner(problem, work, w, i)
        find_optimum(problem, blocks, goal, work, i, scale)
        others = np.vstack([goal.node, rng.random((50, 3)), blocks.node[i]])
        change = others - blocks.node[i]
        values = change @ work.node - 0.5 * scale * problem.squared_norm[i] * np.sum(change**2, axis=1)
        assert np.all(values[0] >= values - 1e-12)
        assert np.all((goal.node >= 0) & (goal.node <= 1))


def test_a_label_is_a_binary_svm():
    """The problem of all labels is that of each by itself."""
    together = multilabel_pair().problem
    solver = BlockFrankWolfe("permutation", step="optimal")
    all_at_once = solver.solve(together, LAM, tol=1e-8, random_state=0)
    assert all_at_once.w.shape == (9,)
    by_itself = 0.0
    for k in range(3):
        one = together._replace(
            present=np.ascontiguousarray(together.present[:, k : k + 1]),
            missed=together.missed[k : k + 1],
            wrong=together.wrong[k : k + 1],
            empty_loss=together.present[:, k] * together.missed[k],
        )
        by_itself += solver.solve(one, LAM, tol=1e-8, random_state=0).primal
    assert all_at_once.primal == pytest.approx(by_itself, abs=1e-6)
