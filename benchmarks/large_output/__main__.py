"""Thousands of labels: primal values and test errors against CPU seconds, and how they grow with the number of labels.

For GDMM with searched oracles (and a tenth of the labels a visit: "subFMO"), GDMM with exhaustive ones, soft
constraints with two penalties, block Frank-Wolfe with Viterbi over what is not 0 and over all pairs, `auto` and the
subgradient method. Cantonese (syllables without tones), Slovak tags, glyphs (semi-synthetic), and 49 English tags,
where GDMM should not be chosen; sets of labels with all interactions (bibtex, delicious), relaxed, with the lam of the
estimator's rule. Seconds are CPU seconds of steps; values are found off the clock. lam of chains is 30 / n.
Run: python -m benchmarks.large_output [--quick]
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from maxmargin.solvers import GDMM, BlockFrankWolfe, get_solver

from .._report import Bar, arguments, finish
from . import runs
from .label_sets import label_sets, set_table
from .runs import AUTO, BCFW, BCFW_DENSE, GDMM_EXACT, GDMM_SUB, follow, optimum, solvers
from .tasks import (
    ALIKE,
    LENGTH,
    PER_TOKEN,
    REAL,
    SHARED,
    WINDOW,
    N,
    Task,
    commonest,
    real,
    stretches,
    synthetic,
)

ALL = 2346  # characters of the Cantonese training sequences
SETS = {"bibtex": 500, "delicious": 100}  # samples: other solvers than GDMM take seconds a pass
NEAR = 0.01  # primal values this share above the optimum are compared


def table(name: str, task: Task, limit: float, most: int) -> tuple[dict[str, runs.Run], float]:
    """All solvers on a problem, and the best primal value known."""
    found = {
        solver: follow(one, problem, task, limit=limit, most=most) for solver, (one, problem) in solvers(task).items()
    }
    best = min(optimum(task), *(run.primal[-1] for run in found.values()))
    print(f"\n{name}: {task.n} sequences, {len(task.problem.labels)} tokens, {task.n_labels} labels; best {best:.5f}")
    print(f"{'':16}{'passes':>8}{'s a pass':>10}{'s to 5 %':>10}{'s to 1 %':>10}{'above at end':>14}{'test error':>12}")
    for solver, run in found.items():
        times = "".join(f"{run.time_to((1 + share) * best):10.2f}" for share in (0.05, NEAR))
        above = run.primal[-1] / best - 1.0
        ends = f"{run.passes[-1]:8.1f}{run.seconds[-1] / run.passes[-1]:10.3f}"
        print(f"{solver:16}{ends}{times}{above:14.2%}{run.error[-1]:12.3f}", flush=True)
    by_passes(found, best)
    extras = found[GDMM_SUB].extras
    print(f"GDMM: {extras['visited']:.1f} entries visited in case (i), violation {extras['violation']:.3f}")
    return found, best


def by_passes(found: dict[str, runs.Run], best: float) -> None:
    """Percent above the optimum after so many passes: Figure 2 of the paper."""
    looks = (5, 10, 20, 40, 80)
    print(f"{'above after':16}" + "".join(f"{passes:>8}" for passes in looks) + "  passes")
    for solver in (GDMM_EXACT, GDMM_SUB, *(runs.SOFT.format(rho) for rho in runs.SOFT_RHOS)):
        above = (found[solver].after(passes) / best - 1.0 for passes in looks)
        print(f"{solver:16}" + "".join(f"{share:8.1%}" for share in above))


def growth(make: Callable[[int], Task], sizes: tuple[int, ...], title: str, limit: float) -> dict[str, float]:
    """Seconds to 1 % above the optimum as the number of labels grows, and the slopes of their logarithms."""
    print(f"\n{title}: CPU seconds to {NEAR:.0%} above the optimum")
    of_all: dict[str, list[float]] = {"GDMM": [], f"GDMM, nu = {runs.NU}": [], AUTO: [], BCFW: []}
    for n_labels in sizes:
        task = make(n_labels)
        best = optimum(task)
        goal = (1.0 + NEAR) * best
        chosen = (GDMM(), GDMM(nu=runs.NU), get_solver("auto", task.problem), BlockFrankWolfe(averaging="weighted"))
        for name, solver in zip(of_all, chosen, strict=True):
            run = follow(solver, task.problem, task, limit=limit, most=200, goal=goal)
            of_all[name].append(run.time_to(goal))
        print(
            f"{n_labels:6} labels, best {best:.4f}: " + ", ".join(f"{name} {t[-1]:.2f}" for name, t in of_all.items()),
            flush=True,
        )
    slopes = {name: slope(sizes, times) for name, times in of_all.items()}
    shown = slopes | {"the quickest at each number": slope(sizes, np.min(list(of_all.values()), axis=0).tolist())}
    print("slopes: " + ", ".join(f"{name} {slope:.2f}" for name, slope in shown.items()))
    return slopes


def alone(call: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """What a call returns in a process of its own, and how much memory that had at its peak, in GB."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(with_peak, call, *args).result()


def with_peak(call: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    found = call(*args)
    return found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def slope(sizes: tuple[int, ...], times: list[float]) -> float:
    """Of the logarithms; infinite if not all were reached."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0]) if np.isfinite(times).all() else np.inf


def dense_ratio(found: dict[str, runs.Run], best: float) -> tuple[float | None, float]:
    """How many times longer block Frank-Wolfe over all pairs takes to 1 % than the best of ours, and than itself.

    Its iterates are the same to the last bit, only slower: so its time is that of the passes it needs. None where
    these were not measured to their end.
    """
    goal = (1.0 + NEAR) * best
    sparse = found[BCFW].time_to(goal)
    per_pass = {name: found[name].seconds[-1] / found[name].passes[-1] for name in (BCFW, BCFW_DENSE)}
    ratio = float(per_pass[BCFW_DENSE] / per_pass[BCFW])
    ours = min(found[name].time_to(goal) for name in (GDMM_EXACT, GDMM_SUB, BCFW, AUTO))
    return (sparse * ratio / ours if np.isfinite(sparse) else None), ratio


def main() -> None:
    quick = arguments(__doc__).quick
    n_train, limit, most = (150, 1.0, 20) if quick else (1000, 15.0, 80)
    bars = []
    tasks = {name: partial(real, fetch, n_train, 200 if quick else 1000) for name, fetch in REAL.items()}
    tasks[f"Cantonese, all {ALL} characters"] = partial(commonest, ALL, n_train)
    for name in ("Cantonese", "EWT, 49 tags") if quick else tasks:
        task = tasks[name]()
        found, best = table(name, task, limit, most)
        if task.n_labels > 100:
            ratio, alone = dense_ratio(found, best)
            print(f"dense over sparse Viterbi, a pass: {alone:.1f}; dense over the best of ours to 1 %: {ratio}")
            if task.n_labels > 2000:
                bars.append(Bar(f"{name}: dense Viterbi over the best of ours to 1 %", ratio, 20.0, at_least=True))
        else:
            goal = (1.0 + NEAR) * best
            quickest = min(run.time_to(goal) for run in found.values())
            gdmm = min(found[one].time_to(goal) for one in (GDMM_SUB, GDMM_EXACT))
            bars.append(Bar(f"{name}: GDMM over the best to 1 %", gdmm / quickest if quickest < np.inf else None, 3.0))
            chosen = isinstance(get_solver("auto", task.problem), GDMM)
            bars.append(Bar(f"{name}: auto takes GDMM", float(chosen), 0.0))
    for name, size in {"bibtex": 60}.items() if quick else SETS.items():
        set_table(name, label_sets(name, size, 20 if quick else 300), limit, most)
    sizes_alike = (50, 100, 200) if quick else (50, 150, 500, 1500, 5000)
    alike = f"{N} synthetic chains of {LENGTH}, {PER_TOKEN} features a token, {ALIKE} labels alike, {SHARED} a feature"
    slopes, memory = alone(growth, synthetic, sizes_alike, alike, limit)
    bars.append(Bar("synthetic chains: slope of the best of ours", min(slopes.values()), 0.75))
    sizes = (50, 200) if quick else (50, 150, 500, 1500, ALL)
    slopes = growth(lambda k: stretches(k, n_train), sizes, f"Cantonese, {WINDOW} of the commonest characters", limit)
    bars.append(Bar("Cantonese, commonest: slope of the best of ours", min(slopes.values()), 0.75))
    print(f"\nresident memory of the runs on synthetic chains at most {memory:.2f} GB, all that they import included")
    bars.append(Bar(f"resident memory with up to {sizes_alike[-1]} labels, GB", memory, 2.0))
    finish(bars)


if __name__ == "__main__":
    main()
