"""Kernel rows against explicit features: with ``gram = L L'`` the rows of L are features of the same geometry."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, FrankWolfe
from maxmargin.structures import make_chain_problem, make_multiclass_problem
from maxmargin.structures.directions import BetweenCorners, ToCorner
from maxmargin.structures.multiclass import MulticlassProblem
from maxmargin.structures.needs import Need
from maxmargin.structures.rows import KernelRows, add_outer, drain_squares, kernel_coefficients, row_dot
from maxmargin.structures.verbs import (
    add_block,
    add_corner,
    block_value,
    dimension,
    find_corner,
    find_potentials,
    inner,
    keep_corner,
    n_blocks,
    new_blocks,
    new_labelings,
    new_work,
    offers,
    take_away,
    truth_value,
)

from .pairs import COST, LENGTHS, MASK, K
from .test_verbs import follow

N = sum(LENGTHS)
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(N, 2))
GRAM = np.exp(-0.5 * np.sum((POINTS[:, None] - POINTS[None]) ** 2, axis=2))
FACTOR = np.linalg.cholesky(GRAM)
LABELS = np.array([1, 0, 1, 1, 0, 1, 2, 2, 0, 1])

MAKERS = {
    "chain": lambda matrix: make_chain_problem(matrix, OFFSETS, LABELS, K, cost=COST),
    "chain masked": lambda matrix: make_chain_problem(matrix, OFFSETS, LABELS, K, mask=MASK, intercept=False),
    "chain bare": lambda matrix: make_chain_problem(matrix, OFFSETS, LABELS, K, intercept=False, boundary=False),
    "multiclass": lambda matrix: make_multiclass_problem(matrix, LABELS, K),
    "multiclass bare": lambda matrix: make_multiclass_problem(
        matrix, LABELS, K, intercept=False, sample_weight=np.arange(N)
    ),
}


@pytest.fixture(params=MAKERS)
def twins(request):
    """The same problem over kernel rows and over explicit features."""
    return MAKERS[request.param](KernelRows(GRAM)), MAKERS[request.param](FACTOR)


def lift(w):
    """Weights of the explicit features that those over kernel rows stand for, which are looked at first."""
    beta = kernel_coefficients(w, N, K)
    assert pytest.approx(GRAM @ beta, abs=1e-12) == w[: N * K].reshape(K, N).T
    return np.concatenate([(FACTOR.T @ beta).ravel(), w[2 * N * K :]])


def random_weights(rng, problem):
    w = rng.normal(size=dimension(problem)) * rng.choice([0.1, 1.0, 10.0])
    w[: N * K] = (GRAM @ kernel_coefficients(w, N, K)).T.ravel()
    return w


def close(value):
    return pytest.approx(value, abs=1e-11, rel=1e-11)


def test_gram_is_what_rows_give():
    rows = KernelRows(GRAM)
    assert [[row_dot(rows, t, u) for u in range(N)] for t in range(N)] == GRAM.tolist()
    assert np.isnan(drain_squares(rows, 0, np.zeros((1, K))))


def test_coefficients_land_where_they_are_read():
    w = np.zeros((2 * N + 1, K))
    add_outer(KernelRows(GRAM), 4, 2.0, 2, np.array([2, 0]), np.array([0.5, -1.0]), w)
    beta = np.zeros((N, K))
    beta[4, [2, 0]] = 1.0, -2.0
    assert np.array_equal(kernel_coefficients(w.ravel(), N, K), beta)
    assert w.ravel()[: N * K].reshape(K, N) == close((GRAM @ beta).T)
    assert not w[2 * N :].any()


def test_every_block_keeps_its_gram_matrix(monkeypatch):
    for name in ("GRAM_PAIRS_PER_NONZERO", "GRAM_LENGTH_PER_LABEL"):
        monkeypatch.setattr(f"maxmargin.structures.pairwise.layout.{name}", 1e-9)
    problem = make_chain_problem(KernelRows(GRAM), OFFSETS, LABELS, K)
    assert np.all(np.diff(problem.gram_offsets) > 0)


def test_inner(twins):
    ours, theirs = twins
    rng = np.random.default_rng(1)
    u, v = random_weights(rng, ours), random_weights(rng, ours)
    assert inner(ours, u, v) == close(lift(u) @ lift(v))
    assert inner(ours, u, v) == close(inner(ours, v, u))
    assert inner(theirs, lift(u), lift(v)) == close(lift(u) @ lift(v))
    assert Need.BOUNDS in offers(theirs)
    assert Need.BOUNDS not in offers(ours)


class Side:
    """One of the twins with its dual state and scratch; verbs of block i at weights x."""

    def __init__(self, problem):
        self.problem, self.work = problem, new_work(problem)
        self.labelings = new_labelings(problem, 2)
        self.start()

    def start(self):
        self.blocks = new_blocks(self.problem)

    def values(self, x, i):
        find_potentials(self.problem, self.work, x, i)
        return [
            find_corner(self.problem, self.work, x, i),
            truth_value(self.problem, self.work, x, i),
            block_value(self.problem, self.blocks, self.work, x, i),
        ]

    def step(self, x, i, gamma, scale):
        return follow(ToCorner(), self, x, i, gamma, scale)

    def pair_step(self, x, i, gamma, scale):
        keep_corner(self.problem, self.labelings, self.work, i, 1)
        take_away(self.problem, self.labelings, self.work, i, 0)  # the truth
        return follow(BetweenCorners(), self, x, i, gamma, scale)

    def add(self, x, i, scale):
        add_corner(self.problem, self.work, i, scale, x)
        add_block(self.problem, self.blocks, self.work, i, scale, 1.0, x)


def test_verbs(twins):
    """The two problems stay the same along a walk through the dual."""
    rng = np.random.default_rng(2)
    ours, theirs = (Side(one) for one in twins)
    for turn in range(30):
        i, gamma, scale = int(rng.integers(n_blocks(ours.problem))), rng.random(), rng.uniform(0.1, 2.0)
        w = random_weights(rng, ours.problem)
        v = lift(w)
        if turn % 3 == 0:  # all mass on the truth, so that a pairwise step may take it from there
            ours.start(), theirs.start()
        assert ours.values(w, i) == close(theirs.values(v, i))
        step = Side.pair_step if turn % 3 == 0 else Side.step
        assert step(ours, w, i, gamma, scale) == close(step(theirs, v, i, gamma, scale))
        assert lift(w) == close(v)
        ours.add(w, i, scale)
        theirs.add(v, i, scale)
        assert lift(w) == close(v)


@pytest.mark.parametrize(
    "solver",
    [
        FrankWolfe(gap_every=1),
        BlockFrankWolfe("permutation", "weighted", gap_every=1),
        BlockFrankWolfe(step="away", cache=True, gap_every=1),
        BlockFrankWolfe(line_search=False, gap_every=1),
    ],
    ids=["fw", "averaged", "away, cache", "fixed steps"],
)
def test_solvers_take_the_same_path(twins, solver):
    ours, theirs = (solver.solve(one, 0.1, tol=0, max_passes=5, random_state=0) for one in twins)
    for column in ("primal", "dual", "oracle_calls"):
        assert ours.history[column] == pytest.approx(theirs.history[column], abs=1e-9)
    assert lift(ours.w) == pytest.approx(theirs.w, abs=1e-8)


@pytest.mark.parametrize("options", [{"averaging": "weighted"}, {"sampling": "gap", "cache": True}])
def test_pairwise_steps_find_the_same_optimum(twins, options):
    """Outputs of equal value and gaps that are nothing but rounding decide here, so that paths may part."""
    solver = BlockFrankWolfe(**options, step="pairwise")
    ours, theirs = (solver.solve(one, 0.1, tol=1e-6, random_state=0) for one in twins)
    assert max(ours.gap, theirs.gap) <= 1e-6
    assert ours.primal == pytest.approx(theirs.primal, abs=1e-6)


@pytest.mark.parametrize("solver", [FrankWolfe, BlockFrankWolfe])
@pytest.mark.parametrize("bounds", [{"lower": 0.0}, {"upper": np.ones(3)}, {"positive": [0, 1]}])
def test_bounds_are_refused(twins, solver, bounds):
    with pytest.raises(ValueError, match="a model with a kernel has none"):
        solver(**bounds).solve(twins[0], 0.1)


def test_data_of_its_own_kind():
    """Read-only matrices and those in another order are copied, not compiled for."""
    gram = np.asfortranarray(GRAM)
    gram.flags.writeable = False
    problem = make_multiclass_problem(KernelRows(gram), LABELS, K)
    assert isinstance(problem, MulticlassProblem)
    assert problem.rows.gram.flags.c_contiguous
    assert problem.rows.gram.flags.writeable
