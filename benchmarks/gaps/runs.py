"""The runs of benchmarks.gaps: eight solvers on OCR, what is kept of a run, and how runs share the cores."""

from __future__ import annotations

import time
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from maxmargin.solvers import BlockFrankWolfe
from maxmargin.solvers.diagnostics import cache_hit_rate
from maxmargin.solvers.passes import hinge_pass
from maxmargin.structures.verbs import new_work

from .._problems import load
from .._report import in_turn

GAP_EVERY = 5  # passes of steps
LAMS = {"10/n": 10.0, "1/n": 1.0, "0.1/n": 0.1}


class Variant(NamedTuple):
    step: str
    sampling: str
    cache: bool

    def __str__(self) -> str:
        return " + ".join([self.step, self.sampling, *["cache"] * self.cache])

    def without(self, part: str) -> str:
        """In words, what it is apart from one of its parts."""
        words = self._asdict() | {"cache": "cache" if self.cache else "no cache"}
        return ", ".join(word for name, word in words.items() if name != part)


VARIANTS = [Variant(*parts) for parts in product(("fw", "pairwise"), ("uniform", "gap"), (False, True))]


class Task(NamedTuple):
    split: str
    lam: str
    variant: Variant
    seed: int
    budget: float  # effective passes
    averaging: str | None = None
    gap_every: float = GAP_EVERY
    tol: float = 1e-12
    max_seconds: float = np.inf  # CPU


class Run(NamedTuple):
    """One entry a certificate: effort so far, and the best values so far."""

    passes: np.ndarray  # effective
    steps: np.ndarray  # in passes
    seconds: np.ndarray  # CPU
    primal: np.ndarray
    dual: np.ndarray
    gap: np.ndarray
    hit_rate: np.ndarray  # of the cache
    rms_hinge: np.ndarray  # of the best weights, over samples; only where iterates are averaged

    def until(self, budget: float) -> Run:
        """The run as it would have been with so many effective passes."""
        stop = np.searchsorted(self.passes, budget) + 1
        return Run(*(column[:stop] for column in self))


Key = tuple[str, str, Variant]  # split, lam, solver
Runs = dict[Key, list[Run]]  # one a seed


def solve(task: Task) -> Run:
    problem, n = load(f"OCR-{task.split}")
    step, sampling, cache = task.variant
    solver = BlockFrankWolfe(sampling, task.averaging, gap_every=task.gap_every, step=step, cache=cache)
    seconds: list[float] = []
    rms_hinges: list[float] = []

    def look(record: Any) -> bool:
        seconds.append(time.process_time() - began)
        rms_hinges.append(rms_hinge(problem, n, record.w) if task.averaging else np.nan)
        return record.oracle_calls >= task.budget * n or seconds[-1] >= task.max_seconds

    began = time.process_time()
    history = solver.solve(
        problem,
        LAMS[task.lam] / n,
        tol=task.tol,
        max_passes=np.inf,
        callbacks=[look],
        random_state=task.seed,
    ).history
    return Run(
        passes=history["oracle_calls"] / n,
        steps=history["passes"],
        seconds=np.array(seconds),
        primal=history["primal"],
        dual=history["dual"],
        gap=history["gap"],
        hit_rate=cache_hit_rate(history) if cache else np.zeros(len(seconds)),
        rms_hinge=np.array(rms_hinges),
    )


def rms_hinge(problem: Any, n: int, w: np.ndarray) -> float:
    hinges = np.empty(n)
    hinge_pass(problem, new_work(problem), w, 0, n, hinges)
    return float(np.sqrt(np.mean(hinges**2)))


def solve_groups(seeds: dict[Key, int], budget: float, workers: int, averaging: str | None = None) -> Runs:
    """So many seeds of each; kernels compile, or load, once before processes share them."""
    for split, variant in dict.fromkeys((split, variant) for split, _, variant in seeds):
        solve(Task(split, "1/n", variant, 0, 2, averaging))
    tasks = [Task(*key, seed, budget, averaging) for key, count in seeds.items() for seed in range(count)]
    found = in_turn(solve, tasks, workers)
    return {key: [next(found) for _ in range(count)] for key, count in seeds.items()}
