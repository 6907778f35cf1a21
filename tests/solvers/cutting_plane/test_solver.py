"""Cutting planes with one and n slacks against the enumerated QP, with bounds, weights and approximate oracles."""

import numpy as np
import pytest

from maxmargin.solvers import Cache, CuttingPlane
from structures.pairs import COST, chain_pair, multiclass_pair

from ..conftest import (
    EXACT,
    LAM,
    MORE_PROBLEMS,
    PROBLEMS,
    Complete,
    check_bracket,
    named_pair,
    of_the_package,
    optimum,
)
from ..test_approximate import Bounded, Greedy
from ..test_box import BOXES, bounds_of, box_of, solution

pytestmark = pytest.mark.usefixtures("no_compilation", "compiled_mixtures")

SOLVERS = {
    "one": CuttingPlane("one"),
    "one asked": CuttingPlane("one", cache=False),
    "one small": CuttingPlane("one", cache=Cache(capacity=3)),
    "n": CuttingPlane("n"),
}


each_solver = pytest.mark.parametrize("solver", SOLVERS)
each_slack = pytest.mark.parametrize("slack", ["one", "n"])
each_problem = pytest.mark.parametrize(
    "name", [name for name in PROBLEMS | MORE_PROBLEMS if name not in ("chain halves", "custom weighted", "complete")]
)


@each_solver
@each_problem
def test_finds_the_optimum(name, solver):
    pair, best = named_pair(name), optimum(name)
    result = SOLVERS[solver].solve(pair.problem, LAM, tol=1e-5, max_passes=2000, random_state=0)
    assert result.status == "converged"
    assert result.gap <= 1e-5
    assert -EXACT <= result.primal - best <= 1e-5 + EXACT
    assert result.primal == pytest.approx(pair.reference.primal(pair.to_reference(result.w), LAM), abs=1e-10)
    check_bracket(result, best)


@each_slack
@pytest.mark.parametrize("lam", [0.02, 10.0])
@pytest.mark.parametrize("name", ["chain", "multiclass weighted", "complete"])
def test_weak_and_strong_regularisation(name, lam, slack):
    result = CuttingPlane(slack).solve(named_pair(name).problem, lam, tol=1e-5, max_passes=3000)
    best = optimum(name, lam)
    assert result.status == "converged"
    assert -EXACT <= result.primal - best <= 1e-5 + EXACT
    check_bracket(result, best)


@each_slack
def test_a_tolerance_of_rounding_is_reached(slack):
    for name in ("chain", "multiclass", "complete"):
        result = CuttingPlane(slack).solve(named_pair(name).problem, LAM, tol=1e-9, max_passes=3000)
        assert result.status == "converged", name
        assert result.primal == pytest.approx(optimum(name), abs=2 * EXACT)


@each_slack
@pytest.mark.parametrize("kind", BOXES)
@pytest.mark.parametrize("name", ["multiclass", "custom"])
def test_finds_the_optimum_of_a_box(name, kind, slack):
    pair, best = named_pair(name), solution(name, kind)
    box = box_of(kind, pair.reference.d)
    lower, upper = bounds_of(box, pair.reference.d)
    result = CuttingPlane(slack, **box).solve(pair.problem, LAM, tol=1e-5, max_passes=2000, random_state=0)
    assert result.status == "converged"
    assert -EXACT <= result.primal - best <= 1e-5 + EXACT
    assert np.all(lower <= result.w) and np.all(result.w <= upper)
    assert pair.reference.primal(pair.to_reference(result.w), LAM) == pytest.approx(result.primal, abs=1e-10)
    check_bracket(result, best)


@each_slack
@pytest.mark.parametrize("name", ["chain", "complete weighted"])
def test_few_passes_suffice_where_frank_wolfe_needs_many(name, slack):
    # joachims09, Thm. 5: constraints needed grow with 1/(lam eps), not with n; here far fewer
    result = CuttingPlane(slack, cache=slack == "n").solve(named_pair(name).problem, LAM, tol=1e-4, max_passes=2000)
    assert result.status == "converged"
    reference = named_pair(name).reference
    longest = max(np.max(np.linalg.norm(psi, axis=1)) for psi in reference.psi)
    largest = max(losses.max() for losses in reference.losses)
    bound = np.log2(largest / (4 * longest**2 / LAM)) if largest > 4 * longest**2 / LAM else 0.0
    assert result.n_passes <= max(bound, 0) + 16 * longest**2 / (LAM * 1e-4) + 1


REPEATS = {
    "chain": (lambda **given: chain_pair(cost=COST, **given), [2, 0, 1, 3], [0, 0, 2, 3, 3, 3]),
    "multiclass": (lambda **given: multiclass_pair(cost=COST, **given), [1, 0, 2, 1, 0, 1], [0, 2, 2, 3, 5]),
}


@each_slack
@pytest.mark.parametrize("kind", REPEATS)
def test_integer_weight_is_repetition_and_zero_is_removal(kind, slack):
    make, weights, repeats = REPEATS[kind]
    weighted, repeated = make(sample_weight=weights), make(repeats=repeats)
    best = repeated.reference.solve(LAM)[1]
    found = [CuttingPlane(slack).solve(pair.problem, LAM, tol=1e-6, max_passes=1000) for pair in (weighted, repeated)]
    for result in found:
        assert -EXACT <= result.primal - best <= 1e-6 + EXACT
    assert found[0].w == pytest.approx(found[1].w, abs=2 * np.sqrt(2 * 1e-6 / LAM))  # strong convexity


@pytest.mark.parametrize("kind", REPEATS)
def test_one_slack_takes_the_same_way_for_weights_and_repetitions(kind):
    make, weights, repeats = REPEATS[kind]
    runs = [
        CuttingPlane(cache=False).solve(pair.problem, LAM, tol=0, max_passes=6).history
        for pair in (make(sample_weight=weights), make(repeats=repeats))
    ]
    for column in ("primal", "dual"):
        assert runs[0][column] == pytest.approx(
            runs[1][column], abs=1e-5
        )  # constraints are solved to a share of the gap


@each_solver
def test_every_oracle_call_is_counted(solver):
    structure = Complete()
    result = SOLVERS[solver].solve(structure, LAM, tol=1e-6, max_passes=300)
    assert set(structure.asked) == {"max_oracle"}
    assert result.n_oracle_calls == structure.asked["max_oracle"]


def test_remembered_outputs_save_oracle_calls():
    asked, remembered = (
        CuttingPlane(cache=cache).solve(named_pair("tree featured").problem, 0.01, tol=1e-3, max_passes=3000)
        for cache in (False, True)
    )
    assert asked.status == remembered.status == "converged"
    assert remembered.n_oracle_calls < asked.n_oracle_calls


def test_nothing_to_learn_is_converged_at_once():
    structure = Complete()
    structure.price[:] = 0.0
    for slack in ("one", "n"):
        result = CuttingPlane(slack).solve(of_the_package(structure), LAM, tol=0)
        assert (result.status, result.gap) == ("converged", 0.0)
        assert not result.w.any()


@each_slack
def test_one_sample_and_one_output(slack):
    structure = Complete(n_samples=1)
    result = CuttingPlane(slack).solve(structure, LAM, tol=1e-7)
    assert result.status == "converged"
    structure.outputs = (structure.y[0],)
    result = CuttingPlane(slack).solve(of_the_package(structure), LAM, tol=0)
    assert (result.status, result.primal) == ("converged", 0.0)


@each_slack
def test_certificates_of_a_bound(slack):
    result = CuttingPlane(slack).solve(Bounded(), LAM, tol=1e-4, max_passes=40)
    best = optimum("custom")
    assert result.status != "converged"
    assert np.all(result.history["dual"] <= best + EXACT)
    assert np.all(result.history["primal"] >= best + 0.01 - EXACT)


@each_slack
def test_without_a_bound_nothing_is_certified(slack):
    result = CuttingPlane(slack).solve(Greedy(), LAM, tol=1.0, max_passes=20)
    assert (result.status, result.gap) == ("uncertified", np.inf)
    assert np.all(result.history["gap"] == np.inf)


class Liar(Complete):
    """Never returns a maximiser; says it does."""

    def max_oracle(self, w, i):
        return self.y[i]


@each_slack
def test_an_oracle_that_finds_nothing_is_refused(slack):
    with pytest.raises(ValueError, match=r"at w = 0, .* answers outputs of loss 0 for all samples"):
        CuttingPlane(slack).solve(Liar(), LAM, tol=1e-6, max_passes=5)


BAD = {
    "slack": {"slack": "two"},
    "slack of another type": {"slack": 1},
    "slack None": {"slack": None},
    "cache": {"cache": 7},
    "cache as a class": {"cache": Cache},
    "cache None": {"cache": None},
    "capacity": {"cache": Cache(capacity=0)},
    "capacity fractional": {"cache": Cache(capacity=2.5)},
    "max_bytes": {"cache": Cache(max_bytes=10)},
    "gap_every": {"gap_every": 0},
    "bounds": {"lower": 1.0, "upper": 0.5},
    "positive": {"positive": [99]},
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_parameters_are_named(kind):
    with pytest.raises(ValueError, match=kind.split()[0]):
        CuttingPlane(**BAD[kind]).solve(named_pair("chain").problem, LAM)
