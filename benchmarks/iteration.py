"""One BCFW iteration against bare scoring + argmax on the same blocks in the same order, with and without averaging.

Ratios are medians over passes that take turns in one run. Run: python -m benchmarks.iteration [--quick]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from maxmargin import datasets
from maxmargin._compile import OPTIONS
from maxmargin.estimators._inputs import encode_labels, stack_labels, stack_sequences
from maxmargin.solvers.block_coordinate.loop import block_steps
from maxmargin.solvers.block_coordinate.parts import LineSearch, NoAveraging, Order, WeightedAveraging
from maxmargin.structures import make_chain_problem
from maxmargin.structures.verbs import dimension, find_corner, find_potentials, new_blocks, new_totals, new_work

from ._report import Bar, arguments, finish, time_in_turn


@njit(**OPTIONS)
def bare_pass(problem, work, w, order):
    """The floor: potentials and argmax of every block, nothing learned."""
    total = 0.0
    for i in order:
        find_potentials(problem, work, w, i)
        total += find_corner(problem, work, w, i)
    return total


class Run:
    """A solver's loop by hand, one pass a call, over an order of blocks shared with the others."""

    def __init__(self, problem: Any, averaging: Any, orders: np.ndarray):
        self.problem, self.averaging, self.orders, self.n = problem, averaging, orders, orders.shape[1]
        self.blocks, self.work, self.w = new_blocks(problem), new_work(problem), np.zeros(dimension(problem))

    def steps(self, turn: int) -> None:
        parts = Order(self.orders[turn]), LineSearch(1.0), self.averaging
        block_steps(self.problem, self.blocks, self.work, *parts, self.w, 1 / self.n, 0, self.n, turn * self.n, self.n)

    def bare(self, turn: int) -> None:
        bare_pass(self.problem, self.work, self.w, self.orders[turn])


def measure(name: str, data: Any, rounds: int, bars: tuple[float, float]) -> list[Bar]:
    stacked = stack_sequences(data.X_train)
    codes, classes = encode_labels(stack_labels(data.y_train, stacked.offsets), stacked.offsets)
    problem = make_chain_problem(stacked.rows, stacked.offsets, codes, len(classes))
    n = len(stacked.offsets) - 1
    rng = np.random.default_rng(0)
    orders = np.stack([rng.permutation(n) for _ in range(rounds + 2)])
    plain = Run(problem, NoAveraging(0.0), orders)
    averaged = Run(problem, WeightedAveraging(new_totals(problem), np.zeros(n), 0.0), orders)
    seconds = time_in_turn({"bare": plain.bare, "plain": plain.steps, "averaged": averaged.steps}, rounds)
    print(f"{name}: n = {n}, d = {dimension(problem)}, {rounds} passes, microseconds a block (median):")
    for kind, values in seconds.items():
        print(f"  {kind:9s} {1e6 * np.median(values) / n:7.2f}")
    iteration = np.median(seconds["plain"] / seconds["bare"])
    averaging = np.median(seconds["averaged"] / seconds["plain"]) - 1
    return [
        Bar(f"iteration / (scoring + argmax), {name}", iteration, bars[0]),
        Bar(f"weighted averaging adds, {name}", averaging, bars[1]),
    ]


def main() -> None:
    args = arguments(__doc__)
    rounds = 6 if args.quick else 30
    bars = measure("OCR-large", datasets.fetch_ocr("large"), rounds, (2.5, 0.20))
    bars += measure("CoNLL-2000", datasets.fetch_conll2000(), rounds, (2.0, 0.10))
    finish(bars)


if __name__ == "__main__":
    main()
