"""CPU seconds of passes over chains; the same text measures both trees, so it keeps to names that both have.

`python -m benchmarks._passes` answers questions (JSON, one a line) on the package it imports.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from maxmargin import datasets
from maxmargin.solvers import BlockFrankWolfe, Cache, Solver, Subgradient
from maxmargin.structures import make_chain_problem

from ._before import SOURCE

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


FETCHERS: dict[str, Callable[[], Any]] = {
    "OCR-large": lambda: datasets.fetch_ocr("large"),
    "CoNLL-2000": lambda: datasets.fetch_conll2000(),
}


def begin(solver: Solver, problem: Any, lam: float) -> Any:
    """A run to be advanced by hand, step by step; the one place that knows how engines are made and used.

    `Solver.solve` would be public, but after each pass it estimates the gap, which takes a copy of all weights: 5 % of
    a pass on CoNLL-2000.
    """
    engine = solver.start(problem, lam, None, 0, None)
    engine.certify()  # the cache rule compares with known gaps
    return engine


class Chains:
    """A data set as a problem, and a run of each variant on it that goes on from turn to turn."""

    def __init__(self, name: str):
        data = FETCHERS[name]()
        rows = sp.vstack(data.X_train, "csr") if sp.issparse(data.X_train[0]) else np.concatenate(data.X_train)
        labels, codes = np.unique(np.concatenate(data.y_train), return_inverse=True)
        offsets = np.cumsum([0, *map(len, data.y_train)])
        self.problem = make_chain_problem(rows, offsets, codes, len(labels))
        self.n = len(offsets) - 1
        self.runs: dict[str, Any] = {}

    def run(self, variant: str) -> Any:
        if variant not in self.runs:
            self.runs[variant] = begin(VARIANTS[variant], self.problem, 1 / self.n)
        return self.runs[variant]

    def seconds(self, variant: str) -> float:
        """CPU seconds of the variant's next pass."""
        run = self.run(variant)
        goal = run.steps + self.n
        before = time.process_time()
        while run.steps < goal:
            run.advance(goal - run.steps)
        return time.process_time() - before

    def hit_share(self) -> float:
        """Of the blocks visited with a cache that always hits: the first visits find nothing there."""
        counts = self.run("cache hits").extras()
        return counts["cache_hits"] / (counts["cache_hits"] + counts["cache_misses"])


def main() -> None:
    """Answer until the questions end: "source", or the names of a data set and a variant."""
    chains = cache(Chains)
    for line in sys.stdin:
        question = json.loads(line)
        answer = str(SOURCE) if question == ["source"] else chains(question[0]).seconds(question[1])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
