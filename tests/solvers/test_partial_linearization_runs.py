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
    regularization_path,
)
from maxmargin.structures.pairwise import links_of, make_pairwise_problem, make_sites
from maxmargin.structures.verbs import add_block, new_work
from structures.pairs import COST, Subsets, chain_pair, graph_pair, interpreted, multiclass_pair

from .conftest import EXACT, LAM, Complete, named_pair, optimum, visits
from .test_engine import flat
from .test_two_speeds import assert_equal

plain_python = pytest.mark.usefixtures("no_compilation")

SOLVERS = {
    "tau 0.1": PartialLinearization(0.1),
    "corners": PartialLinearization(0),
    "default": PartialLinearization(),
    "default gap": PartialLinearization(sampling="gap"),
    "default active": PartialLinearization(sampling="active", safeguard=True),
    "averaging": PartialLinearization(averaging="weighted"),
    "safeguard": PartialLinearization(None, "gap", safeguard=True),
    "catalyst": PartialLinearization(None, "gap", acceleration=Catalyst(kappa=0.3)),
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
    solvers = [PartialLinearization(tau, safeguard=safeguard) for tau, safeguard in ((0.1, False), (None, True))]
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
@pytest.mark.parametrize("tau", [None, 0.1])
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
def test_another_temperature_goes_on_with_the_distributions():
    first = run("chain", PartialLinearization(), 10, random_state=0)
    again = PartialLinearization(0.1).start(named_pair("chain").problem, LAM, first.state, 0, None)
    assert again.step.tau == 0.1
    assert np.array_equal(again.step.base.cliques, first.state.known.base.cliques)


@plain_python
def test_temperatures_are_in_units_of_the_largest_loss():
    plain, dear = (multiclass_pair(cost=times * (1.0 - np.eye(3))) for times in (1.0, 100.0))
    steps = [PartialLinearization().start(pair.problem, LAM, None, 0, None).step for pair in (plain, dear)]
    assert [step.tau for step in steps] == [pytest.approx(0.05), pytest.approx(5.0)]


class Twins(Complete):
    """All outputs of a sample have loss 0 but some."""

    def loss(self, i, y):
        return float(super().loss(i, y) > 1.0)


@plain_python
@pytest.mark.parametrize("kind", ["default", "tau 0.1", "exponentiated"])
def test_wrong_outputs_without_loss_leave_weights_and_blocks_together(kind):
    solver, structure = SOLVERS[kind], Twins()
    engine = solver.start(structure, 0.1, None, 0, None)
    blocks, work, w = engine.blocks, new_work(engine.problem), np.zeros(structure.n_features)
    for i in range(engine.n):
        add_block(engine.problem, blocks, work, i, engine.problem.weight[i] / 0.1, 1.0, w)
    assert engine.w == pytest.approx(w, abs=1e-9)
    result = solver.solve(structure, 0.1, tol=1e-3, max_passes=400, random_state=0)
    best = BlockFrankWolfe(step="pairwise").solve(structure, 0.1, tol=1e-6, random_state=0)
    assert result.dual <= best.primal + 1e-9
    assert result.primal >= best.dual - 1e-9
    assert result.status == "converged"


@plain_python
@pytest.mark.parametrize("name", ["chain", "multiclass"])
def test_going_inside_late_does_not_ruin_the_dual_value(name):
    problem = named_pair(name).problem
    corners = BlockFrankWolfe("permutation").solve(problem, 1e-7, tol=0, max_passes=3, random_state=0)
    inside = PartialLinearization().start(problem, 1e-7, corners.state, 0, None)
    assert inside.certify()[0].dual >= 0.0


@plain_python
def test_a_structure_known_by_tilts_is_drawn_by_what_its_expectations_gain():
    structure = Complete()
    solver = PartialLinearization(sampling="gap")
    first = solver.solve(structure, LAM, tol=0, max_passes=2, random_state=0)
    structure.tilts.clear()
    engine = solver.start(structure, 0.5 * LAM, first.state, 0, None)
    structure.tilts.clear()
    for _ in range(10 * engine.n):
        engine.advance(1)
    asked = np.bincount([i for _, i, _ in structure.tilts], minlength=engine.n)
    assert np.count_nonzero(asked) == engine.n and asked.max() < 0.8 * asked.sum()


@plain_python
def test_heuristic_paths_ask_for_steps_that_find_gaps():
    problem = named_pair("chain").problem
    for solver in (PartialLinearization(), ExponentiatedGradient()):
        with pytest.raises(ValueError, match="heuristic=True goes with steps that find corners"):
            regularization_path(problem, solver, eps=0.5, heuristic=True, max_passes=20)
    path = regularization_path(problem, PartialLinearization(safeguard=True), eps=0.5, heuristic=True, lam_min=0.05)
    assert len(path) > 1


@plain_python
def test_rates_follow_lam():
    problem = named_pair("multiclass").problem
    small = ExponentiatedGradient().solve(problem, 1e-4, tol=0, max_passes=5, random_state=0)
    large = ExponentiatedGradient().start(problem, 1.0, small.state, 0, None)
    assert large.step.rates == pytest.approx(1e4 * small.state.known.rates)


@plain_python
def test_exponentiated_steps_take_bounds():
    problem = named_pair("multiclass").problem
    bounded = {"positive": [0, 1], "gap_every": 50}
    best = BlockFrankWolfe(step="pairwise", **bounded).solve(problem, 1.0, tol=1e-6, random_state=0)
    result = BlockFrankWolfe(step="exponentiated", **bounded).solve(problem, 1.0, tol=1e-3, random_state=0)
    assert result.status == "converged"
    assert result.primal == pytest.approx(best.primal, abs=2e-3)


@plain_python
def test_odds_are_checked():
    problem = named_pair("multiclass").problem
    for odds in (0, -1.0, np.nan, 101.0):
        with pytest.raises(ValueError, match="odds must be"):
            BlockFrankWolfe(step=ExpectationStep(odds=odds)).solve(problem, LAM)


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
@pytest.mark.parametrize("tau", [-1.0, -1e-12, np.nan, np.inf, "warm", "auto", True, [0.1]], ids=str)
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
    "safeguard, exponentiated": (EXPONENTIATED, {"safeguard": True}),
    "line_search": (EXPECTATION, {"line_search": False}),
    "sampling by gaps, exponentiated": (EXPONENTIATED, {"sampling": "gap"}),
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
