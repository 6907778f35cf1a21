"""What a run says of itself against the optimum of the enumerated QP: bounds, rates, weights."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, FrankWolfe, Status, get_solver
from maxmargin.solvers.passes import Passes
from structures.pairs import Subsets, chain_pair, multiclass_pair

from .conftest import LAM, PROBLEMS, named_pair, optimum

pytestmark = pytest.mark.usefixtures("no_compilation")

EXACT = 1e-8  # of the QP solver
SOLVERS = {
    "fw": FrankWolfe(gap_every=2),
    "fw fixed": FrankWolfe(line_search=False, gap_every=2),
    "uniform": BlockFrankWolfe(gap_every=2),
    "uniform weighted": BlockFrankWolfe(averaging="weighted", gap_every=2),
    "permutation": BlockFrankWolfe("permutation", gap_every=2),
    "permutation weighted": BlockFrankWolfe("permutation", "weighted", gap_every=2),
    "fixed": BlockFrankWolfe(line_search=False, gap_every=2),
    "fixed weighted": BlockFrankWolfe("permutation", "weighted", line_search=False, gap_every=2),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_row_of_the_history_certifies(name, solver):
    pair, best, records = named_pair(name), optimum(name), []
    result = SOLVERS[solver].solve(pair.problem, LAM, tol=0, max_passes=25, random_state=0, callbacks=[records.append])
    for record in records:
        assert record.primal == pytest.approx(pair.reference.primal(pair.to_reference(record.w), LAM), abs=1e-12)
        assert record.dual - EXACT <= best <= record.primal + EXACT
        assert record.gap == record.primal - record.dual >= 0
        assert record.primal - best <= record.gap + EXACT
    for column, values in result.history.items():
        assert values.tolist() == [getattr(record, column) for record in records]
    last = records[-1]
    assert (result.primal, result.dual, result.gap) == (last.primal, last.dual, last.gap)
    assert (result.n_passes, result.n_oracle_calls) == (last.passes, last.oracle_calls)
    assert result.w is last.w and result.status == Status.MAX_PASSES

    assert result.history["passes"].tolist() == [*range(0, 25, 2), 25]
    assert np.all(np.diff(result.history["oracle_calls"]) > 0)
    assert np.all(np.diff(result.history["seconds"]) >= 0)
    assert np.all(np.diff(result.history["primal"]) <= 0)
    assert np.all(np.diff(result.history["dual"]) >= 0)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("preset", ["auto", "bcfw", "fw"])
def test_converges_to_the_optimum(name, preset):
    result = get_solver(preset).solve(named_pair(name).problem, LAM, tol=0.01, random_state=0)
    assert result.status == "converged"
    assert result.gap <= 0.01
    assert 0 <= result.primal - optimum(name) + EXACT <= 0.01 + 2 * EXACT


def curvatures(name):
    """Upper bounds on the curvature of the dual: over the product of simplices, and summed over the blocks."""
    reference = named_pair(name).reference
    spread = [np.max(np.linalg.norm(p[:, None] - p[None], axis=2)) for p in reference.psi]
    diameters = reference.shares / LAM * spread
    return LAM * diameters.sum() ** 2, LAM * np.sum(diameters**2)


@pytest.mark.parametrize("name", ["chain", "multiclass weighted"])
@pytest.mark.parametrize("solver", ["fw", "fw fixed", "uniform", "uniform weighted", "permutation weighted"])
def test_gap_decays_with_the_passes(name, solver):
    history = SOLVERS[solver].solve(named_pair(name).problem, LAM, tol=0, max_passes=200, random_state=0).history
    passes, gaps = history["passes"], history["gap"]
    joint, blockwise = curvatures(name)
    batch_bound = 27 / 4 * joint / (passes + 2)  # jaggi13, Thm. 2
    block_bound = 6 * (blockwise + optimum(name)) / (passes + 1)  # lacoste13, Thm. 2; in expectation
    assert np.all(gaps <= (batch_bound if solver.startswith("fw") else block_bound))
    early, late = np.flatnonzero(passes == 20)[0], np.flatnonzero(passes == 200)[0]
    assert gaps[late] <= 3 * gaps[early] * passes[early] / passes[late]


REPEATS = {
    "chain": (chain_pair, [2, 0, 1, 3], [0, 0, 2, 3, 3, 3]),
    "multiclass": (multiclass_pair, [1, 0, 2, 1, 0, 1], [0, 2, 2, 3, 5]),
}


@pytest.mark.parametrize("kind", REPEATS)
@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_integer_weight_is_repetition_and_zero_is_removal(kind, scale):
    make, weights, repeats = REPEATS[kind]
    weighted, repeated = make(sample_weight=np.multiply(weights, scale)), make(repeats=repeats)
    for w in np.random.default_rng(0).normal(size=(5, weighted.reference.d)):
        one, other = (Passes(pair.problem, None).primal(w, LAM) for pair in (weighted, repeated))
        assert one == pytest.approx(other, abs=1e-12)
    _, best, _ = repeated.reference.solve(LAM)
    solver = get_solver("auto")
    for pair in (weighted, repeated):
        result = solver.solve(pair.problem, LAM, tol=0.02, random_state=0)
        assert result.dual - EXACT <= best <= result.primal + EXACT
        assert result.gap <= 0.02


@pytest.mark.parametrize("solver", SOLVERS)
def test_oracle_calls_are_counted_with_those_of_certificates(solver):
    structure = Subsets()
    result = SOLVERS[solver].solve(structure, LAM, tol=0, max_passes=8)
    assert result.n_oracle_calls == structure.calls
