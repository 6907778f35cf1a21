from benchmark_utils import MaxMarginSolver

from maxmargin.solvers import BlockFrankWolfe


class Solver(MaxMarginSolver):
    """Block-coordinate Frank-Wolfe, with its exchangeable parts."""

    name = "BCFW"
    parameters = {
        "step, sampling, averaging, cache": [
            ("fw", "uniform", None, False),
            ("fw", "uniform", "weighted", False),
            ("pairwise", "gap", None, True),
        ]
    }

    def make(self, problem, lam):
        return BlockFrankWolfe(self.sampling, self.averaging, step=self.step, cache=self.cache, gap_every=2)
