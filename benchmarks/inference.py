"""Inference against the best labeling of a chain: k best, marginals, and the code for trees run on chains.

All take turns in one run; ratios are medians over the turns. Run: python -m benchmarks.inference [--quick]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from maxmargin._compile import OPTIONS
from maxmargin.inference.beam import new_beam
from maxmargin.inference.chain import EveryEdge, forward_backward, new_chain_sums, top_viterbi, viterbi
from maxmargin.inference.tree import make_tree_plan
from maxmargin.inference.verbs import find_best, find_marginals, find_top, new_scratch

from ._report import Bar, arguments, finish, time_in_turn

SIZES = [(8, 26), (24, 22), (24, 200)]  # positions, labels: OCR, CoNLL-2000, many labels
K = 5
TEMPERATURE = 1e-10


@njit(**OPTIONS)
def run_viterbi(times, node, edge, ends, table, labels):
    for _ in range(times):
        viterbi(node, edge, ends, ends, table, len(node), labels[0])


@njit(**OPTIONS)
def run_top(times, node, edge, ends, table, beam, labels, values):
    for _ in range(times):
        top_viterbi(node, edge, ends, ends, table, len(node), len(labels), beam, labels, values)


@njit(**OPTIONS)
def run_marginals(times, node, edge, ends, sums, node_out, pairs):
    for _ in range(times):
        forward_backward(node, edge, ends, ends, sums, len(node), node_out, pairs)


@njit(**OPTIONS)
def run_tree(times, plan, node, edge, scratch, labels):
    for _ in range(times):
        find_best(plan, 0, node, edge, scratch, labels[0])


@njit(**OPTIONS)
def run_tree_top(times, plan, node, edge, scratch, labels, values):
    for _ in range(times):
        find_top(plan, 0, node, edge, scratch, len(labels), labels, values)


@njit(**OPTIONS)
def run_tree_marginals(times, plan, node, edge, scratch, node_out, edge_out):
    for _ in range(times):
        find_marginals(plan, 0, node, edge, scratch, node_out, edge_out)


def measure(length: int, n_labels: int, rounds: int, quick: bool) -> list[Bar]:
    rng = np.random.default_rng(0)
    node, edge = rng.normal(size=(length, n_labels)), rng.normal(size=(n_labels, n_labels))
    ends, table = np.zeros(n_labels), np.zeros((length, n_labels))
    labels, values, node_out = np.zeros((K, length), np.int32), np.zeros(K), np.zeros((length, n_labels))
    pairs, sums = np.zeros((length - 1, n_labels, n_labels)), new_chain_sums(length, n_labels)
    plan = make_tree_plan([0, length], np.r_[1:length, -1], n_labels, shared=True)
    scratch, flat, flat_edge = new_scratch(plan, K), node.ravel(), edge.ravel()
    outputs = node_out.ravel(), pairs.ravel()
    cold, cold_edge = node / TEMPERATURE, edge / TEMPERATURE
    times = max(1, 200_000 // (length * n_labels**2))

    def call(run: Callable, *args: Any) -> Callable[[int], None]:
        return lambda turn: run(times, *args)

    calls = {
        "viterbi": call(run_viterbi, node, edge, ends, table, labels),
        "top 5": call(run_top, node, edge, ends, table, new_beam(length, K), labels, values),
        "marginals": call(run_marginals, node, edge, ends, sums, node_out, EveryEdge(pairs)),
        "marginals, cold": call(run_marginals, cold, cold_edge, ends, sums, node_out, EveryEdge(pairs)),
        "tree": call(run_tree, plan, flat, flat_edge, scratch, labels),
    }
    if not quick:  # half of the compilation
        calls["tree top 5"] = call(run_tree_top, plan, flat, flat_edge, scratch, labels, values)
        calls["tree marginals"] = call(run_tree_marginals, plan, flat, flat_edge, scratch, *outputs)
    seconds = time_in_turn(calls, rounds)
    ratios = {name: float(np.median(taken / seconds["viterbi"])) for name, taken in seconds.items()}
    print(f"{length} positions, {n_labels} labels, microseconds (median) and ratio to viterbi:")
    for name, taken in seconds.items():
        print(f"  {name:16s} {1e6 * np.median(taken) / times:8.2f} {ratios[name]:7.2f}")
    size = f"T = {length}, K = {n_labels}"
    return [
        Bar(f"top 5 / best, {size}", ratios["top 5"], 8.0),
        Bar(f"marginals of all edges / best, {size}", ratios["marginals"], 6.0),
        Bar(f"tree code on a chain / chain code, {size}", ratios["tree"], 2.0),
    ]


def main() -> None:
    args = arguments(__doc__)
    bars = []
    for length, n_labels in SIZES:
        bars += measure(length, n_labels, 15 if args.quick else 200, args.quick)
    finish(bars)


if __name__ == "__main__":
    main()
