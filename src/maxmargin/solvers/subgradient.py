"""Subgradient methods on the primal."""  # shalev10; lacoste12

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._parameters import check_choice, check_positive
from .base import Passes, Solver
from .block_coordinate.samplers import DRAWS
from .descent import Decaying, Pegasos
from .stochastic import BatchEngine, StochasticEngine


@dataclass(frozen=True)
class Decay:
    """Steps of length ``gamma0 / (1 + k / t0)``, for :class:`Subgradient`.

    Parameters
    ----------
    gamma0 : length of the first step, below 1/lam
    t0 : passes after which steps are half as long
    """

    gamma0: float
    t0: float = 1.0


class Subgradient(Solver):
    """Stochastic subgradient descent, projected where there are bounds; without a certificate.

    It knows no dual values: ``dual`` is NaN, ``gap`` infinite, and the status of a run to its end "uncertified".

    Parameters
    ----------
    length : "pegasos", steps of ``1 / (lam (k + 1))``, or a `Decay`
    averaging : None or "weighted": also keep the average of the iterates, weighted towards the late ones. The iterate
        or the average is returned, whichever has the lower primal value
    batch : all samples a step instead of one
    sampling : "uniform" or "permutation"
    gap_every : passes between two records of the history
    lower, upper : bounds on w, numbers or arrays of its length
    positive : indices, mask or slice of w whose weights must be >= 0
    """

    certifies = False

    def __init__(
        self,
        length: str | Decay = "pegasos",
        averaging: str | None = "weighted",
        *,
        batch: bool = False,
        sampling: str = "uniform",
        gap_every: float = 10,
        lower: Any = None,
        upper: Any = None,
        positive: Any = None,
    ):
        self.length = length
        self.averaging = averaging
        self.batch = batch
        self.sampling = sampling
        self.gap_every = gap_every
        self.lower = lower
        self.upper = upper
        self.positive = positive

    def start(self, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None) -> StochasticEngine:
        check_choice("sampling", self.sampling, DRAWS)
        if self.averaging not in (None, "weighted"):
            raise ValueError(f'averaging must be None or "weighted", got {self.averaging!r}')
        passes = Passes(problem, n_jobs)
        engine = BatchEngine if self.batch else StochasticEngine
        rule = self.rule(lam, 1 if self.batch else passes.n)
        averages = self.averaging is not None
        return engine(passes, lam, rule, DRAWS[self.sampling], self.box(problem), averages, state, random_state)

    def rule(self, lam: float, steps: int) -> Pegasos | Decaying:
        """What `length` means where a pass is so many steps."""
        if isinstance(self.length, str) and self.length == "pegasos":
            return Pegasos(0.0)
        if not isinstance(self.length, Decay):
            raise ValueError(f'length must be "pegasos" or a Decay, got {self.length!r}')
        check_positive("gamma0", self.length.gamma0)
        check_positive("t0", self.length.t0)
        if self.length.gamma0 * lam >= 1.0:
            raise ValueError(f"gamma0 must be below 1/lam = {1 / lam:g}, got {self.length.gamma0:g}")
        return Decaying(float(self.length.gamma0), float(self.length.t0) * steps)
