from benchmark_utils import CrfSuite
from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion

from maxmargin import ChainSVM


class Solver(BaseSolver):
    """Log-linear chains: another objective, so that test errors are what to compare."""

    name = "crfsuite"
    requirements = ["pip::python-crfsuite"]
    parameters = {"algorithm": ["lbfgs", "l2sgd", "ap"]}
    sampling_strategy = "iteration"
    stopping_criterion = SufficientProgressCriterion(
        strategy="iteration", key_to_monitor="objective_test_error", patience=5
    )

    def skip(self, trial, lam):
        return not isinstance(trial.model, ChainSVM), "crfsuite learns chains"

    def set_objective(self, trial, lam):
        self.suite = CrfSuite(trial, self.algorithm)

    def run(self, iterations):
        self.suite.train(max(1, iterations))  # 0 means no limit there

    def get_result(self):
        return {"test_error": self.suite.test_error()}
