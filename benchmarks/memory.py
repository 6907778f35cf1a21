"""What the memory of outputs costs: peak resident memory on OCR-large, and what a limit on it does to the gap.
What many labels cost: peak resident memory of chains of 500.

Pairwise steps, gap sampling and the cache at lam = 1/n for 40 passes, each run in a process of its own; OCR-small with
--quick. The memory starts with 100 outputs a block (fewer where `max_bytes` says so) and grows where more hold dual
mass; at the limit outputs are forgotten by name, and the share of the mass that they held is printed: the gap stays
valid, but pairwise steps cannot take that mass. The peak is that of reading the data where it is the same in all runs.

Chains of 20 positions, 50 features and 500 labels (200 of them, 1,000 without --quick) are made at random; what a fit
of 3 passes takes is what the process gains over its imports and data, once kernels are compiled.
Run: python -m benchmarks.memory [--quick]
"""

from __future__ import annotations

import resource
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from maxmargin import ChainSVM
from maxmargin.solvers import BlockFrankWolfe, Cache

from ._problems import load
from ._report import Bar, arguments, finish

PASSES = 40


class Cost(NamedTuple):
    resident: float  # bytes, the most there ever were
    arrays: int  # bytes of outputs, masses and times
    slots: int  # a block
    held: int  # most outputs with mass in a block
    nameless: float  # share of the dual mass
    gap: float


def run(max_bytes: float | None, split: str) -> Cost:
    problem, n = load(f"OCR-{split}")
    solver = BlockFrankWolfe("gap", step="pairwise", cache=Cache(max_bytes=max_bytes))
    with threadpool_limits(1):
        result = solver.solve(problem, 1 / n, tol=0, max_passes=PASSES, random_state=0)
    memory = result.state.memory
    return Cost(
        resident=peak(),
        arrays=memory.labelings.codes.nbytes + memory.mass.nbytes + memory.last_used.nbytes,
        slots=memory.mass.shape[1],
        held=int(np.count_nonzero(memory.mass, axis=1).max()),
        nameless=float(1 - memory.mass.sum() / n),
        gap=result.gap,
    )


LENGTH, FEATURES, LABELS = 20, 50, 500
MANY_LABELS_PASSES = 3
SOLVERS = {"auto": "auto", "bcpfw": "bcpfw", "averaged": BlockFrankWolfe("gap", "weighted", step="pairwise")}


def peak() -> float:
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes on Linux


def gain(solver: str, n: int) -> float:
    """Bytes that a fit of chains with many labels adds to the peak of a process."""
    rng = np.random.default_rng(0)
    centres, y = rng.normal(size=(LABELS, FEATURES)), rng.integers(LABELS, size=(n, LENGTH))
    X = [centres[labels] + 1.5 * rng.normal(size=(LENGTH, FEATURES)) for labels in y]
    model = ChainSVM(solver=SOLVERS[solver], lam=1 / n, tol=0, max_passes=MANY_LABELS_PASSES, random_state=0)
    before = peak()
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        model.fit(X, list(y))
    return peak() - before


def many_labels(pool: ProcessPoolExecutor, n: int) -> list[Bar]:
    print(f"{n} chains of {LENGTH} positions, {LABELS} labels, {MANY_LABELS_PASSES} passes: MB a fit adds to the peak")
    bars = []
    for solver in SOLVERS:
        for size in (50, n):  # the first one compiles
            gained = pool.submit(gain, solver, size).result() / 1e6
        print(f"  {solver:15s} {gained:16.0f}", flush=True)
        bars.append(Bar(f"a fit of {n} chains with {LABELS} labels, {solver}, MB", gained, 300))
    return bars


def main() -> None:
    args = arguments(__doc__)
    split, given = ("small", 5e6) if args.quick else ("large", 50e6)
    limits = {"no limit given": None, f"{given / 1e6:g} MB": given, f"{given / 16e6:.2g} MB": given / 16}
    costs: dict[str, Cost] = {}
    print(f"OCR-{split}, lam = 1/n, pairwise + gap + cache, {PASSES} passes:")
    print("  limit           peak resident MB  memory MB  slots  most with mass  nameless mass  certified gap")
    # a forked process would begin with what this one holds
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        for name, cost in zip(limits, pool.map(run, limits.values(), [split] * len(limits)), strict=True):
            costs[name] = cost
            print(
                f"  {name:15s} {cost.resident / 1e6:16.0f} {cost.arrays / 1e6:10.1f} {cost.slots:6d} {cost.held:15d} "
                f"{cost.nameless:14.1e} {cost.gap:14.4f}",
                flush=True,
            )
        bars = many_labels(pool, 200 if args.quick else 1000)
    free, limited, _ = costs.values()
    finish(
        [
            Bar(f"peak resident memory, OCR-{split}, GB", free.resident / 1e9, 1.0),
            Bar("memory of outputs with a limit, MB", limited.arrays / 1e6, given / 1e6),
            Bar("gap with that limit / gap without", limited.gap / free.gap, 1.05),
            *bars,
        ]
    )


if __name__ == "__main__":
    main()
