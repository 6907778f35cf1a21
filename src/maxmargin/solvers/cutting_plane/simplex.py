"""Small quadratic programs over the simplex, by pairs of coordinates."""

from __future__ import annotations

import numpy as np

from ..._compile import kernel


@kernel
def best_mixture(losses, gram, bounded, lower, upper, lam, tol, most, beta):
    """Maximise ``losses'beta - lam/2 |w|^2`` (and what truncation adds) over the simplex, from `beta` on.

    ``lam w`` is the sum of beta times vectors, truncated: `gram` has the products of those over weights without bounds,
    `bounded` (m, b) the entries of the others, within `lower` and `upper`. Mass goes from the worst vector in use to
    the one that gains most (platt98's pairs, fan05's second order), until no mixture is better by more than `tol`.
    Returns the gap of the last one.
    """
    m, n_bounded = bounded.shape
    product = np.zeros(m)  # of the free weights times lam, with each vector
    total = np.zeros(n_bounded)
    for j in range(m):
        for k in range(m):
            product[j] += gram[j, k] * beta[k]
        for b in range(n_bounded):
            total[b] += beta[j] * bounded[j, b]
    slope = np.empty(m)
    gap = np.inf
    for _ in range(most):
        for j in range(m):
            slope[j] = losses[j] - product[j] / lam
            for b in range(n_bounded):
                slope[j] -= bounded[j, b] * min(max(total[b] / lam, lower[b]), upper[b])
        mean, worst = 0.0, -1
        best = np.argmax(slope)
        for j in range(m):
            mean += beta[j] * slope[j]
            if beta[j] > 0.0 and (worst < 0 or slope[j] < slope[worst]):
                worst = j
        gap = slope[best] - mean
        if gap <= tol or worst == best:
            return gap
        to, most_gain, length = best, -1.0, 0.0
        for j in range(m):
            rise = slope[j] - slope[worst]
            if rise > 0.0:
                norm = gram[j, j] - 2.0 * gram[j, worst] + gram[worst, worst]
                for b in range(n_bounded):  # a bound on the curvature: weights that stay on their bounds have none
                    norm += (bounded[j, b] - bounded[worst, b]) ** 2
                step = beta[worst] if rise * lam >= beta[worst] * norm else rise * lam / norm
                gain = step * (rise - 0.5 * step * norm / lam)
                if gain > most_gain:
                    to, most_gain, length = j, gain, step
        beta[to] += length
        beta[worst] = 0.0 if length == beta[worst] else beta[worst] - length
        for k in range(m):
            product[k] += length * (gram[to, k] - gram[worst, k])
        for b in range(n_bounded):
            total[b] += length * (bounded[to, b] - bounded[worst, b])
    return gap
