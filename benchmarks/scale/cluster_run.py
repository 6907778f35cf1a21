"""One fit on a cluster, as a process of its own: what the benchmark of clusters kills.

Run: python -m benchmarks.scale.cluster_run SCHEDULER_FILE FOLDER LAM TOL CHECKPOINT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin import ChainSVM
from maxmargin.distributed import PartitionFiles, Rounds


def load(path: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The sequences and labels of a partition."""
    with np.load(path) as file:
        cuts = np.cumsum(file["lengths"])[:-1]
        return np.split(file["rows"], cuts), np.split(file["labels"], cuts)


def write(folder: Path, X: list[np.ndarray], y: list[np.ndarray], n_partitions: int) -> list[str]:
    """Partitions as files; which samples are in which, chance decides."""
    paths = []
    for k, some in enumerate(np.array_split(np.random.default_rng(0).permutation(len(X)), n_partitions)):
        parts = [X[i] for i in some], [y[i] for i in some]
        paths.append(str(folder / f"{k}_of_{n_partitions}.npz"))
        rows, labels = map(np.concatenate, parts)
        np.savez(paths[-1], rows=rows, labels=labels, lengths=[len(labels) for labels in parts[1]])
    return paths


def fit(paths: list[str], lam: float, tol: float, checkpoint: Any = None, **rounds: Any) -> ChainSVM:
    """Learn from partitions, on the cluster of the client that is there."""
    options = {"random_state": 0, "max_passes": 400, "checkpoint": checkpoint, "checkpoint_every": 0.1}
    solver = Rounds(gap_every=5, **rounds)
    return ChainSVM(lam=lam, tol=tol, solver=solver, **options).fit(PartitionFiles(paths, load), None)


def main() -> None:
    from distributed import Client

    scheduler_file, folder, lam, tol, checkpoint = sys.argv[1:]
    with Client(scheduler_file=scheduler_file):
        model = fit(sorted(map(str, Path(folder).glob("*.npz"))), float(lam), float(tol), checkpoint)
    found = {"primal": model.primal_, "dual": model.dual_, "rounds": int(model.history_["rounds"][-1])}
    print(json.dumps(found | {"weights": float(np.sum(np.abs(model.coef_)))}))


if __name__ == "__main__":
    main()
