"""Rounds on partitions: the optimum of all samples, exact certificates, steps of part of the way."""

import numpy as np
import pytest

from maxmargin.distributed import Partitioned, Rounds, local
from maxmargin.distributed.partitions import Here
from maxmargin.solvers import BlockFrankWolfe, Cache, CheckpointError
from maxmargin.structures import make_log_loss, make_multiclass_problem
from maxmargin.structures.verbs import add_corner, corner_loss, dimension, new_work, take_corner

from .cases import LAM, MAKERS, Forgetful, optimum, partitioned, partitions_of

pytestmark = pytest.mark.usefixtures("no_compilation")

EXACT = 1e-7
STEPS = {
    "pairwise": BlockFrankWolfe("permutation", step="pairwise"),
    "away, by gaps": BlockFrankWolfe("gap", step="away"),
    "cached": BlockFrankWolfe("gap", "weighted", step="pairwise", cache=Cache(capacity=2)),
    "accelerated": BlockFrankWolfe("gap", "weighted", step="pairwise", acceleration="catalyst"),
}
OTHERS = ["chain masked", "chain sparse", "multiclass", "custom"]


@pytest.mark.parametrize("sigma", [1, "partitions", None])
@pytest.mark.parametrize(
    ("name", "steps"), [*(("chain", steps) for steps in STEPS), *((name, "accelerated") for name in OTHERS)]
)
def test_the_optimum_is_that_of_all_samples(name, steps, sigma):
    best = optimum(name)
    solver = Rounds(STEPS[steps], sigma=sigma, gap_every=3)
    result = solver.solve(partitioned(name), LAM, tol=1e-3, random_state=0)
    history = result.history
    assert result.status == "converged"
    assert np.all(history["dual"] <= best + EXACT) and np.all(history["primal"] >= best - EXACT)
    pair = MAKERS[name]()
    assert pair.reference.primal(pair.to_reference(result.w), LAM) == pytest.approx(result.primal, abs=1e-10)


@pytest.mark.parametrize("name", MAKERS)
def test_auto_takes_steps_that_suit_the_partitions(name):
    result = Rounds().solve(partitioned(name), LAM, tol=1e-4, random_state=0)
    assert result.status == "converged" and result.primal <= optimum(name) + 1e-4


def test_the_line_search_never_lets_the_dual_value_fall():
    engine = Rounds(STEPS["pairwise"], sigma=1, passes=3).start(partitioned("chain"), LAM, None, 0, None)
    values, shares = [], []
    for _ in range(20):
        engine.advance(3 * engine.n)
        values.append(engine.objective.dual(engine.point))
        shares.append(engine.partitions.taken)
    assert np.all(np.diff(values) >= -1e-12)
    assert 0.0 < min(shares) < 1.0  # with sigma = 1 partitions go too far together


@pytest.mark.parametrize("name", MAKERS)
def test_where_part_of_the_way_leads(name):
    """Marginals, losses, names and masses are all those of the dual point."""
    engine = Rounds(STEPS["pairwise"], sigma=1, passes=2).start(partitioned(name), LAM, None, 0, None)
    for _ in range(6):
        engine.advance(2 * engine.n)
        engine.partitions.taken = 0.7 * engine.partitions.taken  # whatever the line search says
        engine.point = engine.partitions.ask(local.find_point).whole()
        engine.w = engine.objective.weights(engine.point)[0]
    for problem, state in zip(engine.problem.team.problems, engine.states, strict=True):
        assert state.memory.mass.sum(axis=1) == pytest.approx(1.0)
        point = local.find_point(problem, state, 1.0, engine.solver, None)[1].whole()
        vector, loss = named_point(problem, state.memory)
        np.testing.assert_allclose(point.vector, vector, atol=1e-12)
        assert point.loss == pytest.approx(loss)


def named_point(problem, memory):
    """The dual point by the outputs that are remembered."""
    work, vector, loss = new_work(problem), np.zeros(dimension(problem)), 0.0
    for i in range(len(problem.weight)):
        for slot in range(memory.filled[i]):
            mass = problem.weight[i] * memory.mass[i, slot]
            take_corner(problem, memory.labelings, work, i, slot)
            add_corner(problem, work, i, mass, vector)
            loss += mass * corner_loss(problem, work, i)
    return vector, loss


def test_a_seed_reproduces_a_run():
    first, second, other = (
        Rounds(gap_every=2).solve(partitioned("chain"), LAM, tol=1e-5, random_state=seed) for seed in (0, 0, 1)
    )
    assert np.array_equal(first.w, second.w) and not np.array_equal(first.w, other.w)


def test_bounds_hold_and_are_optimal():
    pair = MAKERS["chain"]()
    bounds = {"lower": -0.2, "upper": 0.3}
    alone = BlockFrankWolfe(step="pairwise", **bounds).solve(pair.problem, LAM, tol=1e-6, random_state=0)
    result = Rounds(STEPS["accelerated"], **bounds).solve(partitioned("chain"), LAM, tol=1e-4, random_state=0)
    assert result.status == "converged" and np.all(result.w >= -0.2) and np.all(result.w <= 0.3)
    assert result.primal == pytest.approx(alone.primal, abs=2e-4)


def test_a_dual_point_that_is_none_of_the_partitions_is_seen_and_found_anew():
    engine = Rounds(STEPS["pairwise"]).start(partitioned("chain"), LAM, None, 0, None)
    engine.advance(engine.n)
    true = engine.point
    engine.point = true._replace(vector=1.01 * true.vector)
    engine.certify()
    assert engine.resummed == 1
    np.testing.assert_allclose(engine.point.vector, true.vector, atol=1e-12)
    engine.certify()
    assert engine.resummed == 1


@pytest.mark.parametrize("passes", [1, 0.4])
def test_going_on_from_a_checkpoint_is_the_run_that_was_not_cut(passes, tmp_path):
    options, solver = {"tol": 1e-5, "random_state": 0}, Rounds(passes=passes, gap_every=2)
    whole = solver.solve(partitioned("chain"), LAM, **options)
    path = tmp_path / "run.npz"
    for limit in (3, 4, 7):
        cut = {"max_passes": limit, "checkpoint": path, "checkpoint_every": 0}
        solver.solve(partitioned("chain"), LAM, **options, **cut)
    gone_on = solver.solve(partitioned("chain"), LAM, **options, checkpoint=path)
    assert gone_on.n_passes == whole.n_passes > 7
    assert np.array_equal(gone_on.w, whole.w)
    with pytest.raises(CheckpointError, match="data"):
        solver.solve(partitioned("chain masked"), LAM, **options, checkpoint=path)


def test_a_state_goes_on_under_another_lam():
    first = Rounds().solve(partitioned("chain"), LAM, tol=1e-3, random_state=0)
    second = Rounds().solve(partitioned("chain"), 2 * LAM, tol=1e-5, state=first.state)
    best = MAKERS["chain"]().reference.solve(2 * LAM)[1]
    assert second.status == "converged" and second.primal == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_lost_is_found_again_to_the_last_bit(seed, monkeypatch):
    monkeypatch.setattr("maxmargin.distributed.partitions.SELDOM", 0.01)
    problems = partitioned("chain").team.problems
    options = {"tol": 1e-5, "random_state": 0}
    expected = Rounds(gap_every=3).solve(Partitioned(Here(problems)), LAM, **options)
    team = Forgetful(problems, seed, chance=0.03)
    result = Rounds(gap_every=3).solve(Partitioned(team), LAM, **options)
    assert team.lost > 0 and np.array_equal(result.w, expected.w)
    assert result.history["dual"].tolist() == expected.history["dual"].tolist()


def test_a_team_that_loses_all_the_time_is_given_up():
    team = Forgetful(partitioned("chain").team.problems, 0, chance=1.0)
    with pytest.raises(ConnectionError, match=r"in a row.*checkpoint="):
        Rounds().solve(Partitioned(team), LAM)


def test_the_clock_may_choose_how_long_rounds_are():
    result = Rounds(passes="clock", gap_every=4).solve(partitioned("chain"), LAM, tol=1e-4, random_state=0)
    passes = result.history["local_passes"]
    assert result.status == "converged" and np.all((passes >= 0.1) & (passes <= 2))


def test_refusals():
    problem = partitioned("chain")
    for solver, words in {
        Rounds("bcfw"): "steps must be a BlockFrankWolfe",
        Rounds(BlockFrankWolfe(working_set=True)): "working sets do not go with partitions",
        Rounds(BlockFrankWolfe(line_search=False)): "lengths without line_search",
        Rounds(BlockFrankWolfe(step="expectation")): "steps that begin inside",
        Rounds(BlockFrankWolfe(lower=0.0)): "give lower to Rounds",
        Rounds(sigma=0.5): "sigma must be a number >= 1",
        Rounds(sigma="all"): "sigma must be",
        Rounds(passes=0): "passes must be a number > 0",
    }.items():
        with pytest.raises(ValueError, match=words):
            solver.solve(problem, LAM)
    with pytest.raises(TypeError, match="Rounds is for samples in partitions"):
        Rounds().solve(MAKERS["chain"]().problem, LAM)
    with pytest.raises(TypeError, match=r"take maxmargin\.distributed\.Rounds"):
        BlockFrankWolfe().solve(problem, LAM)
    parts, totals = partitions_of("multiclass")
    narrow = make_multiclass_problem(np.eye(2), np.array([0, 1]), 3)
    with pytest.raises(ValueError, match="same weights to learn"):
        Partitioned.of_problems([*parts, narrow], [*totals, 2])
    with pytest.raises(ValueError, match="sum to 1 over the partitions"):
        Partitioned(Here(parts))
    with pytest.raises(TypeError, match="outputs that maximise"):
        Rounds().solve(Partitioned.of_problems([make_log_loss(part) for part in parts], totals), LAM)
