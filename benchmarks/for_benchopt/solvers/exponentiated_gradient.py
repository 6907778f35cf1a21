from benchmark_utils import MaxMarginSolver

from maxmargin.solvers import ExponentiatedGradient
from maxmargin.structures.verbs import can_expect


class Solver(MaxMarginSolver):
    """Exponentiated gradient on the dual."""

    name = "EG"

    def suits(self, problem):
        return None if can_expect(problem) else "the structure gives no expectations"

    def make(self, problem, lam):
        return ExponentiatedGradient(gap_every=2)
