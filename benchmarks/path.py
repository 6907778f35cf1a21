"""The regularization path against grids of lam, and how kappa trades breakpoints for passes.

OCR-small, eps = 0.1, as in Osokin et al. 2016, App. K: the eps-approximate path, the heuristic path, and the grid 2^15
to 2^-15 with and without warm start, by two of the paper's solvers and by `auto` (Figure 8); kappa from 0.1 to 0.99
(Figure 7); the paper's rule (12) for the next breakpoint against ours. The horses likewise (Figure 4), with weights
kept positive for minimum cuts, down to 2^-3: far below the best lam, about 10. Gaps are absolute, as in the paper, and
shares of the objective in the rows "relative". Four minutes. Run: python -m benchmarks.path [--quick]
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from pathlib import Path as File
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from maxmargin.solvers import BlockFrankWolfe, Path, lam_grid, regularization_path
from maxmargin.solvers.path.follow import PAPER_GRID
from maxmargin.solvers.path.rules import ApproximatePath, PathEnd, Step
from maxmargin.solvers.path.runs import Effort, certified
from maxmargin.solvers.tolerance import Absolute

from ._problems import horses, load
from ._report import Bar, arguments, finish

OUTPUT = File(__file__).parent / "output"
EPS = 0.1
KAPPAS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
SOLVERS: dict[str, Any] = {
    "fw, gap": BlockFrankWolfe("gap"),
    "pairwise, gap, cache": BlockFrankWolfe("gap", step="pairwise", cache=True),
    "auto": "auto",
}
COLORS = {"eps-path": "#0072b2", "heuristic path": "#009e73", "warm grid": "#e69f00", "cold grid": "#d55e00"}


class Task(NamedTuple):
    """A problem, how it is solved, and down to which lam."""

    name: str
    problem: Any
    solvers: dict[str, Any]
    grid: tuple[float, ...]

    @property
    def n(self) -> int:
        return len(self.problem.weight)

    @property
    def asked(self) -> dict[str, Any]:
        return {"eps": EPS, "relative": False, "lam_min": min(self.grid), "random_state": 0}


def letters(quick: bool) -> Task:
    solvers = {"auto": SOLVERS["auto"]} if quick else SOLVERS
    return Task("OCR-small", load("OCR-small")[0], solvers, PAPER_GRID[:: 3 if quick else 1])


def cuts(quick: bool) -> Task:
    names = ("auto",) if quick else ("pairwise, gap, cache", "auto")
    solvers = {name: horses().solver(SOLVERS[name]) for name in names}
    return Task("horses", horses().problem, solvers, tuple(lam for lam in PAPER_GRID if lam >= 2**-3))


TASKS = (letters, cuts)


class Run(NamedTuple):
    """What the pictures and the bars need of a path."""

    lams: np.ndarray
    end: float
    passes: np.ndarray  # effective: all oracle calls over n, cumulative
    seconds: float  # CPU
    worst_gap: float

    @property
    def total(self) -> float:
        return float(self.passes[-1])


def measure(make: Any, n: int) -> Run:
    began = time.process_time()
    path = make()
    seconds = time.process_time() - began
    passes = np.cumsum(path.oracle_calls) / n
    return Run(path.breakpoints, path.lam_end, passes, seconds, path.certify())


class PaperRule(ApproximatePath):
    """The next breakpoint by rule (12): the dual point that keeps the weights."""  # osokin16, Prop. 1

    def after(self, lam: float, bracket: Any) -> Step:
        eps = self.allowed.eps
        if bracket.hinge <= eps:
            return Step(0.0, PathEnd.HINGE)
        slack = bracket.loss - 0.5 * bracket.dual_square / lam - 0.5 * lam * bracket.square
        lowest = lam * (bracket.hinge - eps * (1 - 1e-9)) / slack
        return Step(lowest, PathEnd.LAM_MIN if lowest < (self.lam_min or 0.0) else None)


def compare(task: Task, solver: Any) -> dict[str, Run]:
    """Figures 4 and 8."""
    problem, n = task.problem, task.n
    grid = {"lams": task.grid, "tol": EPS, "random_state": 0}
    return {
        "eps-path": measure(lambda: regularization_path(problem, solver, **task.asked), n),
        "relative": measure(lambda: regularization_path(problem, solver, **task.asked | {"relative": True}), n),
        "heuristic path": measure(lambda: regularization_path(problem, solver, heuristic=True, **task.asked), n),
        "warm grid": measure(lambda: lam_grid(problem, solver, **grid), n),
        "cold grid": measure(lambda: lam_grid(problem, solver, warm_start=False, **grid), n),
        "rule (12)": by_paper_rule(task, solver),
    }


def by_paper_rule(task: Task, solver: Any) -> Run:
    rule, effort = PaperRule(Absolute(EPS), 0.9, min(task.grid)), Effort(1000, None, 0, None)
    return measure(lambda: Path(task.problem, solver, rule, certified, effort).walk(), task.n)


def compare_all(task: Task) -> dict[str, dict[str, Run]]:
    for solver in task.solvers.values():  # kernels compile, or load, before anything is timed
        lam_grid(task.problem, solver, lams=task.grid[:1], tol=EPS, random_state=0)
    found = {name: compare(task, solver) for name, solver in task.solvers.items()}
    print_comparison(task.name, found)
    return found


def trade(task: Task, solver: Any, kappas: tuple[float, ...]) -> dict[bool, list[Run]]:
    """Figure 7: exact and heuristic paths for each kappa."""

    def run(kappa: float, heuristic: bool) -> Run:
        follow = partial(regularization_path, task.problem, solver, kappa=kappa, heuristic=heuristic, **task.asked)
        return measure(follow, task.n)

    return {heuristic: [run(kappa, heuristic) for kappa in kappas] for heuristic in (False, True)}


def print_comparison(task: str, found: dict[str, dict[str, Run]]) -> None:
    print(f"\n{task:22s}{'':16s}  breakpoints  effective passes   CPU s   worst certified gap")
    for name, runs in found.items():
        for what, run in runs.items():
            print(f"{name:22s}{what:16s}{len(run.lams):13d}{run.total:18.1f}{run.seconds:8.2f}{run.worst_gap:12.3f}")


def print_trade(found: dict[str, dict[bool, list[Run]]], kappas: tuple[float, ...]) -> None:
    print("\nbreakpoints / effective passes (worst certified gap) by kappa")
    print(f"{'':40s}" + "".join(f"{kappa:>18g}" for kappa in kappas))
    for name, both in found.items():
        for heuristic, runs in both.items():
            cells = [f"{len(run.lams)} / {run.total:.0f} ({run.worst_gap:.2f})" for run in runs]
            print(f"{name + (', heuristic' if heuristic else ''):40s}" + "".join(f"{cell:>18s}" for cell in cells))


def draw_paths(axes: Any, task: str, found: dict[str, dict[str, Run]]) -> None:
    for ax, (name, runs) in zip(axes, found.items(), strict=False):
        for what, color in COLORS.items():
            run = runs[what]
            end = run.end if 0 < run.end < run.lams[-1] else run.lams[-1]
            ax.step(np.append(run.lams, end), np.append(run.passes, run.passes[-1]), where="post", color=color)
            ax.plot(run.lams, run.passes, ".", color=color, label=what)
        ax.set(xscale="log", yscale="log", title=f"{task}: {name}", xlabel="lam", ylabel="effective passes so far")
        ax.invert_xaxis()
    axes[0].legend(frameon=False)


def draw_trades(axes: Any, trades: dict[str, dict[bool, list[Run]]], kappas: tuple[float, ...]) -> None:
    for ax, (name, both) in zip(axes, trades.items(), strict=True):
        for heuristic, line in ((False, "-"), (True, "--")):
            kind = "heuristic" if heuristic else "exact"
            runs = both[heuristic]
            ax.plot(kappas, [run.total for run in runs], line, color="#0072b2", label=f"effective passes, {kind}")
            ax.plot(kappas, [len(run.lams) for run in runs], line, color="#d55e00", label=f"breakpoints, {kind}")
        gap = ax.twinx()
        gap.plot(kappas, [run.worst_gap for run in both[True]], ":", color="#555555")
        gap.axhline(EPS, color="#555555", linewidth=0.5)
        gap.set(ylabel="worst true gap, heuristic (dotted)", ylim=(0, 2.5 * EPS))
        ax.set(yscale="log", title=name, xlabel="kappa")
    axes[0].legend(frameon=False, fontsize=8, loc="center")


def draw(
    found: dict[str, dict[str, dict[str, Run]]],
    trades: dict[str, dict[bool, list[Run]]],
    kappas: tuple[float, ...],
) -> File:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(trades), 3.5 * (len(found) + 1)), layout="constrained")
    axes = figure.subplots(len(found) + 1, len(trades), squeeze=False)
    for row, (task, runs) in zip(axes, found.items(), strict=False):
        draw_paths(row, task, runs)
    draw_trades(axes[-1], trades, kappas)
    for ax in axes.flat:
        ax.grid(alpha=0.25)
        ax.set_visible(ax.has_data())
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / "path.png"
    figure.savefig(path, dpi=100)
    return path


def bars_of(task: str, found: dict[str, dict[str, Run]]) -> list[Bar]:
    auto = found["auto"]
    breakpoints = max(len(runs["eps-path"].lams) / len(runs["rule (12)"].lams) for runs in found.values())
    return [
        Bar(f"{task}: worst certified gap of the eps-paths", max(r["eps-path"].worst_gap for r in found.values()), EPS),
        Bar(
            f"{task}: effective passes, eps-path / cold grid, auto", auto["eps-path"].total / auto["cold grid"].total, 1
        ),
        Bar(f"{task}: breakpoints, ours / rule (12), worst solver", breakpoints, 1.0),
    ]


def main() -> None:
    quick = arguments(__doc__).quick
    kappas = (0.5, 0.9) if quick else KAPPAS
    tasks = [make(quick) for make in TASKS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = {task.name: compare_all(task) for task in tasks}
        trades = {name: trade(tasks[0], solver, kappas) for name, solver in tasks[0].solvers.items()}
        print_trade(trades, kappas)
        print(f"  {draw(found, trades, kappas)}")
        bars = [bar for task, runs in found.items() for bar in bars_of(task, runs)]
        finish(bars)


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
