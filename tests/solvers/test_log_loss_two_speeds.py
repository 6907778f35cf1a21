"""Log-losses compiled and interpreted, on several threads, and with kernels."""

from functools import cache

import numpy as np
import pytest

from maxmargin.solvers import LBFGS, BlockFrankWolfe
from maxmargin.structures import LogLoss, make_multiclass_problem
from maxmargin.structures.rows import KernelRows
from structures.pairs import chain_pair, graph_pair, interpreted, multiclass_pair

from .conftest import LAM
from .test_two_speeds import assert_close, assert_equal

WEIGHTS = [1, 2, 0, 1]
MAKE = {
    "chain": lambda: chain_pair(is_sparse=True, sample_weight=WEIGHTS),
    "chain masked": lambda: chain_pair(is_sparse=True, sample_weight=WEIGHTS, masked=True),  # the kernels of "chain"
    "tree": lambda: graph_pair("tree", n_edge_features=2),
    "cycle": lambda: graph_pair("cycle"),
    "classes": lambda: multiclass_pair(),
}
# every structure and every part, compiled at least once: parts of solvers over classes, whose kernels are the smallest
COVERING = [
    ("chain masked", BlockFrankWolfe("gap", step="gibbs", acceleration="catalyst")),
    ("chain", LBFGS()),
    ("chain masked", LBFGS(l1=0.02)),
    ("tree", BlockFrankWolfe("permutation", step="gibbs")),
    ("cycle", LBFGS()),
    ("classes", BlockFrankWolfe("permutation", "weighted", step="gibbs")),
    ("classes", BlockFrankWolfe("permutation", step="gibbs", lower=-0.3)),
    ("classes", LBFGS()),
]


@cache
def problem(name):
    with interpreted():
        return LogLoss(MAKE[name]().problem)


def run(name, solver, **options):
    return solver.solve(problem(name), LAM, **{"tol": 1e-7, "max_passes": 10, "random_state": 0} | options)


@pytest.mark.parametrize(("name", "solver"), COVERING, ids=lambda part: str(part))
def test_compiled_agrees_with_interpreted(name, solver):
    compiled = run(name, solver)
    with interpreted():
        plain = run(name, solver)
    assert_close(compiled, plain)


@pytest.mark.parametrize("solver", [LBFGS(), BlockFrankWolfe("gap", step="gibbs", acceleration="catalyst")])
def test_threads_and_seeds_change_nothing(solver):
    one = run("chain", solver)
    assert_equal(one, run("chain", solver))
    assert_equal(one, run("chain", solver, n_jobs=2))


def test_kernels_come_with_the_inner_product():
    X, labels = np.random.default_rng(0).normal(size=(20, 3)), np.random.default_rng(1).integers(3, size=20)
    plain = LogLoss(make_multiclass_problem(X, labels, 3, intercept=False))
    theirs = LogLoss(make_multiclass_problem(KernelRows(X @ X.T), labels, 3, intercept=False))
    for solver in (LBFGS(), BlockFrankWolfe("gap", step="gibbs", acceleration="catalyst")):
        one, other = (solver.solve(p, 0.02, tol=1e-9, random_state=0) for p in (plain, theirs))
        assert other.status == "converged" and one.primal == pytest.approx(other.primal, abs=1e-8)
    with pytest.raises(ValueError, match="LBFGS needs weights of features"):
        LBFGS(l1=0.1).solve(theirs, 0.02)
