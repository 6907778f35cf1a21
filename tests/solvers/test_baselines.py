"""Subgradient, perceptron, cutting planes and exponentiated gradient: going on, other lams and bounds, seeds."""

import copy
import pickle

import numpy as np
import pytest

from maxmargin.solvers import (
    BlockFrankWolfe,
    CuttingPlane,
    Decay,
    ExponentiatedGradient,
    FrankWolfe,
    Perceptron,
    Subgradient,
    get_solver,
)
from maxmargin.solvers.cutting_plane.cuts import Cuts
from maxmargin.solvers.engine import State
from reference import subgradient_descent

from .conftest import EXACT, LAM, named_pair, optimum
from .test_engine import OTHER_DATA
from .test_engine import flat as flat_parts

SOLVERS = {
    "subgradient": Subgradient(),
    "subgradient last": Subgradient(Decay(0.5), averaging=None, sampling="permutation", upper=0.2),
    "subgradient batch": Subgradient(batch=True),
    "perceptron": Perceptron(),
    "perceptron uniform": Perceptron("uniform", positive=[0]),
    "one slack": CuttingPlane(gap_every=1),
    "one slack asked": CuttingPlane(cache=False, gap_every=1, lower=-0.3),
    "n slacks": CuttingPlane("n", gap_every=5),  # certificates are where runs end
    "expectations": ExponentiatedGradient(),
    "expectations uniform": ExponentiatedGradient(1.0, "uniform"),
}
RANDOM = ["subgradient", "perceptron", "expectations", "expectations uniform"]
PRESETS = {
    "subgradient": Subgradient,
    "perceptron": Perceptron,
    "cutting_plane": CuttingPlane,
    "exponentiated_gradient": ExponentiatedGradient,
}
each_solver = pytest.mark.parametrize("kind", SOLVERS)
each_problem = pytest.mark.parametrize("name", ["chain", "complete"])
plain = pytest.mark.usefixtures("no_compilation", "compiled_mixtures")


def flat(state):
    """Everything in a state as comparable values, constraints included."""
    if isinstance(state, Cuts):
        kept = (state.vectors, state.losses, state.beta, state.unused, state.gram, state.bounded)
        return flat([[values for _, values in kept[0]], *kept[1:]])
    if isinstance(state, tuple | list):
        return [flat(part) for part in state]
    if isinstance(state, State):
        return flat([state.lam, state.steps, state.draws, *state.kept.values(), state.best])
    return flat_parts(state)


def run(name, kind, passes, lam=LAM, **options):
    tol = 1e-4 if "slack" in kind else 0.0  # beyond, rounding decides what to add
    return SOLVERS[kind].solve(named_pair(name).problem, lam, **{"tol": tol, "max_passes": passes} | options)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets(preset):
    assert type(get_solver(preset)) is PRESETS[preset]
    assert SOLVERS["subgradient"].certifies == SOLVERS["perceptron"].certifies is False
    assert SOLVERS["one slack"].certifies == SOLVERS["expectations"].certifies is True


@plain
@each_problem
@each_solver
def test_ten_and_ten_passes_are_twenty(name, kind):
    first = run(name, kind, 10, random_state=0)
    second = run(name, kind, 10, state=first.state)
    whole = run(name, kind, 20, random_state=0)
    if kind.startswith("one"):  # it solves its constraints anew, and stops where it has the optimum
        assert second.primal == pytest.approx(whole.primal, abs=1e-5)
        assert second.dual == pytest.approx(whole.dual, abs=1e-5)
        return
    np.testing.assert_equal(flat(second.state), flat(whole.state))
    np.testing.assert_equal((second.primal, second.dual, second.gap), (whole.primal, whole.dual, whole.gap))
    assert np.array_equal(second.w, whole.w)


@plain
@each_solver
def test_going_on_in_the_middle_of_a_pass(kind):
    if "batch" in kind or "slack" in kind:
        return  # whole passes only
    parts = run("chain", kind, 2.5, random_state=0)
    parts = run("chain", kind, 2.5, state=parts.state)
    whole = run("chain", kind, 5, random_state=0)
    assert parts.state.steps == whole.state.steps == 20
    ends = [run("chain", kind, 1, state=one.state) for one in (parts, whole)]
    assert ends[0].w == pytest.approx(ends[1].w, abs=1e-10) or "last" in kind or "expectations" in kind


@plain
@each_problem
@each_solver
def test_an_earlier_result_stays_as_it_was_and_can_be_pickled(name, kind):
    first = run(name, kind, 4, random_state=0)
    w, state = first.w.copy(), copy.deepcopy(flat(first.state))
    once = run(name, kind, 4, state=first.state)
    twice = run(name, kind, 4, state=pickle.loads(pickle.dumps(first)).state)
    assert np.array_equal(first.w, w)
    np.testing.assert_equal(flat(first.state), state)
    np.testing.assert_equal(flat(once.state), flat(twice.state))
    assert np.array_equal(once.w, twice.w)


@plain
@each_problem
@each_solver
@pytest.mark.parametrize("lam", [0.02, 0.7])
def test_under_another_lam(name, kind, lam):
    pair, state = named_pair(name), run(name, kind, 10, random_state=0).state
    result = run(name, kind, 10, lam, state=state)
    assert result.primal == pytest.approx(pair.reference.primal(pair.to_reference(result.w), lam), abs=1e-9)
    if SOLVERS[kind].certifies and SOLVERS[kind].lower is None:
        best = optimum(name, lam)
        assert np.all(result.history["dual"] <= best + EXACT)
        assert np.all(result.history["primal"] >= best - EXACT)
        assert np.all(np.diff(result.history["dual"]) >= 0)


@plain
@each_solver
def test_state_of_another_solver_or_other_data_is_refused(kind):
    state = run("chain", kind, 2).state
    others = [SOLVERS[other] for other in ("subgradient", "perceptron", "one slack", "n slacks", "expectations")]
    for other in (*others, BlockFrankWolfe(), FrankWolfe()):
        descents = isinstance(other, Subgradient | Perceptron) and isinstance(SOLVERS[kind], Subgradient | Perceptron)
        if descents or other.family == SOLVERS[kind].family:
            continue  # these begin from one another's weights or dual variables
        if type(other) is not type(SOLVERS[kind]):
            with pytest.raises(TypeError, match="of an earlier Result, got"):
                other.solve(named_pair("chain").problem, LAM, state=state)
    for make in OTHER_DATA["chain"]:
        with pytest.raises(ValueError, match="state belongs to other data"):
            SOLVERS[kind].solve(make().problem, LAM, state=state)
    with pytest.raises(TypeError, match="got dict"):
        run("chain", kind, 2, state={})


@plain
@pytest.mark.parametrize("kinds", [("one slack", "n slacks"), ("subgradient", "subgradient batch")])
def test_states_of_the_same_solver_with_other_parameters(kinds):
    for first, second in (kinds, kinds[::-1]):
        state = run("chain", first, 5, random_state=0).state
        try:
            result = run("chain", second, 30, state=state)
        except (TypeError, ValueError) as error:
            assert "state" in str(error)
            continue
        assert result.primal >= optimum("chain") - EXACT
        assert not result.dual > optimum("chain") + EXACT


@plain
def test_bounds_hold_for_what_begins_without_them():
    for make in (Subgradient, Perceptron, CuttingPlane):
        for name in ("chain", "complete"):
            problem = named_pair(name).problem
            state = make().solve(problem, 0.5, max_passes=20, random_state=0).state
            result = make(upper=0.02, lower=-0.02).solve(problem, 0.5, max_passes=2, state=state)
            assert np.all(np.abs(result.w) <= 0.02)


@plain
def test_a_batch_begins_where_single_samples_ended():
    for first, second in ((Subgradient(), Subgradient(batch=True)), (Subgradient(batch=True), Subgradient())):
        problem = named_pair("chain").problem
        state = first.solve(problem, LAM, max_passes=7, random_state=0).state
        one, other = (solver.start(problem, LAM, state, None, None).certify()[0] for solver in (first, second))
        assert one.w == pytest.approx(other.w, abs=1e-12)  # averages begin anew: steps of both kinds do not weigh alike


@plain
def test_the_first_step_of_a_batch_after_single_samples():
    pair = named_pair("chain")
    state = Subgradient().solve(pair.problem, LAM, max_passes=7, random_state=0).state
    engine = Subgradient(batch=True).start(pair.problem, LAM, state, None, None)
    w = pair.to_reference(engine.certify()[0].w)
    engine.advance(4)
    options = {"oracle": pair.oracle, "start": w}
    expected = subgradient_descent(pair.reference, LAM, [range(4)], lambda k: 1 / (LAM * 8), **options).w[1]
    assert pair.to_reference(engine.certify()[0].w) == pytest.approx(expected, abs=1e-10)


@plain
@each_solver
def test_seeds(kind):
    one, same, other = (run("chain", kind, 6, 1.5, random_state=seed) for seed in (7, 7, 8))
    for column in set(one.history) - {"seconds"}:
        np.testing.assert_array_equal(one.history[column], same.history[column])
    assert np.array_equal(one.w, same.w)
    assert not np.array_equal(one.w, other.w) or kind not in RANDOM
