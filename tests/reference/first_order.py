"""Subgradient descent, the perceptron and exponentiated gradient over every labeling, dense and one step at a time.

Shares of samples are c_i = s_i/S; one sample of n stands for all, so that its share counts n times.
Ties in the argmax go to the lowest row; pass ``oracle`` to follow another rule.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .enumeration import Array, EnumeratedProblem

Oracle = Callable[[int, Array], int]


@dataclass(frozen=True)
class Iterates:
    """Row k holds what is there after k steps (row 0: the start)."""

    w: Array
    average: Array


def subgradient_descent(
    problem: EnumeratedProblem,
    lam: float,
    asked: Iterable[ArrayLike],
    length: Callable[[int], float],
    *,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
    oracle: Oracle | None = None,
    start: Array | None = None,
) -> Iterates:
    """``w <- [w - gamma_k (lam w - mean of n c_i psi_i(y*))]`` over the samples asked in step k, put back in the box.

    Shalev-Shwartz et al. 2007: ``gamma_k = 1/(lam (k + 1))``. The average weighs iterate k by k, as
    ``k/(k+2) old + 2/(k+2) new`` (Lacoste-Julien et al. 2013).
    """
    oracle = problem.oracle if oracle is None else oracle
    w = np.clip(np.zeros(problem.d) if start is None else start, lower, upper)
    points, averages = [w], [w]
    for k, samples in enumerate(map(np.atleast_1d, asked)):
        scale = problem.n / len(samples)
        pull = np.sum([scale * problem.shares[i] * problem.psi[i][oracle(int(i), w)] for i in samples], axis=0)
        w = np.clip(w - length(k) * (lam * w - pull), lower, upper)
        points.append(w)
        averages.append(k / (k + 2) * averages[-1] + 2 / (k + 2) * w)
    return Iterates(np.array(points), np.array(averages))


def perceptron(
    problem: EnumeratedProblem,
    order: ArrayLike,
    *,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
    decode: Oracle | None = None,
) -> Iterates:
    """``w <- w + n c_i psi_i(argmax_y <w, phi_i(y)>)`` (Collins 2002); the average is that after each of the steps."""
    decode = (lambda i, w: int(np.argmax(-problem.psi[i] @ w))) if decode is None else decode
    w = np.clip(np.zeros(problem.d), lower, upper)
    points, averages = [w], [w]
    for k, i in enumerate(np.asarray(order)):
        w = np.clip(w + problem.n * problem.shares[i] * problem.psi[i][decode(int(i), w)], lower, upper)
        points.append(w)
        averages.append((k * averages[-1] + w) / (k + 1))
    return Iterates(np.array(points), np.array(averages))


def tilted(problem: EnumeratedProblem, i: int, alpha: Array, w: Array, eta: float) -> Array:
    """``alpha(y) exp(eta H_i(y; w))``, normalised (Collins et al. 2008, eq. 4)."""
    return softmax(np.log(alpha) + eta * problem.augmented(i, w))


def softmax(scores: Array) -> Array:
    mass = np.exp(scores - np.max(scores))
    return mass / np.sum(mass)
