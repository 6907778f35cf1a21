"""Outputs listed and worked through: the optimum, what the oracle is asked, going on, both speeds."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, get_solver
from maxmargin.solvers.block_coordinate import working_set
from maxmargin.structures import make_multiclass_problem
from maxmargin.structures.listed import Listing
from maxmargin.structures.verbs import (
    add_block,
    add_corner,
    block_value,
    find_corner,
    find_potentials,
    new_blocks,
    new_work,
)
from structures.pairs import Subsets, interpreted, subsets_pair

from ..test_box import EXACT, bounds_of, boxed_optimum
from .test_solver import BOXES

LAM = 0.5


def solver_of(**options):
    return BlockFrankWolfe(
        **{"sampling": "gap", "averaging": "weighted", "step": "pairwise", "acceleration": "catalyst"} | options,
        working_set=True,
    )


@pytest.mark.parametrize("lam", [0.5, 0.01])
@pytest.mark.parametrize("weights", [None, [2.0, 0.0, 1.0, 1.0, 3.0]])
@pytest.mark.parametrize("options", [{}, {"acceleration": None}, {"step": "fw", "acceleration": None}])
def test_finds_the_optimum(lam, weights, options):
    pair, tol = subsets_pair(sample_weight=weights), 1e-2 if "step" in options else 1e-7
    best = pair.reference.solve(lam)[1]
    result = solver_of(**options).solve(pair.problem, lam, tol=tol, random_state=0)
    assert result.status == "converged"
    assert result.dual - EXACT <= best <= result.primal + EXACT


@pytest.mark.parametrize("box", BOXES)
def test_keeps_to_bounds(box):
    pair = subsets_pair()
    best = boxed_optimum(pair, LAM, *bounds_of(BOXES[box], pair.reference.d))
    result = solver_of(**BOXES[box]).solve(pair.problem, LAM, tol=1e-6, random_state=0)
    assert result.dual - EXACT <= best <= result.primal + EXACT
    assert result.gap <= 1e-6


def test_only_passes_of_the_oracle_ask_it():
    structure = Subsets()
    result = solver_of(gap_every=2).solve(structure, 0.01, tol=0, max_passes=6, random_state=0)
    assert result.n_oracle_calls == structure.calls
    certificates = len(result.history["passes"])
    # answers of a certificate that came early spare the question after it
    spared = (result.n_passes + certificates) * structure.n_samples - structure.calls
    assert 0 <= spared <= (certificates - 4) * structure.n_samples
    assert result.history["steps"][-1] > 6 * structure.n_samples  # many more, over what it answered


def test_outputs_are_listed_once():
    structure = Subsets()
    result = solver_of().solve(structure, LAM, tol=1e-9, max_passes=50, random_state=0)
    listing = result.state.listing
    assert np.all(listing.counts <= len(structure.outputs))
    assert result.history["outputs"][-1] == listing.n_outputs
    for i in range(structure.n_samples):
        vectors = [
            (listing.losses[i, j], *listing.values[listing.begins[i, j] : listing.ends[i, j]])
            for j in range(listing.counts[i])
        ]
        assert len(set(vectors)) == len(vectors)


def test_listed_outputs_have_the_values_of_the_structure():
    pair, rng = subsets_pair(), np.random.default_rng(0)
    problem, listing, asked = pair.problem, Listing(pair.problem), new_work(pair.problem)
    for w in rng.normal(size=(4, problem.d)):
        for i in range(problem.n):
            find_potentials(problem, asked, w, i)
            value = find_corner(problem, asked, w, i)
            listing.remember(problem, asked, i, 0)
            listed = listing.problem
            work, blocks = new_work(listed), new_blocks(listed)
            with interpreted():
                find_potentials(listed, work, w, i)
                assert find_corner(listed, work, w, i) == pytest.approx(value - problem.truth[i].dot(w))
                assert block_value(listed, blocks, work, w, i) == 0.0  # all mass on the truth
                ours, theirs, nothing = np.zeros(problem.d), np.zeros(problem.d), np.zeros(problem.d)
                add_corner(listed, work, i, 0.7, ours)
                add_corner(problem, asked, i, 0.7, theirs)
                add_block(listed, blocks, work, i, 0.7, 1.0, nothing)
            assert ours == pytest.approx(theirs)
            assert not nothing.any()


@pytest.mark.parametrize("step", ["pairwise", "fw"])
def test_outputs_without_mass_are_forgotten_when_memory_is_short(step, monkeypatch):
    pair, tol = subsets_pair(), 1e-2 if step == "fw" else 1e-6
    plain = solver_of(step=step).solve(pair.problem, 0.01, tol=tol, random_state=0)
    monkeypatch.setattr(working_set, "MOST_BYTES", 0)
    result = solver_of(step=step).solve(pair.problem, 0.01, tol=tol, random_state=0)
    assert result.gap <= tol
    assert result.primal == pytest.approx(plain.primal, abs=tol)
    assert result.history["outputs"][-1] < plain.history["outputs"][-1]


# stopped where certificates are due, and elsewhere; a quarter of the samples is asked at a time
@pytest.mark.parametrize(
    ("gap_every", "parts"), [(2, (2, 2)), (5, (5, 5)), (5, (2, 2)), (5, (3, 4)), (2, (0.5, 1.25, 3))]
)
def test_goes_on_as_if_it_had_not_stopped(gap_every, parts):
    solver, structure = solver_of(gap_every=gap_every), Subsets(n_samples=12)
    whole = solver.solve(structure, 0.001, tol=0, max_passes=sum(parts), random_state=0)
    state = None
    for passes in parts:
        seed = 0 if state is None else None
        result = solver.solve(structure, 0.001, tol=0, max_passes=passes, state=state, random_state=seed)
        state = result.state
    assert result.status == whole.status == "max_passes"
    assert result.state.w == pytest.approx(whole.state.w, abs=1e-12)
    assert np.array_equal(result.state.listing.counts, whole.state.listing.counts)
    assert result.state.steps_state.steps == whole.state.steps_state.steps
    assert result.primal <= whole.primal and result.dual >= whole.dual  # of more certificates, the best


def test_answers_are_not_asked_for_twice():
    """At the weights of a certificate, the next samples are known."""
    structure, asked = Subsets(n_samples=8), set()
    answer = structure.max_oracle

    def counted(w, i):
        assert (i, w.tobytes()) not in asked
        asked.add((i, w.tobytes()))
        return answer(w, i)

    structure.max_oracle = counted
    solver = solver_of(gap_every=2)
    state = solver.solve(structure, 0.001, tol=0, max_passes=2, random_state=0).state
    for passes in (1, 0.5):  # after a certificate that was due, and after one that was not
        state = solver.solve(structure, 0.001, tol=0, max_passes=passes, state=state).state


def test_goes_on_under_another_lam():
    pair, solver = subsets_pair(), solver_of()
    rough = solver.solve(pair.problem, 0.5, tol=1e-3, random_state=0)
    result = solver.solve(pair.problem, 0.05, tol=1e-7, state=rough.state)
    best = pair.reference.solve(0.05)[1]
    assert result.dual - EXACT <= best <= result.primal + EXACT


def test_a_seed_reproduces_and_both_speeds_agree():
    def solve():
        return solver_of().solve(Subsets(n_samples=7), 0.05, tol=1e-4, random_state=3)

    one, two = solve(), solve()
    assert np.array_equal(one.w, two.w)
    with interpreted():
        slow = solve()
    assert slow.gap <= 1e-4
    assert slow.primal == pytest.approx(one.primal, abs=1e-4)  # near-equal numbers may be told apart by rounding


def test_auto_takes_it_for_structures_in_python_alone():
    assert get_solver("auto", Subsets()).working_set
    compiled = make_multiclass_problem(np.eye(3), np.arange(3), 3)
    assert not get_solver("auto", compiled).working_set
    with pytest.raises(TypeError, match="plain Python"):
        solver_of().solve(compiled, LAM)
