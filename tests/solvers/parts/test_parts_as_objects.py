"""Parts given as objects: what they mean, what is refused, and that certificates hold with each."""

import pickle

import numpy as np
import pytest

from maxmargin.solvers import (
    AwayStep,
    BlockFrankWolfe,
    ByGaps,
    CuttingPlane,
    Drawn,
    ExponentiatedGradient,
    FixedLength,
    FrankWolfeStep,
    PairwiseStep,
    Perceptron,
    Permutation,
    Subgradient,
    Uniform,
)

from ..conftest import EXACT, LAM, check_bracket, named_pair, optimum

pytestmark = pytest.mark.usefixtures("no_compilation")

SAME = [
    (BlockFrankWolfe("uniform"), BlockFrankWolfe(Uniform())),
    (BlockFrankWolfe("permutation", step="away"), BlockFrankWolfe(Permutation(), step=AwayStep())),
    (
        BlockFrankWolfe("gap", step="pairwise", safeguard=True),
        BlockFrankWolfe(ByGaps(), step=PairwiseStep(safeguard=True)),
    ),
    (BlockFrankWolfe(line_search=False), BlockFrankWolfe(step=FrankWolfeStep(FixedLength()))),
    (Subgradient(sampling="permutation"), Subgradient(sampling=Permutation())),
    (ExponentiatedGradient(sampling="uniform"), ExponentiatedGradient(sampling=Uniform())),
]


@pytest.mark.parametrize(("named", "given"), SAME, ids=lambda one: str(one))
def test_a_name_is_shorthand(named, given):
    problem = named_pair("multiclass").problem
    one, other = (solver.solve(problem, LAM, tol=0, max_passes=6, random_state=0) for solver in (named, given))
    assert np.array_equal(one.w, other.w)


@pytest.mark.parametrize("step", [PairwiseStep(length=FixedLength()), AwayStep(length=FixedLength())], ids=str)
@pytest.mark.parametrize("name", ["chain", "multiclass"])
def test_fixed_lengths_stay_inside_the_simplex(name, step):
    result = BlockFrankWolfe(step=step, gap_every=1).solve(
        named_pair(name).problem, LAM, tol=0, max_passes=30, random_state=1
    )
    check_bracket(result, optimum(name))
    assert np.all(result.state.memory.mass >= 0)
    assert result.state.memory.mass.sum(axis=1) == pytest.approx(1.0, abs=1e-9)


def test_fixed_lengths_are_refused_with_acceleration():
    for options in ({"line_search": False}, {"step": FrankWolfeStep(FixedLength())}):
        with pytest.raises(ValueError, match="goes without acceleration"):
            BlockFrankWolfe(acceleration="catalyst", **options).solve(named_pair("chain").problem, LAM)


def test_an_order_of_ones_own_may_be_of_any_length():
    problem = named_pair("chain").problem
    n = len(problem.weight)
    for draw in (lambda rng, n: rng.permutation(n)[: n // 2], lambda rng, n: np.arange(3 * n) % n, lambda rng, n: [0]):
        result = BlockFrankWolfe(Drawn(draw)).solve(problem, LAM, tol=0, max_passes=5, random_state=0)
        assert result.state.steps == 5 * n
        check_bracket(result, optimum("chain"))
    assert pickle.loads(pickle.dumps(result.state)).steps == 5 * n  # the function is not in the state


@pytest.mark.parametrize("solver", [BlockFrankWolfe, Subgradient, Perceptron, ExponentiatedGradient])
@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda rng, n: rng.integers(1, n + 1, size=4 * n), r"blocks 0 … \d+, got"),
        (lambda rng, n: [-1], r"blocks 0 … \d+, got -1"),
        (lambda rng, n: [], "at least one whole number"),
        (lambda rng, n: [[0]], "at least one whole number"),
        (lambda rng, n: rng.random(n), "whole number, got float64"),
    ],
)
def test_what_is_no_block_is_refused(solver, draw, message):
    with pytest.raises(ValueError, match=message):
        solver(sampling=Drawn(draw)).solve(named_pair("multiclass").problem, LAM, max_passes=2, random_state=0)


def test_wrong_parts_are_refused():
    problem = named_pair("multiclass").problem
    for solver, message in [
        (BlockFrankWolfe(sampling=FixedLength()), "sampling must be one of .* or a part of that kind"),
        (BlockFrankWolfe(step=Uniform()), "step must be one of"),
        (Subgradient(sampling=ByGaps()), "sampling must be one of"),
        (ExponentiatedGradient(sampling=ByGaps()), "sampling by gaps goes with steps that find them"),
    ]:
        with pytest.raises(ValueError, match=message):
            solver.solve(problem, LAM)


@pytest.mark.parametrize("earlier", ["gap", "uniform", "permutation"])
@pytest.mark.parametrize("lam", [LAM, LAM / 4])
def test_blocks_never_seen_come_first_after_a_warm_start(earlier, lam):
    problem = named_pair("chain").problem
    first = BlockFrankWolfe(earlier, step="pairwise").start(problem, LAM, None, 0, None)
    first.advance(len(problem.weight) // 2 + 1)
    engine = BlockFrankWolfe("gap", step="pairwise").start(problem, lam, first.state(), None, None)
    for _ in range(2 * len(problem.weight)):
        engine.advance(1)
    assert np.all(np.isfinite(engine.gaps))


def test_the_cache_answers_after_a_warm_start_under_another_lam():
    problem, solver = named_pair("chain").problem, BlockFrankWolfe("permutation", step="pairwise", cache=True)
    state = solver.solve(problem, LAM, tol=0, max_passes=10, random_state=0).state
    result = solver.solve(problem, LAM / 2, tol=0, max_passes=10, state=state)
    assert result.history["cache_hits"][-1] > 0


def test_one_slack_takes_over_what_was_remembered():
    problem = named_pair("chain").problem
    state = CuttingPlane(cache=True).solve(problem, LAM, tol=1e-3).state
    result = CuttingPlane(cache=True).solve(problem, LAM, tol=1e-6, state=state)
    assert result.primal == pytest.approx(optimum("chain"), abs=1e-6 + EXACT)


def test_a_perceptron_goes_on_under_any_lam_and_batches_begin_their_own_averages():
    problem = named_pair("multiclass").problem
    one = Perceptron().solve(problem, LAM, max_passes=3, random_state=0)
    more = Perceptron().solve(problem, LAM / 2, max_passes=3, state=one.state)
    whole = Perceptron().solve(problem, LAM, max_passes=6, random_state=0)
    assert np.array_equal(more.w, whole.w)
    single = Subgradient().solve(problem, LAM, max_passes=5, random_state=0)
    batches = Subgradient(batch=True).solve(problem, LAM, max_passes=5, state=single.state)
    assert batches.state.scales[2] == pytest.approx(sum(k + 1 for k in range(5, 10)))


@pytest.mark.parametrize("lam", [1e300, 1e-300])
def test_extreme_lam_ends_in_words_or_numbers(lam):
    problem = named_pair("multiclass").problem
    for solver in (BlockFrankWolfe("gap", "weighted", step="pairwise", acceleration="catalyst"), BlockFrankWolfe()):
        try:
            result = solver.solve(problem, lam, max_passes=3, random_state=0)
        except FloatingPointError as error:
            assert "rescale" in str(error)
        else:
            assert result.gap >= 0
