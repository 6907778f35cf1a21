"""An oracle that takes its time: how many calls `solver="auto"` saves for a structure of one's own.

The structure is written to the plain protocol of docs/own_structure.md: OCR-small as chains, the argmax through the
library's compiled inference, and a wait of 1 ms. Counted are the oracle calls, certificates included, to 1 % of the
first gap at lam = 1/n: those of `auto`, which works through all answers before it asks again, and
those of plain Frank-Wolfe steps on blocks drawn uniformly. The latter are over a million, so they are counted on the
built-in structure of the same problem, which spares the wait. --quick takes 60 words.
Run: python -m benchmarks.slow_oracle [--quick]
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import njit

from maxmargin import datasets
from maxmargin.estimators.inputs.labels import encode_labels, stack_labels
from maxmargin.estimators.inputs.sequences import stack_sequences
from maxmargin.inference.chain.passes import viterbi
from maxmargin.solvers import BlockFrankWolfe, Result, Solver, get_solver
from maxmargin.structures import make_chain_problem

from ._report import Bar, arguments, finish

WAIT = 1e-3  # seconds
GOAL = 0.01  # of the first gap

best_labeling = njit(viterbi)


class SlowChains:
    """Chains by the plain protocol, with the weights of the built-in structure: node features, then transitions."""

    def __init__(self, rows: np.ndarray, offsets: np.ndarray, labels: np.ndarray, n_labels: int):
        extras = np.zeros((len(rows), 3))  # intercept, first, last
        extras[:, 0] = extras[offsets[:-1], 1] = extras[offsets[1:] - 1, 2] = 1.0
        self.rows = np.split(np.hstack([rows, extras]), offsets[1:-1])
        self.y = np.split(labels, offsets[1:-1])
        self.n_labels, self.n_samples, self.n_nodes = n_labels, len(self.y), (rows.shape[1] + 3) * n_labels
        self.n_features = self.n_nodes + n_labels**2
        self.nothing = np.zeros(n_labels)

    def max_oracle(self, w, i):
        time.sleep(WAIT)
        node = self.rows[i] @ w[: self.n_nodes].reshape(-1, self.n_labels)
        length = len(node)
        node += 1.0 / length
        node[np.arange(length), self.y[i]] -= 1.0 / length
        labels = np.empty(length, np.int32)
        edge = w[self.n_nodes :].reshape(self.n_labels, -1)
        best_labeling(node, edge, self.nothing, self.nothing, np.empty_like(node), length, labels)
        return labels

    def joint_feature(self, i, y):
        node, edge = np.zeros((self.n_nodes // self.n_labels, self.n_labels)), np.zeros((self.n_labels, self.n_labels))
        for row, label in zip(self.rows[i], y, strict=True):
            node[:, label] += row
        np.add.at(edge, (y[:-1], y[1:]), 1.0)
        return np.concatenate([node.ravel(), edge.ravel()])

    def loss(self, i, y):
        return float(np.mean(y != self.y[i]))


def count(name: str, solver: Solver, problem: Any, n: int, tol: float) -> Result:
    before = time.perf_counter()
    result = solver.solve(problem, 1 / n, tol=tol, max_passes=np.inf, random_state=0)
    print(
        f"{name}: {result.n_oracle_calls} oracle calls ({result.n_oracle_calls / n:.1f} n) for {result.n_passes:.0f} n "
        f"steps, {time.perf_counter() - before:.1f} s, gap {result.gap:.4f}, primal {result.primal:.4f}",
        flush=True,
    )
    return result


def main() -> None:
    args = arguments(__doc__)
    data = datasets.fetch_ocr("small")
    words, letters = (part[: 60 if args.quick else None] for part in (data.X_train, data.y_train))
    stacked = stack_sequences(words)
    codes, classes = encode_labels(stack_labels(letters, stacked.offsets), stacked.offsets)
    parts = stacked.rows, stacked.offsets, codes, len(classes)
    slow, fast, n = SlowChains(*parts), make_chain_problem(*parts), len(words)
    first = BlockFrankWolfe().solve(fast, 1 / n, max_passes=1, random_state=0).history["gap"][0]
    auto = get_solver("auto", slow)
    print(f"{n} words, goal: a gap of {GOAL * first:.4f}, 1 % of the first; auto is {auto}")
    plain = count("uniform Frank-Wolfe, built-in structure", BlockFrankWolfe(), fast, n, GOAL * first)
    chosen = count("auto, slow structure", auto, slow, n, GOAL * first)
    finish(
        [
            Bar("oracle calls, auto / uniform Frank-Wolfe", chosen.n_oracle_calls / plain.n_oracle_calls, 1 / 3),
            Bar("gap of auto / goal", chosen.gap / (GOAL * first), 1.0),
        ]
    )


if __name__ == "__main__":
    main()
