"""Sums that certificates stand on, and sweeps over vectors of weights, of which there may be millions."""

from __future__ import annotations

from threading import Lock

import numpy as np

from ._compile import kernel
from ._threads import sweep

# So many products BLAS sums in one go; beyond, pairwise. It has no threads for so few, which would go on spinning
# between kernels.
CHUNK = 1024


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """``a'b``, by pairwise summation of chunks: more exact than BLAS alone, and each number is read once."""
    whole = len(a) // CHUNK * CHUNK
    x, y, sums = a[:whole].reshape(-1, CHUNK), b[:whole].reshape(-1, CHUNK), np.empty(whole // CHUNK)

    def sum_chunks(i: int, j: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is told where the value is used
            np.vecdot(x[i:j], y[i:j], out=sums[i:j])

    sweep(len(sums), CHUNK, sum_chunks)
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sum(sums) + np.sum(a[whole:] * b[whole:]))


@kernel
def mix_range(out, a, u, b, v, first, last):
    to, x, y = out[first:last], u[first:last], v[first:last]  # loops from 0 vectorise
    for j in range(to.shape[0]):
        to[j] = a * x[j] + b * y[j]


def mix_into(out: np.ndarray, a: float, u: np.ndarray, b: float, v: np.ndarray) -> None:
    """``out = a u + b v``, in one sweep; it may be one of these."""
    sweep(len(out), 1, lambda first, last: mix_range(out, float(a), u, float(b), v, first, last))


def mixed(a: float, u: np.ndarray, b: float, v: np.ndarray) -> np.ndarray:
    """``a u + b v``."""
    out = np.empty_like(u)
    mix_into(out, a, u, b, v)
    return out


@kernel
def sum_way(start, end, sums, first, last):
    """Chunks of ``start'start``, ``start'way`` and ``way'way``, where the way leads from `start` to `end`."""
    for chunk in range(first, last):
        here = start[chunk * CHUNK : (chunk + 1) * CHUNK]  # as above
        there = end[chunk * CHUNK : (chunk + 1) * CHUNK]
        square, slope, curvature = 0.0, 0.0, 0.0
        for j in range(here.shape[0]):
            way = there[j] - here[j]
            square += here[j] * here[j]
            slope += here[j] * way
            curvature += way * way
        sums[0, chunk], sums[1, chunk], sums[2, chunk] = square, slope, curvature


def way_products(start: np.ndarray, end: np.ndarray) -> tuple[float, float, float]:
    """``start'start``, ``start'way`` and ``way'way``, where the way leads from `start` to `end`, in one sweep."""
    sums = np.empty((3, -(-len(start) // CHUNK)))
    sweep(sums.shape[1], CHUNK, lambda first, last: sum_way(start, end, sums, first, last))
    square, slope, curvature = np.sum(sums, axis=1).tolist()
    return square, slope, curvature


@kernel
def hand_over(total, vector):
    """Add a vector, which becomes zero: one sweep."""
    for j in range(total.shape[0]):
        total[j] += vector[j]
        vector[j] = 0.0


class OrderedSum:
    """A sum of vectors in the order of their numbers, whoever is ready first: rounding depends on the order."""

    def __init__(self, size: int):
        self.size, self.lock = size, Lock()
        self.total = np.empty(0)
        self.n_added = 0
        self.early = dict[int, np.ndarray]()  # by number: those that others must come before
        self.cleared: list[np.ndarray] = []  # room that is used again, since fresh memory costs more than a sweep

    def new_vector(self) -> np.ndarray:
        """Zeros, to be filled and given back."""
        with self.lock:
            if self.cleared:
                return self.cleared.pop()
        return np.zeros(self.size)

    def add(self, k: int, vector: np.ndarray) -> None:
        """Take vector number k; it is none of the caller's any more."""
        with self.lock:
            self.early[k] = vector
            while self.n_added in self.early:
                self.add_next(self.early.pop(self.n_added))

    def add_next(self, vector: np.ndarray) -> None:
        self.n_added += 1
        if self.n_added == 1:
            self.total = vector
            return
        hand_over(self.total, vector)
        self.cleared.append(vector)
