"""The block-coordinate solver: parameters to parts, one run, its certificate."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..._compile import runs_compiled
from ..._sums import dot
from ...structures.verbs import mean_loss, new_blocks, new_totals
from ..base import Passes, Solver, check_state, fingerprint
from ..driver import Certified
from ..passes import weights_pass
from .loop import block_steps
from .parts import FixedStep, LineSearch, NoAveraging, Order, WeightedAveraging, settle, weight_until

# Entering a compiled loop costs about as much as this many of its steps.
COMPILED_CHUNK = 500

SAMPLING: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "uniform": lambda rng, n: rng.integers(n, size=n),
    "permutation": lambda rng, n: rng.permutation(n),
}


class BlockFrankWolfe(Solver):
    """Block-coordinate Frank-Wolfe (BCFW): one sample a step, exact line search, certified duality gap.

    Parameters
    ----------
    sampling : "uniform" (blocks drawn with replacement) or "permutation" (each pass a new order of all)
    averaging : None or "weighted": also keep the average of the iterates, weighted towards the late ones. The iterate
        or the average is returned, whichever has the lower primal value
    line_search : the exact step; False takes ``2n / (k + 2n)``
    gap_every : passes between two certificates
    """

    def __init__(
        self,
        sampling: str = "uniform",
        averaging: str | None = None,
        line_search: bool = True,
        gap_every: float = 10,
    ):
        self.sampling = sampling
        self.averaging = averaging
        self.line_search = line_search
        self.gap_every = gap_every

    def start(self, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None) -> _Engine:
        if self.sampling not in SAMPLING:
            raise ValueError(f"sampling must be one of {sorted(SAMPLING)}, got {self.sampling!r}")
        if self.averaging not in (None, "weighted"):
            raise ValueError(f'averaging must be None or "weighted", got {self.averaging!r}')
        return _Engine(self, Passes(problem, n_jobs), lam, state, random_state)


class BlockState(NamedTuple):
    """Everything a run needs to go on as if it had not stopped."""

    blocks: Any
    w: np.ndarray
    averaging: Any
    lam: float
    steps: int
    rng: np.random.Generator
    order: np.ndarray  # blocks drawn but not yet visited
    best: Certified | None  # found so far
    fingerprint: int  # of the problem


class _Engine:
    def __init__(
        self, solver: BlockFrankWolfe, passes: Passes, lam: float, state: BlockState | None, random_state: Any
    ):
        self.passes, self.problem, self.lam, self.n = passes, passes.problem, lam, passes.n
        self.draw = SAMPLING[solver.sampling]
        self.step = LineSearch(1.0) if solver.line_search else FixedStep(0.0)
        self.chunk = COMPILED_CHUNK if runs_compiled(self.problem) else 1
        self.averaging: Any
        self.best: Certified | None = None
        self.oracle_calls = 0
        if state is None:
            self.blocks, self.w, self.steps = new_blocks(self.problem), np.zeros(passes.dimension), 0
            self.rng, self.order = as_generator(random_state), np.empty(0, np.int64)
            self.averaging = self.new_averaging(solver.averaging)
        else:
            self.resume(solver, state, random_state)

    def new_averaging(self, kind: str | None) -> Any:
        if kind is None:
            return NoAveraging(0.0)
        origin = weight_until(self.steps)
        return WeightedAveraging(new_totals(self.problem), np.full(self.n, origin), origin)

    def resume(self, solver: BlockFrankWolfe, state: BlockState, random_state: Any) -> None:
        check_state(state, BlockState, self.problem)
        state = copy.deepcopy(state)
        self.blocks, self.steps, self.rng, self.order = state.blocks, state.steps, state.rng, state.order
        self.w = state.w * (state.lam / self.lam)  # the same alpha under another lam
        if random_state is not None:
            self.rng, self.order = as_generator(random_state), np.empty(0, np.int64)
        self.best = state.best if state.lam == self.lam else None
        fresh = self.new_averaging(solver.averaging)
        self.averaging = state.averaging if type(state.averaging) is type(fresh) else fresh

    def advance(self, n_steps: int) -> None:
        while len(self.order) < n_steps:
            self.order = np.concatenate([self.order, self.draw(self.rng, self.n)])
        block_steps(
            self.problem,
            self.blocks,
            self.passes.work,
            Order(self.order),
            self.step,
            self.averaging,
            self.w,
            self.lam,
            0,
            n_steps,
            self.steps,
            self.n,
        )
        self.order = self.order[n_steps:]
        self.steps += n_steps
        self.oracle_calls += n_steps

    def certify(self) -> list[Certified]:
        found = [self.certified(self.w.copy(), mean_loss(self.problem, self.blocks))]
        sums = settle(self.averaging, self.problem, self.blocks, self.steps)
        if sums is not None:
            totals, mass = sums
            w = np.zeros_like(self.w)
            weights_pass(self.problem, totals, self.passes.work, self.n, self.lam, mass, w)
            found.append(self.certified(w, mean_loss(self.problem, totals) / mass))
        return found

    def certified(self, w: np.ndarray, loss: float) -> Certified:
        self.oracle_calls += self.n
        return Certified(w, self.passes.primal(w, self.lam), loss - 0.5 * self.lam * dot(w, w))

    def state(self) -> BlockState:
        mark = fingerprint(self.problem)
        return BlockState(
            self.blocks,
            self.w,
            self.averaging,
            self.lam,
            self.steps,
            copy.deepcopy(self.rng),  # the user may go on drawing from a generator of his own
            self.order,
            self.best,
            mark,
        )


def as_generator(random_state: Any) -> np.random.Generator:
    """A generator for any of scikit-learn's ways to say `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    return np.random.default_rng(random_state)
