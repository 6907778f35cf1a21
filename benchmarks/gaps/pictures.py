"""The figures of benchmarks.gaps: curves as pictures, and in numbers Figure 1 of the paper, on how gaps go stale."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maxmargin.solvers import BlockFrankWolfe, Cache
from maxmargin.solvers.diagnostics import block_gaps, curvature_bounds, nonuniformity, predicted_speedup

from .._problems import load
from .._report import in_turn
from .compare import compare
from .runs import GAP_EVERY, LAMS, VARIANTS, Run, Runs, Variant

OUTPUT = Path(__file__).parents[1] / "output"
NEVER = Cache(F=1e300, nu=1e300)  # remembers outputs, never uses them; infinity times a gap of 0 would

PANELS = [  # what is drawn against what
    ("passes", "effective passes (oracle calls / n)", "gap", "certified duality gap"),
    ("seconds", "CPU seconds", "gap", "certified duality gap"),
    ("passes", "effective passes (oracle calls / n)", "dual", "dual value"),
]


# -- pictures


def draw(runs: Runs, split: str) -> Path:
    """One row a lam: gap against effective passes and CPU seconds, dual value against effective passes."""
    from matplotlib.figure import Figure

    lams = list(dict.fromkeys(lam for one, lam, _ in runs if one == split))
    figure = Figure(figsize=(16, 0.8 + 3.6 * len(lams)), layout="constrained")
    axes = figure.subplots(len(lams), len(PANELS), squeeze=False)
    for (lam, (x, x_label, y, y_label)), ax in zip(product(lams, PANELS), axes.flat, strict=True):
        for variant in VARIANTS:
            draw_runs(ax, runs[split, lam, variant], x, y, variant)
        ax.set(xlabel=x_label, ylabel=y_label, title=f"OCR-{split}, lam = {lam}")
        scale_axes(ax, logarithmic_y=y == "gap")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / f"gaps_{split}{'' if len(lams) == len(LAMS) else '_quick'}.png"
    figure.savefig(path, dpi=110)
    return path


def scale_axes(ax: Any, logarithmic_y: bool) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    if logarithmic_y:
        ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis) if logarithmic_y else (ax.xaxis,):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    ax.grid(which="both", alpha=0.2)


def draw_runs(ax: Any, group: list[Run], x: str, y: str, variant: Variant) -> None:
    """The median over seeds, and what lies between the lowest and the highest."""
    later = [getattr(run, x)[1:] for run in group]  # the start, where all are alike, comes at no time at all
    grid = np.geomspace(max(one[0] for one in later), min(one[-1] for one in later), 60)
    curves = np.array([np.interp(grid, one, getattr(run, y)[1:]) for one, run in zip(later, group, strict=True)])
    color = {False: "#d55e00", True: "#0072b2"}[variant.cache]
    ax.fill_between(grid, curves.min(axis=0), curves.max(axis=0), color=color, alpha=0.12, linewidth=0)
    ax.plot(
        grid,
        np.median(curves, axis=0),
        color=color,
        linestyle={"uniform": "--", "gap": "-"}[variant.sampling],
        marker={"fw": "s", "pairwise": "o"}[variant.step],
        markerfacecolor={"fw": "white", "pairwise": color}[variant.step],
        markersize=4.5,
        markevery=8,
        linewidth=1.4,
        label=str(variant),
    )


# -- Figure 1


class Setting(NamedTuple):
    split: str
    lam: str
    sampling: str
    every: float  # passes between two looks at all gaps
    budget: float  # effective passes

    def __str__(self) -> str:
        return f"{self.sampling}, " + ("never" if self.every == np.inf else f"every {self.every:g} passes")


class Look(NamedTuple):
    gap: float
    stale: float  # remembered / exact gap
    chi: float  # of the exact block gaps
    chi_curvature: float
    predicted: float


def look_along(setting: Setting) -> list[Look]:
    """A run that is looked at after each pass of steps, outside its accounts."""
    problem, n = load(f"OCR-{setting.split}")
    engine = BlockFrankWolfe(setting.sampling, cache=NEVER).start(problem, LAMS[setting.lam] / n, None, 0, None)
    engine.certify()
    looks: list[Look] = []
    while engine.oracle_calls < setting.budget * n:
        goal = engine.steps + n
        while engine.steps < goal:
            engine.advance(goal - engine.steps)
        state = engine.state()
        gaps, curvature = block_gaps(problem, state), curvature_bounds(problem, state).upper
        stale = float(np.sum(state.gaps) / np.sum(gaps))
        chis = nonuniformity(gaps), nonuniformity(curvature), predicted_speedup(gaps, curvature)
        looks.append(Look(float(np.sum(gaps)), stale, *chis))
        if engine.steps // n % setting.every == 0:
            engine.certify()
    return looks


def figure_one(lams: list[str], budget: float, runs: Runs, workers: int) -> None:
    """What gap sampling had to gain on OCR-small, and how far what it remembers is from the truth."""
    choices = [("uniform", 10.0), *(("gap", every) for every in (1.0, GAP_EVERY, 10.0, np.inf))]
    settings = [Setting("small", lam, *choice, budget) for lam, choice in product(lams, choices)]
    found = zip(settings, in_turn(look_along, settings, workers), strict=True)
    for lam in lams:
        print(f"\nFigure 1, OCR-small, lam = {lam}, Frank-Wolfe steps, one seed, {budget:g} effective passes;")
        print(f"  chi, the nonuniformity over blocks, is at most {np.sqrt(load('OCR-small')[1]):.0f}:")
        print("                              lowest  remembered / exact     chi(gaps)  chi(C)  predicted speed-up")
        print("  sampling, refreshed            gap   median   at the end  first  last    last       first   last")
        for setting, looks in (next(found) for _ in choices):
            first, last = looks[0], looks[-1]
            print(
                f"  {setting!s:24s} {min(look.gap for look in looks):9.2e} "
                f"{np.median([look.stale for look in looks]):8.2f} {last.stale:12.2f} {first.chi:6.2f} {last.chi:5.2f} "
                f"{last.chi_curvature:7.2f} {first.predicted:11.2f} {last.predicted:6.2f}"
            )
        print(f"  measured speed-up: {'; '.join(measured_speedups(runs, lam))}")


def measured_speedups(runs: Runs, lam: str) -> list[str]:
    pairs = [(one, one._replace(sampling="gap")) for one in VARIANTS if one.sampling == "uniform"]
    return [
        f"{one.without('sampling')} {1 / compare(runs['small', lam, one], runs['small', lam, two]).ratio:.2f}"
        for one, two in pairs
    ]
