"""What benchmarks.figures keeps: one file a data set, so that parts can be run again, and pictures drawn anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .runs import Run, Runs

OUTPUT = Path(__file__).parents[1] / "output" / "figures"
REFERENCE = "reference, "  # and the solver: a long run, for the optimum and for bars; not drawn


def path_of(folder: Path, data: str) -> Path:
    return folder / f"{data.replace(' ', '-')}.npz"


def save(folder: Path, data: str, runs: Runs) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    columns = {
        "|".join([*key, str(seed), column]): values
        for key, group in runs.items()
        for seed, run in enumerate(group)
        for column, values in run._asdict().items()
    }
    np.savez_compressed(path_of(folder, data), **columns)


def load(folder: Path, data: str) -> Runs:
    """The runs of a data set; nothing where there is no file."""
    path, runs = path_of(folder, data), Runs()
    if not path.exists():
        return runs
    with np.load(path) as columns:
        stored = dict(columns)
    for name in stored:
        lam, solver, seed, column = name.split("|")
        if column == Run._fields[0]:
            run = Run(*(stored["|".join([lam, solver, seed, one])] for one in Run._fields))
            runs.setdefault((lam, solver), []).append(run)
    return runs


def brackets(runs: Runs) -> dict[str, tuple[float, float]]:
    """The highest dual and the lowest primal value of each lam, of all runs: the optimum lies between them."""
    known: dict[str, tuple[float, float]] = {}
    for (lam, _), group in runs.items():
        for run in group:
            if not np.all(np.isnan(run.primal)):
                low, high = known.get(lam, (-np.inf, np.inf))
                low = max(low, *run.dual[np.isfinite(run.dual)], -np.inf)
                known[lam] = low, min(high, float(np.min(run.primal)))
    return known


def drawn(runs: Runs) -> Runs:
    return {key: group for key, group in runs.items() if not key[1].startswith(REFERENCE)}
