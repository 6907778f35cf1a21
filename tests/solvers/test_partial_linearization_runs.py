"""Runs of partial linearization: their seeds, their parts, going on, other steps before and after; what is refused."""

import copy

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin.inference import make_cut_plan, make_relaxed_plan
from maxmargin.solvers import (
    BlockFrankWolfe,
    Catalyst,
    ExpectationStep,
    ExponentiatedGradient,
    ExponentiatedStep,
    PartialLinearization,
)
from maxmargin.structures.pairwise import links_of, make_pairwise_problem, make_sites
from structures.pairs import COST, Subsets, chain_pair, graph_pair, interpreted, multiclass_pair

from .conftest import EXACT, LAM, Complete, named_pair, optimum, visits
from .test_engine import flat
from .test_two_speeds import assert_equal

plain_python = pytest.mark.usefixtures("no_compilation")

SOLVERS = {
    "tau 0.1": PartialLinearization(0.1),
    "corners": PartialLinearization(0),
    "auto": PartialLinearization(),
    "auto gap": PartialLinearization(sampling="gap"),
    "auto active": PartialLinearization(sampling="active", safeguard=True),
    "averaging": PartialLinearization(averaging="weighted"),
    "safeguard": PartialLinearization("auto", "gap", safeguard=True),
    "catalyst": PartialLinearization("auto", "gap", acceleration=Catalyst(kappa=0.3)),
    "catalyst averaging": PartialLinearization(0.1, "uniform", "weighted", acceleration=Catalyst(inner=1)),
    "exponentiated": ExponentiatedGradient(),
}
each_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=list(SOLVERS))
BUILT_IN = ["chain", "multiclass weighted", "tree featured", "cycle"]
NAMES = [*BUILT_IN, "complete weighted"]
# where a structure knows tilts only, there are no steps to corners
FITTING = [
    pytest.param(name, solver, id=f"{name}-{kind}")
    for name in NAMES
    for kind, solver in SOLVERS.items()
    if name in BUILT_IN or kind != "corners"
]
each_run = pytest.mark.parametrize(("name", "solver"), FITTING)


def run(name, solver, passes, lam=LAM, **options):
    return solver.solve(named_pair(name).problem, lam, tol=0, max_passes=passes, **options)


# going on


@plain_python
@each_run
@pytest.mark.parametrize(("one", "other", "gap_every"), [(10, 10, 10), (3, 4, 1)])
def test_parts_of_a_run_are_the_whole(name, solver, one, other, gap_every):
    solver = clone(solver).set_params(gap_every=gap_every)
    first = run(name, solver, one, random_state=0)
    second = run(name, solver, other, state=first.state)
    whole = run(name, solver, one + other, random_state=0)
    assert min(first.primal, second.primal) == whole.primal
    assert max(first.dual, second.dual) == whole.dual
    assert np.array_equal(whole.w, second.w if second.primal <= first.primal else first.w)
    assert flat(second.state) == flat(whole.state)


@plain_python
@each_run
def test_seeds(name, solver):
    one, same, other = (run(name, solver, 5, random_state=seed) for seed in (7, 7, 8))
    assert_equal(one, same)
    assert not np.array_equal(one.w, other.w)


@plain_python
@each_solver
def test_an_earlier_result_stays_as_it_was(solver):
    first = run("chain", solver, 4, random_state=0)
    before = copy.deepcopy(flat(first.state))
    once, twice = (run("chain", solver, 4, state=first.state) for _ in range(2))
    assert flat(first.state) == before
    assert flat(once.state) == flat(twice.state)


@plain_python
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lam", [0.02, 0.7])
def test_going_on_under_another_lam(name, lam):
    state = run(name, PartialLinearization(), 10, random_state=0).state
    result = run(name, PartialLinearization(), 10, lam, state=state)
    vector, loss = LAM * state.w, sum(named_pair(name).problem.weight * state.blocks.loss)
    assert result.history["dual"][0] >= loss - 0.5 / lam * (vector @ vector) - 1e-12
    assert np.all(result.history["dual"] <= optimum(name, lam) + EXACT)
    assert np.all(result.history["primal"] >= optimum(name, lam) - EXACT)


COMPILED = {
    "chain": lambda: chain_pair(cost=COST),
    "multiclass": lambda: multiclass_pair(cost=COST),
    "tree": lambda: graph_pair(cost=COST, n_edge_features=2),
    "cycle": lambda: graph_pair("cycle", cost=COST),
}


@pytest.mark.parametrize("kind", COMPILED)
def test_compiled_agrees_with_interpreted(kind):
    with interpreted():
        problem = COMPILED[kind]().problem
    # a kernel compiles once for all of these
    solvers = [PartialLinearization(tau, safeguard=safeguard) for tau, safeguard in ((0.1, False), ("auto", True))]
    options = {"tol": 0, "max_passes": 8, "random_state": 0}
    for solver in [*solvers, PartialLinearization(1e-10), PartialLinearization(0)]:
        compiled = solver.solve(problem, LAM, **options)
        with interpreted():
            plain = solver.solve(problem, LAM, **options)
        assert compiled.w == pytest.approx(plain.w, abs=1e-9)
        assert compiled.state.known.base[-1] == pytest.approx(plain.state.known.base[-1], abs=1e-9)
        for column in ("passes", "primal", "dual", "gap"):  # rounding decides whether a block at its optimum is asked
            assert compiled.history[column] == pytest.approx(plain.history[column], abs=1e-9)


# other steps before and after


@plain_python
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tau", ["auto", 0.1])
def test_steps_of_all_kinds_follow_each_other(name, tau):
    pair, best, state = named_pair(name), optimum(name), None
    primal, dual = np.inf, -np.inf
    for step in ("fw", ExpectationStep(tau), "exponentiated", ExpectationStep(tau), "pairwise", ExpectationStep(tau)):
        solver = BlockFrankWolfe("permutation", step=step, gap_every=2)
        result = run(name, solver, 5, state=state, random_state=0 if state is None else None)
        state = result.state
        assert result.primal == pytest.approx(pair.reference.primal(pair.to_reference(result.w), LAM), abs=1e-11)
        assert np.all(result.history["dual"] <= best + EXACT) and np.all(result.history["primal"] >= best - EXACT)
        assert np.all(result.history["gap"] + EXACT >= result.history["primal"] - best)
        assert result.dual >= dual - 1e-12 and result.primal <= primal + 1e-12, step
        primal, dual = result.primal, result.dual
    # mass that expectations gave to outputs nobody knows by name leaves slowly
    last = run(name, BlockFrankWolfe("permutation", step="pairwise", gap_every=50), 300, state=state)
    assert last.gap <= min(0.03, result.gap)
    assert last.dual - EXACT <= best <= last.primal + EXACT


@plain_python
@pytest.mark.parametrize("name", BUILT_IN)
def test_going_inside_late_keeps_nearly_all(name):
    # marginals of nodes stay, but for what odds of 16 add; those of classes are all there is
    corners = BlockFrankWolfe("permutation", step="fw").start(named_pair(name).problem, LAM, None, 0, None)
    while corners.steps < 10 * corners.n:
        corners.advance(10 * corners.n - corners.steps)
    inside = PartialLinearization(0.1).start(named_pair(name).problem, LAM, corners.state(), None, None)
    assert inside.blocks.node == pytest.approx(corners.blocks.node, abs=1e-5)
    assert inside.steps == corners.steps


@plain_python
def test_temperatures_go_on_only_where_blocks_have_their_own():
    first = run("chain", PartialLinearization(), 40, random_state=0)
    problem = named_pair("chain").problem
    again, fixed = (PartialLinearization(tau).start(problem, LAM, first.state, 0, None) for tau in ("auto", 0.1))
    assert np.ptp(first.state.known.taus) > 0
    assert np.array_equal(again.step.taus, first.state.known.taus)
    assert fixed.step.taus.tolist() == [0.1] * 4
    assert np.array_equal(fixed.step.base.cliques, first.state.known.base.cliques)


# gaps of blocks


def begun(name, sampling="permutation", **options):
    return PartialLinearization(0.1, sampling, **options).start(named_pair(name).problem, LAM, None, 0, None)


@plain_python
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sampling", ["gap", "active", "permutation"])
def test_estimates_never_replace_exact_gaps(name, sampling):
    engine = begun(name, sampling)
    for _ in range(3):
        found = engine.certify()[0]
        exact = engine.gaps.copy()
        assert np.sum(exact) == pytest.approx(found.primal - found.dual, abs=1e-10)
        for _ in range(2 * engine.n):
            engine.advance(1)
        assert np.array_equal(engine.gaps, exact)


@plain_python
@pytest.mark.parametrize("name", BUILT_IN)
def test_blocks_are_drawn_by_what_expectations_gain_which_is_less_than_gaps(name):
    engine = begun(name, "gap")
    engine.certify()
    for _ in range(engine.n):
        engine.advance(1)
    for _ in range(6 * engine.n):
        engine.certify()
        exact = engine.gaps.copy()
        engine.advance(1)
        known = engine.draws.tree[len(engine.draws.tree) // 2 :][: engine.n]
        assert np.all(known <= exact + 1e-12)
        assert np.sum(known != np.maximum(exact, 0.0)) <= 1


@plain_python
@pytest.mark.parametrize("name", NAMES)
def test_safeguarded_steps_see_exact_gaps(name):
    looked, blind = (begun(name, safeguard=True) for _ in range(2))
    n, seen = looked.n, np.full(looked.n, np.inf)
    for i in visits("permutation", 0, n, 4 * n):
        looked.certify()
        seen[i] = looked.gaps[i]
        looked.advance(1)
        blind.advance(1)
        assert blind.gaps == pytest.approx(seen, abs=1e-12)


@plain_python
@pytest.mark.parametrize("name", ["chain", "multiclass weighted", "tree featured", "cycle"])
@pytest.mark.parametrize("tau", [1e-8, 1.0, 1e4])
def test_a_safeguarded_step_gains_no_less_than_that_to_the_corner(name, tau):
    pair, engine = named_pair(name), PartialLinearization(tau, safeguard=True)
    engine = engine.start(pair.problem, LAM, None, 0, None)
    for _ in range(4 * engine.n):
        state = engine.state()
        corner = BlockFrankWolfe("permutation").start(pair.problem, LAM, state, None, None)
        corner.advance(1)
        engine.advance(1)
        assert engine.certify()[0].dual >= corner.certify()[0].dual - 1e-12


@plain_python
@pytest.mark.parametrize("name", ["chain", "tree featured", "cycle"])
@pytest.mark.parametrize("sampling", ["permutation", "uniform"])
def test_blocks_that_were_never_visited_keep_no_cliques(name, sampling):
    engine, visited = begun(name, sampling), set()
    assert not engine.step.base.opened.any()
    for i in visits(sampling, 0, engine.n, 2 * engine.n):
        engine.advance(1)
        visited.add(i)
        base = engine.step.base
        assert set(np.flatnonzero(base.opened)) == visited
        for j in set(range(engine.n)) - visited:
            assert not base.cliques[base.offsets[j] : base.offsets[j + 1]].any()


# what is refused


@plain_python
@pytest.mark.parametrize("tau", [-1.0, -1e-12, np.nan, np.inf, "warm", None, True, [0.1]], ids=str)
def test_bad_temperatures_are_named(tau):
    for name in ("chain", "complete"):
        with pytest.raises(ValueError, match="tau must be"):
            PartialLinearization(tau).solve(named_pair(name).problem, LAM)


def graph_without_expectations(kind):
    """Two nodes and two labels, to be cut or relaxed."""
    sites = make_sites(np.eye(2), np.array([0, 2]), intercept=True, boundary=False)
    edges = [0, 2], [0, 1], [0], [1]
    plan = make_cut_plan(*edges, shared=True) if kind == "cut" else make_relaxed_plan(*edges, 2, shared=True)
    return make_pairwise_problem(sites, links_of(plan, 2, None, None), plan, np.array([0, 1]), 2)


@plain_python
@pytest.mark.parametrize("kind", ["cut", "relaxed"])
@pytest.mark.parametrize("solver", [PartialLinearization(), BlockFrankWolfe(step="exponentiated")], ids=str)
def test_graphs_without_expectations_are_refused(kind, solver):
    with pytest.raises(TypeError, match="expectations"):
        solver.solve(graph_without_expectations(kind), LAM)


@plain_python
def test_a_python_structure_is_told_what_to_add():
    with pytest.raises(TypeError, match="exp_oracle"):
        PartialLinearization().solve(Subsets(), LAM)
    with pytest.raises(ValueError, match=r"tau=0.*fw"):
        PartialLinearization(0).solve(Complete(), LAM)


EXPECTATION, EXPONENTIATED = ExpectationStep(), ExponentiatedStep()
REFUSED = {
    "a cache": (EXPECTATION, {"cache": True}),
    "a cache, exponentiated": (EXPONENTIATED, {"cache": True}),
    "working sets": (EXPECTATION, {"working_set": True}),
    "working sets, exponentiated": (EXPONENTIATED, {"working_set": True}),
    "pieces": (EXPECTATION, {"pieces": 2}),
    "pieces, exponentiated": (EXPONENTIATED, {"pieces": 2}),
    "acceleration, exponentiated": (EXPONENTIATED, {"acceleration": "catalyst"}),
    "bounds, exponentiated": (EXPONENTIATED, {"positive": [0]}),
    "safeguard, exponentiated": (EXPONENTIATED, {"safeguard": True}),
    "line_search": (EXPECTATION, {"line_search": False}),
    "sampling, exponentiated": (EXPONENTIATED, {"sampling": "gap"}),
}


@plain_python
@pytest.mark.parametrize("kind", REFUSED)
def test_parts_that_do_not_go_together_are_named(kind):
    step, options = REFUSED[kind]
    name = "complete" if "working_set" in options else "chain"
    with pytest.raises(ValueError, match=kind.split(",")[0]):
        BlockFrankWolfe(step=step, **options).solve(named_pair(name).problem, LAM)


@plain_python
@pytest.mark.parametrize("odds", [0.0, -1.0, np.nan, "even"], ids=str)
@pytest.mark.parametrize("step", [ExpectationStep, ExponentiatedStep])
def test_bad_odds_are_named(odds, step):
    with pytest.raises(ValueError, match="odds"):
        BlockFrankWolfe(step=step(odds=odds)).solve(named_pair("chain").problem, LAM)


@plain_python
def test_other_bad_parameters_are_named():
    for name, options in {"sampling": {"sampling": "often"}, "averaging": {"averaging": "mean"}}.items():
        with pytest.raises(ValueError, match=name):
            PartialLinearization(**options).solve(named_pair("chain").problem, LAM)
