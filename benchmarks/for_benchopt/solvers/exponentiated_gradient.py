from benchmark_utils import MaxMarginSolver

from maxmargin.solvers import ExponentiatedGradient


class Solver(MaxMarginSolver):
    """Exponentiated gradient on the dual."""

    name = "EG"

    def make(self, problem, lam):
        return ExponentiatedGradient(gap_every=2)
