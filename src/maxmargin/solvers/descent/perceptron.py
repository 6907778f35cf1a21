"""The averaged structured perceptron."""  # collins02

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...structures.needs import Need
from ..base import Solver
from ..engine import State
from ..parts.samplers import Sampling, as_sampling
from .engine import Descent, StochasticEngine
from .rules import Mistakes


class Perceptron(Solver):
    """Averaged structured perceptron: where the best output is wrong, add the true features and subtract those of it.

    It minimises no objective: lam and the losses do not matter to it, and the primal value that it reports is only that
    of its last average. There are no dual values: ``dual`` is NaN, ``gap`` infinite, the status "uncertified".

    Parameters
    ----------
    sampling : {"permutation", "uniform"} or Sampling, default="permutation"
        Each pass a new order of all samples, or samples drawn with replacement.
    gap_every : float, default=10
        Passes between two records of the history.
    lower : float, array or None, default=None
        Lower bounds on w, a number or one for each weight.
    upper : float, array or None, default=None
        Upper bounds on w.
    positive : indices, mask, slice or None, default=None
        Weights that must be >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import Perceptron
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = Perceptron().solve(problem, 0.1, max_passes=5, random_state=0)
    >>> print(result.status)
    uncertified
    """

    certifies = False
    family = StochasticEngine.family

    def __init__(
        self,
        sampling: str | Sampling = "permutation",
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

    def requires(self) -> set[Need]:
        return super().requires() | {Need.DECODING}

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> PerceptronEngine:
        sampling = as_sampling(self.sampling, knows_gaps=False)
        return PerceptronEngine(problem, lam, self.box(problem), n_jobs, Descent(Mistakes(), sampling, True))


class PerceptronEngine(StochasticEngine):
    """The objective under lam does not judge a perceptron: the last average is what it learned."""

    keeps_best = False

    def continues(self, state: State) -> bool:
        return super().continues(replace(state, lam=self.lam))  # which does not matter to it

    def candidates(self) -> list[np.ndarray]:
        return super().candidates()[-1:]
