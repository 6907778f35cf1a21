"""How many rounds a goal takes, by the number of partitions and the passes of a round: what forecasts are fitted on.

What partitions do does not depend on where they are: these are right here, one after the other. Words of OCR-large and
sentences of CoNLL-2000, accelerated pairwise steps, sigma as the changes tell. Prints the rounds, the fitted law beside
them, and seconds that clusters of 1 to 10,000 workers would take; with a path it draws them, too.
Run: python -m benchmarks.scale.cluster_costs [picture.png]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin import ChainSVM, datasets
from maxmargin.distributed import Forecast, Partitioned, Rounds
from maxmargin.distributed.forecast import RoundsLaw
from maxmargin.solvers import BlockFrankWolfe

from .._report import effort_to

PARTITIONS, PASSES = (2, 8, 32), (0.25, 0.5, 1.0, 2.0)


class Data(NamedTuple):
    name: str
    X: Any
    y: Any
    lam: float
    tol: float


def data_sets() -> Iterator[Data]:
    ocr, text = datasets.fetch_ocr("large"), datasets.fetch_conll2000()
    for times, tol in ((100, 1e-3), (1, 1e-2)):
        yield Data(f"OCR-large, 2,000 words, {times}/n", ocr.X_train[:2000], ocr.y_train[:2000], times / 2000, tol)
    yield Data("CoNLL-2000, 500 sentences, 100/n", text.X_train[:500], text.y_train[:500], 0.2, 1e-3)


def parts_of(data: Data, n_partitions: int) -> Partitioned:
    """The samples in partitions by chance, read alike."""
    reader = ChainSVM(lam=data.lam)
    whole = reader._read(data.X, data.y, None, None)
    order = np.random.default_rng(0).permutation(len(data.X))
    vars(reader).update(n_features_in_=whole.rows.shape[1], n_edge_features_in_=None)
    problems, counts = [], []
    for some in np.array_split(order, n_partitions):
        samples = reader._read([data.X[i] for i in some], [data.y[i] for i in some], None, whole)
        problems.append(reader._pose(samples).problem)
        counts.append(len(some))
    return Partitioned.of_problems(problems, counts)


class Run(NamedTuple):
    partitions: int
    passes: float  # of a round
    rounds: float  # to the goal
    times: float  # as many passes as one machine


def runs_on(data: Data) -> list[Run]:
    """Rounds to the goal, infinite where it was not reached."""
    steps = BlockFrankWolfe("gap", "weighted", step="pairwise", acceleration="catalyst", gap_every=2)
    whole = ChainSVM(lam=data.lam).encode(data.X, data.y).problem
    history = steps.solve(whole, data.lam, tol=data.tol, random_state=0).history
    alone = effort_to(data.tol, history["gap"], history["passes"])
    print(f"{data.name}, gap {data.tol:g}: one machine {alone:.1f} passes", flush=True)
    found = []
    for k in PARTITIONS:
        problem = parts_of(data, k)
        for passes in PASSES:
            began, solver = time.perf_counter(), Rounds(steps, passes=passes, gap_every=2)
            history = solver.solve(problem, data.lam, tol=data.tol, max_passes=800, random_state=0).history
            needed = effort_to(data.tol, history["gap"], history["passes"])
            found.append(Run(k, passes, needed / passes, needed / alone))
            seconds = time.perf_counter() - began
            print(
                f"  {k:3d} partitions, {passes:4g} passes a round: {needed / passes:6.1f} rounds ({seconds:.1f} s)",
                flush=True,
            )
    return found


def main() -> None:
    runs = [run for data in data_sets() for run in runs_on(data)]
    law = RoundsLaw.fitted([run for run in runs if run.times < np.inf])
    print(law)
    for name, forecast in examples(law).items():
        print(name)
        print(forecast)
    if len(sys.argv) > 1:
        draw(law, sys.argv[1])


def examples(law: RoundsLaw) -> dict[str, Forecast]:
    """Four kinds of data, on machines in one room (10 GBit/s, 0.5 ms) with Dask's own share of a round."""
    room = {"bandwidth": 1.25e9, "latency": 5e-4, "overhead": 0.02, "law": law}
    return {
        "1e6 words like those of OCR: 4 us a step, 4e3 weights": Forecast(10**6, 4e-6, 4e3, **room),
        "1e6 sentences like those of CoNLL-2000: 23 us, 1e7 weights": Forecast(10**6, 2.3e-5, 1e7, **room),
        "1e8 sentences: 23 us, 1e7 weights": Forecast(10**8, 2.3e-5, 1e7, **room),
        "1e6 images by minimum cuts: 10 ms, 1e4 weights": Forecast(10**6, 1e-2, 1e4, **room),
    }


def draw(law: RoundsLaw, path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
    workers = np.unique(np.round(np.logspace(0, 4, 40)).astype(int))
    for name, forecast in examples(law).items():
        axes.loglog(workers, [forecast.speed_up(k) for k in workers], label=name)
    axes.axvline(max(PARTITIONS), color="grey", linestyle=":", label="measured up to here")
    axes.axhline(1.0, color="grey", linewidth=0.5)
    axes.set(xlabel="workers", ylabel="times as fast as one machine")
    figure.legend(loc="outside lower center", fontsize=8)  # lines are everywhere within
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
