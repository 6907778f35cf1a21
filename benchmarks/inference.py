"""Inference against the best labeling of a chain: k best, marginals, and the code for trees run on chains; and minimum
cuts of graphs like those of superpixels, against SciPy's maximum flow. Boxes: efficient subwindow search in a map of
480 x 640 scores, against exhaustive search. How the time of the distance transform grows with the positions. And chains
of many labels, see _many_labels.py.

All take turns in one run; ratios are medians over the turns. Run: python -m benchmarks.inference [--quick]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from scipy.spatial import Delaunay

from maxmargin import datasets
from maxmargin._compile import OPTIONS
from maxmargin.inference import best_box, scan_boxes, search_boxes
from maxmargin.inference.beam import new_beam
from maxmargin.inference.chain.passes import forward_backward, new_chain_sums, top_viterbi, viterbi
from maxmargin.inference.cut import CutPlan, make_cut_plan
from maxmargin.inference.distance_transform import Spring, new_grid_scratch, transform_grid
from maxmargin.inference.tree import make_tree_plan
from maxmargin.inference.verbs import find_best, find_marginals, find_max_marginals, find_top, new_scratch

from ._many_labels import measure_many_labels
from ._report import Bar, arguments, finish, time_in_turn
from .boxes import log_odds

SIZES = [(8, 26), (24, 22), (24, 200)]  # positions, labels: OCR, CoNLL-2000, many labels
K = 5
TEMPERATURE = 1e-10
N_NODES = 150  # of a graph of superpixels
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of edges, where the scores of labels are normal
MAX_SPLITS = 500_000  # of sets of boxes
SIDES = (32, 100, 316, 1000)  # of square grids: a thousand to a million positions
STEPS = 1e5  # SciPy's capacities are integers: so many are 1


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


@njit(**OPTIONS)
def run_cuts(plan, node, edge, scratch, labels):
    for i in range(len(node)):
        find_best(plan, i, node[i], edge[i], scratch, labels[0])


@njit(**OPTIONS)
def run_top_cuts(plan, node, edge, scratch, labels, values):
    for i in range(len(node)):
        find_top(plan, i, node[i], edge[i], scratch, len(labels), labels, values)


@njit(**OPTIONS)
def run_cut_max_marginals(plan, node, edge, scratch, out):
    for i in range(len(node)):
        find_max_marginals(plan, i, node[i], edge[i], scratch, out)


@njit(**OPTIONS)
def run_transforms(scores, spring, scratch, values, places):
    for i in range(len(scores)):
        transform_grid(scores[i], spring, scratch, values[i], places[i])


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
        "marginals": call(run_marginals, node, edge, ends, sums, node_out, pairs),
        "marginals, cold": call(run_marginals, cold, cold_edge, ends, sums, node_out, pairs),
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


def planar_edges(rng: np.random.Generator) -> np.ndarray:
    """Neighbours among random points: six a node, as superpixels have."""
    corners = Delaunay(rng.random((N_NODES, 2))).simplices
    return np.unique(np.sort(corners[:, [[0, 1], [1, 2], [0, 2]]].reshape(-1, 2), axis=1), axis=0)


def as_capacities(node: np.ndarray, edges: np.ndarray, prices: np.ndarray) -> csr_array:
    """The network of a sample for SciPy; source and sink are the last two nodes."""
    nodes, liked = np.arange(N_NODES), node[1::2] - node[::2]
    rows = np.concatenate([edges[:, 0], edges[:, 1], np.where(liked > 0, N_NODES, nodes)])
    columns = np.concatenate([edges[:, 1], edges[:, 0], np.where(liked > 0, nodes, N_NODES + 1)])
    capacities = np.round(STEPS * np.concatenate([prices, prices, np.abs(liked)])).astype(np.int32)
    return csr_array((capacities, (rows, columns)), shape=(N_NODES + 2, N_NODES + 2))


def measure_cuts(rounds: int, quick: bool) -> list[Bar]:
    rng = np.random.default_rng(0)
    graphs = [planar_edges(rng) for _ in STRENGTHS]
    n_edges, longest = [len(edges) for edges in graphs], max(len(edges) for edges in graphs)
    node, price = rng.normal(size=(len(graphs), 2 * N_NODES)), rng.random((len(graphs), longest))
    price *= np.array(STRENGTHS)[:, None]
    edge = (price[:, :, None] * np.array([0.0, -1.0, -1.0, 0.0])).reshape(len(graphs), -1)
    offsets, ends = N_NODES * np.arange(len(graphs) + 1), np.concatenate(graphs).T
    plan: CutPlan = make_cut_plan(offsets, np.cumsum([0, *n_edges]), *ends, shared=False)
    networks = [as_capacities(node[i], edges, price[i, : len(edges)]) for i, edges in enumerate(graphs)]
    scratch, labels, values = new_scratch(plan, K), np.zeros((K, N_NODES), np.int32), np.zeros(K)

    def run_scipy(turn: int) -> None:
        for network in networks:
            maximum_flow(network, N_NODES, N_NODES + 1)

    calls: dict[str, Callable[[int], None]] = {
        "SciPy max-flow": run_scipy,
        "min-cut": lambda turn: run_cuts(plan, node, edge, scratch, labels),
    }
    if not quick:
        calls["min-cut top 5"] = lambda turn: run_top_cuts(plan, node, edge, scratch, labels, values)
        calls["max-marginals"] = lambda turn: run_cut_max_marginals(plan, node, edge, scratch, np.zeros(2 * N_NODES))
    seconds = time_in_turn(calls, rounds)
    ratios = {name: float(np.median(taken / seconds["SciPy max-flow"])) for name, taken in seconds.items()}
    print(f"graphs of {N_NODES} nodes and {np.mean(n_edges):.0f} edges, microseconds (median) and ratio to SciPy:")
    for name, taken in seconds.items():
        print(f"  {name:16s} {1e6 * np.median(taken) / len(graphs):8.2f} {ratios[name]:7.2f}")
    return [Bar(f"min-cut / SciPy max-flow, {N_NODES} nodes", ratios["min-cut"], 1.0)]


@njit(**OPTIONS)
def look_at_boxes(scores, top):
    """The best of all boxes with this top row, each worth four numbers of an integral image."""
    height, width = scores.shape
    total = np.zeros((height + 1, width + 1))
    for row in range(height):
        inside = 0.0
        for column in range(width):
            inside += scores[row, column]
            total[row + 1, column + 1] = total[row, column + 1] + inside
    best = -np.inf
    for bottom in range(top + 1, height + 1):
        for left in range(width):
            before = total[bottom, left] - total[top, left]
            for right in range(left + 1, width + 1):
                best = max(best, total[bottom, right] - total[top, right] - before)
    return best


def box_maps() -> dict[str, np.ndarray]:
    """A blood smear, 480 x 640, by log-odds of its colours in squares of 8 x 8; with noise added; and but noise."""
    cells = datasets.fetch_bccd()
    weights = log_odds(cells.words_train, cells.y_train)
    smear = np.kron(weights[cells.words_test[0]], np.ones((8, 8)))
    noise = np.random.default_rng(0).normal(size=smear.shape)
    return {"cells": smear, "cells, noise": smear + noise, "noise": noise - 0.1}


def time_boxes(scores: np.ndarray, rounds: int) -> dict[str, float]:
    """Seconds of branch and bound and of two exhaustive ways: a scan of all pairs of rows, and a look at each box."""
    middle = len(scores) // 2
    calls: dict[str, Callable[[int], Any]] = {
        "branch and bound": lambda turn: search_boxes(scores, 1, None, MAX_SPLITS),
        "pairs of rows": lambda turn: scan_boxes(scores, 1),
        "the former, then the latter": lambda turn: best_box(scores),
        "each box": lambda turn: look_at_boxes(scores, middle),
    }
    seconds = {name: float(np.median(taken)) for name, taken in time_in_turn(calls, rounds, warm_up=1).items()}
    seconds["each box"] *= len(scores) * (len(scores) + 1) / 2 / (len(scores) - middle)  # all pairs of rows
    return seconds


def measure_boxes(rounds: int) -> list[Bar]:
    print("best box of 480 x 640 scores, milliseconds (median); of each box, from those with one top row:")
    ratios = {}
    for name, scores in box_maps().items():
        seconds = time_boxes(scores, rounds)
        found, _, _ = search_boxes(scores, 1, None, MAX_SPLITS)
        print(f"  {name}" + ("" if len(found) else f", where branch and bound gave up after {MAX_SPLITS} splits"))
        for way, taken in seconds.items():
            print(f"    {way:28s} {1e3 * taken:12.2f}")
        ratios[name] = {way: taken / seconds["pairs of rows"] for way, taken in seconds.items()}
    return [
        Bar("best box, branch and bound / pairs of rows, cells", ratios["cells"]["branch and bound"], 1.0),
        Bar("best box, either in turn / pairs of rows, noise", ratios["noise"]["the former, then the latter"], 4.0),
    ]


def measure_transforms(rounds: int) -> list[Bar]:
    """Every size works through a million positions, so that none has its numbers, or branches, remembered from before.

    The spring is soft: a position far away may be best, and the hulls have many corners.
    """
    rng, total = np.random.default_rng(0), max(SIDES) ** 2
    spring = Spring(np.full(2, 0.01), np.zeros(2), np.zeros(2))
    new_scratch_of = njit(new_grid_scratch)

    def call(side: int) -> Callable[[int], None]:
        scores = rng.normal(size=(total // side**2, side, side))
        given = scores, spring, new_scratch_of(side, side), np.zeros(scores.shape), np.zeros(scores.shape, np.int32)
        return lambda turn: run_transforms(*given)

    seconds = time_in_turn({str(side): call(side) for side in SIDES}, rounds)
    positions = np.array(SIDES) ** 2
    each = np.array([np.median(taken) for taken in seconds.values()]) / (total // positions) / positions
    print("distance transforms, nanoseconds (median) a position:")
    for side, one in zip(SIDES, each, strict=True):
        print(f"  {side**2:16d} {1e9 * one:8.1f}")
    exponent = np.polyfit(np.log(positions), np.log(each * positions), 1)[0]
    return [
        Bar("distance transform, time grows with positions to the power of", float(exponent), 1.1),
        Bar("distance transform, time a position, 10^6 / 10^3 positions", float(each[-1] / each[0]), 2.0),
    ]


def main() -> None:
    args = arguments(__doc__)
    bars = []
    for length, n_labels in SIZES:
        bars += measure(length, n_labels, 15 if args.quick else 200, args.quick)
    bars += measure_cuts(15 if args.quick else 200, args.quick)
    bars += measure_boxes(2 if args.quick else 7)
    bars += measure_transforms(5 if args.quick else 30)
    bars += measure_many_labels(5 if args.quick else 30)
    finish(bars)


if __name__ == "__main__":
    main()
