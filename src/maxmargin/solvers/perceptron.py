"""The averaged structured perceptron."""  # collins02

from __future__ import annotations

from typing import Any

import numpy as np

from .._parameters import check_choice
from ..structures.verbs import can_decode
from .base import Passes, Solver
from .block_coordinate.samplers import DRAWS
from .descent import Mistakes
from .objective import Certified
from .stochastic import StochasticEngine


class Perceptron(Solver):
    """Averaged structured perceptron: where the best output is wrong, add the true features and subtract those of it.

    It minimises no objective: lam and the losses do not matter to it, and the primal value that it reports is only that
    of its last average. There are no dual values: ``dual`` is NaN, ``gap`` infinite, the status "uncertified".

    Parameters
    ----------
    sampling : "permutation" (each pass a new order of all) or "uniform"
    gap_every : passes between two records of the history
    lower, upper : bounds on w, numbers or arrays of its length
    positive : indices, mask or slice of w whose weights must be >= 0
    """

    certifies = False

    def __init__(
        self,
        sampling: str = "permutation",
        gap_every: float = 10,
        *,
        lower: Any = None,
        upper: Any = None,
        positive: Any = None,
    ):
        self.sampling = sampling
        self.gap_every = gap_every
        self.lower = lower
        self.upper = upper
        self.positive = positive

    def start(self, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None) -> StochasticEngine:
        check_choice("sampling", self.sampling, DRAWS)
        if not can_decode(problem):
            raise TypeError(
                "the perceptron asks for outputs without losses: give the structure a method decode(w, i) -> y, the "
                "output that maximises <w, joint_feature(i, y)>"
            )
        draw, box = DRAWS[self.sampling], self.box(problem)
        return _Engine(Passes(problem, n_jobs), lam, Mistakes(0.0), draw, box, True, state, random_state)


class _Engine(StochasticEngine):
    def candidates(self) -> list[np.ndarray]:
        return super().candidates()[-1:]

    def certify(self) -> list[Certified]:
        self.best = None  # the objective under lam does not judge a perceptron: the last average is what it learned
        return super().certify()
