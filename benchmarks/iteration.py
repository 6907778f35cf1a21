"""One block-coordinate iteration against bare scoring + argmax, against the same iteration at commit 1c9b87b, what each
exchangeable part adds, subgradient steps.

Passes of all variants, and of both trees, take turns in one run; ratios are medians over the turns. Every variant runs
for itself, so their dual states differ as they do in use. The first run compiles that commit's kernels, for minutes,
and keeps them in benchmarks/output; --quick leaves it out. Run: python -m benchmarks.iteration [--quick]
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from ._before import Servant, source_before
from ._floor import Floor
from ._passes import VARIANTS, Chains
from ._report import Bar, arguments, finish

WARM_UP = 2  # turns that do not count
BEFORE = ("plain", "pairwise")  # also measured at the earlier commit


class Bounds(NamedTuple):
    floor: float
    averaging: float
    before: dict[str, float]


BOUNDS = {
    "OCR-large": Bounds(2.1, 0.20, {"plain": 0.8, "pairwise": 0.7}),
    "CoNLL-2000": Bounds(1.45, 0.10, {"plain": 0.95, "pairwise": 0.85}),
}


def measure(name: str, rounds: int, before: Servant | None) -> list[Bar]:
    seconds = turns(name, rounds, before)

    def ratio(kind: str, base: str) -> float | None:
        return float(np.median(seconds[kind] / seconds[base])) if base in seconds else None

    averaging = float(np.median(seconds["averaged"] / seconds["plain"])) - 1
    floor, bounds = ratio("plain", "bare"), BOUNDS[name]
    return [
        Bar(f"iteration / (scoring + argmax), {name}", floor, bounds.floor),
        *(Bar(f"{kind} / before, {name}", ratio(kind, f"{kind}, before"), bounds.before[kind]) for kind in BEFORE),
        Bar(f"weighted averaging adds, {name}", averaging, bounds.averaging),
        Bar(f"gap sampling / plain, {name}", ratio("gap sampling", "plain"), 1.15),
        Bar(f"pairwise / plain, {name}", ratio("pairwise", "plain"), 1.1),
        Bar(f"cache miss / plain, {name}", ratio("cache misses", "plain"), 1.8),
        Bar(f"cache hit / plain, {name}", ratio("cache hits", "plain"), 0.85),
        Bar(f"subgradient step / plain, {name}", ratio("subgradient", "plain"), 1.5),
        Bar(f"subgradient step / plain, both averaged, {name}", ratio("subgradient, averaged", "averaged"), 1.5),
    ]


def turns(name: str, rounds: int, before: Servant | None) -> dict[str, np.ndarray]:
    """CPU seconds of a pass, for each turn of each variant."""
    chains = Chains(name)
    floor = Floor(chains.problem, chains.n)
    rows = []
    for _ in range(rounds + WARM_UP):
        row = {"bare": floor.seconds(chains.run("plain").w)}
        row |= {kind: chains.seconds(kind) for kind in VARIANTS}
        if before is not None:
            row |= {f"{kind}, before": before.ask(name, kind) for kind in BEFORE}
        rows.append(row)
    seconds = {kind: np.array([row[kind] for row in rows[WARM_UP:]]) for kind in rows[0]}
    share = chains.hit_share()
    seconds["cache hits"] = (seconds["cache hits"] - (1 - share) * seconds["cache misses"]) / share
    print(f"{name}: n = {chains.n}, {rounds} turns, microseconds a block (median):")
    for kind, values in seconds.items():
        print(f"  {kind:21s} {1e6 * np.median(values) / chains.n:7.2f}")
    return seconds


def main() -> None:
    args = arguments(__doc__)
    rounds = 6 if args.quick else 30
    with ExitStack() as stack:
        source = None if args.quick else stack.enter_context(source_before())
        before = None if source is None else stack.enter_context(Servant("_passes", source))
        bars = [bar for name in BOUNDS for bar in measure(name, rounds, before)]
    finish(bars)


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
