from benchmark_utils import MaxMarginSolver

from maxmargin.solvers import get_solver


class Solver(MaxMarginSolver):
    """What solver="auto" chooses: accelerated pairwise steps on blocks drawn by their gaps."""

    name = "auto"

    def make(self, problem, lam):
        return get_solver("auto", problem).set_params(gap_every=2)
