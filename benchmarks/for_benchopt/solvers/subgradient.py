from benchmark_utils import MaxMarginSolver

from maxmargin.solvers import Decay, Subgradient


class Solver(MaxMarginSolver):
    """Stochastic subgradient steps; `first` is the length of the first one times lam n, None for 1 / (lam (k + 1))."""

    name = "SSG"
    parameters = {"averaging": [None, "weighted"], "first": [None, 0.1, 1.0]}

    def make(self, problem, lam):
        length = "pegasos" if self.first is None else Decay(self.first / (lam * len(problem.weight)))
        return Subgradient(length, self.averaging, gap_every=2)
