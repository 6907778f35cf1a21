"""Block steps on several threads: each has blocks and weights of its own, and tells the others what it changed.

In a round a thread takes steps on its blocks, by its weights, as if it were alone; then all meet, and each adds to its
weights what the others changed. So steps of a round do not know of those that others take in the meantime, and their
gains need not add up: what the dual gained in truth, over what the steps counted, decides how long rounds are. What
happens depends on the seed and the number of threads, and on no clock.

Steps that all read the same weights would need no copies of these. But they overshoot where many have a direction in
common: on OCR, 16 of them at once need as many passes again, two threads of 20 steps each no more than one thread.
"""

from __future__ import annotations

from functools import partial
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from ..._compile import Reference, helper, kernel
from ..._meeting import LINE, arrive, new_meeting, wait_for_all
from ..._threads import at_once, equal_shares
from ...structures.changes import (
    add_changes,
    announce_changed_weights,
    announce_changes,
    changes_bound,
    shared_out,
    sizes_of_blocks,
    tells_changes,
)
from ...structures.verbs import forget_weights, n_blocks, new_work
from ..box import NoBox
from ..parts.averaging import averaging_shares
from ..parts.memory import A_VISIT
from ..parts.samplers import Order, OwnGapSampler, Plan, peek, pick, sums_over
from ..parts.steps import fitted_step, lacks_any_room, traits
from ..parts.telling import ToOthers, lacks_room_to_tell
from .loop import visit

FEWEST = 256  # blocks of a thread: with fewer of them, a round is too much of a pass
NEIGHBOURS = 64  # blocks in a row that a thread has: what they have lies together, and is fetched together
PARTS_OF_A_PASS = 4
MOST_STEPS = 50_000  # until somebody looks at the clock and at Ctrl-C
ROUND = 2  # steps of a thread: with ten, early passes find a fifth less, and meetings cost no less
SIDES = 4  # rounds that are remembered: one is written, one read, and a thread may be a round ahead or behind
ROOM = 4096  # changes of a round, at first

# Of what the steps of all threads counted, the dual should have gained so much; below, rounds become shorter.
POOR, RICH = 0.7, 0.9
LONGEST_PAUSE = 16  # parts of a pass


class Changes(NamedTuple):
    """What threads tell each other: of each, the changes of the last few rounds."""

    keys: np.ndarray  # (threads, SIDES, room)
    values: np.ndarray  # (threads, SIDES, room)
    block: np.ndarray  # (threads, SIDES, moves)
    end: np.ndarray  # (threads, SIDES, moves) where the changes of a move end
    moves: np.ndarray  # (threads, SIDES, LINE) how many there are in the round, in the first word
    now: np.ndarray  # (threads, LINE) which round it is for them, in the first word
    arrivals: np.ndarray  # see `arrive`
    left: np.ndarray  # see `wait_for_all`


class Lane(NamedTuple):
    """What one thread works with, beside its run."""

    number: int
    moves: int  # of a block at a visit, at most
    when: np.ndarray  # (n,) which steps of all threads its own are
    source: np.ndarray  # the weights to begin with: those of the first thread
    copies: np.ndarray  # (threads - 1, d) those of the others


@helper
def take_round(problem, run, lane, at, end, side, done):
    """Steps `at` to `end` of a thread, and what they change; returns where it stopped, for want of room."""
    run.telling.now[0] = side
    for position in range(at, end):
        i = pick(run.sampler, position)
        if lacks_any_room(problem, run, i, A_VISIT):
            return position
        if lacks_room_to_tell(run.telling, problem, run.blocks, i, lane.moves):
            return position
        visit(problem, run, i, peek(run.sampler, position), done + lane.when[position])
    return end


@helper
def take_over(problem, run, lane, changes, side):
    """What the others changed in a round; all of it is asked for before any of it is added."""
    for q in range(changes.keys.shape[0]):
        if q != lane.number:
            keys, values, n_moves = changes.keys[q, side], changes.values[q, side], changes.moves[q, side, 0]
            block, end = changes.block[q, side], changes.end[q, side]
            for move in range(n_moves):
                announce_changes(problem, block[move], keys, begin_of(end, move), end[move])
            for move in range(n_moves):
                announce_changed_weights(problem, run.work, block[move], keys, begin_of(end, move), end[move], run.w)
            for move in range(n_moves):
                i, first, scale = block[move], begin_of(end, move), problem.weight[block[move]] / run.lam
                add_changes(problem, run.work, i, keys, values, first, end[move], scale, run.w)


@helper
def begin_of(end, move):
    """Where the changes of a move begin."""
    return end[move - 1] if move > 0 else 0


@helper
def copy_weights(lane):
    """All begin with the same weights; each thread copies a share of them for all."""
    n_lanes, d = lane.copies.shape[0] + 1, lane.source.shape[0]
    first, last = lane.number * d // n_lanes, (lane.number + 1) * d // n_lanes
    source = lane.source[first:last]
    for copy in lane.copies:
        own = copy[first:last]
        for j in range(own.shape[0]):  # loops from 0 vectorise
            own[j] = source[j]


@kernel
def take_rounds(problem, run, lane, changes, bounds, at, r, copies, done):
    """Rounds of a thread, whose steps begin at `bounds`, from step `at` of round r on; returns how far it came.

    Nobody waits for those who are in the same round: what is taken over after a round is what others changed in the
    round before, which they have probably left. The last round has no steps. Where one lacks room for a step, all leave
    as soon as they would wait for it, and go on from there later: the steps are the same as if there had been room.
    """
    p, last = lane.number, bounds.shape[0] - 1
    if copies:
        copy_weights(lane)
        arrive(changes.arrivals, p, 1)
        wait_for_all(changes.arrivals, changes.left, 1)
    while r <= last:
        if r < last:
            at = take_round(problem, run, lane, at, bounds[r + 1], r % SIDES, done)
            if at < bounds[r + 1]:
                break
            arrive(changes.arrivals, p, r + 2)
        if r > 0:
            if not wait_for_all(changes.arrivals, changes.left, r + 1):
                break
            take_over(problem, run, lane, changes, (r - 1) % SIDES)
        r += 1
        if r < last:
            changes.moves[p, r % SIDES, 0] = 0
    arrive(changes.left, p, 1)
    return at, r


class Rhythm(NamedTuple):
    """How long rounds are, and when that is judged again: ever more seldom, in ever longer takes.

    Where not even rounds of one step add up, one thread has all steps for a while, for twice as long each time: early
    steps have more in common than those that follow.
    """

    steps: int = ROUND  # of a thread in a round; 0: there are no rounds now
    pause: int = 1  # parts of a pass between two judgements
    since: int = 0  # parts of a pass since the last one
    rest: int = PARTS_OF_A_PASS  # parts of a pass that one thread will have alone, when rounds fail the next time

    @property
    def parts(self) -> int:
        """Of a pass, that the next take has."""
        return min(self.pause, PARTS_OF_A_PASS)

    @property
    def is_due(self) -> bool:
        return self.since + self.parts >= self.pause

    def later(self) -> Rhythm:
        """After a take that was not judged."""
        if self.steps == 0 and self.is_due:
            return Rhythm(1, rest=self.rest)
        return self._replace(since=self.since + self.parts)

    def after(self, gained: float, counted: float) -> Rhythm:
        """When the dual gained so much where its steps counted so much."""
        if gained < POOR * counted:
            return Rhythm(self.steps // 2, rest=self.rest) if self.steps > 1 else Rhythm(0, self.rest, 0, 2 * self.rest)
        if gained > RICH * counted and self.steps < ROUND:
            return Rhythm(min(2 * self.steps, ROUND), rest=self.rest)
        return Rhythm(self.steps, min(2 * self.pause, LONGEST_PAUSE), rest=self.rest)


class Lanes:
    """The threads of a run, and what they know of each other.

    Parameters
    ----------
    problem : one that tells changes
    n_lanes : int
    """

    def __init__(self, problem: Any, n_lanes: int):
        self.problem, self.given, self.n_lanes = problem, Reference(problem), n_lanes
        self.sizes = sizes_of_blocks(problem)
        n = len(self.sizes)
        self.owner = np.arange(n) // max(1, min(NEIGHBOURS, n // (4 * n_lanes))) % n_lanes  # each has some
        self.own = [np.flatnonzero(self.owner == p) for p in range(n_lanes)]
        self.place = np.zeros(len(self.sizes), np.int64)
        for own in self.own:
            self.place[own] = np.arange(len(own))
        self.trees = [sums_over(np.zeros(len(own))) for own in self.own]
        self.mean_size = float(np.mean(self.sizes))
        self.most_steps = min(n, MOST_STEPS)
        self.when, self.order = np.zeros((2, n_lanes, self.most_steps), np.int64)
        self.uniforms, self.n_first = np.zeros((n_lanes, self.most_steps, 2)), np.zeros((n_lanes, 1), np.int64)
        self.ahead = np.zeros((n_lanes, LINE), np.int64)
        self.works = [new_work(problem) for _ in range(n_lanes - 1)]  # of all but the first
        self.copies = np.empty((0, 0))
        self.tally, self.gains = np.zeros((n_lanes, LINE), np.int64), np.zeros((n_lanes, LINE))
        self.changes = new_changes(n_lanes, ROOM, 2 * ROUND)
        self.known: tuple[Any, ...] = ()
        self.numbers: tuple[float, ...] = ()
        self.references: Any = None
        self.agree = False  # whether all have the weights of the first, but for rounding

    def steps_of(self, rhythm: Rhythm) -> int:
        """How many steps a take has, at most."""
        return max(1, min(self.most_steps, len(self.sizes) * rhythm.parts // PARTS_OF_A_PASS))

    def prepare(self, engine: Any) -> None:
        """Compile or load what the threads need."""
        nowhere = np.zeros((self.n_lanes, 1), np.int64)
        self.go_on(engine, nowhere, nowhere[:, 0], np.ones(self.n_lanes, np.int64))

    def take(self, engine: Any, n_steps: int, unseen: int) -> None:
        """So many steps, in rounds."""
        self.tally[:], self.gains[:] = 0, 0.0
        if not self.agree:
            for tree, own in zip(self.trees, self.own, strict=True):
                tree[:] = sums_over(engine.gaps[own])
        plan = engine.sampling.plan(engine.draws, n_steps, unseen, engine.gaps)
        engine.draws.tree = None  # what steps see of gaps, the trees of their threads know
        engine.draws.ahead[0] = self.ahead[:] = -1
        bounds = self.rounds(plan, engine.rhythm.steps * self.n_lanes)
        most = traits(engine.parts.step).moves * int(np.diff(bounds, axis=1).max())
        if most > self.changes.block.shape[2]:
            self.changes = new_changes(self.n_lanes, self.changes.keys.shape[2], 2 * most)
        last, (at, r) = bounds.shape[1] - 1, np.zeros((2, self.n_lanes), np.int64)
        self.changes.arrivals[:], self.changes.moves[:, 0] = 0, 0
        while np.any(r <= last):
            at, r = self.go_on(engine, bounds, at, r)
            for p in np.flatnonzero(r < last).tolist():
                if at[p] < bounds[p, r[p] + 1]:
                    self.make_room(engine, p, pick(self.runs[p].sampler, at[p]))
        engine.tally += self.tally[:, : len(engine.tally)].sum(axis=0)

    def rounds(self, plan: Plan, steps: int) -> np.ndarray:
        """(threads, rounds + 1) where those of each thread begin; they take all threads about as long."""
        n_rounds = max(1, -(-(len(plan.first) + len(plan.uniforms)) // steps))
        owner, uniforms = self.owner[plan.first], np.array_split(plan.uniforms, self.n_lanes)
        bounds = np.zeros((self.n_lanes, n_rounds + 1), np.int64)
        for p, drawn in enumerate(uniforms):
            when = np.flatnonzero(owner == p)
            m, self.n_first[p] = len(when), len(when)
            self.order[p, :m], self.uniforms[p, : len(drawn)] = plan.first[when], drawn
            self.when[p, :m] = when
            self.when[p, m : m + len(drawn)] = len(owner) + np.arange(len(drawn)) * self.n_lanes + p
            # what is drawn is not known yet: of mean size
            sizes = np.concatenate([self.sizes[self.order[p, :m]], np.full(len(drawn), self.mean_size)])
            bounds[p] = equal_shares(sizes, n_rounds)
        return bounds

    def sampler(self, by_gaps: bool, p: int) -> Any:
        """Which block of a thread comes next."""
        if not by_gaps:
            return Order(self.order[p])
        own = self.trees[p], self.own[p], self.place
        return OwnGapSampler(*own, self.order[p], self.n_first[p], self.uniforms[p], self.ahead[p])

    def go_on(self, engine: Any, bounds: np.ndarray, at: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """From these steps and rounds of all threads on, as far as there is room; returns where they are then."""
        changes, lanes = self.prepared(engine)
        self.changes.left[:] = 0
        if not self.agree:
            for work in self.works:
                forget_weights(self.problem, work)
        calls = [
            partial(take_rounds, self.given, run, lane, changes, *own, not self.agree, engine.steps)
            for (run, lane), *own in zip(lanes, bounds, at.tolist(), r.tolist(), strict=True)
        ]
        self.agree = True
        at, r = np.array(at_once(calls)).T
        return at, r

    def prepared(self, engine: Any) -> tuple[Reference, list[tuple[Reference, Reference]]]:
        """What threads are given: much, so that it is made anew only where something is another."""
        parts = (self.changes, engine.blocks, engine.averaging, engine.memory, engine.step, engine.w)
        numbers = (engine.outer.lam, engine.total_gap)
        if self.known and all(map(is_, parts, self.known)) and numbers == self.numbers:
            return self.references
        run = engine.run(Order(self.order[0]))
        if not self.known or engine.blocks is not self.known[1]:
            self.blocks = shared_out(self.problem, engine.blocks, self.n_lanes)
        if not self.known or engine.averaging is not self.known[2]:
            self.averagings = averaging_shares(engine.averaging, self.problem, self.n_lanes)
        self.agree &= bool(self.known) and engine.w is self.known[5]
        if self.copies.shape[1] != len(engine.w):
            self.copies = np.empty((len(self.works), len(engine.w)))
        self.runs = [
            run._replace(
                blocks=self.blocks[p],
                averaging=self.averagings[p],
                w=w,
                work=work,
                step=engine.step if p == 0 else fitted_step(engine.parts.step, self.problem, engine.lam),
                sampler=self.sampler(engine.sampling.draws_by_gaps, p),
                tally=self.tally[p],
                gains=self.gains[p],
                telling=lists_of(self.changes, p),
            )
            for p, (w, work) in enumerate(zip([engine.w, *self.copies], [run.work, *self.works], strict=True))
        ]
        moves = traits(engine.parts.step).moves
        lanes = [Lane(p, moves, self.when[p], engine.w, self.copies) for p in range(self.n_lanes)]
        self.known, self.numbers = parts, numbers
        self.references = (
            Reference(self.changes),
            list(zip(map(Reference, self.runs), map(Reference, lanes), strict=True)),
        )
        return self.references

    def make_room(self, engine: Any, p: int, i: int) -> None:
        """For the next step of a thread, which is on block i."""
        bound = changes_bound(self.problem, engine.blocks, i, traits(engine.parts.step).moves)
        if self.used(p) + bound > self.changes.keys.shape[2]:
            self.changes = with_more_room(self.changes, 2 * (self.used(p) + bound))
        if lacks_any_room(self.problem, self.runs[p], i, A_VISIT):
            engine.make_room(i)

    def used(self, p: int) -> int:
        """Changes that a thread has listed for its round, at most."""
        return int(self.changes.end[p].max(initial=0))

    @property
    def counted(self) -> float:
        """What the steps of the last take gained, if they add up."""
        return float(np.sum(self.gains[:, 0]))


def new_changes(n_lanes: int, room: int, moves: int) -> Changes:
    """Room for changes of rounds with so many moves."""
    return Changes(
        keys=np.zeros((n_lanes, SIDES, room), np.int64),
        values=np.zeros((n_lanes, SIDES, room)),
        block=np.zeros((n_lanes, SIDES, moves), np.int64),
        end=np.zeros((n_lanes, SIDES, moves), np.int64),
        moves=np.zeros((n_lanes, SIDES, LINE), np.int64),
        now=np.zeros((n_lanes, LINE), np.int64),
        arrivals=new_meeting(n_lanes),
        left=new_meeting(n_lanes),
    )


def lists_of(changes: Changes, p: int) -> ToOthers:
    """Where a thread lists what it changes."""
    return ToOthers(*(getattr(changes, name)[p] for name in ToOthers._fields))


def with_more_room(changes: Changes, room: int) -> Changes:
    """The same, where more of them may be listed."""
    larger = new_changes(len(changes.keys), room, changes.block.shape[2])
    for old, new in zip(changes, larger, strict=True):
        new[..., : old.shape[-1]] = old
    return larger


def lanes_for(problem: Any, step: Any, box: Any, n_threads: int) -> Lanes | None:
    """The threads of a run, where it can have several and it pays."""
    able = tells_changes(problem) and traits(step).tells_gains
    n_lanes = min(n_threads, n_blocks(problem) // FEWEST)
    # bounds hold for what all threads found together, not for the share of one
    return Lanes(problem, n_lanes) if able and n_lanes > 1 and isinstance(box, NoBox) else None
