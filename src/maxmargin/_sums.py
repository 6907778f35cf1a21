"""Sums that certificates stand on."""

from __future__ import annotations

import numpy as np


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """``a'b`` by pairwise summation: more exact than BLAS, and no threads of it that go on spinning between kernels."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is told where the value is used
        return float(np.sum(a * b))
