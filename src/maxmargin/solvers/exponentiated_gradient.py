"""Online exponentiated gradient on the dual."""  # collins08

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from .._compile import kernel, runs_compiled
from .._parameters import as_generator, check_choice, check_positive
from ..structures.fingerprint import fingerprint
from ..structures.verbs import (
    block_value,
    can_expect,
    expectation_norm,
    find_expectation,
    find_potentials,
    mean_loss,
    move_to_expectation,
    new_blocks,
    new_expectation,
    new_tilts,
)
from .base import Passes, Solver, check_state
from .block_coordinate.samplers import DRAWS, Draw, draw_blocks
from .objective import Certified, DualPoint, Objective
from .passes import gap_pass
from .result import Record

COMPILED_CHUNK = 100

# Rates of blocks: halved until the dual value rises, and then raised a little, within these multiples of the first one:
# a block at its optimum must be able to follow when others move.
FASTER, LOWEST, HIGHEST = 1.05, 1e-4, 1e6

# Log odds of true parts at the start: no output may have probability 0, it could never get another one.
ODDS = 8.0


class ExponentiatedGradient(Solver):
    """Online exponentiated gradient: dual variables are multiplied by ``exp(eta (L_i(y) + <w, phi_i(y)>))``.

    It asks for expectations: chains, trees, graphs of low tree-width, classes, and structures with an ``exp_oracle``.
    Each block has its own eta, halved until the dual value rises.

    Parameters
    ----------
    rate : eta at the start, relative to lam times the number of samples
    sampling : "uniform" or "permutation"
    gap_every : passes between two certificates
    """

    lower = upper = positive = None  # bounds bend the dual, and its exponentials do not know of them

    def __init__(self, rate: float = 0.1, sampling: str = "permutation", gap_every: float = 10):
        self.rate = rate
        self.sampling = sampling
        self.gap_every = gap_every

    def start(self, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None) -> ExponentiatedEngine:
        check_choice("sampling", self.sampling, DRAWS)
        if not can_expect(problem):
            raise TypeError(
                "exponentiated gradient needs expectations over outputs, which this structure does not give: a "
                "structure of your own needs exp_oracle(v, i, emphasis); elsewhere take another solver"
            )
        check_positive("rate", self.rate)
        if self.rate == np.inf:
            raise ValueError("rate must be finite")
        draw, box = DRAWS[self.sampling], self.box(problem)
        return ExponentiatedEngine(Passes(problem, n_jobs), lam, float(self.rate), draw, box, state, random_state)


@kernel(n_parts=5)
def expect_pass(problem, blocks, tilts, expectation, work, w, scale, n):
    """All blocks become the expectations under their tilts."""
    for i in range(n):
        find_potentials(problem, work, w, i)
        find_expectation(problem, tilts, expectation, work, w, i, 0.0)
        expectation_norm(problem, blocks, expectation, work, i)
        move_to_expectation(problem, blocks, tilts, expectation, work, w, i, scale * problem.weight[i])


@kernel(n_parts=5)
def exponentiated_steps(problem, blocks, tilts, expectation, work, w, lam, order, rates, lowest):
    """Steps on the blocks in `order`; returns how many expectations were asked for."""
    asked = 0
    for position in range(order.shape[0]):
        i = order[position]
        scale = problem.weight[i] / lam
        find_potentials(problem, work, w, i)
        current = block_value(problem, blocks, work, w, i)
        while True:
            asked += 1
            value = find_expectation(problem, tilts, expectation, work, w, i, rates[i])
            norm = expectation_norm(problem, blocks, expectation, work, i)
            gain = problem.weight[i] * (value - current) - 0.5 * lam * scale * scale * norm
            if gain >= 0.0:
                move_to_expectation(problem, blocks, tilts, expectation, work, w, i, scale)
                rates[i] = min(FASTER * rates[i], HIGHEST / LOWEST * lowest)
                break
            if rates[i] < lowest:
                break
            rates[i] *= 0.5
    return asked


class ExponentiatedState(NamedTuple):
    """Everything a run needs to go on as if it had not stopped."""

    blocks: Any
    tilts: Any
    w: np.ndarray
    rates: np.ndarray
    steps: int
    rng: np.random.Generator
    order: np.ndarray
    best: Certified | None
    doubt: int
    lam: float
    fingerprint: int


class ExponentiatedEngine:
    """See :class:`~.driver.Engine`."""

    def __init__(self, passes: Passes, lam: float, rate: float, draw: Draw, box: Any, state: Any, random_state: Any):
        self.passes, self.problem, self.lam, self.n, self.draw = passes, passes.problem, lam, passes.n, draw
        self.objective = Objective(self.problem, lam, box)
        self.certifiable = passes.certifiable
        self.chunk = COMPILED_CHUNK if runs_compiled(self.problem) else 1
        self.oracle_calls, self.lowest = 0, LOWEST * rate * lam * passes.n
        self.expectation = new_expectation(self.problem)
        if state is None:
            self.begin(rate)
        else:
            check_state(state, ExponentiatedState, self.problem)
            self.resume(copy.deepcopy(state))
        if state is None or random_state is not None:
            self.rng, self.order = as_generator(random_state), np.empty(0, np.int64)
        self.gaps = np.full(self.n, np.inf)

    def begin(self, rate: float) -> None:
        self.blocks, self.tilts = new_blocks(self.problem), new_tilts(self.problem, ODDS)
        self.w, self.steps, self.doubt = np.zeros(self.passes.dimension), 0, 1
        self.rates = np.full(self.n, rate * self.lam * self.n)
        self.best: Certified | None = None
        expect_pass(*self.parts(), self.w, 1.0 / self.lam, self.n)
        self.oracle_calls += self.n

    def resume(self, state: ExponentiatedState) -> None:
        self.blocks, self.tilts, self.rates = state.blocks, state.tilts, state.rates
        self.w, self.steps, self.doubt = state.w, state.steps, state.doubt
        self.rng, self.order = state.rng, state.order
        self.best = state.best
        if state.lam != self.lam:
            self.w *= state.lam / self.lam
            self.best = self.objective.carried(state.best, state.lam)

    def parts(self) -> tuple[Any, ...]:
        return self.problem, self.blocks, self.tilts, self.expectation, self.passes.work

    def prepare(self) -> None:
        nothing = np.empty(0)
        exponentiated_steps(*self.parts(), self.w, self.lam, np.empty(0, np.int64), nothing, 0.0)
        gap_pass(self.problem, self.blocks, self.passes.work, self.w, 0, 0, nothing, nothing)

    def advance(self, n_steps: int) -> None:
        order, self.order = draw_blocks(self.draw, self.rng, self.n, self.order, n_steps)
        self.oracle_calls += exponentiated_steps(*self.parts(), self.w, self.lam, order, self.rates, self.lowest)
        self.steps += n_steps

    def dual_point(self) -> DualPoint:
        return DualPoint(self.lam * self.w, mean_loss(self.problem, self.blocks))

    def estimate(self) -> Certified:
        return self.objective.certified(self.w, np.inf, self.dual_point())  # no step asks for the largest value

    def extras(self) -> dict[str, float]:
        return {}

    def reconsider(self, record: Record) -> None:
        return None

    def certify(self) -> list[Certified]:
        hinges = np.empty(self.n)
        self.passes.run(
            lambda work, first, last: gap_pass(self.problem, self.blocks, work, self.w, first, last, hinges, self.gaps)
        )
        self.oracle_calls += self.n
        primal = self.passes.primal(self.w, self.lam, hinges)
        return [self.objective.certified(self.w.copy(), primal, self.dual_point())]

    def state(self) -> ExponentiatedState:
        rng, mark = copy.deepcopy(self.rng), fingerprint(self.problem)
        dual = self.blocks, self.tilts, self.w, self.rates
        return ExponentiatedState(*dual, self.steps, rng, self.order, self.best, self.doubt, self.lam, mark)
