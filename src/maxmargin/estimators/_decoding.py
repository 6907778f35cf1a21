"""Predictions over sites and links, on several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._parameters import count_threads
from .._threads import on_ranges
from ..structures.pairwise import (
    decode,
    decode_log_probabilities,
    decode_marginals,
    decode_max_marginals,
    decode_top,
    decoding_work,
)


class Scored(NamedTuple):
    """Samples laid out for scoring, and the weights that score them.

    Samples without a site are left out of all of it, but for `bounds`, by which answers are given.
    """

    sites: Any
    links: Any
    plan: Any
    w: np.ndarray
    n_labels: int
    n_jobs: int | None
    bounds: np.ndarray  # (n + 1,) where the sites of all samples begin

    @property
    def present(self) -> np.ndarray:
        """The numbers of samples that have sites."""
        return np.flatnonzero(np.diff(self.bounds))

    @property
    def n_sites(self) -> int:
        return int(self.sites.offsets[-1])

    def run(self, kernel: Callable, *outputs: Any, most_labelings: int = 1) -> None:
        """Call a decoding kernel for ranges of samples, one thread each."""
        if not self.n_sites:
            return
        longest = int(np.diff(self.sites.offsets).max())

        def on_range(first: int, last: int) -> None:
            work = decoding_work(self.links, self.plan, longest, self.n_labels, most_labelings)
            kernel(self.sites, self.links, self.plan, work, self.w, first, last, *outputs)

        on_ranges(len(self.sites.offsets) - 1, count_threads(self.n_jobs), on_range)

    def best(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels (N,) of the best labelings, and their scores (n,)."""
        labels, values = np.empty(self.n_sites, np.int32), np.empty(len(self.sites.offsets) - 1)
        self.run(decode, labels, values)
        return labels, values

    def top(self, k: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """For each sample the labels (m, T) of the m <= k best labelings, and their scores (m,)."""
        n = len(self.sites.offsets) - 1
        labels, values, counts = np.empty((k, self.n_sites), np.int32), np.empty((n, k)), np.empty(n, np.int64)
        self.run(decode_top, k, labels, values, counts, most_labelings=k)
        n_given = len(self.bounds) - 1
        every, best = np.ones(n_given, np.int64), np.zeros((n_given, k))  # there is one labeling of nothing, worth 0
        every[self.present], best[self.present] = counts, values
        found = [labels[:m, a:b] for m, a, b in zip(every, self.bounds[:-1], self.bounds[1:], strict=True)]
        return found, [scores[:m] for m, scores in zip(every, best, strict=True)]

    def max_marginals(self) -> np.ndarray:
        """(N, K)"""
        out = np.empty(self.n_sites * self.n_labels)
        self.run(decode_max_marginals, out)
        return out.reshape(-1, self.n_labels)

    def marginals(self, temperature: float) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities (N, K), ``p(y) ~ exp(score(y) / temperature)``, and log-partition functions (n,)."""
        out, logs = np.zeros(self.n_sites * self.n_labels), np.empty(len(self.sites.offsets) - 1)
        self.run(decode_marginals, temperature, out, logs)
        return out.reshape(-1, self.n_labels), logs

    def log_probabilities(self, labels: np.ndarray) -> np.ndarray:
        """Of given labelings, one a sample: (n,), samples without a site included, whose only labeling is certain."""
        found, every = np.empty(len(self.sites.offsets) - 1), np.zeros(len(self.bounds) - 1)
        self.run(decode_log_probabilities, labels, found)
        every[self.present] = found
        return every
