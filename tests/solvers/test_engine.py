"""Going on from an earlier result."""

import copy
import pickle

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, Catalyst, FrankWolfe
from maxmargin.solvers.catalyst import Extrapolation, OneProblem, ProximalSequence
from maxmargin.solvers.engine import State
from maxmargin.solvers.parts.samplers import Draws
from maxmargin.structures.verbs import mean_loss
from structures.pairs import COST, Subsets, chain_pair, multiclass_pair

from .conftest import LAM, named_pair, optimum

pytestmark = pytest.mark.usefixtures("no_compilation")

SOLVERS = {
    "uniform": BlockFrankWolfe(),
    "permutation weighted": BlockFrankWolfe("permutation", "weighted"),
    "uniform weighted": BlockFrankWolfe(averaging="weighted"),
    "fixed weighted": BlockFrankWolfe(averaging="weighted", line_search=False),
    "catalyst": BlockFrankWolfe("gap", acceleration=Catalyst(kappa=0.3)),
    "catalyst weighted": BlockFrankWolfe(averaging="weighted", acceleration=Catalyst(inner=1)),
    "fw": FrankWolfe(),
    "fw fixed": FrankWolfe(line_search=False),
}
each_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=list(SOLVERS))
each_problem = pytest.mark.parametrize("name", ["chain", "multiclass weighted", "custom"])


def run(name, solver, passes, lam=LAM, **options):
    return solver.solve(named_pair(name).problem, lam, tol=0, max_passes=passes, **options)


def flat(state):
    """Everything in a state as comparable values."""
    if isinstance(state, tuple | list):
        return [flat(part) for part in state]
    if isinstance(state, np.ndarray):
        return state.tolist()
    if isinstance(state, State | Draws | OneProblem | ProximalSequence | Extrapolation):
        return flat(list(vars(state).values()))
    if isinstance(state, dict):
        return {name: flat(part) for name, part in state.items()}
    return state.bit_generator.state if isinstance(state, np.random.Generator) else state


@each_problem
@each_solver
def test_ten_and_ten_passes_are_twenty(name, solver):
    first = run(name, solver, 10, random_state=0)
    second = run(name, solver, 10, state=first.state)
    whole = run(name, solver, 20, random_state=0)
    assert flat(second.state) == flat(whole.state)
    assert (second.n_passes, whole.n_passes) == (10, 20)
    assert second.history["passes"].tolist() == [0, 10]
    # a run returns the best it saw itself, and the second one starts where the first ended
    assert min(first.primal, second.primal) == whole.primal
    assert max(first.dual, second.dual) == whole.dual
    assert np.array_equal(whole.w, second.w if second.primal <= first.primal else first.w)


@pytest.mark.parametrize(
    "solver", [SOLVERS["permutation weighted"], SOLVERS["uniform"]], ids=["permutation", "uniform"]
)
def test_going_on_in_the_middle_of_a_pass(solver):
    # what was drawn but not visited is visited first
    parts = run("chain", solver, 2.5, random_state=0)
    parts = run("chain", solver, 2.5, state=parts.state)
    whole = run("chain", solver, 5, random_state=0)
    assert parts.state.w == pytest.approx(whole.state.w, abs=1e-12)
    assert parts.state.steps == whole.state.steps == 20


@each_problem
@each_solver
def test_an_earlier_result_stays_as_it_was(name, solver):
    first = run(name, solver, 4, random_state=0)
    w, state = first.w.copy(), copy.deepcopy(flat(first.state))
    once = run(name, solver, 4, state=first.state)
    twice = run(name, solver, 4, state=first.state)
    assert np.array_equal(first.w, w)
    assert flat(first.state) == state
    assert flat(once.state) == flat(twice.state)


@each_solver
def test_a_state_survives_pickling(solver):
    first = run("chain", solver, 4, random_state=0)
    again = pickle.loads(pickle.dumps(first.state))
    assert flat(run("chain", solver, 4, state=again).state) == flat(run("chain", solver, 4, state=first.state).state)


@each_problem
@each_solver
@pytest.mark.parametrize("lam", [0.02, 0.7])
def test_under_another_lam(name, solver, lam):
    pair, state = named_pair(name), run(name, solver, 10, random_state=0).state
    result = run(name, solver, 10, lam, state=state)
    best = optimum(name, lam)
    if isinstance(solver, FrankWolfe):
        vector, loss = state.point
    else:
        vector, loss = state.outer.point(state.w, mean_loss(pair.problem, state.blocks))
    same_alpha = loss - 0.5 / lam * (vector @ vector)
    assert result.history["dual"][0] >= same_alpha - 1e-12
    assert np.all(result.history["dual"] <= best + 1e-8)
    assert np.all(result.history["primal"] >= best - 1e-8)
    assert result.primal == pytest.approx(pair.reference.primal(pair.to_reference(result.w), lam), abs=1e-11)


def test_going_on_with_another_seed_or_averaging():
    first = run("chain", BlockFrankWolfe(), 5, random_state=0)
    seeded = [run("chain", BlockFrankWolfe(), 5, state=first.state, random_state=seed).state.w for seed in (1, 1, 2)]
    assert np.array_equal(seeded[0], seeded[1])
    assert not np.array_equal(seeded[0], seeded[2])
    averaged = run("chain", BlockFrankWolfe(averaging="weighted"), 20, state=first.state)
    best = optimum("chain")
    assert averaged.dual - 1e-8 <= best <= averaged.primal + 1e-8
    plain = run("chain", BlockFrankWolfe(), 5, state=averaged.state)
    assert plain.dual - 1e-8 <= best <= plain.primal + 1e-8


def test_average_begun_late_is_that_of_the_late_iterates():
    solver = BlockFrankWolfe(averaging="weighted")
    first = run("chain", BlockFrankWolfe(), 3, random_state=0)
    engine = solver.start(named_pair("chain").problem, LAM, first.state, None, None)
    total, mass = 0.0, 0.0
    for k in range(1, 11):
        engine.advance(1)
        total, mass = total + k * engine.w, mass + k
        assert engine.certify()[1].w == pytest.approx(total / mass, abs=1e-12)


OTHER_DATA = {
    "chain": [
        lambda: chain_pair(5, cost=COST),
        lambda: chain_pair(cost=2 * COST),
        lambda: chain_pair(cost=COST, sample_weight=[1, 1, 1, 2]),
        lambda: chain_pair(cost=COST, normalize=False),
        lambda: chain_pair(cost=COST, boundary=False),
        lambda: multiclass_pair(),
    ],
    "multiclass": [
        lambda: multiclass_pair(5),
        lambda: multiclass_pair(cost=COST),
        lambda: multiclass_pair(sample_weight=[1, 1, 1, 1, 1, 2]),
        lambda: multiclass_pair(repeats=[0, 1, 2]),
    ],
}


@pytest.mark.parametrize("solver", [BlockFrankWolfe(), FrankWolfe()], ids=["block", "batch"])
@pytest.mark.parametrize(
    ("name", "other"), [(name, k) for name, others in OTHER_DATA.items() for k in range(len(others))]
)
def test_other_data_is_refused(solver, name, other):
    state = run(name, solver, 2).state
    with pytest.raises(ValueError, match="state belongs to other data"):
        solver.solve(OTHER_DATA[name][other]().problem, LAM, state=state)
    rebuilt = {"chain": lambda: chain_pair(cost=COST), "multiclass": multiclass_pair}[name]()
    assert solver.solve(rebuilt.problem, LAM, max_passes=1, state=state).dual > 0  # the same data built anew


class Longer(Subsets):
    """Weights that no true output uses."""

    n_features = 9

    def joint_feature(self, i, y):
        return np.concatenate([super().joint_feature(i, y), np.zeros(3)])


class Cheaper(Subsets):
    def loss(self, i, y):
        return 0.1 * super().loss(i, y)


@pytest.mark.parametrize("solver", [BlockFrankWolfe(), FrankWolfe()], ids=["block", "batch"])
@pytest.mark.parametrize(
    "structure",
    [Subsets(1), Subsets(n_samples=4), Subsets(sample_weight=[1, 1, 1, 1, 2]), Longer(), Cheaper()],
    ids=["other samples", "fewer samples", "weighted", "longer", "other losses"],
)
def test_other_structure_is_refused(solver, structure):
    # the dual value of a state is that of its own losses: under lower ones it would lie above the optimum
    state = solver.solve(Subsets(), LAM, max_passes=20, tol=0).state
    with pytest.raises(ValueError, match="state"):
        solver.solve(structure, LAM, state=state)


def test_state_of_another_solver_is_refused():
    states = {kind: run("multiclass", kind(), 2).state for kind in (BlockFrankWolfe, FrankWolfe)}
    with pytest.raises(TypeError, match="that of FrankWolfe of an earlier Result, got BlockFrankWolfe"):
        run("multiclass", FrankWolfe(), 2, state=states[BlockFrankWolfe])
    with pytest.raises(TypeError, match="that of BlockFrankWolfe of an earlier Result, got FrankWolfe"):
        run("multiclass", BlockFrankWolfe(), 2, state=states[FrankWolfe])
    with pytest.raises(TypeError, match="got dict"):
        run("multiclass", FrankWolfe(), 2, state={})
