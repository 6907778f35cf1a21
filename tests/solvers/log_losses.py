"""Tiny log-losses by name, with their optimum."""

from functools import cache

import numpy as np

from maxmargin.structures import CustomProblem, make_log_loss
from reference.crf import crf_optimum

from .conftest import LAM, Complete, named_pair

LOG_LOSSES = ["chain", "chain weighted", "chain masked", "tree featured", "cycle", "multiclass", "complete weighted"]


class Summed(Complete):
    """Tells the log of the sum over outputs, too."""

    def exp_oracle(self, v, i, emphasis):
        feature, loss = super().exp_oracle(v, i, emphasis)
        values = [emphasis * self.loss(i, y) + self.joint_feature(i, y) @ v for y in self.outputs]
        return feature, loss, float(np.logaddexp.reduce(values))


@cache
def log_problem(name: str):
    """The log-loss of a problem that has a name."""
    problem = named_pair(name).problem
    if isinstance(problem, CustomProblem):
        problem = CustomProblem(Summed(1, sample_weight=problem.structure.sample_weight))
    return make_log_loss(problem)


@cache
def best_value(name: str, lam: float = LAM, l1: float = 0.0) -> float:
    """Its optimum, from SciPy."""
    return crf_optimum(named_pair(name).reference, lam, l1)[1]
