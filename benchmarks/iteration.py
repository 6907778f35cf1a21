"""One block-coordinate iteration against bare scoring + argmax, what each exchangeable part adds, subgradient steps.

Passes of all variants take turns in one run; ratios are medians over the turns. Every variant runs for itself, so their
dual states differ as they do in use. Run: python -m benchmarks.iteration [--quick]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits

from maxmargin import datasets
from maxmargin._compile import OPTIONS
from maxmargin.estimators.inputs.labels import encode_labels, stack_labels
from maxmargin.estimators.inputs.sequences import stack_sequences
from maxmargin.solvers import BlockFrankWolfe, Cache, Solver, Subgradient
from maxmargin.structures import make_chain_problem
from maxmargin.structures.verbs import dimension, find_corner, find_potentials, new_work

from ._report import Bar, arguments, finish, time_in_turn

NEVER, ALWAYS = Cache(F=np.inf, nu=np.inf), Cache(F=0.0, nu=0.0)

VARIANTS: dict[str, Solver] = {
    "plain": BlockFrankWolfe(),
    "averaged": BlockFrankWolfe(averaging="weighted"),
    "gap sampling": BlockFrankWolfe("gap"),
    "pairwise": BlockFrankWolfe(step="pairwise"),
    "cache misses": BlockFrankWolfe(cache=NEVER),
    "cache hits": BlockFrankWolfe(cache=ALWAYS),
    "subgradient": Subgradient(averaging=None),
    "subgradient, averaged": Subgradient(),
}


@njit(**OPTIONS)
def bare_pass(problem, work, w, order):
    """The floor: potentials and argmax of every block, nothing learned."""
    total = 0.0
    for i in order:
        find_potentials(problem, work, w, i)
        total += find_corner(problem, work, w, i)
    return total


def measure(name: str, data: Any, rounds: int, bars: tuple[float, float]) -> list[Bar]:
    stacked = stack_sequences(data.X_train)
    codes, classes = encode_labels(stack_labels(data.y_train, stacked.offsets), stacked.offsets)
    problem = make_chain_problem(stacked.rows, stacked.offsets, codes, len(classes))
    n, work, rng = len(stacked.offsets) - 1, new_work(problem), np.random.default_rng(0)
    engines = {kind: solver.start(problem, 1 / n, None, 0, None) for kind, solver in VARIANTS.items()}
    for engine in engines.values():
        engine.certify()  # the cache rule compares with known gaps

    def one_pass(kind: str) -> Callable[[int], None]:
        return lambda turn: engines[kind].advance(n)

    calls: dict[str, Callable[[int], Any]] = {
        "bare": lambda turn: bare_pass(problem, work, engines["plain"].w, rng.integers(n, size=n)),
        **{kind: one_pass(kind) for kind in VARIANTS},
    }
    seconds = time_in_turn(calls, rounds)
    hits, misses = engines["cache hits"].tally
    share = hits / (hits + misses)
    seconds["cache hits"] = (seconds["cache hits"] - (1 - share) * seconds["cache misses"]) / share
    print(f"{name}: n = {n}, d = {dimension(problem)}, {rounds} passes, microseconds a block (median):")
    for kind, values in seconds.items():
        print(f"  {kind:21s} {1e6 * np.median(values) / n:7.2f}")

    def ratio(kind: str, base: str) -> float:
        return float(np.median(seconds[kind] / seconds[base]))

    return [
        Bar(f"iteration / (scoring + argmax), {name}", ratio("plain", "bare"), bars[0]),
        Bar(f"weighted averaging adds, {name}", ratio("averaged", "plain") - 1, bars[1]),
        Bar(f"gap sampling / plain, {name}", ratio("gap sampling", "plain"), 1.15),
        Bar(f"pairwise / plain, {name}", ratio("pairwise", "plain"), 1.6),
        Bar(f"cache miss / plain, {name}", ratio("cache misses", "plain"), 1.8),
        Bar(f"cache hit / plain, {name}", ratio("cache hits", "plain"), 1.0),
        Bar(f"subgradient step / plain, {name}", ratio("subgradient", "plain"), 1.5),
        Bar(f"subgradient step / plain, both averaged, {name}", ratio("subgradient, averaged", "averaged"), 1.5),
    ]


def main() -> None:
    args = arguments(__doc__)
    rounds = 6 if args.quick else 30
    bars = measure("OCR-large", datasets.fetch_ocr("large"), rounds, (2.5, 0.20))
    bars += measure("CoNLL-2000", datasets.fetch_conll2000(), rounds, (2.0, 0.10))
    finish(bars)


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
