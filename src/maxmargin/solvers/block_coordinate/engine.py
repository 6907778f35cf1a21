"""One run of the block-coordinate loop, and its certificate."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...structures.changes import blocks_tell
from ...structures.joining import blocks_with_first, with_first
from ...structures.verbs import inner, lacks_room, mean_loss, new_blocks, with_room
from ..box import clip_all, released
from ..catalyst import Catalyst
from ..engine import Engine, State, check_family
from ..kept import Kept
from ..objective import Certified, DualPoint, DualValue
from ..parts.averaging import (
    NoAveraging,
    WeightedAveraging,
    settle,
    settle_pass,
    sums_lack_room,
    with_room_for_sums,
)
from ..parts.memory import A_VISIT, NoCache, NoMemory, doubled, nameless, needs_room, taken_over, with_first_outputs
from ..parts.samplers import Sampling, pick
from ..parts.steps import HITS, MISSES, fitted_step, informed, known_by, traits
from ..parts.telling import ToNobody
from ..passes import weights_pass
from ..posing import problems_for
from .entry import ODDS, enter_pass, go_inside
from .lanes import Lanes, Rhythm, lanes_for
from .loop import Run, block_steps

CURVATURE_BLOCKS = 100

# An estimated primal value may lie below the dual one by rounding, relative to it.
ROUNDING = 1e-12


class Parts(NamedTuple):
    """What a solver's parameters choose."""

    sampling: Sampling
    step: Any
    cache: Any = NoCache()
    memory: Any = NoMemory()
    averages: bool = False
    acceleration: Catalyst | None = None


class BlockEngine(Engine):
    """Steps on one block each; see :class:`~maxmargin.solvers.engine.Engine`."""

    family = "BlockFrankWolfe"
    kept: ClassVar[tuple[str, ...]] = (
        "blocks",
        "w",
        "averaging",
        "memory",
        "box",
        "gaps",
        "total_gap",
        "outer",
        "known_curvature",
        "known",
        "rhythm",
    )
    counted = (*Engine.counted, "tally")
    outer: Any  # the problem the steps work on

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, parts: Parts):
        super().__init__(problem, lam, box, n_jobs)
        self.parts, self.sampling = parts, parts.sampling
        self.memory, self.step = parts.memory, fitted_step(parts.step, problem, lam)
        self.tally, self.gains = np.zeros(2, np.int64), np.empty(0)
        self.lanes, self.rhythm = lanes_for(problem, parts.step, box, self.passes.n_threads), Rhythm()
        self.known_curvature: float | None = None

    @property
    def chunk(self) -> int:
        """With several threads, all begin anew with the same weights after so many steps: not when a clock says."""
        return super().chunk if self.lanes is None else self.lanes.most_steps

    def begin(self) -> None:
        self.blocks = new_blocks(self.problem)
        self.new_outer(self.inside(DualPoint(np.zeros(self.passes.dimension), 0.0)))
        self.averaging = self.new_averaging()
        self.forget_gaps()

    def inside(self, point: DualPoint) -> DualPoint:
        """The blocks, which are at a point, go inside, where some steps begin."""
        if not traits(self.parts.step).begins_inside:
            return point
        found = go_inside(self.problem, self.passes.work, self.step, self.blocks, point, self.lam, self.parts.step.odds)
        self.blocks = found.blocks
        self.oracle_calls += found.n_passes * self.n
        return found.point

    @property
    def known(self) -> Any:
        """What the steps know of the blocks."""
        return known_by(self.step)

    def forget_gaps(self) -> None:
        self.gaps, self.total_gap = np.full(self.n, np.inf), np.inf

    def new_outer(self, point: DualPoint) -> None:
        """What the steps work on, from a dual point on; its weights there are set."""
        posed = self.parts.acceleration, self.parts.averages, self.objective, point, self.curvature, self.steps
        self.outer = problems_for(*posed, seldom=self.lanes is not None)
        self.w, self.box = self.outer.weights(self.objective, self.outer.known(point))

    def place_again(self, point: DualPoint) -> None:
        """The weights become those of the dual point, which is where the steps are, in the problem posed now."""
        self.w, self.box = self.outer.weights_again(self.objective, point, self.w)
        self.passes.let_go()
        if self.lanes is not None:
            self.lanes.agree = False

    def curvature(self) -> float:
        """``sum_i c_i^2 |psi_i|^2`` of the outputs with the largest losses, from evenly spaced blocks."""
        if self.known_curvature is None:
            some = np.unique(np.linspace(0, self.n - 1, CURVATURE_BLOCKS).astype(np.int64))
            at_truth = self.steps == 0 and not traits(self.parts.step).begins_inside
            blocks = self.blocks if at_truth else new_blocks(self.problem)  # others may be half of all memory
            norms = self.passes.norms(blocks, np.zeros(self.passes.dimension), some)
            self.oracle_calls += len(some)
            self.known_curvature = self.n * float(np.mean(self.problem.weight[some] ** 2 * norms))
        return self.known_curvature

    def new_averaging(self) -> Any:
        # without curvature every output is the truth, as with one class: nothing will change, nor need be compiled for
        if not self.parts.averages or self.outer.averages_itself or self.known_curvature == 0.0:
            return NoAveraging()
        begun = WeightedAveraging.begin(self.problem, self.steps)
        return with_room_for_sums(begun, self.problem, self.blocks)

    def resume(self, state: State) -> None:
        own = self.memory
        super().resume(state)
        self.lanes = self.lanes if blocks_tell(self.problem, self.blocks) else None
        same_kind = type(self.memory) is type(own)
        self.memory = taken_over(own, self.memory, self.problem) if same_kind else nameless(own)
        step = informed(self.step, vars(self).pop("known"))
        enters = step is None and traits(self.parts.step).begins_inside
        self.step = self.step if step is None else step
        same, averaging = self.continues(state) and not enters, self.averaging
        if not (same and self.outer.goes_on(self.parts.acceleration, self.parts.averages)):
            point = self.outer.whole(self.dual_point())
            self.new_outer(self.inside(point) if enters else point)
        self.averaging = self.new_averaging()
        if not same:
            self.forget_gaps()
        elif type(averaging) is type(self.averaging):
            self.averaging = averaging

    def join(self, state: State) -> None:
        check_family(state, self.family)
        first = len(state.blocks.loss)
        # passes count on: fixed lengths, which follow their number, would take all back that was learned
        self.steps = round(state.steps / first * self.n)
        self.blocks = blocks_with_first(self.problem, state.blocks)
        if type(state.memory) is type(self.memory):
            self.memory = with_first_outputs(self.memory, state.memory, self.problem)
        else:
            self.memory = nameless(self.memory)
        vector = np.zeros(self.passes.dimension)
        weights_pass(self.problem, self.blocks, self.passes.work, self.n, 1.0, 1.0, vector)
        if traits(self.parts.step).begins_inside:
            vector = self.join_inside(state, first, vector)
        self.new_outer(DualPoint(vector, mean_loss(self.problem, self.blocks)))
        self.averaging = self.new_averaging()
        self.forget_gaps()

    def join_inside(self, state: State, first: int, vector: np.ndarray) -> np.ndarray:
        """The blocks that joined go inside, and the others are where they were; ``lam A alpha`` then."""
        known = known_by(self.step)
        if type(state.known) is not type(known):
            raise TypeError(f"samples cannot join a run of other steps than {self.parts.step!r}")
        self.step, w = informed(self.step, with_first(known, state.known)), vector / self.lam
        odds = ODDS if self.parts.step.odds is None else float(self.parts.step.odds)
        enter_pass(
            self.problem, self.step.base, self.step.into, self.blocks, self.passes.work, w, 1.0 / self.lam, odds, first
        )
        self.oracle_calls += self.n - first
        return self.lam * w

    def prepare(self) -> None:
        nothing = np.empty(0)
        if self.lanes is None:
            self.run_loop(self.sampling.sampler(self.draws, 0, 0, self.gaps), 0, 0)
        else:
            self.lanes.prepare(self)
        self.passes.prepare_gaps(self.blocks, self.w)
        if isinstance(self.averaging, WeightedAveraging):
            weights_pass(self.problem, self.blocks, self.passes.work_on(self.w), 0, self.lam, 1.0, self.w)
            settle_pass(self.problem, self.averaging.totals, self.blocks, nothing, 0.0)

    def advance(self, n_steps: int) -> None:
        if self.outer.restarts_at is not None:
            self.restart()
        if self.lanes is None:
            self.take_some(n_steps)
            return
        end = self.steps + min(n_steps, self.chunk)
        self.lanes.agree = False  # as in a run that was kept here and goes on
        while self.steps < end:
            self.take_some(min(end - self.steps, self.lanes.steps_of(self.rhythm)))

    def take_some(self, n_steps: int) -> None:
        """Take at most so many steps, and look where they led."""
        missed, unseen = self.tally[MISSES], self.unseen()
        n_steps = int(min(n_steps, self.outer.steps_to_look(self.steps)))
        if self.total_gap == np.inf:  # nothing is certified here: what the steps see has to do, as soon as they saw all
            self.total_gap = float(np.sum(self.gaps))
            n_steps = min(n_steps, unseen or n_steps)
        n_steps = int(min(n_steps, self.sampling.steps_ahead(self.draws, unseen, self.gaps)))
        self.take_steps(n_steps, unseen)
        self.outer.note_steps()
        self.steps += n_steps
        self.oracle_calls += int(self.tally[MISSES] - missed)
        if self.outer.steps_to_look(self.steps) == 0:
            self.look()

    def unseen(self) -> int:
        """Blocks to visit before the gaps at hand are those of this problem."""
        return max(0, self.outer.begun + self.n - self.steps)

    def take_steps(self, n_steps: int, unseen: int) -> None:
        if self.lanes is not None and self.rhythm.steps > 0:
            self.take_together(self.lanes, n_steps, unseen)
            return
        self.follow(self.sampling.sampler(self.draws, n_steps, unseen, self.gaps), 0, n_steps)
        if self.lanes is not None:  # which others have not followed
            self.rhythm, self.lanes.agree = self.rhythm.later(), False

    def follow(self, sampler: Any, at: int, end: int) -> None:
        """Take the steps of a sampler from the one at a place on."""
        while (at := self.run_loop(sampler, at, end)) < end:
            self.make_room(pick(sampler, at))

    @property
    def visited(self) -> tuple[Any, np.ndarray]:
        """The problem whose blocks the steps are on, and the gaps of these."""
        return self.problem, self.gaps

    def take_together(self, lanes: Lanes, n_steps: int, unseen: int) -> None:
        """Steps on several threads, whose rounds are judged now and then."""
        if not self.rhythm.is_due:
            lanes.take(self, n_steps, unseen)
            self.rhythm = self.rhythm.later()
            return
        before = self.dual_here()
        lanes.take(self, n_steps, unseen)
        self.rhythm = self.rhythm.after(self.dual_here() - before, lanes.counted)

    def dual_here(self) -> float:
        """The dual of the problem the steps work on, but for a constant."""
        square = self.outer.lam * inner(self.problem, self.w, self.w)
        return float(mean_loss(self.problem, self.blocks) - 0.5 * square)

    def make_room(self, i: int) -> None:
        """For the next step, which is on block i."""
        problem, _ = self.visited
        if needs_room(self.memory, i, A_VISIT):
            self.memory = doubled(self.memory, problem)
        if lacks_room(problem, self.blocks, i):
            self.blocks = with_room(problem, self.blocks)
        if sums_lack_room(self.averaging, problem, self.blocks, i):  # steps must not depend on how much memory there is
            self.averaging = with_room_for_sums(self.averaging, problem, self.blocks)

    def run_loop(self, sampler: Any, at: int, end: int) -> int:
        return block_steps(self.visited[0], self.run(sampler), at, end, self.steps)

    def run(self, sampler: Any) -> Run:
        """What steps work with."""
        return Run(
            blocks=self.blocks,
            work=self.passes.work_on(self.w),
            w=self.w,
            lam=self.outer.lam,
            box=self.box,
            sampler=sampler,
            step=self.step,
            memory=self.memory,
            cache=self.parts.cache,
            averaging=self.averaging,
            gaps=self.visited[1],
            total_gap=self.total_gap,
            tally=self.tally,
            gains=self.gains,
            telling=ToNobody(),
        )

    def restart(self) -> None:
        point = self.dual_point()
        self.outer.restart(self.outer.restarts_at, self.steps)
        self.place_again(point)

    def look(self) -> None:
        """Go on to the next proximal problem, with the same dual variables, when this one is solved."""
        if self.outer.is_solved(self.objective, self.w, float(np.sum(self.gaps))):
            point = self.dual_point()
            self.outer.advance(self.objective, self.w, point, self.steps)
            self.place_again(point)

    def dual_point(self) -> DualPoint:
        return self.outer.point(released(self.box, self.w), mean_loss(self.problem, self.blocks))

    def best_point(self) -> DualPoint:
        return self.outer.best_point(self.objective, self.dual_point())

    def estimate(self) -> Certified:
        point, gap = self.dual_point(), float(np.sum(self.gaps))
        primal = self.outer.primal(self.objective, self.w, point, gap)
        found = Certified(self.w, primal, *self.outer.best_value(self.objective, point))
        # below the optimum: the gaps at hand are of an earlier proximal problem
        return found if primal >= found.dual - ROUNDING * abs(found.dual) else found._replace(primal=np.inf)

    def extras(self) -> dict[str, float]:
        found = self.outer.extras()
        if not isinstance(self.parts.cache, NoCache):
            found |= {"cache_hits": int(self.tally[HITS]), "cache_misses": int(self.tally[MISSES])}
        return found

    def reconsider(self, gap: float, best: Kept) -> None:
        if self.outer.falls_short(gap):
            # not yet: a run that ends here goes on with the gaps just certified
            self.outer.restarts_at = best.own()

    def certify(self) -> list[Certified]:
        hinges = self.passes.gaps(self.blocks, self.w, self.gaps)
        self.total_gap, self.draws.tree = float(np.sum(self.gaps)), None
        value = self.outer.best_value(self.objective, self.dual_point())
        found = [self.value_at(self.w.copy(), value, hinges)]
        average = self.outer.average
        if average is not None:
            clip_all(self.objective.box, average)  # rounding may lead it out of the box
            found.append(self.value_of_average(average, value))
        self.averaging = with_room_for_sums(self.averaging, self.problem, self.blocks)
        sums = settle(self.averaging, self.problem, self.blocks, self.steps)
        if sums is not None:
            totals, mass = sums
            w = np.zeros_like(self.w)  # the dual point's vector, and then its weights: there may be millions of them
            weights_pass(self.problem, totals, self.passes.work_on(self.w), self.n, 1.0, mass, w)
            value = self.objective.value(DualPoint(w, mean_loss(self.problem, totals) / mass))
            w /= self.lam
            clip_all(self.objective.box, w)
            found.append(self.value_of_average(w, value))
        return found

    def hinges(self, w: np.ndarray) -> np.ndarray:
        """By the kernel that finds gaps, though nobody wants these: one less to compile."""
        return self.passes.gaps(self.blocks, w, np.empty(self.n))

    def value_of_average(self, w: np.ndarray, value: DualValue) -> Certified:
        return self.value_at(w, value, self.hinges(w))
