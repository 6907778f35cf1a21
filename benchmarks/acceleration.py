"""Catalyst around the block loop: passes and CPU seconds to certified gaps, with and without it.

OCR-small, OCR-large, CoNLL-2000 and USPS at lam = 100/n, 10/n, 1/n and 0.1/n; Frank-Wolfe and pairwise steps; uniform
and gap sampling; all with averaged iterates and default settings, one seed. Passes are those of steps; a certificate
every 2 of them (one exact pass for the iterate, one for the average) is in the seconds. Half an hour on two cores.
Run: python -m benchmarks.acceleration [--quick]
"""

from __future__ import annotations

import os
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from maxmargin.solvers import BlockFrankWolfe

from ._problems import load
from ._report import Bar, arguments, effort_to, finish, in_turn

OUTPUT = Path(__file__).parent / "output"
GOALS = (1e-1, 1e-2, 1e-3, 1e-4)
LAMS = {"100/n": 100.0, "10/n": 10.0, "1/n": 1.0, "0.1/n": 0.1}
BUDGETS = {"OCR-small": 400.0, "OCR-large": 120.0, "CoNLL-2000": 50.0, "USPS": 150.0}  # passes
NEVER_MORE = 1.1


class Setting(NamedTuple):
    data: str
    lam: str
    step: str
    sampling: str
    accelerated: bool
    budget: float
    tol: float = GOALS[-1]
    gap_every: float = 2.0

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.data, self.lam, self.step, self.sampling


class Run(NamedTuple):
    passes: np.ndarray
    seconds: np.ndarray  # CPU
    gap: np.ndarray

    def to(self, goal: float) -> tuple[float, float]:
        return effort_to(goal, self.gap, self.passes), effort_to(goal, self.gap, self.seconds)


Runs = dict[tuple[str, str, str, str], tuple[Run, Run]]  # plain and accelerated


def solve(setting: Setting) -> Run:
    problem, n = load(setting.data)
    solver = BlockFrankWolfe(
        setting.sampling,
        "weighted",
        gap_every=setting.gap_every,
        step=setting.step,
        acceleration="catalyst" if setting.accelerated else None,
    )
    seconds: list[float] = []

    def look(record: Any) -> None:
        seconds.append(time.process_time() - began)

    began = time.process_time()
    result = solver.solve(
        problem, LAMS[setting.lam] / n, tol=setting.tol, max_passes=setting.budget, callbacks=[look], random_state=0
    )
    return Run(result.history["passes"], np.array(seconds), result.history["gap"])


def solve_all(settings: list[Setting], workers: int) -> Runs:
    for one in {(s.data in ("USPS",), s.step, s.sampling, s.accelerated): s for s in settings}.values():
        solve(one._replace(budget=1.0))  # kernels compile, or load, before processes share them
    found = dict(zip(settings, in_turn(solve, settings, workers), strict=True))
    return {s.key: (found[s._replace(accelerated=False)], run) for s, run in found.items() if s.accelerated}


def print_table(runs: Runs) -> None:
    print("\npasses (CPU s) to a certified gap, plain | accelerated")
    print("  data        lam    step      sampling " + "".join(f"{goal:>32g}" for goal in GOALS) + "   final gaps")
    for (data, lam, step, sampling), (plain, fast) in runs.items():
        cells = []
        for goal in GOALS:
            cells.append(
                " | ".join(f"{p:6.1f} ({s:5.1f})" if p < np.inf else "-" * 6 for p, s in _both(plain, fast, goal))
            )
        ends = f"{plain.gap[-1]:.1e} | {fast.gap[-1]:.1e}"
        print(
            f"  {data:11s} {lam:6s} {step:9s} {sampling:8s} " + "".join(f"{cell:>32s}" for cell in cells) + f"   {ends}"
        )


def _both(plain: Run, fast: Run, goal: float) -> list[tuple[float, float]]:
    return [plain.to(goal), fast.to(goal)]


def never_more(runs: Runs) -> Bar:
    """The worst ratio of passes, accelerated over plain, of all settings and goals that plain steps reach."""
    ratios = {
        (*key, goal): fast.to(goal)[0] / plain.to(goal)[0]
        for key, (plain, fast) in runs.items()
        for goal in GOALS
        if plain.to(goal)[0] < np.inf
    }
    more = {what: ratio for what, ratio in ratios.items() if ratio > 1}
    won = [1 / ratio for ratio in ratios.values()]
    print(
        f"\nof {len(ratios)} pairs where plain steps reach the goal: {len(more)} need more passes; the median needs "
        f"{np.median(won):.1f} times fewer, the best {np.max(won):.1f} times"
    )
    for what, ratio in sorted(more.items(), key=lambda item: -item[1]):
        print(f"  {', '.join(map(str, what))}: {ratio:.2f} times the passes")
    only = sum(plain.to(goal)[0] == np.inf > fast.to(goal)[0] for plain, fast in runs.values() for goal in GOALS)
    print(f"  {only} further goals were reached with acceleration only")
    return Bar("passes, accelerated / plain, worst pair", max(ratios.values()), NEVER_MORE)


def large_bars() -> list[Bar]:
    """OCR-large at lam = 1/n, with the steps of `auto` and with those of the plain solver."""
    fast = solve(Setting("OCR-large", "1/n", "pairwise", "gap", True, 220.0, tol=1e-3, gap_every=10.0))
    bars = [
        Bar("OCR-large, 1/n: passes to a gap of 3e-3", fast.to(3e-3)[0], 220),
        Bar("OCR-large, 1/n: CPU seconds to a gap of 3e-3", fast.to(3e-3)[1], 12),
    ]
    for step in ("fw", "pairwise"):
        fast = solve(Setting("OCR-large", "1/n", step, "gap", True, 220.0, tol=5e-3, gap_every=10.0))
        given = 8.5 * fast.passes[-1]
        plain = solve(Setting("OCR-large", "1/n", step, "gap", False, given, tol=5e-3, gap_every=10.0))
        reached = plain.to(5e-3)[0]
        print(
            f"OCR-large, 1/n, {step}, gap: 5e-3 after {fast.to(5e-3)[0]:.0f} passes; plain has "
            f"{plain.gap[-1]:.1e} after {plain.passes[-1]:.0f}"
        )
        times = min(reached, given) / fast.to(5e-3)[0]  # at least: plain steps may not get there
        bars.append(Bar(f"OCR-large, 1/n, {step}: times fewer passes to 5e-3", times, 8.0, at_least=True))
    return bars


def draw(runs: Runs) -> Path:
    """Gap against passes, for the steps and the sampling of `auto`."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    data = list(dict.fromkeys(key[0] for key in runs))
    figure = Figure(figsize=(3.4 * len(LAMS), 0.6 + 2.6 * len(data)), layout="constrained")
    axes = figure.subplots(len(data), len(LAMS), squeeze=False, sharey="row")
    colors = {"fw": "#d55e00", "pairwise": "#0072b2"}
    for (name, lam), ax in zip(product(data, LAMS), axes.flat, strict=True):
        for step, color in colors.items():
            for run, line, label in zip(
                runs[name, lam, step, "gap"], ("--", "-"), ("plain", "accelerated"), strict=True
            ):
                ax.plot(run.passes[1:], run.gap[1:], line, color=color, label=f"{step}, {label}", linewidth=1.4)
        ax.set(xscale="log", yscale="log", title=f"{name}, lam = {lam}", xlabel="passes")
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.grid(alpha=0.25)
    for row in axes:
        row[0].set_ylabel("certified gap")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / "acceleration.png"
    figure.savefig(path, dpi=100)
    return path


def main() -> None:
    quick = arguments(__doc__).quick
    workers = 1 if quick else min(2, os.cpu_count() or 1)
    budgets = {"OCR-small": 60.0, "USPS": 30.0} if quick else BUDGETS
    samplings = ("gap",) if quick else ("uniform", "gap")
    settings = [
        Setting(data, lam, step, sampling, accelerated, budgets[data])
        for data, lam, step, sampling, accelerated in product(
            budgets, LAMS, ("fw", "pairwise"), samplings, (False, True)
        )
    ]
    runs = solve_all(settings, workers)
    print_table(runs)
    print(f"  {draw(runs)}")
    bars = [never_more(runs)]
    finish(bars if quick else bars + large_bars())


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
