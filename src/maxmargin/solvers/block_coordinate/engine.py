"""One run of the block-coordinate loop, and its certificate."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from ..._compile import runs_compiled
from ..._parameters import as_generator
from ...structures.fingerprint import fingerprint
from ...structures.verbs import mean_loss, new_blocks, new_totals
from ..base import Passes, check_state
from ..box import release_all, same_bounds, truncate
from ..catalyst import Catalyst, problems_for
from ..objective import Certified, DualPoint, Objective
from ..passes import gap_pass, hinge_pass, norm_pass, settle_pass, weights_pass
from ..result import Record
from .averaging import NoAveraging, WeightedAveraging, settle
from .loop import HITS, MISSES, block_steps
from .memory import NoCache, doubled, nameless, taken_over
from .samplers import GapSampler, Order, draw_blocks

# Beside this many steps, entering a compiled loop costs nothing.
COMPILED_CHUNK = 500

CURVATURE_BLOCKS = 100


class Parts(NamedTuple):
    """What a solver's parameters choose."""

    draw: Any  # blocks of a pass
    by_gaps: bool  # once every block was visited
    step: Any
    cache: Any
    memory: Any
    averages: bool
    box: Any
    acceleration: Catalyst | None


class BlockState(NamedTuple):
    """Everything a run needs to go on as if it had not stopped."""

    blocks: Any
    w: np.ndarray
    averaging: Any
    memory: Any
    box: Any
    gaps: np.ndarray
    total_gap: float
    lam: float
    outer: Any  # the problem the steps work on
    steps: int
    rng: np.random.Generator
    order: np.ndarray  # blocks drawn but not yet visited
    curvature: float | None  # of the data, once it was asked for
    best: Certified | None  # found so far
    doubt: int
    fingerprint: int  # of the problem


class BlockEngine:
    """See :class:`~maxmargin.solvers.driver.Engine`."""

    def __init__(self, passes: Passes, lam: float, parts: Parts, state: BlockState | None, random_state: Any):
        self.passes, self.problem, self.lam, self.n, self.parts = passes, passes.problem, lam, passes.n, parts
        self.objective = Objective(self.problem, lam, parts.box)
        self.certifiable = passes.certifiable
        # gap sampling must not go on for long once all known gaps are used up
        compiled = min(COMPILED_CHUNK, self.n) if parts.by_gaps else COMPILED_CHUNK
        self.chunk = compiled if runs_compiled(self.problem) else 1
        self.oracle_calls, self.tally = 0, np.zeros(2, np.int64)
        self.sampler: Any = None
        self.known_curvature: float | None = None
        if state is None:
            self.begin(random_state)
        else:
            check_state(state, BlockState, self.problem)
            self.resume(copy.deepcopy(state), random_state)

    def begin(self, random_state: Any) -> None:
        self.blocks, self.steps = new_blocks(self.problem), 0
        self.outer = self.new_outer(DualPoint(np.zeros(self.passes.dimension), 0.0))
        self.gaps, self.total_gap = np.full(self.n, np.inf), np.inf
        self.memory = self.parts.memory
        self.rng, self.order = as_generator(random_state), np.empty(0, np.int64)
        self.averaging = self.new_averaging()
        self.best: Certified | None = None
        self.doubt = 1

    def new_outer(self, point: DualPoint) -> Any:
        """What the steps work on, from a dual point on; its weights there are set."""
        outer = problems_for(
            self.parts.acceleration, self.parts.averages, self.objective, point, self.curvature, self.steps
        )
        self.place(outer, point)
        return outer

    def place(self, outer: Any, point: DualPoint) -> None:
        """The weights become those of the dual point in the problem posed now."""
        self.w, self.box = outer.weights(self.objective, point)

    def curvature(self) -> float:
        if self.known_curvature is None:
            self.known_curvature = self.find_curvature()
        return self.known_curvature

    def find_curvature(self) -> float:
        """``sum_i c_i^2 |psi_i|^2`` of the outputs with the largest losses, from evenly spaced blocks."""
        some = np.unique(np.linspace(0, self.n - 1, CURVATURE_BLOCKS).astype(np.int64))
        norms, start = np.empty(len(some)), np.zeros(self.passes.dimension)
        norm_pass(self.problem, new_blocks(self.problem), self.passes.work, start, some, norms)
        self.oracle_calls += len(some)
        return self.n * float(np.mean(self.problem.weight[some] ** 2 * norms))

    def new_averaging(self) -> Any:
        if not self.parts.averages or self.outer.averages_itself:
            return NoAveraging(0.0)
        return WeightedAveraging(new_totals(self.problem), np.zeros(self.n), self.steps)

    def resume(self, state: BlockState, random_state: Any) -> None:
        self.known_curvature = state.curvature
        self.blocks, self.steps, self.rng, self.order = state.blocks, state.steps, state.rng, state.order
        same_box = same_bounds(state.box, self.parts.box)
        same = state.lam == self.lam and same_box
        if same and state.outer.goes_on(self.parts.acceleration, self.parts.averages):
            self.outer, self.w, self.box = state.outer, state.w, state.box
        else:
            v = state.w.copy()
            release_all(state.box, v)
            self.outer = self.new_outer(state.outer.point(v, mean_loss(self.problem, self.blocks)))
        self.gaps, self.total_gap = state.gaps, state.total_gap
        own = self.parts.memory
        same_kind = type(state.memory) is type(own)
        self.memory = taken_over(own, state.memory, self.problem) if same_kind else nameless(own)
        if random_state is not None:
            self.rng, self.order = as_generator(random_state), np.empty(0, np.int64)
        self.averaging, self.best, self.doubt = self.new_averaging(), state.best, state.doubt
        if not same:
            self.gaps, self.total_gap = np.full(self.n, np.inf), np.inf
            self.best, self.doubt = self.objective.carried(state.best, state.lam) if same_box else None, 1
        elif type(state.averaging) is type(self.averaging):
            self.averaging = state.averaging
        self.best = self.objective.improved(self.best, self.outer.best_point(self.objective, self.dual_point()))

    def prepare(self) -> None:
        nothing = np.empty(0)
        empty = np.empty(0, np.int64)
        sampler = GapSampler.over(nothing, empty, nothing) if self.parts.by_gaps else Order(empty)
        self.run_loop(sampler, self.parts.cache, 0, 0)
        gap_pass(self.problem, self.blocks, self.passes.work, self.w, 0, 0, nothing, nothing)
        if self.parts.averages:
            hinge_pass(self.problem, self.passes.work, self.w, 0, 0, nothing)
        if isinstance(self.averaging, WeightedAveraging):
            weights_pass(self.problem, self.blocks, self.passes.work, 0, self.lam, 1.0, self.w)
            settle_pass(self.problem, self.averaging.totals, self.blocks, nothing, 0.0)

    def advance(self, n_steps: int) -> None:
        if self.outer.restarts_at is not None:
            self.restart()
        missed = self.tally[MISSES]
        n_steps = int(min(n_steps, self.outer.steps_to_look(self.steps)))
        self.take_steps(self.next_blocks(n_steps), n_steps, self.parts.cache)
        self.steps += n_steps
        self.oracle_calls += int(self.tally[MISSES] - missed)
        if self.outer.steps_to_look(self.steps) == 0:
            self.look()

    def take_steps(self, sampler: Any, n_steps: int, cache: Any) -> None:
        taken = self.run_loop(sampler, cache, 0, n_steps)
        while taken < n_steps:
            self.memory = doubled(self.memory, self.problem)
            taken = self.run_loop(sampler, cache, taken, n_steps)

    def restart(self) -> None:
        point = self.dual_point()
        self.outer.restart(self.outer.restarts_at, self.steps)
        self.place(self.outer, point)

    def look(self) -> None:
        """Go on to the next proximal problem, with the same dual variables, when this one is solved."""
        if self.outer.is_solved(self.objective, self.w, float(np.sum(self.gaps))):
            point = self.dual_point()
            self.outer.advance(self.objective, self.w, point, self.steps)
            self.place(self.outer, point)

    def dual_point(self) -> DualPoint:
        v = self.w.copy()
        release_all(self.box, v)
        return self.outer.point(v, mean_loss(self.problem, self.blocks))

    def run_loop(self, sampler: Any, cache: Any, at: int, end: int) -> int:
        return block_steps(
            self.problem,
            self.blocks,
            self.passes.work,
            sampler,
            cache,
            self.memory,
            self.parts.step,
            self.averaging,
            self.box,
            self.w,
            self.outer.lam,
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
        if self.parts.by_gaps:  # every block once before the gaps at hand are those of this problem
            wanted = max(0, min(n_steps, self.outer.begun + self.n - self.steps))
        order, self.order = draw_blocks(self.parts.draw, self.rng, self.n, self.order, wanted)
        if not self.parts.by_gaps:
            return Order(order)
        if self.sampler is None:
            self.sampler = GapSampler.over(self.gaps, order, np.empty(0))
        self.sampler = self.sampler._replace(first=order, uniforms=self.rng.random(n_steps - wanted))
        return self.sampler

    def estimate(self) -> Certified:
        point, gap = self.dual_point(), float(np.sum(self.gaps))
        primal = self.outer.primal(self.objective, self.w, point, gap)
        found = self.objective.certified(self.w, primal, self.outer.best_point(self.objective, point))
        # below the optimum: the gaps at hand are of an earlier proximal problem
        return found if primal >= found.dual else found._replace(primal=np.inf)

    def extras(self) -> dict[str, float]:
        found = self.outer.extras()
        if not isinstance(self.parts.cache, NoCache):
            found |= {"cache_hits": int(self.tally[HITS]), "cache_misses": int(self.tally[MISSES])}
        return found

    def reconsider(self, record: Record) -> None:
        if self.outer.falls_short(record.gap):
            self.outer.restarts_at = record.w  # not yet: a run that ends here goes on with the gaps just certified

    def certify(self) -> list[Certified]:
        hinges = np.empty(self.n)
        self.passes.run(
            lambda work, first, last: gap_pass(self.problem, self.blocks, work, self.w, first, last, hinges, self.gaps)
        )
        self.total_gap, self.sampler = float(np.sum(self.gaps)), None
        point = self.outer.best_point(self.objective, self.dual_point())
        found = [self.certified(self.w.copy(), point, hinges)]
        if self.outer.average is not None:
            # rounding may lead the average out of the box
            found.append(self.certified(truncate(self.parts.box, self.outer.average)[0], point, None))
        sums = settle(self.averaging, self.problem, self.blocks, self.steps)
        if sums is not None:
            totals, mass = sums
            v = np.zeros_like(self.w)
            weights_pass(self.problem, totals, self.passes.work, self.n, self.lam, mass, v)
            mean = DualPoint(self.lam * v, mean_loss(self.problem, totals) / mass)
            found.append(self.certified(self.objective.weights(mean)[0], mean, None))
        return found

    def certified(self, w: np.ndarray, point: DualPoint, hinges: np.ndarray | None) -> Certified:
        self.oracle_calls += self.n
        return self.objective.certified(w, self.passes.primal(w, self.lam, hinges), point)

    def state(self) -> BlockState:
        return BlockState(
            self.blocks,
            self.w,
            self.averaging,
            self.memory,
            self.box,
            self.gaps,
            self.total_gap,
            self.lam,
            self.outer,
            self.steps,
            copy.deepcopy(self.rng),  # the user may go on drawing from a generator of his own
            self.order,
            self.known_curvature,
            self.best,
            self.doubt,
            fingerprint(self.problem),
        )
