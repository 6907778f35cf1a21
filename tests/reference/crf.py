"""Conditional random fields with every labeling written out, and their optimum from SciPy.

Primal      P(w) = lam/2 |w|^2 + l1 |w|_1 + sum_i c_i [log sum_y exp(-<w, psi_i(y)>)],   c_i = s_i/S
Difference  psi_i(y) = phi(x_i, y_i) - phi(x_i, y)
Dual        D(alpha) = sum_i c_i H(alpha_i) - |soft(V, l1)|^2/(2 lam),   V = sum_i c_i sum_y alpha_i(y) psi_i(y)

The truth is among the labelings, with psi = 0. Losses count nowhere.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import logsumexp, xlogy

from .enumeration import Array, EnumeratedProblem
from .first_order import softmax


def gibbs(problem: EnumeratedProblem, w: ArrayLike) -> list[Array]:
    """Probabilities of all labelings of all samples."""
    return [softmax(-psi @ np.asarray(w, float)) for psi in problem.psi]


def log_loss(problem: EnumeratedProblem, w: ArrayLike) -> float:
    """The mean of -log p(y_i | x_i)."""
    return float(problem.shares @ [logsumexp(-psi @ np.asarray(w, float)) for psi in problem.psi])


def crf_primal(problem: EnumeratedProblem, w: ArrayLike, lam: float, l1: float = 0.0) -> float:
    w = np.asarray(w, float)
    return float(lam / 2 * (w @ w) + l1 * np.sum(np.abs(w)) + log_loss(problem, w))


def crf_gradient(problem: EnumeratedProblem, w: ArrayLike, lam: float) -> Array:
    """Of the primal without an L1 penalty."""
    return lam * np.asarray(w, float) - moved(problem, gibbs(problem, w))


def entropy(alpha: ArrayLike) -> float:
    return float(-np.sum(xlogy(alpha, alpha)))


def moved(problem: EnumeratedProblem, alpha: Sequence[Array]) -> Array:
    """V."""
    blocks = zip(problem.shares, alpha, problem.psi, strict=True)
    return np.sum([share * (a @ psi) for share, a, psi in blocks], axis=0)


def crf_dual(problem: EnumeratedProblem, alpha: Sequence[Array], lam: float, l1: float = 0.0) -> float:
    short = np.maximum(np.abs(moved(problem, alpha)) - l1, 0.0)
    return float(problem.shares @ [entropy(a) for a in alpha] - short @ short / (2 * lam))


def crf_optimum(problem: EnumeratedProblem, lam: float, l1: float = 0.0) -> tuple[Array, float]:
    """Weights and value; with an L1 penalty, over positive and negative parts."""
    d = problem.d

    def halves(parts: Array) -> tuple[float, Array]:
        w = parts[:d] - parts[d:]
        smooth = lam / 2 * (w @ w) + log_loss(problem, w)
        gradient = crf_gradient(problem, w, lam)
        return smooth + l1 * np.sum(parts), np.concatenate([gradient + l1, l1 - gradient])

    def whole(w: Array) -> tuple[float, Array]:
        return crf_primal(problem, w, lam), crf_gradient(problem, w, lam)

    options = {"maxiter": 10_000, "ftol": 1e-16, "gtol": 1e-11, "maxfun": 100_000}
    if l1 == 0.0:
        found = minimize(whole, np.zeros(d), jac=True, method="L-BFGS-B", options=options)
        return found.x, float(found.fun)
    found = minimize(
        halves, np.zeros(2 * d), jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * d), options=options
    )
    w = found.x[:d] - found.x[d:]
    return w, crf_primal(problem, w, lam, l1)
