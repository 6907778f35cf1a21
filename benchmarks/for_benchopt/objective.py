"""benchopt's objective: the structural hinge loss with its regulariser, and the error on test samples."""

import numpy as np
from benchmark_utils import Trial
from benchopt import BaseObjective

from maxmargin.structures.verbs import dimension


class Objective(BaseObjective):
    name = "Structural SVM"
    min_benchopt_version = "1.8"
    requirements = ["pip::maxmargin"]
    sampling_strategy = "callback"
    parameters = {"lam": [0.01, 0.001, "1/n"]}
    test_dataset_name = "dates"

    def set_data(self, trial: Trial):
        self.trial = trial

    @property
    def number(self) -> float:
        return 1.0 / self.trial.n if self.lam == "1/n" else float(self.lam)

    def get_objective(self):
        return {"trial": self.trial, "lam": self.number}

    def evaluate_result(self, w=None, test_error=None):
        """Of weights, or of a model with another objective, which has its test error only."""
        if w is None:
            return {"value": np.nan, "test_error": test_error}
        return {"value": self.trial.primal(w, self.number), "test_error": self.trial.error(w)}

    def get_one_result(self):
        return {"w": np.zeros(dimension(self.trial.problem))}
