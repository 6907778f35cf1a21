"""Sums that certificates stand on, and sweeps over vectors of weights, of which there may be millions."""

from __future__ import annotations

import numpy as np

from ._compile import kernel

# So many products BLAS sums in one go; beyond, pairwise. It has no threads for so few, which would go on spinning
# between kernels.
CHUNK = 1024


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """``a'b``, by pairwise summation of chunks: more exact than BLAS alone, and each number is read once."""
    whole = len(a) // CHUNK * CHUNK
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is told where the value is used
        sums = np.vecdot(a[:whole].reshape(-1, CHUNK), b[:whole].reshape(-1, CHUNK))
        return float(np.sum(sums) + np.sum(a[whole:] * b[whole:]))


@kernel
def mix_into(out, a, u, b, v):
    """``out = a u + b v``, in one sweep; it may be one of these."""
    for j in range(out.shape[0]):
        out[j] = a * u[j] + b * v[j]


def mixed(a: float, u: np.ndarray, b: float, v: np.ndarray) -> np.ndarray:
    """``a u + b v``."""
    out = np.empty_like(u)
    mix_into(out, float(a), u, float(b), v)
    return out


@kernel
def sum_way(start, end, sums):
    """Chunks of ``start'start``, ``start'way`` and ``way'way``, where the way leads from `start` to `end`."""
    for chunk in range(sums.shape[1]):
        here = start[chunk * CHUNK : (chunk + 1) * CHUNK]  # loops from 0 vectorise
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
    sum_way(start, end, sums)
    square, slope, curvature = np.sum(sums, axis=1).tolist()
    return square, slope, curvature
