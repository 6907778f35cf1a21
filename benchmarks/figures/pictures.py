"""The pictures of benchmarks.figures: medians over seeds, shaded from the lowest to the highest."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .runs import Run, Runs
from .store import brackets, drawn
from .tables import lams_of

SUBOPTIMALITY, ERROR = "primal suboptimality", "test error"
PASSES, SECONDS = "effective passes (oracle calls / n)", "CPU seconds"
PANELS = [("passes", SUBOPTIMALITY), ("seconds", SUBOPTIMALITY), ("passes", ERROR), ("seconds", ERROR)]
LOWEST = 1e-4  # suboptimalities below are drawn there: the optimum is not known better
HIGHEST = 3.0


class Look(NamedTuple):
    color: str
    line: str = "-"
    marker: str = ""
    width: float = 1.4


STYLES: dict[str, Look] = {
    "fw": Look("#7f7f7f", "-"),
    "bcfw": Look("#d55e00", "--"),
    "bcfw-wavg": Look("#d55e00", "-"),
    "bcpfw, gap, cache": Look("#e69f00", "-"),
    "auto": Look("#0072b2", "-", width=2.4),
    "ssg": Look("#009e73", "--"),
    "ssg-wavg": Look("#009e73", "-"),
    "ssg-wavg, tuned": Look("#009e73", ":"),
    "subgradient, tuned": Look("#7f7f7f", "--"),
    "cutting plane, 1 slack": Look("#cc79a7", "-"),
    "cutting plane, n slacks": Look("#cc79a7", "--"),
    "exp. gradient": Look("#56b4e9", "-"),
    "perceptron": Look("#7f7f7f", ":"),
    "crfsuite, lbfgs": Look("black", "-", "s"),
    "crfsuite, l2sgd": Look("black", "--", "^"),
    "crfsuite, ap": Look("black", ":", "o"),
    "LinearSVC": Look("black", "-", "D"),
}


def draw(folder: Path, data: str, runs: Runs) -> Path:
    """One row a lam: suboptimality and test error against effective passes and CPU seconds."""
    from matplotlib.figure import Figure

    lams = lams_of(runs)
    figure = Figure(figsize=(17, 1.0 + 3.4 * len(lams)), layout="constrained")
    axes = figure.subplots(len(lams), len(PANELS), squeeze=False)
    for (lam, (x, y)), ax in zip(product(lams, PANELS), axes.flat, strict=True):
        fill(ax, runs, lam, x, y)
        ax.set_title(f"{data}, lam = {lam}", fontsize=10)
    add_legend(figure, axes)
    path = folder / f"{data.replace(' ', '-')}.png"
    figure.savefig(path, dpi=100)
    return path


def draw_summary(folder: Path, runs: dict[str, Runs], lam_number: int = -1) -> Path:
    """Suboptimality against passes above, against CPU seconds below, one column a data set, at the smallest lam."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(runs), 7.2), layout="constrained")
    axes = figure.subplots(2, len(runs), squeeze=False)
    for column, (data, of_data) in zip(axes.T, runs.items(), strict=True):
        lam = lams_of(of_data)[lam_number]
        for ax, (x, y) in zip(column, PANELS[:2], strict=True):
            fill(ax, of_data, lam, x, y)
            ax.set_title(f"{data}, lam = {lam}", fontsize=10)
    add_legend(figure, axes)
    path = folder / "summary.png"
    figure.savefig(path, dpi=100)
    return path


def add_legend(figure: Any, axes: Any) -> None:
    """Above all panels, where it hides no curve."""
    found: dict[str, Any] = {}
    for ax in axes.flat:
        handles, labels = ax.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    names = [name for name in STYLES if name in found]
    figure.legend([found[name] for name in names], names, loc="outside upper center", ncols=7, frameon=False)


def fill(ax: Any, runs: Runs, lam: str, x: str, y: str) -> None:
    known = brackets(runs)
    optimum = known[lam][0]
    shown = {name: group for (one, name), group in drawn(runs).items() if one == lam or one not in known}
    for name, group in shown.items():
        curves = [curve_of(run, x, y, optimum) for run in group]
        draw_group(ax, [curve for curve in curves if len(curve[0]) > 1], name)
    ax.set(xscale="log", yscale="log", xlabel={"passes": PASSES, "seconds": SECONDS}[x], ylabel=y)
    if y == SUBOPTIMALITY:
        ax.set_ylim(0.8 * LOWEST, HIGHEST)
        width = known[lam][1] - optimum
        if width > LOWEST:  # below, curves say how well the optimum is known
            ax.axhspan(0.8 * LOWEST, width, color="black", alpha=0.06, linewidth=0)
    else:
        plain_ticks(ax)
    ax.grid(which="major", alpha=0.3)
    ax.grid(which="minor", alpha=0.08)


def plain_ticks(ax: Any) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, PercentFormatter

    ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.yaxis.set_minor_formatter(NullFormatter())


def curve_of(run: Run, x: str, y: str, optimum: float) -> tuple[np.ndarray, np.ndarray]:
    """Points that logarithmic axes can show; the start, where all are alike, comes at no time at all."""
    at = getattr(run, x)
    values = np.maximum(run.primal - optimum, LOWEST) if y == SUBOPTIMALITY else run.error
    kept = np.isfinite(at) & np.isfinite(values) & (values > 0) & (at > at[0] if y == SUBOPTIMALITY else at > 0)
    if y == ERROR and np.any(np.isfinite(run.primal)):
        kept[0] = False
    return at[kept], values[kept]


def draw_group(ax: Any, curves: list[tuple[np.ndarray, np.ndarray]], name: str) -> None:
    if not curves:
        return
    look = STYLES[name]
    low, high = max(at[0] for at, _ in curves), max(at[-1] for at, _ in curves)
    grid = np.geomspace(low, max(high, 1.001 * low), 80) if not look.marker else curves[0][0]
    table = np.exp([np.interp(np.log(grid), np.log(at), np.log(values)) for at, values in curves])
    if len(curves) > 1:
        ax.fill_between(grid, table.min(axis=0), table.max(axis=0), color=look.color, alpha=0.15, linewidth=0)
    middle = np.median(table, axis=0)
    ax.plot(grid, middle, look.line, color=look.color, linewidth=look.width, label=name, marker=look.marker or None)
