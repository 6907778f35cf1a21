"""Two threads against one: full passes, accelerated block steps to the same certified gap, paths, cross-validation.

Wall-clock seconds, the two taking turns; the ratio is the median of the ratios of turns. Two runs of one thread each,
at the same time and on data of their own, say how much two cores of this machine can do at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np

from maxmargin import ChainSVMCV, datasets
from maxmargin.solvers import BlockFrankWolfe, lam_grid
from maxmargin.solvers.passes import Passes
from maxmargin.structures import LogLoss
from maxmargin.structures.verbs import new_blocks

from .._problems import load
from .._report import Bar

LAMS = {"100/n": 100.0, "1/n": 1.0}
TOL = 1e-3
BOTH = (1, 2)  # threads


def seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def speed_up(call: Callable[[int, int], Any], turns: int, compiled: bool = False) -> float:
    """Of two threads over one, where ``call(n_jobs, turn)`` does the work; turn 0 compiles, and does not count."""
    times = {t: [seconds(lambda j=j, t=t: call(j, t)) for j in BOTH] for t in range(int(compiled), turns + 1)}
    return float(np.median([times[t][0] / times[t][1] for t in range(1, turns + 1)]))


def solver(sampling: str) -> BlockFrankWolfe:
    return BlockFrankWolfe(sampling, "weighted", step="pairwise", acceleration="catalyst")


def at_best(problem: Any, lam: float) -> float:
    """What two runs at the same time get done, over one, at their best."""

    def run() -> None:
        solver("permutation").solve(problem, lam, tol=0.0, max_passes=20, random_state=0)

    def both() -> None:
        threads = [Thread(target=run) for _ in BOTH]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    run()
    alone, together = (min(seconds(call) for _ in range(3)) for call in (run, both))
    return 2.0 * alone / together


def full_passes(name: str, turns: int) -> dict[str, float]:
    """Of all that solvers ask all samples for: gradients are those of log-losses, as L-BFGS asks."""
    problem, n = load(name)
    passes, likely = ({j: Passes(one, j) for j in BOTH} for one in (problem, LogLoss(problem)))
    w, blocks, gaps = np.random.default_rng(0).normal(0.0, 0.01, passes[1].dimension), new_blocks(problem), np.empty(n)
    kinds: dict[str, Callable[[int, int], Any]] = {
        "hinges": lambda j, turn: passes[j].hinges(w),
        "gaps": lambda j, turn: passes[j].gaps(blocks, w, gaps),
        "corners": lambda j, turn: passes[j].corners(w),
        "gradients": lambda j, turn: likely[j].gradient(w),
    }
    return {kind: speed_up(call, 15 * turns) for kind, call in kinds.items()}


def block_steps(name: str, lam: str, sampling: str, turns: int) -> tuple[float, dict[int, float]]:
    """The speed-up, and the passes that each needed on average."""
    problem, n = load(name)
    passes: dict[int, list[float]] = {j: [] for j in BOTH}

    def run(n_jobs: int, turn: int) -> None:
        found = solver(sampling).solve(problem, LAMS[lam] / n, tol=TOL, random_state=turn, n_jobs=n_jobs)
        assert found.gap <= TOL
        passes[n_jobs].append(found.n_passes)

    return speed_up(run, turns), {j: float(np.mean(some[1:])) for j, some in passes.items()}


def path(name: str, gap: float, turns: int) -> float:
    """Of four values of lam: to a gap of 0.1 all but the first have nothing to solve, as the weights before serve."""
    problem, n = load(name)
    grid = [c / n for c in (300.0, 100.0, 30.0, 10.0)]

    def run(n_jobs: int, turn: int) -> None:
        lam_grid(problem, solver("permutation"), lams=grid, tol=gap, random_state=turn, n_jobs=n_jobs)

    return speed_up(run, turns)


def cross_validation(data: Any, turns: int) -> float:
    """Over the same values of lam: how far a search goes is chance, and its last values take most of the time."""
    lams = ChainSVMCV(random_state=0).fit(data.X_train, data.y_train).lams_

    def run(n_jobs: int, turn: int) -> None:
        ChainSVMCV(lams=lams, random_state=turn, n_jobs=n_jobs).fit(data.X_train, data.y_train)

    return speed_up(run, turns)


def measure(quick: bool) -> list[Bar]:
    names = ("OCR-small",) if quick else ("OCR-large", "CoNLL-2000")
    turns = 1 if quick else 3
    bars, best = list[Bar](), dict[str, float]()
    for name in names:
        problem, n = load(name)
        best[name] = at_best(problem, 100.0 / n)
        print(f"{name}: two runs of one thread each, at once, get {best[name]:.2f} x as much done as one")
        found = full_passes(name, turns)
        print(f"{name}, full passes: " + ", ".join(f"{kind} {ratio:.2f} x" for kind, ratio in found.items()))
        bars.append(Bar(f"full passes, two threads over one, {name}", min(found.values()), 1.8, at_least=True))
        for lam in LAMS:
            for sampling in ("permutation",) if quick else ("permutation", "gap"):
                ratio, passes = block_steps(name, lam, sampling, turns)
                print(
                    f"{name}, lam = {lam}, {sampling}: {ratio:.2f} x; passes {passes[1]:.0f} with one thread, "
                    f"{passes[2]:.0f} with two"
                )
                if sampling == "permutation":
                    what = f"block steps to a certified {TOL:g}, {name}, lam = {lam}"
                    bars.append(Bar(what, ratio, 1.5, at_least=True))
        for gap in (0.1,) if quick else (0.1, 0.01):
            bars.append(Bar(f"path to gaps of {gap:g}, {name}", path(name, gap, turns), 1.5, at_least=True))
    data = datasets.fetch_ocr("small" if quick else "large")
    bars.append(Bar("cross-validation, last fit included", cross_validation(data, turns), 1.6, at_least=True))
    return bars
