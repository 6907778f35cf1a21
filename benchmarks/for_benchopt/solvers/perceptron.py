from benchmark_utils import MaxMarginSolver

from maxmargin.solvers import Perceptron


class Solver(MaxMarginSolver):
    """The averaged perceptron: it knows no lam, so that test errors are what to look at."""

    name = "perceptron"

    def make(self, problem, lam):
        return Perceptron(gap_every=2)
