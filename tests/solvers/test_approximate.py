"""Oracles that may miss the maximum: certified by an upper bound, or not at all."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, FrankWolfe
from structures.pairs import Subsets

LAM = 0.1
SOLVERS = [FrankWolfe(), BlockFrankWolfe("gap", "weighted", step="pairwise", cache=True), BlockFrankWolfe()]


class Greedy(Subsets):
    """Looks at every other output only."""

    exact_oracle = False

    def max_oracle(self, w, i):
        return max(self.outputs[::2], key=lambda y: self.value(w, i, y))

    def value(self, w, i, y):
        return self.loss(i, y) + w @ self.joint_feature(i, y)


class Bounded(Greedy):
    def upper_bound(self, w, i):
        return max(self.value(w, i, y) for y in self.outputs) + 0.01


@pytest.fixture(scope="module")
def optimum():
    return BlockFrankWolfe(step="pairwise").solve(Subsets(), LAM, tol=1e-7, random_state=0).primal


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_certificate_uses_the_bound(solver, optimum):
    result = solver.solve(Bounded(), LAM, tol=1e-4, max_passes=50, random_state=0)
    assert result.status == "max_passes"  # neither the gap of the bound nor that of the oracle can be closed
    assert np.all(result.history["dual"] <= optimum + 1e-7)
    assert np.all(result.history["primal"] >= optimum + 0.01 - 1e-7)
    exact = Subsets()
    hinges = [max(exact.loss(i, y) + result.w @ exact.joint_feature(i, y) for y in exact.outputs) for i in range(5)]
    truth = [result.w @ exact.joint_feature(i, exact.y[i]) for i in range(5)]
    primal = LAM / 2 * result.w @ result.w + np.mean(np.array(hinges) - truth)
    assert primal - optimum <= result.gap


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_a_bound_nothing_is_certified(solver, optimum):
    result = solver.solve(Greedy(), LAM, tol=1.0, max_passes=20, random_state=0)
    assert (result.status, result.gap) == ("uncertified", np.inf)
    assert result.dual <= optimum + 1e-7


def test_a_bound_below_what_the_oracle_found_is_refused():
    class Wrong(Greedy):
        def upper_bound(self, w, i):
            return -1.0

    with pytest.raises(ValueError, match="sample 0: upper_bound is -1"):
        BlockFrankWolfe().solve(Wrong(), LAM)
