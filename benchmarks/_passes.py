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

N_PASSES = 3  # of one measurement
RARELY = 1e6  # passes between certificates: none but the first and the last of a run
NEVER, ALWAYS = Cache(F=np.inf, nu=np.inf), Cache(F=0.0, nu=0.0)

VARIANTS: dict[str, Solver] = {
    "plain": BlockFrankWolfe(gap_every=RARELY),
    "averaged": BlockFrankWolfe(averaging="weighted", gap_every=RARELY),
    "gap sampling": BlockFrankWolfe("gap", gap_every=RARELY),
    "pairwise": BlockFrankWolfe(step="pairwise", gap_every=RARELY),
    "cache misses": BlockFrankWolfe(cache=NEVER, gap_every=RARELY),
    "cache hits": BlockFrankWolfe(cache=ALWAYS, gap_every=RARELY),
    "subgradient": Subgradient(averaging=None, gap_every=RARELY),
    "subgradient, averaged": Subgradient(gap_every=RARELY),
}


FETCHERS: dict[str, Callable[[], Any]] = {
    "OCR-large": lambda: datasets.fetch_ocr("large"),
    "CoNLL-2000": lambda: datasets.fetch_conll2000(),
}


class Chains:
    """A data set as a problem, and a run of each variant on it that goes on from turn to turn."""

    def __init__(self, name: str):
        data = FETCHERS[name]()
        rows = sp.vstack(data.X_train, "csr") if sp.issparse(data.X_train[0]) else np.concatenate(data.X_train)
        labels, codes = np.unique(np.concatenate(data.y_train), return_inverse=True)
        offsets = np.cumsum([0, *map(len, data.y_train)])
        self.problem = make_chain_problem(rows, offsets, codes, len(labels))
        self.n = len(offsets) - 1
        self.results: dict[str, Any] = {}

    def seconds(self, variant: str) -> float:
        """CPU seconds a pass: some passes and a certificate, less a single step and a certificate."""
        short, long = self._timed(variant, 1 / self.n), self._timed(variant, N_PASSES)
        return (long - short) / (N_PASSES - 1 / self.n)

    def hit_share(self) -> float:
        """Of the blocks of the last passes with a cache that always hits: the first visit finds nothing there."""
        history = self.results["cache hits"].history
        hits, misses = history["cache_hits"][-1], history["cache_misses"][-1]
        return float(hits / (hits + misses))

    def _timed(self, variant: str, n_passes: float) -> float:
        """CPU seconds between the last two records of a run that goes on where the variant's last one ended."""
        looks: list[float] = []
        earlier = self.results.get(variant)
        result = VARIANTS[variant].solve(
            self.problem,
            1 / self.n,
            tol=0,
            max_passes=n_passes,
            callbacks=[lambda record: looks.append(time.process_time())],
            state=None if earlier is None else earlier.state,
            random_state=0 if earlier is None else None,
        )
        self.results[variant] = result
        return looks[-1] - looks[-2]


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
