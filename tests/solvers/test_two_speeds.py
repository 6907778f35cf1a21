"""Compiled and interpreted runs agree; seeds and threads."""

from functools import cache

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, Cache, CuttingPlane, FrankWolfe
from maxmargin.structures.pairwise import layout
from structures.pairs import COST, Subsets, chain_pair, interpreted, multiclass_pair

from .conftest import LAM

# no ties, which rounding would decide
MAKE = {
    "chain dense": lambda: chain_pair(cost=COST),
    "chain dense masked": lambda: chain_pair(masked=True, cost=COST, intercept=False),
    "chain sparse": lambda: chain_pair(is_sparse=True, cost=COST, sample_weight=[1, 2, 0, 1]),
    "multiclass dense": lambda: multiclass_pair(cost=COST),
    "multiclass sparse": lambda: multiclass_pair(is_sparse=True, cost=COST, sample_weight=[1, 2, 0, 1, 1, 2]),
}
# every structure, every part, compiled at least once; a kernel compiles once for each
COVERING = [
    ("chain dense", BlockFrankWolfe(averaging="weighted")),
    ("chain dense masked", BlockFrankWolfe("permutation", "weighted")),
    ("chain dense", FrankWolfe()),
    ("chain sparse", BlockFrankWolfe("permutation", line_search=False)),
    ("multiclass dense", BlockFrankWolfe("permutation", "weighted")),
    ("multiclass dense", FrankWolfe(line_search=False)),
    ("multiclass sparse", BlockFrankWolfe()),
]


@cache
def problem(name):
    with interpreted():
        return MAKE[name]().problem


def run(name, solver, **options):
    return solver.solve(problem(name), LAM, **{"tol": 0, "max_passes": 30, "random_state": 0} | options)


def assert_close(one, other):
    assert one.w == pytest.approx(other.w, abs=1e-9)
    assert one.status == other.status
    for column in set(one.history) - {"seconds"}:
        assert one.history[column] == pytest.approx(other.history[column], abs=1e-9), column


def assert_equal(one, other):
    assert np.array_equal(one.w, other.w)
    for column in set(one.history) - {"seconds"}:
        assert np.array_equal(one.history[column], other.history[column]), column


@pytest.mark.parametrize(("name", "solver"), COVERING, ids=lambda part: str(part))
def test_compiled_agrees_with_interpreted(name, solver):
    compiled = run(name, solver)
    with interpreted():
        plain = run(name, solver)
    assert_close(compiled, plain)


@pytest.mark.parametrize("name", ["chain dense", "multiclass dense"])
def test_compiled_memory_grows_as_interpreted(name):
    solver = BlockFrankWolfe("permutation", step="pairwise", cache=Cache(capacity=2), safeguard=True)
    # before blocks are optimal up to rounding, which then decides whether an output is used once more
    compiled = run(name, solver, max_passes=5)
    with interpreted():
        plain = run(name, solver, max_passes=5)
    assert_close(compiled, plain)
    found, expected = compiled.state.memory, plain.state.memory
    assert expected.mass.shape[1] > 2
    assert found.mass == pytest.approx(expected.mass, abs=1e-9)
    assert found.filled.tolist() == expected.filled.tolist()
    assert found.last_used.tolist() == expected.last_used.tolist()
    assert np.array_equal(*(getattr(memory.labelings, "codes", memory.labelings) for memory in (found, expected)))


@pytest.mark.parametrize("name", ["chain dense", "chain sparse"])
def test_compiled_layout_agrees_with_interpreted(name):
    compiled = MAKE[name]().problem
    assert compiled.gram == pytest.approx(problem(name).gram, abs=1e-12)


def test_compiled_block_without_gram_matrix(monkeypatch):
    solver = BlockFrankWolfe(averaging="weighted")
    with_gram = run("chain dense", solver)
    monkeypatch.setattr(layout, "GRAM_PAIRS_PER_NONZERO", 0)
    with interpreted():
        without = MAKE["chain dense"]().problem
    assert len(without.gram) == 0
    assert_close(solver.solve(without, LAM, tol=0, max_passes=30, random_state=0), with_gram)


@pytest.mark.parametrize("sampling", ["uniform", "permutation"])
def test_seed(sampling):
    solver = BlockFrankWolfe(sampling, "weighted")
    one, same, other = (run("chain dense", solver, random_state=seed) for seed in (7, 7, 8))
    assert_equal(one, same)
    assert not np.array_equal(one.w, other.w)
    assert not np.array_equal(one.w, run("chain dense", solver, random_state=None).w)


def test_random_state_of_either_kind():
    solver = BlockFrankWolfe()
    assert_equal(
        run("multiclass dense", solver, random_state=np.random.default_rng(3)),
        run("multiclass dense", solver, random_state=3),
    )
    states = [np.random.RandomState(3) for _ in range(2)]
    assert_equal(*(run("multiclass dense", solver, random_state=state) for state in states))


@pytest.mark.parametrize("n_jobs", [2, -1, 100])
def test_threads_change_nothing(n_jobs):
    solver = BlockFrankWolfe(averaging="weighted", gap_every=3)
    assert_equal(run("chain dense", solver, n_jobs=1), run("chain dense", solver, n_jobs=n_jobs))


@pytest.mark.parametrize("name", ["chain dense", "multiclass dense"])
@pytest.mark.parametrize("solver", [FrankWolfe(), CuttingPlane()], ids=repr)
def test_threads_add_corners_in_their_order(name, solver):
    one, *others = (run(name, solver, n_jobs=n) for n in (1, 2, 3))
    for other in others:
        assert_equal(one, other)


def test_a_structure_in_python_stays_on_one_thread():
    solver = BlockFrankWolfe()
    one, two = (solver.solve(Subsets(), LAM, max_passes=5, random_state=0, n_jobs=n) for n in (1, 2))
    assert_equal(one, two)
