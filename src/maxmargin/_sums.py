"""Sums that certificates stand on, and sweeps over vectors of weights, of which there may be millions."""

from __future__ import annotations

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
def sum_rows(rows, total, first, last):
    """The rows' sum, of each number in the order of the rows."""
    for begin in range(first, last, CHUNK):
        end = min(begin + CHUNK, last)
        to = total[begin:end]  # as above
        for k in range(rows.shape[0]):
            row = rows[k, begin:end]
            for j in range(to.shape[0]):
                to[j] = row[j] if k == 0 else to[j] + row[j]


class ShareSums:
    """A vector for each share of a sum, filled by whoever; rounding depends on the shares alone.

    They are kept from one sum to the next, since fresh memory costs more than a sweep.
    """

    def __init__(self, n_shares: int, size: int):
        self.vectors = np.empty((n_shares, size))

    def begin(self, k: int) -> np.ndarray:
        """Zeros, to be filled with share k."""
        own = self.vectors[k]
        own[:] = 0.0
        return own

    def total(self) -> np.ndarray:
        """The sum over all shares."""
        total = np.empty(self.vectors.shape[1])
        sweep(len(total), len(self.vectors), lambda first, last: sum_rows(self.vectors, total, first, last))
        return total


class RunningSum:
    """The same sum where one thread fills the vectors, one after the other: it needs no more than one."""

    def __init__(self, size: int):
        self.own, self.sum, self.next = np.empty(size), np.empty(0), 0

    def begin(self, k: int) -> np.ndarray:
        """Zeros, to be filled with share k, the next one."""
        self.add(k)
        self.own[:] = 0.0
        self.next = k + 1
        return self.own

    def add(self, k: int) -> None:
        """Add share k - 1, if there is one."""
        if k == 1:
            self.sum = self.own.copy()
        if k > 1:
            mix_into(self.sum, 1.0, self.sum, 1.0, self.own)

    def total(self) -> np.ndarray:
        """The sum over all shares."""
        self.add(self.next)
        return self.sum
