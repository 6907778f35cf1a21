"""Block steps on several threads: the same optimum, the same run again, and the rounds they are made of."""

import numpy as np
import pytest

from maxmargin._meeting import new_meeting
from maxmargin.inference import make_tree_plan
from maxmargin.persistence.states import Classes
from maxmargin.solvers import AwayStep, BlockFrankWolfe, Earlier, FrankWolfeStep, PairwiseStep, RepeatedStep
from maxmargin.solvers.block_coordinate import lanes
from maxmargin.solvers.block_coordinate.engine import BlockEngine
from maxmargin.solvers.block_coordinate.lanes import SIDES, Rhythm, take_over, take_round
from maxmargin.solvers.passes import weights_pass
from maxmargin.structures import make_chain_problem, make_multiclass_problem
from maxmargin.structures.pairwise import links_of, make_pairwise_problem, make_sites

LAM = 0.02
SOLVERS = {
    "pairwise, gaps, accelerated": BlockFrankWolfe("gap", "weighted", step="pairwise", acceleration="catalyst"),
    "pairwise, orders": BlockFrankWolfe("permutation", "weighted", step="pairwise"),
}


@pytest.fixture(autouse=True)
def few_blocks_are_enough(monkeypatch):
    monkeypatch.setattr(lanes, "FEWEST", 8)


def chains(n=60, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 7, n)
    X = rng.normal(size=(lengths.sum(), 5))
    y = (X @ rng.normal(size=(5, 4)) + rng.normal(size=(len(X), 4))).argmax(axis=1)
    return make_chain_problem(X, np.concatenate([[0], np.cumsum(lengths)]), y, 4)


def classes(n=60):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 5))
    return make_multiclass_problem(X, (X @ rng.normal(size=(5, 3))).argmax(axis=1), 3)


def trees(n=60):
    """Of three nodes, whose first is linked to the others; or of three nodes without links."""
    rng = np.random.default_rng(2)
    X, offsets = rng.normal(size=(3 * n, 5)), np.arange(n + 1) * 3
    parents = np.concatenate([[-1, 0, 0] if i % 3 else [-1] * 3 for i in range(n)])
    plan = make_tree_plan(offsets, parents, 4, shared=True)
    sites = make_sites(X, offsets, intercept=True, boundary=False)
    labels = (X @ rng.normal(size=(5, 4))).argmax(axis=1)
    return make_pairwise_problem(sites, links_of(plan, 4, None, None), plan, labels, 4)


# of each direction
MOVES = {
    "to corners": (chains, FrankWolfeStep()),
    "away": (trees, AwayStep()),
    "between corners": (trees, PairwiseStep(safeguard=True)),
    "to optima": (classes, "optimal"),
}
# how often blocks move depends on the room that their lists find, and on ties of outputs that exchanged mass
REPEATED = {
    "chains": (chains, RepeatedStep(times=4)),
    "trees": (trees, RepeatedStep(AwayStep(), 3)),
    "classes": (classes, RepeatedStep(times=4)),
}


def solve(solver, problem, n_jobs, **options):
    return solver.solve(problem, LAM, **{"tol": 0.0, "max_passes": 30, "random_state": 0, "n_jobs": n_jobs} | options)


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_threads_find_the_same_optimum_and_again_the_same(solver):
    problem = chains(240)  # some rounds a pass, where there are hundreds in use
    one, two, again = (solve(solver, problem, j) for j in (1, 2, 2))
    assert np.array_equal(two.w, again.w) and np.array_equal(two.history["gap"], again.history["gap"])
    assert two.gap >= 0.0
    assert abs(one.primal - two.primal) <= one.gap + two.gap + 1e-12
    assert two.gap <= 3.0 * one.gap


def check_weights(engine):
    engine.prepare()
    for _ in range(10):
        engine.advance(10**6)
        vector = np.zeros(engine.passes.dimension)
        weights_pass(engine.problem, engine.blocks, engine.passes.work, engine.n, 1.0, 1.0, vector)
        assert engine.dual_point().vector == pytest.approx(vector, abs=1e-12)


def test_weights_stay_those_of_the_dual_point():
    check_weights(SOLVERS["pairwise, gaps, accelerated"].start(chains(), LAM, None, 0, 3))


@pytest.mark.parametrize(("make", "step"), (MOVES | REPEATED).values(), ids=MOVES | REPEATED)
def test_weights_stay_those_of_the_dual_point_however_blocks_move(make, step):
    check_weights(BlockFrankWolfe("permutation", step=step).start(make(), LAM, None, 0, 3))


@pytest.mark.parametrize(("make", "step"), REPEATED.values(), ids=REPEATED)
def test_so_they_do_interpreted(make, step, monkeypatch):
    monkeypatch.setattr(lanes, "at_once", in_turn)
    check_weights(BlockFrankWolfe("permutation", step=step).start(make(), LAM, None, 0, 3))


def test_classes_on_threads():
    problem = classes()
    one, two = (solve(BlockFrankWolfe("permutation", step="optimal"), problem, j) for j in (1, 3))
    assert abs(one.primal - two.primal) <= one.gap + two.gap + 1e-12 and two.gap < 1e-2


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not(tmp_path):
    problem, solver = chains(), SOLVERS["pairwise, gaps, accelerated"]
    whole = solve(solver, problem, 2, max_passes=25)
    half = solve(solver, problem, 2, max_passes=13, checkpoint=tmp_path / "run")
    rest = solve(solver, problem, 2, max_passes=25, checkpoint=tmp_path / "run")
    assert np.array_equal(rest.w, whole.w) and np.array_equal(rest.history["gap"], whole.history["gap"])
    alone = solver.solve(problem, LAM, tol=0.0, max_passes=7, state=half.state, n_jobs=1)  # lists find room again
    assert abs(alone.primal - whole.primal) <= alone.gap + whole.gap


def test_samples_that_join_a_run_of_threads():
    few, more = chains(40), chains(60)
    solver = SOLVERS["pairwise, orders"]
    first = solve(solver, few, 2)
    joined = solver.solve(more, LAM, tol=1e-3, state=Earlier(first.state), n_jobs=2)
    assert joined.gap <= 1e-3


def test_want_of_room_stops_all_for_a_moment(monkeypatch):
    problem, solver = chains(), SOLVERS["pairwise, orders"]
    usual = solve(solver, problem, 2)
    monkeypatch.setattr(lanes, "ROOM", 4)  # less than a block may change: grown when that is found out
    found = solve(solver, problem, 2)
    assert np.array_equal(found.w, usual.w)


def in_turn(calls):
    """What threads do, by one of them, interpreted."""
    problem, changes, *_, copies, done = (calls[0].args[k] for k in (0, 3, -2, -1))
    problem, changes = problem.part, changes.part
    ours = [(one.args[1].part, one.args[2].part, one.args[4]) for one in calls]
    if copies:
        ours[0][1].copies[:] = ours[0][1].source
    at, r, last = [one.args[5] for one in calls], calls[0].args[6], len(ours[0][2]) - 1
    while r <= last:
        for p, (run, lane, own) in enumerate(ours):
            if r < last:
                at[p] = take_round(problem, run, lane, at[p], own[r + 1], r % SIDES, done)
        if r < last and any(one < own[r + 1] for one, (*_, own) in zip(at, ours, strict=True)):
            break
        for run, lane, _ in ours:
            if r > 0:
                take_over(problem, run, lane, changes, (r - 1) % SIDES)
        r += 1
        changes.moves[:, r % SIDES, 0] = 0
    return [(one, r) for one in at]


@pytest.mark.parametrize(("make", "step"), MOVES.values(), ids=MOVES)
def test_threads_agree_with_taking_turns_interpreted(make, step, monkeypatch):
    problem, solver = make(), BlockFrankWolfe("permutation", step=step)
    threads = solve(solver, problem, 2, max_passes=3)
    monkeypatch.setattr(lanes, "at_once", in_turn)
    turns = solve(solver, problem, 2, max_passes=3)  # with more of them, rounding decides otherwise
    assert turns.w == pytest.approx(threads.w, abs=1e-9)
    assert turns.history["gap"] == pytest.approx(threads.history["gap"], abs=1e-9)


def test_rounds_become_shorter_where_gains_do_not_add_up():
    rhythm = Rhythm(8)
    assert rhythm.after(0.5, 1.0).steps == 4
    assert Rhythm(1).after(-1.0, 1.0).steps == 0  # no rounds for a while
    assert Rhythm(1).after(0.95, 1.0).steps == 2
    assert Rhythm(lanes.ROUND).after(0.95, 1.0).steps == lanes.ROUND  # and no longer
    assert rhythm.after(0.8, 1.0) == Rhythm(8, 2)


def test_rounds_that_failed_are_tried_again_after_ever_longer():
    rhythm, alone, tries = Rhythm(2), 0, []
    for _ in range(1000):
        if rhythm.steps == 0:
            alone += rhythm.parts
            rhythm = rhythm.later()
        else:
            tries.append((rhythm.steps, alone))
            rhythm, alone = rhythm.after(0.1, 1.0), 0
    assert tries[:6] == [(2, 0), (1, 0), (1, 4), (1, 8), (1, 16), (1, 32)]
    assert rhythm._replace(steps=1).after(0.95, 1.0).steps == 2  # and grow where gains add up then


def test_rounds_that_fail_at_first_come_back(monkeypatch):
    problem, solver = chains(240), SOLVERS["pairwise, gaps, accelerated"]
    steps, after = [], Rhythm.after
    monkeypatch.setattr(Rhythm, "after", lambda self, *seen: after(self, *((0.1, 1.0) if len(steps) < 2 else seen)))
    monkeypatch.setattr(BlockEngine, "take_steps", noting(BlockEngine.take_steps, steps))
    two = solve(solver, problem, 2)
    assert 0 in steps and steps[-1] > 0
    one = solve(solver, problem, 1)
    assert abs(one.primal - two.primal) <= one.gap + two.gap + 1e-12
    assert two.gap <= 3.0 * one.gap


def noting(take_steps, steps):
    def noted(engine, *given):
        take_steps(engine, *given)
        if engine.lanes is not None:
            steps.append(engine.rhythm.steps)

    return noted


def test_rounds_are_judged_ever_more_seldom_after_ever_longer_takes():
    rhythm, judged = Rhythm(), []
    for take in range(200):
        if rhythm.is_due:
            judged.append(take)
            rhythm = rhythm.after(0.8, 1.0)
        else:
            rhythm = rhythm.later()
        assert rhythm.parts <= lanes.PARTS_OF_A_PASS
    takes = np.diff(judged)
    assert takes[0] == 1 and np.all(np.diff(takes) >= 0) and takes[-1] * rhythm.parts == lanes.LONGEST_PAUSE
    assert rhythm.after(0.5, 1.0).parts == 1  # something is wrong: look soon


def test_samples_that_are_all_alike_end_where_one_thread_ends():
    X = np.ones((64, 1))  # what two threads find is the same, and twice of it too much
    problem = make_multiclass_problem(X, np.arange(64) % 2, 2)
    one, two = (solve(BlockFrankWolfe("permutation", step="optimal"), problem, j, max_passes=60) for j in (1, 4))
    assert abs(one.primal - two.primal) <= one.gap + two.gap + 1e-12
    assert two.gap < 1e-2


def test_few_blocks_have_one_thread(monkeypatch):
    monkeypatch.setattr(lanes, "FEWEST", 256)
    engine = SOLVERS["pairwise, orders"].start(chains(), LAM, None, 0, 2)
    assert engine.lanes is None


def test_bounds_on_weights_have_one_thread():
    engine = BlockFrankWolfe("permutation", lower=0.0).start(chains(), LAM, None, 0, 2)
    assert engine.lanes is None


def test_runs_that_go_on_from_expectations_have_one_thread():
    problem = chains()
    first = solve(BlockFrankWolfe("permutation", step="expectation"), problem, 2, max_passes=3)
    one, two = (solve(BlockFrankWolfe("permutation"), problem, j, state=first.state, max_passes=3) for j in (1, 2))
    assert np.array_equal(one.w, two.w)


def test_rhythms_may_be_in_checkpoints():
    from maxmargin.solvers.known import CLASSES

    assert isinstance(CLASSES, Classes) and Rhythm in CLASSES.by_name.values()


def test_arrivals_of_threads_are_far_apart():
    assert new_meeting(3).strides[0] == 64
