"""One run in rounds: partitions step by themselves, meet, and go as far along their joint direction as is best."""

from __future__ import annotations

import time
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..solvers.block_coordinate import BlockFrankWolfe
from ..solvers.catalyst import as_catalyst
from ..solvers.engine import Engine, State
from ..solvers.kept import Kept
from ..solvers.objective import Certified, DualPoint, DualValue, along
from ..solvers.posing import problems_for
from . import local
from .pace import Pace, Seen
from .partitions import Partitions
from .problem import Partitioned
from .vectors import dense, n_bytes

# The gap of a certificate follows from hinges and the dual point, and from the gaps of blocks: by more than this,
# relative to the hinges, they do not differ by rounding.
ROUNDING = 1e-8


class Elsewhere(NamedTuple):
    """What an engine must know of passes that others make."""

    n: int
    dimension: int
    certifiable: bool
    n_threads: int = 1


class RoundsEngine(Engine):
    """Rounds of block steps on partitions; see :class:`~maxmargin.solvers.engine.Engine`."""

    family = "Rounds"
    kept: ClassVar[tuple[str, ...]] = (
        "states",
        "point",
        "w",
        "outer",
        "is_new",
        "pace",
        "gap",
        "mean",
        "weight_of_mean",
        "known_curvature",
    )
    counted = (*Engine.counted, "rounds", "sent", "received", "resummed")
    outer: Any  # the problem the rounds work on

    def __init__(self, problem: Partitioned, lam: float, box: Any, solver: BlockFrankWolfe, pace: Pace):
        super().__init__(problem, lam, box, None)
        self.partitions, self.solver, self.pace = Partitions(problem.team, solver), solver, pace
        self.acceleration, self.averages = as_catalyst(solver.acceleration), solver.averaging is not None
        self.rounds = self.sent = self.received = self.resummed = 0
        self.is_new = True  # to the partitions, the problem posed now
        self.known_curvature: float | None = None

    def passes_over(self, problem: Partitioned, n_jobs: int | None) -> Elsewhere:
        return Elsewhere(problem.n, problem.dimension(), problem.certifiable)

    @property
    def chunk(self) -> int:
        return max(self.n, round(self.pace.passes * self.n))

    @property
    def states(self) -> list[Any]:
        return self.partitions.states()

    def begin(self) -> None:
        seeds = self.draws.rng.integers(2**62, size=len(self.problem.parts))
        self.partitions.begin([int(seed) for seed in seeds])
        self.set_out(DualPoint(np.zeros(self.passes.dimension), 0.0))

    def resume(self, state: State) -> None:
        states = state.kept.pop("states")
        super().resume(state)
        self.partitions.resume(states)
        if not (self.continues(state) and self.outer.goes_on(self.acceleration, self.averages)):
            self.set_out(self.point)

    def set_out(self, point: DualPoint) -> None:
        """From a dual point of the partitions."""
        self.point, self.gap = point, np.inf  # as far as it is known
        posed = self.acceleration, self.averages, self.objective, point, self.curvature, self.steps
        self.outer = problems_for(*posed, whole=True)  # partitions tell changes of all of them
        self.mean, self.weight_of_mean = DualPoint(np.zeros_like(point.vector), 0.0), 0.0
        self.place()

    def place(self) -> None:
        """The weights become those of the dual point in the problem posed now."""
        self.weigh()
        self.is_new = True

    def weigh(self) -> None:
        self.w = self.outer.weights(self.objective, self.point)[0]

    def curvature(self) -> float:
        """As many times that of the blocks as there are partitions: what these change at once, adds up."""
        if self.known_curvature is None:
            found = self.partitions.ask(local.find_curvature)
            self.known_curvature = len(self.problem.parts) * found.curvature
            self.oracle_calls += found.calls
        return self.known_curvature

    def prepare(self) -> None:
        self.partitions.ask(local.prepare)

    def advance(self, n_steps: int) -> None:
        if self.outer.restarts_at is not None:
            self.outer.restart(self.outer.restarts_at, self.steps)
            self.place()
        n_steps = min(n_steps, self.steps_of_round())
        passes = n_steps / self.n
        began = time.perf_counter()
        task = local.Task(self.outer.lam / self.pace.sigma, passes, self.is_new)
        report = self.partitions.ask(local.work_round, self.w, task)
        self.steps += n_steps
        self.oracle_calls += report.calls
        self.count(report)
        change, self.is_new = dense(report.change), False
        square = self.objective.inner(change, change)
        curvature = square / report.square if report.square > 0.0 else 1.0
        self.pace.heed(Seen(curvature, passes, time.perf_counter() - began, report.longest))
        self.go(change, report.loss, self.line_search(change, report.loss, square))
        self.gap = report.gap
        self.average()
        self.look()

    def steps_of_round(self) -> int:
        """As many rounds as it takes, all alike, lead to where whole passes end: wherever a run is stopped, it goes on
        the same way."""
        beat = self.n * max(1, int(np.ceil(self.pace.passes)))
        left = beat - self.steps % beat
        return int(np.ceil(left / np.ceil(left / max(1.0, self.pace.passes * self.n))))

    def count(self, report: local.Report) -> None:
        """Vectors that left the partitions or came to them."""
        self.rounds += 1
        self.received += n_bytes(report.change)
        self.sent += self.w.nbytes

    def line_search(self, change: np.ndarray, loss: float, square: float) -> float:
        """The share of the joint change with the highest dual value, of the problem posed now.

        Where weights are on their bounds the dual value is at least what is maximised here.
        """
        rise = loss - self.objective.inner(self.w, change)
        if rise <= 0.0:
            return 0.0
        return 1.0 if rise * self.outer.lam >= square else rise * self.outer.lam / square

    def go(self, change: np.ndarray, loss: float, taken: float) -> None:
        self.partitions.taken = taken
        if taken > 0.0:
            vector = self.point.vector + taken * change
            self.point = DualPoint(vector, self.point.loss + taken * loss)
            self.weigh()

    def average(self) -> None:
        """Dual points, later ones with more weight, where the sequence of proximal problems does not average itself."""
        if self.averages and not self.outer.averages_itself:
            self.weight_of_mean += self.rounds
            self.mean = along(self.mean, self.point, self.rounds / self.weight_of_mean)

    def look(self) -> None:
        """Go on to the next proximal problem, with the same dual variables, when this one is solved."""
        while self.outer.steps_to_look(self.steps) <= 0:
            if self.outer.is_solved(self.objective, self.w, self.gap):
                self.outer.advance(self.objective, self.w, self.point, self.steps)
                self.place()

    def best_point(self) -> DualPoint:
        return self.outer.best_point(self.objective, self.point)

    def estimate(self) -> Certified:
        primal = self.outer.primal(self.objective, self.w, self.point, self.gap)
        return Certified(self.w, primal, *self.outer.best_value(self.objective, self.point))

    def certify(self) -> list[Certified]:
        exact = self.partitions.ask(local.look, self.w)
        self.oracle_calls += exact.calls
        self.gap = exact.gap
        self.check(exact)
        value = self.outer.best_value(self.objective, self.point)
        found = [self.valued(self.w.copy(), value, exact.hinge)]
        average = self.outer.average
        if average is not None:
            found.append(self.value_at(average, value))
        if self.weight_of_mean > 0.0:
            found.append(self.value_at(self.objective.weights(self.mean)[0], self.objective.value(self.mean)))
        return found

    def check(self, exact: local.Exact) -> None:
        """Whether the dual point is that of the partitions: one that was computed anew elsewhere may be another one.

        ``sum_i g_i = sum_i c_i H_i(w) - b'alpha + <w, V>`` for any w.
        """
        expected = exact.hinge - self.point.loss + self.objective.inner(self.w, self.point.vector)
        scale = max(1.0, abs(exact.hinge), abs(self.point.loss))
        if not self.certifiable or abs(exact.gap - expected) + abs(exact.loss - self.point.loss) <= ROUNDING * scale:
            return
        self.resummed += 1
        self.point = self.partitions.ask(local.find_point).whole()
        self.weigh()

    def valued(self, w: np.ndarray, value: DualValue, hinge: float) -> Certified:
        return Certified(w, 0.5 * self.lam * self.objective.inner(w, w) + hinge, *value)

    def value_at(self, w: np.ndarray, value: DualValue, hinges: np.ndarray | None = None) -> Certified:
        return self.valued(w, value, self.hinge_loss(w))

    def hinge_loss(self, w: np.ndarray) -> float:
        exact = self.partitions.ask(local.look_elsewhere, w)
        self.oracle_calls += exact.calls
        return exact.hinge

    def reconsider(self, gap: float, best: Kept) -> None:
        if self.outer.falls_short(gap):
            self.outer.restarts_at = best.own()

    def extras(self) -> dict[str, float]:
        own = {"rounds": self.rounds, "sigma": self.pace.sigma, "local_passes": self.pace.passes}
        return {**self.outer.extras(), **own, "sent": self.sent, "received": self.received}
