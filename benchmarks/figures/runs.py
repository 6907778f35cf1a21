"""The runs of benchmarks.figures: which solvers, when they are looked at, what is kept of a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from maxmargin.solvers import (
    BlockFrankWolfe,
    CuttingPlane,
    Decay,
    ExponentiatedGradient,
    FrankWolfe,
    Perceptron,
    Solver,
    Subgradient,
    get_solver,
)
from maxmargin.solvers.driver import drive
from maxmargin.solvers.tolerance import Absolute
from maxmargin.structures.verbs import offers

from .._report import effort_to
from .._trials import Trial, load_trial

RARER, TOL = 1.4, 1e-4  # passes between two looks grow by this; a run ends at this certified gap
GOAL = Absolute(TOL)
PILOT_PASSES = 10.0  # lengths of first subgradient steps are tried for so long
ALL = np.inf  # looks as rare as they may be
REFRESH = 10.0  # passes after which gaps are known afresh, where steps depend on them
FREE = 2.0  # passes, where certificates cost nothing


# Lengths of first steps that are tried, on single samples times lam n, on all of them times lam.
LONGEST = 0.9  # times 1 / lam: from there on weights would change their signs
SINGLE, BATCH = np.geomspace(0.03, 10.0, 6), np.geomspace(1e-4, LONGEST, 6)


class Entry(NamedTuple):
    """A solver of the figures."""

    make: Callable[[Trial, float, float], Solver]  # of the problem, lam, and the tuned length of a first step
    seeded: bool = True
    tries: np.ndarray | None = None  # lengths of first steps
    least: float = 1.0  # passes between two looks

    def suits(self, trial: Trial) -> bool:
        """Whether the structure offers what the solver requires."""
        return self.make(trial, 1.0, 0.5).requires() <= offers(trial.problem)


def accelerated(trial: Trial, lam: float, length: float) -> Solver:
    return get_solver("auto", trial.problem).set_params(gap_every=REFRESH)


SOLVERS: dict[str, Entry] = {
    "fw": Entry(lambda *_: FrankWolfe(gap_every=ALL), seeded=False),
    "bcfw": Entry(lambda *_: BlockFrankWolfe(gap_every=ALL)),
    "bcfw-wavg": Entry(lambda *_: BlockFrankWolfe(averaging="weighted", gap_every=ALL)),
    "bcpfw, gap, cache": Entry(lambda *_: BlockFrankWolfe("gap", step="pairwise", cache=True, gap_every=REFRESH)),
    "auto": Entry(accelerated),
    "ssg": Entry(lambda *_: Subgradient(averaging=None, gap_every=ALL)),
    "ssg-wavg": Entry(lambda *_: Subgradient(gap_every=ALL)),
    "ssg-wavg, tuned": Entry(lambda trial, lam, length: Subgradient(Decay(length), gap_every=ALL), tries=SINGLE),
    "subgradient, tuned": Entry(
        lambda trial, lam, length: Subgradient(Decay(length), batch=True, gap_every=ALL), seeded=False, tries=BATCH
    ),
    "cutting plane, 1 slack": Entry(lambda *_: CuttingPlane("one", gap_every=FREE), seeded=False),
    "cutting plane, n slacks": Entry(lambda *_: CuttingPlane("n"), least=CuttingPlane("n").gap_every),
    "exp. gradient": Entry(lambda *_: ExponentiatedGradient(gap_every=ALL)),
    "perceptron": Entry(lambda *_: Perceptron(gap_every=ALL)),
}


class Task(NamedTuple):
    data: str
    n: int | None  # samples; None: all
    lam: str
    solver: str
    seed: int
    budget: float  # CPU seconds
    length: float = 0.0  # of a first subgradient step, where it is tuned

    @property
    def trial(self) -> Trial:
        return load_trial(self.data, self.n)


class Run(NamedTuple):
    """One entry a look: effort so far, certificates included and test errors not, and the best values so far."""

    passes: np.ndarray  # oracle calls / n
    seconds: np.ndarray  # CPU
    primal: np.ndarray
    dual: np.ndarray  # NaN where there is none
    error: np.ndarray  # on test samples

    def to(self, goal: float, optimum: float) -> tuple[float, float]:
        """Passes and CPU seconds to a suboptimality."""
        above = np.maximum(self.primal - optimum, 1e-300)
        return effort_to(goal, above, self.passes), effort_to(goal, above, self.seconds)


Key = tuple[str, str]  # lam, solver
Runs = dict[Key, list[Run]]  # one a seed


def value_of(lam: str, n: int) -> float:
    return 1.0 / n if lam == "1/n" else float(lam)


@dataclass
class Rare:
    """Limits whose certificates become rarer, so that their share of the effort stays small.

    A `gap_every` beyond the passes so far means one certificate there, which is how the driver counts.
    """

    most: float  # passes between two certificates
    least: float = 1.0
    goal: Absolute = GOAL
    max_passes: float = np.inf
    max_seconds: None = None
    gap_every: float = 1.0

    def plan(self, passes: float, seconds: float, budget: float) -> None:
        grown = passes + min(max((RARER - 1.0) * passes, self.least), self.most)
        in_time = passes * budget / max(seconds, 1e-9) if passes else np.inf
        self.gap_every = max(min(grown, in_time), passes + 0.2)


def solve(task: Task) -> Run:
    warm(task.data, task.n, task.solver)
    return follow(task)


@cache
def warm(data: str, n: int | None, solver: str) -> None:
    """Kernels compile, or load, before anything is timed."""
    follow(Task(data, n, "0.1", solver, 0, 1e-9, 1e-3))


def follow(task: Task) -> Run:
    trial = task.trial
    lam = value_of(task.lam, trial.n)
    entry = SOLVERS[task.solver]
    solver = entry.make(trial, lam, task.length)
    limits = Rare(solver.gap_every, entry.least, gap_every=entry.least)
    rows: list[tuple[float, float, float, float, float]] = []
    aside = 0.0  # CPU seconds of looking

    def look(record: Any) -> bool:
        nonlocal aside
        now = time.process_time()
        seconds = now - began - aside
        rows.append((record.oracle_calls / trial.n, seconds, record.primal, record.dual, trial.error(record.w)))
        limits.plan(record.passes, seconds, task.budget)
        aside += time.process_time() - now
        return record.passes > 0 and seconds >= 0.95 * task.budget

    began = time.process_time()
    drive(solver.start(trial.problem, lam, None, task.seed, None), limits, [look])
    return Run(*map(np.array, zip(*rows, strict=True)))


class Pilot(NamedTuple):
    data: str
    n: int | None
    lam: str
    solver: str


def tuned_length(pilot: Pilot) -> float:
    """The best first length of steps after a few passes, by primal value."""
    trial = load_trial(pilot.data, pilot.n)
    lam = value_of(pilot.lam, trial.n)
    entry, found = SOLVERS[pilot.solver], {}
    for length in np.minimum(entry.tries / (lam * trial.n if entry.seeded else lam), LONGEST / lam):
        solver = entry.make(trial, lam, float(length))
        found[float(length)] = solver.solve(trial.problem, lam, max_passes=PILOT_PASSES, random_state=0).primal
    return min(found, key=found.__getitem__)
