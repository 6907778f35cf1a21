"""Runs of SVRG: epochs of steps between full gradients, and their certificate."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..._compile import runs_compiled
from ..._sums import dot
from ...structures.directions import ToExpectation
from ...structures.lines import Line
from ...structures.smoothing import new_smoothed
from ...structures.verbs import support_bound
from ..engine import Engine, State
from ..objective import Certified, DualPoint
from .loop import Epoch, epoch_steps, find_lipschitz
from .pace import Pace
from .passes import Seen, arrive, calls_of, first_snapshot, look
from .sequences import OneProblem

# Of how many blocks gradients are looked at, to know how fast they change: a share of all, within limits.
SHARE_LOOKED_AT, FEWEST, MOST = 0.05, 4, 50

# Smoothing that makes more than this share of the gap may get weaker.
MUCH = 0.1

# What the entropy adds for each unit of mu, where nobody tells: as if outputs were some 150.
OFTEN = 5.0

CLOSED = -1  # steps of an epoch that did not begin


class EpochEngine(Engine):
    """Epochs, each a full gradient and a pass of steps; the mean of an epoch's iterates is its solution.

    A full gradient comes with the distributions of all blocks: a dual point, and so a certificate.
    """

    family = "SVRG or Casimir"
    outer: Any  # what epochs work on
    kept = (
        "settings",
        "outer",
        "here",
        "seen",
        "snapshot",
        "solution",
        "taken",
        "epochs",
        "anchor",
        "offset",
        "late",
        "length",
        "pace",
        "mixture",
        "inexact",
    )

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, settings: Any):
        super().__init__(problem, lam, box, n_jobs)
        self.settings = settings
        self.certifiable = self.certifiable and lam > 0.0
        self.inexact = 0.0
        self.support = np.zeros((support_bound(problem), 2), np.int64)
        self.w = np.zeros(self.passes.dimension)  # room
        self.into = ToExpectation(new_smoothed(problem, settings.smoothing))

    @property
    def chunk(self) -> int:
        return self.n if runs_compiled(self.problem) else 1

    def begin(self) -> None:
        self.restart(np.zeros(self.passes.dimension), DualPoint(np.zeros(self.passes.dimension), 0.0))

    def restart(self, w: np.ndarray, point: DualPoint) -> None:
        """From given weights on; the dual point is the best one known."""
        self.mixture, self.snapshot = point, first_snapshot(self.problem)
        self.here = self.solution = w
        self.anchor, self.offset, self.late = w, np.zeros_like(w), np.zeros_like(w)
        self.taken, self.epochs, self.length = CLOSED, 0, 0.0
        self.seen: Seen | None = None
        self.pace = Pace(self.lam)
        self.outer = OneProblem(self.first_smoothing(), 0.0)
        self.look_here()
        self.find_lipschitz()
        smoothing = self.outer.smoothing
        self.outer = self.settings.problems(smoothing, self.lam, self.n, self.pace.steepness, w)
        if self.outer.smoothing != smoothing:
            self.seen = None

    def first_smoothing(self) -> Any:
        """As it was asked for; or so much that it adds, at w = 0, a share of the hinge loss there."""
        smoothing, share = self.settings.smoothing, self.settings.share
        if share is None:
            return smoothing
        seen = look(self.passes, smoothing, self.snapshot, np.zeros(self.passes.dimension))
        self.oracle_calls += calls_of(smoothing) * self.n
        unit = dot(self.problem.weight, seen.hinges)
        added = (seen.value - unit) / smoothing.mu
        # without a hinge there is nothing to smooth; and a structure may not tell what was added
        return smoothing._replace(mu=share * (unit or 1.0) / (added if added > 0.0 else OFTEN))

    def resume(self, state: State) -> None:
        settings = self.settings
        super().resume(state)
        if not (self.continues(state) and settings == self.settings):
            self.settings = settings
            self.restart(self.solution, self.mixture)

    def count_on(self, counts: dict[str, Any]) -> None:
        if self.settings.lipschitz is None:
            _ = self.sizes  # asked for already, and counted
        super().count_on(counts)

    def look_here(self) -> Seen:
        """The full gradient where the next epoch begins, unless it is known."""
        if self.seen is None:
            self.seen, self.snapshot = arrive(self.passes, self.outer.smoothing, self.snapshot, self.here)
            self.after_pass(self.seen)
        return self.seen

    def after_pass(self, seen: Seen) -> None:
        self.oracle_calls += calls_of(self.outer.smoothing) * self.n
        if self.lam > 0.0:
            self.mixture, _ = self.objective.best_between(self.mixture, seen.point)

    def find_lipschitz(self) -> None:
        """How fast the gradients of blocks change here, in the mean over evenly spaced ones that have any."""
        mu = self.outer.smoothing.mu
        if self.settings.lipschitz is not None:
            self.pace.found(self.settings.lipschitz, mu)
            return
        found, change = np.zeros(len(self.some)), np.zeros_like(self.here)
        self.anchor, self.offset[:] = self.here, 0.0
        guess = self.pace.steepness or 1.0
        self.oracle_calls += find_lipschitz(self.problem, self.epoch(), self.some, guess, change, found)
        # where the best few outputs are not enough gradients jump; no smoothed maximum is steeper than this
        found, moving = np.minimum(found, self.sizes / mu), found > 0.0
        if np.any(moving):
            scale = self.n * self.problem.weight[self.some[moving]]
            self.pace.found(float(np.mean(scale * found[moving])), mu)

    @cached_property
    def some(self) -> np.ndarray:
        """Evenly spaced blocks."""
        count = min(max(round(SHARE_LOOKED_AT * self.n), FEWEST), MOST)
        return np.unique(np.linspace(0, self.n - 1, count).astype(np.int64))

    @cached_property
    def sizes(self) -> np.ndarray:
        """``|psi_i|^2`` of some blocks' outputs of the largest loss."""
        self.oracle_calls += len(self.some)
        return self.passes.norms(first_snapshot(self.problem).blocks, np.zeros_like(self.here), self.some)

    def epoch(self) -> Epoch:
        powers = (1.0 - self.length * (self.lam + self.outer.kappa)) ** np.arange(self.n + 1.0)
        return Epoch(
            blocks=self.snapshot.blocks,
            work=self.passes.work,
            into=self.into,
            smoothing=self.outer.smoothing,
            line=Line(self.anchor, self.offset, self.w, self.support),
            late=self.late,
            powers=powers,
            sums=np.concatenate([[0.0], np.cumsum(powers[1:])]),
            length=self.length,
        )

    def advance(self, n_steps: int) -> None:
        if self.taken == CLOSED:
            self.open_epoch()
            return
        order = self.draws.take(self.sampling, min(n_steps, self.n - self.taken))
        epoch_steps(self.problem, self.epoch(), order, self.taken)
        self.taken += len(order)
        self.steps += len(order)
        self.oracle_calls += len(order)
        if self.taken == self.n:
            self.close_epoch()

    def open_epoch(self) -> None:
        """A full gradient; steps go on from there, unless it shows that the problem is solved."""
        seen = self.look_here()
        self.steps += self.n
        if self.epochs > 0 and self.outer.is_solved(self.here, self.squared_gradient(seen)):
            self.pose_next()  # which begins elsewhere
            return
        if self.pace.is_due(self.outer.smoothing.mu):
            self.find_lipschitz()
        if self.pace.rises(self.passes.primal(self.here, self.lam, seen.hinges)):
            self.outer.restart(self.here)
        stiff, kappa = self.lam + self.outer.kappa, self.outer.kappa
        self.length = self.pace.length(self.outer.smoothing.mu, stiff, self.n)
        self.anchor = (seen.point.vector + kappa * self.outer.centre_at(self.here)) / stiff
        self.offset, self.taken = self.here - self.anchor, 0
        self.late[:] = 0.0

    def squared_gradient(self, seen: Seen) -> float:
        gradient = self.lam * self.here - seen.point.vector
        gradient += self.outer.kappa * (self.here - self.outer.centre_at(self.here))
        return self.objective.inner(gradient, gradient)

    def close_epoch(self) -> None:
        self.solution = self.mean()
        self.taken, self.epochs = CLOSED, self.epochs + 1
        if self.outer.is_over(self.epochs):
            self.pose_next()
        else:
            self.here, self.seen = self.solution, None

    def pose_next(self) -> None:
        kappa = self.settings.found_kappa(self.lam, self.n, self.pace.effective(self.outer.smoothing.mu))
        self.here = self.outer.advance(self.solution, self.smooths_much(), kappa)
        self.seen, self.epochs = None, 0

    def smooths_much(self) -> bool:
        """Whether outputs that share with the best one make more than a share of the gap, where the epoch began.

        Problems that get a fixed budget must not be smoothed less and less while they are far from solved: steps are
        as short as smoothing is weak, and would end nowhere.
        """
        seen = self.seen
        if seen is None or not self.certifiable:
            return True
        gap = self.passes.primal(self.here, self.lam, seen.hinges) - self.objective.dual(self.mixture)
        mean = seen.point.loss - self.objective.inner(self.here, seen.point.vector)  # sum_i c_i E_u H_i
        return dot(self.problem.weight, seen.hinges) - mean >= MUCH * gap

    def mean(self) -> np.ndarray:
        """Of the iterates of this epoch."""
        return self.anchor + (self.epoch().sums[self.taken] * self.offset - self.late) / self.taken

    def certify(self) -> list[Certified]:
        if self.taken > 0:
            return [self.looked_at(self.mean())]
        found = []
        if self.here is self.solution or self.seen is not None:
            found.append(self.certified(self.here, self.look_here()))
        if self.here is not self.solution:
            found.append(self.looked_at(self.solution))
        return found

    def looked_at(self, w: np.ndarray) -> Certified:
        """Exact values at weights where no epoch begins."""
        seen = look(self.passes, self.outer.smoothing, self.snapshot, w)
        self.after_pass(seen)
        return self.certified(w, seen)

    def certified(self, w: np.ndarray, seen: Seen) -> Certified:
        primal = self.passes.primal(w, self.lam, seen.hinges)
        self.inexact = seen.inexact
        if self.lam == 0.0:
            return Certified(w, primal, np.nan, np.nan, np.nan)
        return self.objective.certified(w, primal, self.mixture)

    def estimate(self) -> Certified:
        if self.seen is None or self.taken > 0 or not self.certifiable:
            return Certified(self.here, np.inf, np.nan, np.nan, np.nan)
        return self.certified(self.here, self.seen)

    def carried(self, state: State | None) -> Certified | None:
        if state is not None and state.lam != self.lam and 0.0 in (state.lam, self.lam):
            return None  # there are dual values on one side only
        return super().carried(state)

    def best_point(self) -> DualPoint | None:
        return self.mixture if self.lam > 0.0 else None

    def hinges(self, w: np.ndarray) -> np.ndarray:
        return look(self.passes, self.outer.smoothing, self.snapshot, w).hinges  # one kernel less to compile

    def extras(self) -> dict[str, float]:
        return {**self.outer.extras(), "lipschitz": self.pace.steepness, "inexact": self.inexact}
