"""The tables of benchmarks.figures: passes and CPU seconds to suboptimalities, as text and as Markdown."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .runs import SOLVERS, Run, Runs
from .store import brackets, drawn

GOALS = (1e-1, 1e-2, 1e-3)
SHORT = {  # columns of the summary: the family, and its members, of which the best counts
    "fw": ("fw",),
    "bcfw": ("bcfw", "bcfw-wavg"),
    "bcpfw": ("bcpfw, gap, cache",),
    "auto": ("auto",),
    "subgradient": ("ssg", "ssg-wavg"),  # not the tuned ones, whose seconds are without tuning
    "cutting plane": ("cutting plane, 1 slack", "cutting plane, n slacks"),
    "exp. gradient": ("exp. gradient",),
    "peers": ("LinearSVC",),
}


def efforts(group: list[Run], optimum: float) -> np.ndarray:
    """(goals, 2) medians over seeds of passes and CPU seconds; infinite where half the seeds do not arrive."""
    found = np.array([[run.to(goal, optimum) for goal in GOALS] for run in group])
    middle = np.sort(found, axis=0)  # no mean of something and infinity
    return middle[len(group) // 2]


def number(value: float) -> str:
    """Three digits; a dash where it was not reached."""
    if not np.isfinite(value):
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def lams_of(runs: Runs) -> list[str]:
    return list(brackets(runs))


def solvers_of(runs: Runs, lam: str) -> list[str]:
    """Solvers with a primal value, ours in their order first."""
    names = [name for one, name in drawn(runs) if one == lam]
    return [name for name in SOLVERS if name in names] + [name for name in names if name not in SOLVERS]


def print_table(data: str, runs: Runs) -> None:
    known = brackets(runs)
    for lam in lams_of(runs):
        low, high = known[lam]
        print(
            f"\n{data}, lam = {lam}: optimum in [{low:.6f}, {high:.6f}], {high - low:.1e} wide; suboptimality is "
            "primal - the lower end;"
        )
        print("  passes (oracle calls / n) and CPU seconds to it, medians over seeds")
        heads = "".join(f"{f'{goal:g}':>16s}" for goal in GOALS)
        print(f"  {'solver':26s}{heads}   seeds  at the end: passes, CPU s, suboptimality, test error")
        for solver in solvers_of(runs, lam):
            group = runs[lam, solver]
            cells = [f"{number(passes):>8s}{number(seconds):>8s}" for passes, seconds in efforts(group, low)]
            last = [np.median([getattr(run, column)[-1] for run in group]) for column in Run._fields]
            passes, seconds, primal, _, error = last
            print(
                f"  {solver:26s}{''.join(cells)} {len(group):7d}  {number(passes):>8s} {seconds:7.2f} "
                f"{primal - low:9.1e} {error:8.2%}"
            )
    others = {name: group for (lam, name), group in runs.items() if lam not in known}
    for name, (run, *_) in others.items():
        pairs = zip(run.error, run.seconds, strict=True)
        points = ", ".join(f"{error:.2%} {seconds:.1f} s" for error, seconds in pairs)
        print(f"\n  {name}: test errors and CPU seconds {points}")


def markdown(runs: dict[str, Runs]) -> str:
    """All of it, one table a data set."""
    parts = []
    for data, of_data in runs.items():
        heads = [f"passes to {goal:g} | CPU s" for goal in GOALS]
        parts.append(f"\n**{data}**\n\n| lam | solver | {' | '.join(heads)} | seeds |")
        parts.append("|---|---|" + "---:|" * (2 * len(GOALS) + 1))
        known = brackets(of_data)
        for lam in lams_of(of_data):
            for solver in solvers_of(of_data, lam):
                group = of_data[lam, solver]
                cells = [number(value) for pair in efforts(group, known[lam][0]) for value in pair]
                parts.append(f"| {lam} | {solver} | {' | '.join(cells)} | {len(group)} |")
    return "\n".join(parts).lstrip("\n") + "\n"


def summary(runs: dict[str, Runs]) -> str:
    """CPU seconds to 1e-1 / 1e-2 / 1e-3, the best solver of each family; the best of a row in bold."""
    parts = [f"| CPU s to {' / '.join(f'{goal:g}' for goal in GOALS)} | {' | '.join(SHORT)} |"]
    parts.append("|---|" + "---:|" * len(SHORT))
    for data, of_data in runs.items():
        for lam, (low, _) in brackets(of_data).items():
            seconds = {
                family: np.min(
                    [efforts(of_data[lam, one], low)[:, 1] for one in members if (lam, one) in of_data]
                    or [[np.inf] * len(GOALS)],
                    axis=0,
                )
                for family, members in SHORT.items()
            }
            best = np.min(list(seconds.values()), axis=0)
            cells = [
                " / ".join(
                    f"**{number(value)}**" if value == lowest < np.inf else number(value)
                    for value, lowest in zip(values, best, strict=True)
                )
                for values in seconds.values()
            ]
            parts.append(f"| {data}, {lam} | {' | '.join(cells)} |")
    return "\n".join(parts) + "\n"


def write_tables(folder: Path, runs: dict[str, Runs]) -> list[Path]:
    paths = [folder / "table.md", folder / "summary.md"]
    for path, text in zip(paths, (markdown(runs), summary(runs)), strict=True):
        path.write_text(text)
    return paths
