from benchmark_utils import MaxMarginSolver

from maxmargin.solvers import FrankWolfe


class Solver(MaxMarginSolver):
    """Batch Frank-Wolfe."""

    name = "FW"
    parameters = {"line_search": [True]}

    def make(self, problem, lam):
        return FrankWolfe(self.line_search, gap_every=1)
