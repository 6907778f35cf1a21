"""Online exponentiated gradient on the dual."""  # collins08

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import implements, kernel
from .._parameters import check_positive
from ..structures.directions import ToExpectation
from ..structures.needs import Need
from ..structures.verbs import (
    block_value,
    find_expectation,
    find_potentials,
    keep_tilt,
    measure,
    move,
    new_expectation,
    new_tilts,
)
from .base import Solver
from .block_coordinate import BlockEngine, Parts
from .engine import State
from .parts.averaging import before_change
from .parts.lengths import gain
from .parts.samplers import Sampling, as_sampling
from .parts.steps import MISSES, change_block, follow, line_along

# Rates of blocks: halved until the dual value rises, and then raised a little, within these multiples of the first one:
# a block at its optimum must be able to follow when others move.
FASTER, LOWEST, HIGHEST = 1.05, 1e-4, 1e6

# Log odds of true parts at the start: no output may have probability 0, it could never get another one.
ODDS = 8.0


class ExponentiatedStep(NamedTuple):
    """Dual variables are multiplied by ``exp(eta value)``, with an eta that lets the dual value rise."""

    into: ToExpectation
    tilts: Any
    rates: np.ndarray  # (n,) eta of each block
    lowest: float


@implements(change_block, ExponentiatedStep)
def _(step, problem, run, i, k):
    expectation, rates = step.into.expectation, step.rates
    current = block_value(problem, run.blocks, run.work, run.w, i)
    while True:
        run.tally[MISSES] += 1
        value = find_expectation(problem, step.tilts, expectation, run.work, run.w, i, rates[i])
        measured = measure(problem, step.into, run.blocks, run.work, i)
        line = line_along(problem, run, i, measured, problem.weight[i] * (value - current), 1.0)
        if gain(line, 1.0) >= 0.0:
            break
        if rates[i] < step.lowest:
            return
        rates[i] *= 0.5
    before_change(run.averaging, problem, run.blocks, i, k)
    follow(step.into, problem, run, i, measured, 1.0)
    keep_tilt(problem, step.tilts, expectation, i)
    rates[i] = min(FASTER * rates[i], HIGHEST / LOWEST * step.lowest)


@kernel
def expect_pass(problem, step, blocks, work, w, scale):
    """All blocks become the expectations under their tilts."""
    for i in range(step.rates.shape[0]):
        find_potentials(problem, work, w, i)
        find_expectation(problem, step.tilts, step.into.expectation, work, w, i, 0.0)
        measured = measure(problem, step.into, blocks, work, i)
        move(problem, step.into, measured, blocks, work, w, i, 1.0, scale * problem.weight[i])


class ExponentiatedEngine(BlockEngine):
    """Block steps from an interior point, with tilts that belong to the blocks."""

    family = "ExponentiatedGradient"
    kept = (*BlockEngine.kept, "tilts", "rates")

    def begin(self) -> None:
        super().begin()
        step = self.parts.step
        self.tilts, self.rates = step.tilts, step.rates
        expect_pass(self.problem, step, self.blocks, self.passes.work, self.w, 1.0 / self.lam)
        self.oracle_calls += self.n

    def resume(self, state: State) -> None:
        super().resume(state)
        self.parts = self.parts._replace(step=self.parts.step._replace(tilts=self.tilts, rates=self.rates))


class ExponentiatedGradient(Solver):
    """Online exponentiated gradient: dual variables are multiplied by ``exp(eta (L_i(y) + <w, phi_i(y)>))``.

    It asks for expectations: chains, trees, graphs of low tree-width, classes, and structures with an ``exp_oracle``.
    Each block has its own eta, halved until the dual value rises. There are no bounds on weights: they bend the dual,
    and its exponentials do not know of them.

    Parameters
    ----------
    rate : float, default=0.1
        Eta at the start, relative to lam times the number of samples.
    sampling : {"uniform", "permutation"} or Sampling, default="permutation"
        Blocks drawn with replacement, or each pass a new order of all.
    gap_every : float, default=10
        Passes between two certificates.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import ExponentiatedGradient
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = ExponentiatedGradient().solve(problem, 0.1, tol=1e-3, random_state=0)
    >>> print(result.status, result.gap <= 1e-3)
    converged True
    """

    family = ExponentiatedEngine.family

    def __init__(self, rate: float = 0.1, sampling: str | Sampling = "permutation", gap_every: float = 10):
        self.rate = rate
        self.sampling = sampling
        self.gap_every = gap_every

    def requires(self) -> set[Need]:
        return {Need.EXPECTATIONS}

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> ExponentiatedEngine:
        check_positive("rate", self.rate)
        if self.rate == np.inf:
            raise ValueError("rate must be finite")
        sampling = as_sampling(self.sampling, knows_gaps=False)
        n = len(problem.weight)
        first = float(self.rate) * lam * n
        into = ToExpectation(new_expectation(problem))
        step = ExponentiatedStep(into, new_tilts(problem, ODDS), np.full(n, first), LOWEST * first)
        return ExponentiatedEngine(problem, lam, self.box(problem), n_jobs, Parts(sampling, step))
