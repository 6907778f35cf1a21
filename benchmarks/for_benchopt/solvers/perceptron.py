from benchmark_utils import MaxMarginSolver

from maxmargin.solvers import Perceptron
from maxmargin.structures.verbs import can_decode


class Solver(MaxMarginSolver):
    """The averaged perceptron: it knows no lam, so that test errors are what to look at."""

    name = "perceptron"

    def suits(self, problem):
        return None if can_decode(problem) else "the structure decodes only with losses"

    def make(self, problem, lam):
        return Perceptron(gap_every=2)
