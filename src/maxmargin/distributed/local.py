"""What happens on one partition of the samples: block steps on its share of the problem, and exact passes.

Everybody knows w and keeps the dual variables of his own samples. With ``V = sum_k V_k`` (docs/notation.md) over the
partitions k, a round of changes ``Delta_k`` changes the dual value by

    sum_k (b' Delta_k - <w, dV_k>) - |sum_k dV_k|^2 / (2 lam),

and the last term is at most ``sigma sum_k |dV_k|^2 / (2 lam)`` wherever ``sigma`` is at least the number of partitions,
often far less. Then each may maximise ``b' Delta_k - <w, dV_k> - sigma |dV_k|^2 / (2 lam)`` by itself (ma15, (9)): the
problem of the block loop with ``lam / sigma`` in the place of lam, whose weights are w to begin with. All of it holds
for a proximal problem (solvers/catalyst.py), which is another w and another lam.

States go in and come out, and are never changed in place: what was lost can be found again from what was before it.
"""

from __future__ import annotations

import copy
import operator
import time
from typing import Any, NamedTuple

import numpy as np

from .._sums import dot
from ..solvers.block_coordinate import BlockFrankWolfe
from ..solvers.block_coordinate.engine import BlockEngine
from ..solvers.box import NoBox
from ..solvers.catalyst import OneProblem
from ..solvers.objective import DualPoint
from ..solvers.parts.averaging import NoAveraging
from ..solvers.parts.samplers import Draws
from ..solvers.passes import weights_pass
from ..structures.verbs import mean_loss, new_blocks
from .mixing import mixed_blocks, mixed_memory
from .vectors import added, compact, dense


class LocalState(NamedTuple):
    """Dual variables of the samples of a partition, and what the steps know."""

    blocks: Any
    memory: Any
    gaps: np.ndarray
    total_gap: float
    draws: Draws
    steps: int
    begun: int  # the step since which the problem is the one it is


class Moved(NamedTuple):
    """A partition after a round; how much of its change is taken, everybody's changes decide."""

    before: LocalState
    after: LocalState


class Task(NamedTuple):
    """What all partitions are told of a round, beside the weights."""

    lam: float  # of their problems
    passes: float
    is_new: bool  # whether they never saw the problem


class Report(NamedTuple):
    """What a round did; reports add up."""

    change: Any  # dV
    loss: float  # change of b'alpha
    square: float  # sum_k |dV_k|^2
    gap: float  # as far as it is known
    calls: int
    seconds: float  # of work, over all
    longest: float  # of the slowest

    def plus(self, other: Report) -> Report:
        totals = map(operator.add, self[1:-1], other[1:-1])
        return Report._make([added(self.change, other.change), *totals, max(self.longest, other.longest)])


class Exact(NamedTuple):
    """What an exact pass found; these add up, too."""

    hinge: float  # sum_i c_i H_i(w)
    gap: float
    loss: float  # b'alpha
    calls: int

    def plus(self, other: Exact) -> Exact:
        return Exact._make(map(operator.add, self, other))


NOTHING = Exact(0.0, 0.0, 0.0, 0)


class Curved(NamedTuple):
    """An estimate of the curvature of the data."""

    curvature: float
    calls: int

    def plus(self, other: Curved) -> Curved:
        return Curved._make(map(operator.add, self, other))


class Point(NamedTuple):
    """A share of a dual point."""

    vector: Any
    loss: float

    def plus(self, other: Point) -> Point:
        return Point(added(self.vector, other.vector), self.loss + other.loss)

    def whole(self) -> DualPoint:
        return DualPoint(np.array(dense(self.vector)), self.loss)


class LocalEngine(BlockEngine):
    """Block steps from a state, with weights and a lam that come from elsewhere."""

    def __init__(self, problem: Any, solver: BlockFrankWolfe, state: LocalState):
        super().__init__(problem, 1.0, NoBox(), 1, solver.parts_with(state.memory))
        self.box, self.averaging = NoBox(), NoAveraging()
        self.take(state)

    def take(self, state: LocalState) -> None:
        self.blocks, self.memory, self.gaps, self.total_gap, self.draws, self.steps, begun = state
        self.outer = OneProblem(1.0, None, begun)

    def left(self) -> LocalState:
        """The state now."""
        return LocalState(self.blocks, self.memory, self.gaps, self.total_gap, self.draws, self.steps, self.outer.begun)

    def work(self, w: np.ndarray, task: Task) -> None:
        """Take the steps of a round."""
        self.w = np.array(w)
        self.outer = OneProblem(task.lam, None, self.steps if task.is_new else self.outer.begun)
        goal = self.steps + max(1, round(task.passes * self.n))
        while self.steps < goal:
            self.advance(goal - self.steps)


def begin(problem: Any, solver: BlockFrankWolfe, seed: Any) -> LocalState:
    """All mass on the true outputs."""
    n = len(problem.weight)
    memory = solver.parts(problem).memory
    return LocalState(new_blocks(problem), memory, np.full(n, np.inf), np.inf, Draws(n, seed), 0, 0)


def settled(problem: Any, moved: LocalState | Moved, share: float) -> LocalState:
    """Where a share of the last change leads."""
    if isinstance(moved, LocalState):
        return moved
    if share in (0.0, 1.0):
        return moved.after if share else moved.before._replace(steps=moved.after.steps, draws=moved.after.draws)
    before, after = moved
    return after._replace(
        blocks=mixed_blocks(problem, before.blocks, after.blocks, share),
        memory=mixed_memory(after.memory, before.memory, problem, share, after.steps),
    )


def work_round(
    problem: Any, moved: LocalState | Moved, share: float, solver: BlockFrankWolfe, w: np.ndarray, task: Task
) -> tuple[Moved, Report]:
    """One round of steps."""
    began = time.perf_counter()
    before = settled(problem, moved, share)
    engine = LocalEngine(problem, solver, copy.deepcopy(before))
    engine.work(w, task)
    change = task.lam * (engine.w - w)
    report = Report(
        change=compact(change),
        loss=mean_loss(problem, engine.blocks) - mean_loss(problem, before.blocks),
        square=dot(change, change),
        gap=float(np.sum(engine.gaps)),
        calls=engine.oracle_calls,
        seconds=time.perf_counter() - began,
        longest=time.perf_counter() - began,
    )
    return Moved(before, engine.left()), report


def look(
    problem: Any, moved: LocalState | Moved, share: float, solver: BlockFrankWolfe, w: np.ndarray
) -> tuple[LocalState, Exact]:
    """Exact hinges and gaps at w; the steps then know the gaps."""
    state = settled(problem, moved, share)
    engine = LocalEngine(problem, solver, state)
    gaps = np.empty(engine.n)
    hinges = engine.passes.gaps(state.blocks, np.array(w), gaps)
    draws = copy.copy(state.draws)
    draws.tree = None
    found = Exact(weighted_sum(problem, hinges), float(np.sum(gaps)), mean_loss(problem, state.blocks), engine.n)
    return state._replace(gaps=gaps, total_gap=found.gap, draws=draws), found


def look_elsewhere(
    problem: Any, moved: LocalState | Moved, share: float, solver: BlockFrankWolfe, w: np.ndarray
) -> tuple[LocalState, Exact]:
    """Exact hinges at weights that are none of the dual state's; by the kernel that finds gaps, compiled anyway."""
    state = settled(problem, moved, share)
    engine = LocalEngine(problem, solver, state)
    hinges = engine.passes.gaps(state.blocks, np.array(w), np.empty(engine.n))
    return state, Exact(weighted_sum(problem, hinges), 0.0, 0.0, engine.n)


def weighted_sum(problem: Any, hinges: np.ndarray) -> float:
    return dot(problem.weight, np.maximum(hinges, 0.0))  # rounding may leave -1e-17


def find_curvature(
    problem: Any, moved: LocalState | Moved, share: float, solver: BlockFrankWolfe, w: None
) -> tuple[LocalState, Curved]:
    """The curvature of these samples."""
    state = settled(problem, moved, share)
    engine = LocalEngine(problem, solver, state)
    return state, Curved(engine.curvature(), engine.oracle_calls)


def find_point(
    problem: Any, moved: LocalState | Moved, share: float, solver: BlockFrankWolfe, w: None
) -> tuple[LocalState, Point]:
    """The share that these samples have in the dual point."""
    state = settled(problem, moved, share)
    engine = LocalEngine(problem, solver, state)
    vector = np.zeros(engine.passes.dimension)
    weights_pass(problem, state.blocks, engine.passes.work, engine.n, 1.0, 1.0, vector)
    return state, Point(compact(vector), mean_loss(problem, state.blocks))


def prepare(
    problem: Any, moved: LocalState | Moved, share: float, solver: BlockFrankWolfe, w: None
) -> tuple[LocalState, Exact]:
    """Compile or load what the rounds need."""
    state = settled(problem, moved, share)
    engine = LocalEngine(problem, solver, copy.deepcopy(state))
    engine.w = np.zeros(engine.passes.dimension)
    engine.prepare()
    return state, NOTHING
