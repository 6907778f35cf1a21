"""Steps in a row on one block are what they are one by one, and potentials that follow them are those found anew."""

import numpy as np
import pytest

from maxmargin import ChainSVM
from maxmargin.solvers import (
    AwayStep,
    BlockFrankWolfe,
    FixedLength,
    FrankWolfeStep,
    OptimalStep,
    PairwiseStep,
    RepeatedStep,
)
from maxmargin.solvers.parts.samplers import SAMPLING, Drawn
from maxmargin.structures.directions import BetweenCorners, ToCorner
from maxmargin.structures.verbs import find_corner, find_potentials, move, renew_potentials, shift_potentials
from structures.pairs import chain_pair

from ..conftest import EXACT, KINDS, LAM, MORE_PROBLEMS, PROBLEMS, check_bracket, named_pair, optimum


def run_in_order(monkeypatch, problem, step, order):
    rest = iter(order.reshape(-1, len(problem.weight)))
    monkeypatch.setitem(SAMPLING, "given", Drawn(lambda rng, n: next(rest)))
    engine = BlockFrankWolfe("given", step=step).start(problem, LAM, None, None, None)
    while engine.steps < len(order):
        engine.advance(len(order) - engine.steps)
    return engine


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("step", [AwayStep(), FrankWolfeStep()], ids=lambda step: type(step).__name__)
@pytest.mark.parametrize("name", [*PROBLEMS, *MORE_PROBLEMS])
def test_as_if_the_block_were_drawn_again(name, step, monkeypatch):
    problem = named_pair(name).problem
    n = len(problem.weight)
    order = np.random.default_rng(0).integers(n, size=5 * n)
    repeated = run_in_order(monkeypatch, problem, RepeatedStep(step, 3), order)
    one_by_one = run_in_order(monkeypatch, problem, step, np.repeat(order, 3))
    assert repeated.w == pytest.approx(one_by_one.w, abs=1e-10)
    assert repeated.steps == 5 * n < repeated.oracle_calls <= one_by_one.oracle_calls


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("name", KINDS)
def test_a_pairwise_step_once_is_that_step(name):
    # several have ties: two outputs that exchanged mass have the same value, and rounding tells which of them is worse
    problem = named_pair(name).problem
    found = [
        BlockFrankWolfe(step=step).solve(problem, LAM, tol=0, max_passes=5, random_state=0).w
        for step in (PairwiseStep(), RepeatedStep(times=1))
    ]
    assert np.array_equal(*found)


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("direction", [ToCorner(), BetweenCorners()], ids=str)
@pytest.mark.parametrize("name", ["chain", "chain weighted", "chain masked", "tree featured", "cycle"])
def test_potentials_follow(name, direction):
    problem = named_pair(name).problem
    engine = BlockFrankWolfe(step="pairwise").start(problem, LAM, None, 0, None)
    engine.advance(3 * engine.n)
    work, w, blocks = engine.passes.work, engine.w, engine.blocks
    for i in np.flatnonzero(problem.weight):
        find_potentials(problem, work, w, i)
        find_corner(problem, work, w, i)
        begin, end = problem.sites.offsets[i : i + 2]
        work.away[: end - begin] = problem.labels[begin:end]
        scale = problem.weight[i] / LAM
        shift_potentials(problem, direction, blocks, work, i, 0.0625, scale)
        move(problem, direction, None, blocks, work, w, i, 0.0625, scale)
        renew_potentials(problem, work, w, i)
        followed, edges = work.node[: end - begin].copy(), work.edge.copy()
        find_potentials(problem, work, w, i)
        assert followed == pytest.approx(work.node[: end - begin], abs=1e-12)
        assert np.array_equal(edges, work.edge)


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("name", KINDS)
def test_to_the_optimum(name):
    solver = BlockFrankWolfe("gap", "weighted", step=RepeatedStep(times=4), acceleration="catalyst")
    result = solver.solve(named_pair(name).problem, LAM, tol=1e-6, random_state=0)
    check_bracket(result, optimum(name))
    assert result.gap <= 1e-6 and result.primal <= optimum(name) + 1e-6 + EXACT


def test_bounds_are_kept():
    problem, bounds = named_pair("chain").problem, {"lower": -0.05, "upper": 0.05}
    plain, repeated = (
        BlockFrankWolfe(step=step, **bounds).solve(problem, LAM, tol=1e-4, random_state=0)
        for step in ("fw", RepeatedStep())
    )
    assert np.abs(repeated.w).max() <= 0.05 and repeated.gap <= 1e-4
    assert max(plain.dual, repeated.dual) <= min(plain.primal, repeated.primal)


def test_compiled_as_interpreted(monkeypatch):
    solver = BlockFrankWolfe("permutation", step=RepeatedStep(AwayStep(), times=3))
    pair = chain_pair(3)
    compiled = solver.solve(pair.problem, LAM, tol=0, max_passes=4, random_state=0)
    monkeypatch.setattr("maxmargin._compile.kernels.runs_compiled", lambda *parts: False)
    assert compiled.w == pytest.approx(
        solver.solve(pair.problem, LAM, tol=0, max_passes=4, random_state=0).w, abs=1e-10
    )


def test_threads_have_room_for_what_changes():
    rng = np.random.default_rng(0)
    y = [rng.integers(40, size=6) for _ in range(600)]
    X = [np.eye(40)[labels] + 0.1 * rng.normal(size=(6, 40)) for labels in y]
    solver = BlockFrankWolfe("permutation", "weighted", step=RepeatedStep(times=4), acceleration="catalyst")
    models = [ChainSVM(lam=0.05, solver=solver, tol=1e-2, random_state=0, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)]
    assert models[0].primal_ == pytest.approx(models[1].primal_, abs=1e-2)
    assert all(model.gap_ <= 1e-2 for model in models)


@pytest.mark.parametrize(
    "step",
    [
        RepeatedStep(times=0),
        RepeatedStep(times=5),
        RepeatedStep(times=2.0),
        RepeatedStep(OptimalStep()),
        RepeatedStep("pairwise"),
    ],
    ids=str,
)
def test_what_cannot_be_repeated(step):
    with pytest.raises(ValueError, match="a RepeatedStep"):
        BlockFrankWolfe(step=step).solve(named_pair("multiclass").problem, LAM)


def test_fixed_lengths_are_not_accelerated():
    solver = BlockFrankWolfe(step=RepeatedStep(FrankWolfeStep(FixedLength())), acceleration="catalyst")
    with pytest.raises(ValueError, match="without acceleration"):
        solver.solve(named_pair("multiclass").problem, LAM)
