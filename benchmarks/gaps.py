"""Gap sampling, pairwise steps and the cache on OCR: the experiment of "Minding the Gaps" (Osokin et al., 2016).

Eight solvers, {Frank-Wolfe, pairwise} x {uniform, gap} x {no cache, cache}, at lam = 10/n, 1/n and 0.1/n, five seeds:
certified gap against effective passes (oracle calls / n) and CPU seconds. A certificate follows every 5 passes of steps
and counts as n oracle calls; with a cache most oracle calls are those of certificates. Every run ends after the same
number of oracle calls, 150 effective passes on OCR-small and 25 on OCR-large, so that all of it takes about 15 minutes
on two free cores. Pictures go to benchmarks/output. Run: python -m benchmarks.gaps [--quick]
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from maxmargin import datasets
from maxmargin.estimators._inputs import encode_labels, stack_labels, stack_sequences
from maxmargin.solvers import BlockFrankWolfe, Cache
from maxmargin.solvers.diagnostics import block_gaps, cache_hit_rate, curvature_bounds, nonuniformity, predicted_speedup
from maxmargin.structures import make_chain_problem

from ._report import Bar, arguments, finish

OUTPUT = Path(__file__).parent / "output"
GAP_EVERY = 5
GOAL = 0.01  # of the first gap
LAMS = {"10/n": 10.0, "1/n": 1.0, "0.1/n": 0.1}
LARGE_LAM = "10/n"
END, END_SECONDS = 1e-8, 150.0  # CPU seconds, each run
NEVER = Cache(F=1e300, nu=1e300)  # remembers outputs, never uses them; infinity times a gap of 0 would


class Variant(NamedTuple):
    step: str
    sampling: str
    cache: bool

    def __str__(self) -> str:
        return " + ".join([self.step, self.sampling, *["cache"] * self.cache])

    def solver(self, gap_every: float) -> BlockFrankWolfe:
        return BlockFrankWolfe(self.sampling, step=self.step, cache=self.cache, gap_every=gap_every)


VARIANTS = [Variant(*parts) for parts in product(("fw", "pairwise"), ("uniform", "gap"), (False, True))]


class Task(NamedTuple):
    split: str
    lam: str
    variant: Variant
    seed: int
    budget: float  # effective passes
    gap_every: float = GAP_EVERY
    tol: float = 1e-12
    max_seconds: float = np.inf  # CPU


class Run(NamedTuple):
    passes: np.ndarray  # effective
    seconds: np.ndarray  # CPU
    gap: np.ndarray
    dual: np.ndarray
    steps: float  # in passes
    hit_rate: float


Runs = dict[tuple[str, str, Variant], list[Run]]  # by split, lam and solver; one a seed


@cache
def load(split: str) -> tuple[Any, int]:
    """The problem and its number of samples."""
    data = datasets.fetch_ocr(split)
    stacked = stack_sequences(data.X_train)
    codes, classes = encode_labels(stack_labels(data.y_train, stacked.offsets), stacked.offsets)
    return make_chain_problem(stacked.rows, stacked.offsets, codes, len(classes)), len(stacked.offsets) - 1


def solve(task: Task) -> Run:
    problem, n = load(task.split)
    seconds: list[float] = []

    def look(record: Any) -> bool:
        seconds.append(time.process_time() - began)
        return record.oracle_calls >= task.budget * n or seconds[-1] >= task.max_seconds

    began = time.process_time()
    result = task.variant.solver(task.gap_every).solve(
        problem,
        LAMS[task.lam] / n,
        tol=task.tol,
        max_passes=np.inf,
        callbacks=[look],
        random_state=task.seed,
    )
    history = result.history
    rates = cache_hit_rate(history) if task.variant.cache else np.zeros(1)
    return Run(
        passes=history["oracle_calls"] / n,
        seconds=np.array(seconds),
        gap=history["gap"],
        dual=history["dual"],
        steps=result.n_passes,
        hit_rate=float(rates[-1]),
    )


def solve_all(tasks: list[Task], workers: int) -> Iterator[Run]:
    if workers == 1:
        yield from map(solve, tasks)
        return
    with ProcessPoolExecutor(workers, initializer=threadpool_limits, initargs=(1,)) as pool:
        yield from pool.map(solve, tasks)


def warm_up(split: str) -> None:
    """Compile or load the kernels."""
    for variant in VARIANTS:
        solve(Task(split, "1/n", variant, 0, 2))


# -- comparing runs


def effort(run: Run, goal: float, axis: str = "passes") -> float:
    """Effective passes (or seconds) to a gap, log-linear between certificates; infinite if it is not reached."""
    at = np.flatnonzero(run.gap <= goal)
    if len(at) == 0:
        return np.inf
    x, k = getattr(run, axis), at[0]
    if k == 0:
        return float(x[0])
    upper, lower = np.log(run.gap[k - 1]), np.log(max(run.gap[k], 1e-300))
    return float(x[k - 1] + (x[k] - x[k - 1]) * (upper - np.log(goal)) / (upper - lower))


def common_goal(runs: Iterable[Run]) -> float:
    """1 % of the first gap, or the lowest gap that all runs reach."""
    return max(max(GOAL * run.gap[0], run.gap[-1]) for run in runs)


class Comparison(NamedTuple):
    goal: float
    base: float  # effective passes, median over seeds
    other: float
    ratios: np.ndarray  # other / base, of each seed
    cpu_ratio: float
    dual_ratio: float  # other / base, at the end of the runs

    @property
    def ratio(self) -> float:
        return float(np.median(self.ratios))


def compare(base: list[Run], other: list[Run]) -> Comparison:
    goal = common_goal([*base, *other])
    passes, seconds = (
        np.array([[effort(run, goal, axis) for run in runs] for runs in (base, other)])
        for axis in ("passes", "seconds")
    )
    return Comparison(
        goal,
        *np.median(passes, axis=1),
        ratios=passes[1] / passes[0],
        cpu_ratio=float(np.median(seconds[1] / seconds[0])),
        dual_ratio=float(np.median([two.dual[-1] / one.dual[-1] for one, two in zip(base, other, strict=True)])),
    )


def r_squared(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope of a straight line through the points, and the share of the variance it explains."""
    slope, offset = np.polyfit(x, y, 1)
    return float(slope), float(1 - np.var(y - slope * x - offset) / np.var(y))


# -- what is printed


def print_table(runs: Runs) -> None:
    print("\nat the end of each run, medians over seeds (lowest … highest gap):")
    print("  data   lam    solver                    eff. passes  steps/n   CPU s  gap                          hits")
    for (split, lam, variant), group in runs.items():
        gaps = np.array([run.gap[-1] for run in group])
        passes, steps, seconds, hits = np.median(
            [(run.passes[-1], run.steps, run.seconds[-1], run.hit_rate) for run in group], axis=0
        )
        spread = f"{np.median(gaps):.2e} ({gaps.min():.2e} … {gaps.max():.2e})"
        print(
            f"  {split:6s} {lam:6s} {variant!s:25s} {passes:11.1f} {steps:8.0f} {seconds:7.2f}  {spread}"
            + (f"  {hits:.0%}" if variant.cache else "")
        )


class Question(NamedTuple):
    """What a part changes."""

    claim: str
    field: str
    values: tuple[Any, Any]  # without and with the part
    names: tuple[str, str]
    lams: list[str]  # with a bar


def answer(question: Question, runs: Runs) -> list[Bar]:
    """Compare solvers that differ in one part; a bar for the worst ratio a data set and lam."""
    claim, field, values, names, lams = question
    print(f"\n{claim}: effective passes to 1 % of the first gap, or to the lowest gap that all reach")
    head = f"{names[0]:>9s} {names[1]:>9s}"
    print(f"  data   lam    otherwise              to gap {head}   ratio (over seeds)    CPU ratio  final dual ratio")
    worst: dict[tuple[str, str], float] = {}
    pairs: list[Comparison] = []
    for (split, lam, variant), group in runs.items():
        if getattr(variant, field) != values[0]:
            continue
        found = compare(group, runs[split, lam, variant._replace(**{field: values[1]})])
        otherwise = ", ".join(_words(variant._replace(**{field: ""})))
        print(
            f"  {split:6s} {lam:6s} {otherwise:20s} {found.goal:.2e} {found.base:9.1f} {found.other:9.1f} "
            f"{found.ratio:7.2f} ({found.ratios.min():.2f} … {found.ratios.max():.2f}) {found.cpu_ratio:8.2f} "
            f"{found.dual_ratio:12.2f}{'  more' if found.ratio > 1 else ''}"
        )
        worst[split, lam] = max(worst.get((split, lam), 0.0), found.ratio)
        pairs.append(found)
    more = [found for found in pairs if found.ratio > 1]
    print(f"  {'failed' if more else 'held'}: {names[1]} needs more in {len(more)} of {len(pairs)} pairs")
    if more:
        ahead = sum(found.dual_ratio > 1 for found in more)
        print(
            f"  in {ahead} of these its dual value is the higher one: there the certified gap is that of a last iterate"
        )
        print("  whose primal value still wobbles, as it does early and at small lam, and says little of progress")
    return [
        Bar(f"effective passes, {names[1]} / {names[0]}, worst pair, {split}, {lam}", ratio, 1.0)
        for (split, lam), ratio in worst.items()
        if lam in lams
    ]


def _words(variant: Variant) -> Iterator[str]:
    for part in variant:
        if part != "":
            yield {True: "cache", False: "no cache"}.get(part, part)  # type: ignore[call-overload]


def print_rates(runs: dict[str, list[Run]]) -> None:
    """A linear rate is a straight line in log gap against passes, and every factor of 10 takes the same passes."""
    print(f"\n(c) pairwise steps converge linearly at lam = {LARGE_LAM}: log gap over the second half of the passes")
    for name, group in runs.items():
        fits = np.median([late_fits(run) for run in group], axis=0)
        slope, linear, power, sublinear = fits
        decades = [effort(group[0], goal) for goal in 10.0 ** -np.arange(1, 9)]
        taken = np.diff([passes for passes in decades if passes < np.inf])
        print(
            f"  {name:36s} {'looks linear' if linear > max(0.99, sublinear) else 'not linear yet'}: R2 {linear:.4f} "
            f"(gap halves every {np.log(0.5) / slope:.0f} passes), as passes^{power:.1f} R2 {sublinear:.4f}"
            + (f"; passes a decade from 0.1 on: {', '.join(f'{t:.0f}' for t in taken)}" if len(taken) > 1 else "")
        )


def late_fits(run: Run) -> tuple[float, float, float, float]:
    """Slope and R2 of log gap against passes, and against their logarithm, over the second half of a run."""
    late = (run.passes >= 0.5 * run.passes[-1]) & (run.gap > 0)
    x, y = run.passes[late], np.log(run.gap[late])
    if len(x) < 4:
        return np.nan, np.nan, np.nan, np.nan
    return *r_squared(x, y), *r_squared(np.log(x), y)


# -- Figure 1


class Look(NamedTuple):
    passes: float
    gap: float
    stale: float  # remembered / exact gap
    chi: float  # of the exact block gaps
    chi_curvature: float
    predicted: float


def look_along(split: str, lam: str, sampling: str, every: float, budget: float) -> list[Look]:
    """A run that is looked at after each pass of steps, outside its accounts; it refreshes its gaps `every` passes."""
    problem, n = load(split)
    engine = BlockFrankWolfe(sampling, cache=NEVER).start(problem, LAMS[lam] / n, None, 0, None)
    engine.certify()
    looks: list[Look] = []
    while engine.oracle_calls < budget * n:
        goal = engine.steps + n
        while engine.steps < goal:
            engine.advance(goal - engine.steps)
        state = engine.state()
        gaps, curvature = block_gaps(problem, state), curvature_bounds(problem, state).upper
        stale = float(np.sum(state.gaps) / np.sum(gaps))
        chis = nonuniformity(gaps), nonuniformity(curvature), predicted_speedup(gaps, curvature)
        looks.append(Look(engine.oracle_calls / n, float(np.sum(gaps)), stale, *chis))
        if engine.steps // n % every == 0:
            engine.certify()
    return looks


def figure_one(split: str, lam: str, budget: float, runs: Runs) -> str:
    """Print what Figure 1 draws; a sentence on what gap sampling had to gain."""
    print(f"\nFigure 1, OCR-{split}, lam = {lam}, Frank-Wolfe steps, one seed, {budget:g} effective passes:")
    print("                              lowest  remembered / exact     chi(gaps)  chi(C)  predicted speed-up")
    print("  sampling, refreshed            gap   median   at the end  first  last    last       first   last")
    settings = [("uniform", 10.0), *(("gap", every) for every in (1.0, 5.0, 10.0, 100.0, np.inf))]
    for sampling, every in settings:
        looks = look_along(split, lam, sampling, every, budget)
        when = "never" if every == np.inf else f"every {every:g} passes"
        first, last = looks[0], looks[-1]
        print(
            f"  {sampling + ', ' + when:24s} {min(look.gap for look in looks):9.2e} "
            f"{np.median([look.stale for look in looks]):8.2f} {last.stale:12.2f} {first.chi:6.2f} {last.chi:5.2f} "
            f"{last.chi_curvature:7.2f} {first.predicted:11.2f} {last.predicted:6.2f}"
        )
        if every == GAP_EVERY:
            middle = looks[len(looks) // 2]
    measured = [
        f"{', '.join(_words(variant._replace(sampling='')))} "
        f"{1 / compare(runs[split, lam, variant], runs[split, lam, variant._replace(sampling='gap')]).ratio:.2f}"
        for variant in VARIANTS
        if variant.sampling == "uniform"
    ]
    print(f"  measured speed-up: {'; '.join(measured)}")
    return (
        f"{split}, {lam}: half way, chi(gaps) is {middle.chi:.2f} (at most {np.sqrt(load(split)[1]):.0f}), and what is "
        f"remembered of the gaps sums to {middle.stale:.0%} of their exact sum"
    )


# -- pictures


def draw(runs: Runs, split: str) -> Path:
    """One row a lam; gap against effective passes and CPU seconds."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    lams = list(dict.fromkeys(lam for one, lam, _ in runs if one == split))
    figure = Figure(figsize=(12, 0.8 + 3.4 * len(lams)), layout="constrained")
    axes = figure.subplots(len(lams), 2, squeeze=False, sharey="row")
    for (lam, (axis, label)), ax in zip(
        product(lams, (("passes", "effective passes (oracle calls / n)"), ("seconds", "CPU seconds"))),
        axes.flat,
        strict=True,
    ):
        for variant in VARIANTS:
            draw_runs(ax, runs[split, lam, variant], axis, variant)
        ax.set(xscale="log", yscale="log", xlabel=label, title=f"OCR-{split}, lam = {lam}")
        ax.grid(which="both", alpha=0.2)
        for one in (ax.xaxis, ax.yaxis):
            one.set_major_locator(LogLocator(subs=(1, 2, 5)))
            one.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            one.set_minor_formatter(NullFormatter())
    for row in axes:
        row[0].set_ylabel("certified duality gap")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / f"gaps_{split}{'' if len(lams) == len(LAMS) else '_quick'}.png"
    figure.savefig(path, dpi=110)
    return path


def draw_runs(ax: Any, group: list[Run], axis: str, variant: Variant) -> None:
    """The median over seeds, and what lies between the lowest and the highest."""
    later = [getattr(run, axis)[1:] for run in group]  # the start, where all gaps are alike, comes at no time at all
    grid = np.geomspace(max(x[0] for x in later), min(x[-1] for x in later), 60)
    logs = [np.log(np.maximum(run.gap[1:], 1e-300)) for run in group]
    gaps = np.exp([np.interp(grid, x, y) for x, y in zip(later, logs, strict=True)])
    color = {False: "#d55e00", True: "#0072b2"}[variant.cache]
    line = {"uniform": "--", "gap": "-"}[variant.sampling]
    marker = {"fw": "s", "pairwise": "o"}[variant.step]
    face = {"fw": "white", "pairwise": color}[variant.step]
    ax.fill_between(grid, gaps.min(axis=0), gaps.max(axis=0), color=color, alpha=0.12, linewidth=0)
    ax.plot(
        grid,
        np.median(gaps, axis=0),
        color=color,
        linestyle=line,
        marker=marker,
        markerfacecolor=face,
        markersize=4.5,
        markevery=8,
        linewidth=1.4,
        label=str(variant),
    )


# -- the experiment


def to_the_end(workers: int) -> dict[Variant, Run]:
    """Pairwise steps on OCR-small to a gap of 1e-8, at the large lam."""
    variants = [variant for variant in VARIANTS if variant.step == "pairwise"]
    tasks = [
        Task("small", LARGE_LAM, one, 0, np.inf, gap_every=10, tol=END, max_seconds=END_SECONDS) for one in variants
    ]
    return dict(zip(variants, solve_all(tasks, workers), strict=True))


def print_ends(runs: dict[Variant, Run]) -> None:
    if runs:
        print(
            f"\npairwise steps on OCR-small at lam = {LARGE_LAM} to a gap of {END:g}, a certificate every 10 passes of"
        )
        print(f"steps, at most {END_SECONDS:g} CPU s each:")
    for variant, run in runs.items():
        print(
            f"  {variant!s:26s} {run.passes[-1]:7.0f} effective passes, {run.steps:6.0f} of steps, "
            f"{run.seconds[-1]:6.1f} CPU s, gap {run.gap[-1]:.1e}"
        )


def experiment(budgets: dict[str, float], lams: list[str], seeds: int, workers: int) -> Runs:
    runs: Runs = {}
    for split, budget in budgets.items():
        began = time.perf_counter()
        warm_up(split)
        keys = list(product([split], lams, VARIANTS))
        tasks = [Task(*key, seed, budget) for key in keys for seed in range(seeds)]
        found = solve_all(tasks, workers)
        runs.update({key: [next(found) for _ in range(seeds)] for key in keys})
        print(f"OCR-{split}: {len(tasks)} runs of {budget:g} effective passes, {time.perf_counter() - began:.0f} s")
        print(f"  {draw(runs, split)}", flush=True)
    return runs


def main() -> None:
    quick = arguments(__doc__).quick
    began, workers = time.perf_counter(), 1 if quick else min(2, os.cpu_count() or 1)
    budgets, lams = ({"small": 60.0}, ["1/n"]) if quick else ({"small": 150.0, "large": 25.0}, list(LAMS))
    runs = experiment(budgets, lams, 2 if quick else 5, workers)
    report(runs, lams, {} if quick else to_the_end(workers), 30 if quick else 100, began)


def report(runs: Runs, lams: list[str], ends: dict[Variant, Run], looks: float, began: float) -> None:
    print_table(runs)
    slower = Question("(a) gap sampling never needs more", "sampling", ("uniform", "gap"), ("uniform", "gap"), lams)
    bars = answer(slower, runs)
    for lam in lams:
        print(f"  {figure_one('small', lam, looks, runs)}")
    bars += answer(Question("(b) the cache cuts calls", "cache", (False, True), ("no cache", "cache"), ["1/n"]), runs)
    if LARGE_LAM in lams:
        pairwise = {
            f"{split}, {variant}": group
            for (split, lam, variant), group in runs.items()
            if lam == LARGE_LAM and variant.step == "pairwise"
        }
        print_rates(pairwise | {f"small, {variant}, long": [run] for variant, run in ends.items()})
    print_ends(ends)
    print(f"\n{time.perf_counter() - began:.0f} s in all")
    last = [
        Bar(f"final gap, {variant}, small, {LARGE_LAM}", float(run.gap[-1]), END)
        for variant, run in ends.items()
        if variant.sampling == "gap"
    ]
    finish(bars + last)


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
