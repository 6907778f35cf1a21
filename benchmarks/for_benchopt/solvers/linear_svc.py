from benchmark_utils import fitted_svc, packed
from benchopt import BaseSolver

from maxmargin import MulticlassSVM


class Solver(BaseSolver):
    """scikit-learn's LinearSVC(multi_class="crammer_singer"), liblinear's dual method; the same objective."""

    name = "LinearSVC"
    requirements = ["pip::scikit-learn"]
    sampling_strategy = "tolerance"

    def skip(self, trial, lam):
        return not isinstance(trial.model, MulticlassSVM), "LinearSVC knows no structures"

    def set_objective(self, trial, lam):
        self.trial, self.lam = trial, lam
        self.seed = self.get_seed(use_repetition=True) % 2**31

    def run(self, tolerance):
        self.model = fitted_svc(self.trial, self.lam, min(tolerance, 10.0), self.seed)

    def get_result(self):
        return {"w": packed(self.model)}
