"""Chains of hundreds to thousands of labels: the step over all their pairs against its floor, and the way around it.

The floor is one look at the table with one addition each: from far memory where it is larger than the caches, from
about 2,000 labels on. Scores are like those of characters given their syllables: a few labels fit a position, and of
all pairs of labels 20 a row have a score.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin._compile import helper, kernel
from maxmargin.inference import ChainPlan, SparseChainPlan
from maxmargin.inference.vectors import max_step
from maxmargin.inference.verbs import find_best, new_scratch

from ._report import Bar, time_in_turn

SIZES = (500, 1000, 2447, 5000)
LENGTH, CANDIDATES, PAIRS_A_ROW = 6, 8, 20


@helper
def sum_columns(edge, out):
    """Four rows a sweep, as `max_step`."""
    n_rows, n_columns = edge.shape
    for a in range(0, n_rows - 3, 4):
        for b in range(n_columns):
            out[b] += (edge[a, b] + edge[a + 1, b]) + (edge[a + 2, b] + edge[a + 3, b])


@kernel
def run_floor(times, edge, out):
    for _ in range(times):
        sum_columns(edge, out)


@kernel
def run_steps(times, before, edge, out):
    for _ in range(times):
        max_step(before, edge, out)


@kernel
def run_best(times, plan, node, edge, scratch, labels):
    for _ in range(times):
        find_best(plan, 0, node, edge, scratch, labels)


def some_scores(rng: np.random.Generator, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    node = 0.2 + 0.01 * rng.normal(size=(LENGTH, n_labels))
    for t in range(LENGTH):
        node[t, rng.integers(n_labels, size=CANDIDATES)] += np.abs(rng.normal(size=CANDIDATES))
    edge = np.zeros((n_labels, n_labels))
    rows = np.repeat(np.arange(n_labels), PAIRS_A_ROW)
    edge[rows, rng.integers(n_labels, size=len(rows))] = 0.3 * rng.normal(size=len(rows))
    return node, edge


def time_size(n_labels: int, rounds: int) -> dict[str, float]:
    """Seconds (median) of the floor, a step, and the best labeling in both ways; ratios within a turn."""
    node, edge = some_scores(np.random.default_rng(0), n_labels)
    out, labels, zero = np.zeros(n_labels), np.zeros(LENGTH, np.int32), np.zeros(n_labels)
    plans = {kind: kind(np.array([0, LENGTH]), zero, zero, LENGTH) for kind in (ChainPlan, SparseChainPlan)}
    times, many = max(1, 4_000_000 // n_labels**2), 100

    def best(kind: Any, times: int) -> Callable[[int], None]:
        given = plans[kind], node.ravel(), edge.ravel(), new_scratch(plans[kind], 1), labels
        return lambda turn: run_best(times, *given)

    calls: dict[str, Callable[[int], None]] = {
        "floor": lambda turn: run_floor(times, edge, out),
        "step": lambda turn: run_steps(times, node[0], edge, out),
        "best, all pairs": best(ChainPlan, 1),
        "best, few pairs": best(SparseChainPlan, many),
    }
    per_call = {"floor": times, "step": times, "best, all pairs": 1, "best, few pairs": many}
    seconds = {name: taken / per_call[name] for name, taken in time_in_turn(calls, rounds).items()}
    found = {name: float(np.median(taken)) for name, taken in seconds.items()}
    found["step / floor"] = float(np.median(seconds["step"] / seconds["floor"]))
    found["all / few"] = float(np.median(seconds["best, all pairs"] / seconds["best, few pairs"]))
    return found


def measure_many_labels(rounds: int) -> list[Bar]:
    found = {n_labels: time_size(n_labels, rounds) for n_labels in SIZES}
    print(f"many labels, {LENGTH} positions, microseconds (median):")
    print(f"  {'labels':>8s}" + "".join(f"{name:>17s}" for name in found[SIZES[0]]))
    for n_labels, row in found.items():
        shown = [value if "/" in name and "," not in name else 1e6 * value for name, value in row.items()]
        print(f"  {n_labels:8d}" + "".join(f"{value:17.2f}" for value in shown))
    growth = np.polyfit(np.log(SIZES), np.log([row["best, few pairs"] for row in found.values()]), 1)[0]
    return [
        *(
            Bar(f"step over all pairs / one look at them, K = {k}", row["step / floor"], 2.0)
            for k, row in found.items()
        ),
        Bar("best labeling, all pairs / those with a score, K = 2447", found[2447]["all / few"], 50.0, at_least=True),
        Bar("best labeling, time grows with labels to the power of", float(growth), 1.3),
    ]
