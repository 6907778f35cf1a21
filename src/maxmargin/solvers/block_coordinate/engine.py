"""One run of the block-coordinate loop, and its certificate."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from ..._compile import runs_compiled
from ...structures.verbs import inner, mean_loss, new_blocks, new_totals
from ..base import Passes, check_state, fingerprint
from ..box import cut_off, release_all, same_bounds, truncate
from ..driver import Certified
from ..passes import gap_pass, hinge_pass, settle_pass, weights_pass
from ..result import Record
from .averaging import NoAveraging, WeightedAveraging, settle, weight_until
from .loop import HITS, MISSES, block_steps
from .memory import NoCache, doubled, nameless, taken_over
from .samplers import GapSampler, Order
from .steps import continued, switched

# Entering a compiled loop costs about as much as this many of its steps.
COMPILED_CHUNK = 500


# Frank-Wolfe gaps fall like 1/k. After this many passes, a gap more than this many times above the tolerance would
# take as many times the passes so far; pairwise steps, linear in the end, are the better hope.
SWITCH_AFTER, SWITCH_ABOVE = 50, 4


class Parts(NamedTuple):
    """What a solver's parameters choose."""

    draw: Any  # blocks of a pass
    by_gaps: bool  # once every block was visited
    step: Any
    cache: Any
    memory: Any
    averages: bool
    box: Any


class BlockState(NamedTuple):
    """Everything a run needs to go on as if it had not stopped."""

    blocks: Any
    w: np.ndarray
    averaging: Any
    memory: Any
    step: Any
    box: Any
    gaps: np.ndarray
    total_gap: float
    lam: float
    steps: int
    rng: np.random.Generator
    order: np.ndarray  # blocks drawn but not yet visited
    best: Certified | None  # found so far
    fingerprint: int  # of the problem


class BlockEngine:
    """See :class:`~maxmargin.solvers.driver.Engine`."""

    def __init__(self, passes: Passes, lam: float, parts: Parts, state: BlockState | None, random_state: Any):
        self.passes, self.problem, self.lam, self.n, self.parts = passes, passes.problem, lam, passes.n, parts
        self.certifiable = passes.certifiable
        # gap sampling must not go on for long once all known gaps are used up
        compiled = min(COMPILED_CHUNK, self.n) if parts.by_gaps else COMPILED_CHUNK
        self.chunk = compiled if runs_compiled(self.problem) else 1
        self.oracle_calls, self.tally = 0, np.zeros(2, np.int64)
        self.sampler: Any = None
        self.step = parts.step
        if state is None:
            self.begin(random_state)
        else:
            check_state(state, BlockState, self.problem)
            self.resume(copy.deepcopy(state), random_state)

    def begin(self, random_state: Any) -> None:
        self.blocks, self.steps = new_blocks(self.problem), 0
        self.w, self.box = truncate(self.parts.box, np.zeros(self.passes.dimension))
        self.gaps, self.total_gap = np.full(self.n, np.inf), np.inf
        self.memory = self.parts.memory
        self.rng, self.order = as_generator(random_state), np.empty(0, np.int64)
        self.averaging = self.new_averaging()
        self.best: Certified | None = None

    def new_averaging(self) -> Any:
        if not self.parts.averages:
            return NoAveraging(0.0)
        origin = weight_until(self.steps)
        return WeightedAveraging(new_totals(self.problem), np.full(self.n, origin), origin)

    def resume(self, state: BlockState, random_state: Any) -> None:
        self.blocks, self.steps, self.rng, self.order = state.blocks, state.steps, state.rng, state.order
        v = state.w.copy()
        release_all(state.box, v)
        self.w, self.box = truncate(self.parts.box, v * (state.lam / self.lam))  # the same alpha under another lam
        self.gaps, self.total_gap = state.gaps, state.total_gap
        own = self.parts.memory
        same_kind = type(state.memory) is type(own)
        self.memory = taken_over(own, state.memory, self.problem) if same_kind else nameless(own)
        self.step = continued(self.step, state.step)
        if random_state is not None:
            self.rng, self.order = as_generator(random_state), np.empty(0, np.int64)
        fresh = self.new_averaging()
        self.averaging = state.averaging if type(state.averaging) is type(fresh) else fresh
        same = state.lam == self.lam and same_bounds(state.box, self.box)
        self.best = state.best if same else None
        if not same:
            self.gaps, self.total_gap = np.full(self.n, np.inf), np.inf

    def prepare(self) -> None:
        nothing = np.empty(0)
        empty = np.empty(0, np.int64)
        self.run_loop(GapSampler.over(nothing, empty, nothing) if self.parts.by_gaps else Order(empty), 0, 0)
        gap_pass(self.problem, self.blocks, self.passes.work, self.w, 0, 0, nothing, nothing)
        if self.parts.averages:
            hinge_pass(self.problem, self.passes.work, self.w, 0, 0, nothing)
            weights_pass(self.problem, self.blocks, self.passes.work, 0, self.lam, 1.0, self.w)
            settle_pass(self.problem, self.averaging.totals, self.blocks, nothing, 0.0)

    def advance(self, n_steps: int) -> None:
        missed = self.tally[MISSES]
        sampler = self.next_blocks(n_steps)
        taken = self.run_loop(sampler, 0, n_steps)
        while taken < n_steps:
            self.memory = doubled(self.memory, self.problem)
            taken = self.run_loop(sampler, taken, n_steps)
        self.steps += n_steps
        self.oracle_calls += int(self.tally[MISSES] - missed)

    def run_loop(self, sampler: Any, at: int, end: int) -> int:
        return block_steps(
            self.problem,
            self.blocks,
            self.passes.work,
            sampler,
            self.parts.cache,
            self.memory,
            self.step,
            self.averaging,
            self.box,
            self.w,
            self.lam,
            self.gaps,
            self.total_gap,
            self.tally,
            at,
            end,
            self.steps,
        )

    def next_blocks(self, n_steps: int) -> Any:
        """A sampler for so many steps."""
        wanted = n_steps
        if self.parts.by_gaps:  # every block once before gaps say more than the start does
            wanted = max(0, min(n_steps, self.n - self.steps))
        missing = -(-(wanted - len(self.order)) // self.n)
        if missing > 0:
            self.order = np.concatenate([self.order, *(self.parts.draw(self.rng, self.n) for _ in range(missing))])
        order, self.order = self.order[:wanted], self.order[wanted:]
        if not self.parts.by_gaps:
            return Order(order)
        if self.sampler is None:
            self.sampler = GapSampler.over(self.gaps, order, np.empty(0))
        self.sampler = self.sampler._replace(first=order, uniforms=self.rng.random(n_steps - wanted))
        return self.sampler

    def promise(self) -> float:
        return float(np.sum(self.gaps))

    def extras(self) -> dict[str, float]:
        if isinstance(self.parts.cache, NoCache):
            return {}
        return {"cache_hits": int(self.tally[HITS]), "cache_misses": int(self.tally[MISSES])}

    def reconsider(self, record: Record, tol: float) -> None:
        if record.passes >= SWITCH_AFTER and record.gap > SWITCH_ABOVE * tol:
            self.step = switched(self.step)

    def certify(self) -> list[Certified]:
        hinges = np.empty(self.n)
        self.passes.run(
            lambda work, first, last: gap_pass(self.problem, self.blocks, work, self.w, first, last, hinges, self.gaps)
        )
        self.total_gap, self.sampler = float(np.sum(self.gaps)), None
        found = [self.certified(self.w.copy(), self.box, mean_loss(self.problem, self.blocks), hinges)]
        sums = settle(self.averaging, self.problem, self.blocks, self.steps)
        if sums is not None:
            totals, mass = sums
            v = np.zeros_like(self.w)
            weights_pass(self.problem, totals, self.passes.work, self.n, self.lam, mass, v)
            w, box = truncate(self.box, v)
            found.append(self.certified(w, box, mean_loss(self.problem, totals) / mass, None))
        return found

    def certified(self, w: np.ndarray, box: Any, loss: float, hinges: np.ndarray | None) -> Certified:
        self.oracle_calls += self.n
        primal = self.passes.primal(w, self.lam, hinges)
        return Certified(w, primal, loss - self.lam * (0.5 * inner(self.problem, w, w) + cut_off(box, w)))

    def state(self) -> BlockState:
        return BlockState(
            self.blocks,
            self.w,
            self.averaging,
            self.memory,
            self.step,
            self.box,
            self.gaps,
            self.total_gap,
            self.lam,
            self.steps,
            copy.deepcopy(self.rng),  # the user may go on drawing from a generator of his own
            self.order,
            self.best,
            fingerprint(self.problem),
        )


def as_generator(random_state: Any) -> np.random.Generator:
    """A generator for any of scikit-learn's ways to say `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    return np.random.default_rng(random_state)
