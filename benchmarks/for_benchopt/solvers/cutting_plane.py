from benchmark_utils import MaxMarginSolver

from maxmargin.solvers import CuttingPlane


class Solver(MaxMarginSolver):
    """Cutting planes with one slack, or one a sample."""

    name = "cutting plane"
    parameters = {"slack": ["one", "n"]}

    def make(self, problem, lam):
        return CuttingPlane(self.slack)
