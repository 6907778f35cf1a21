"""Smoothed maxima over every labeling, SVRG and Casimir in their textbook form (Pillutla et al. 2018).

Smoothed   h_mu(z) = max_u <u, z> - mu omega(u) over the simplex, omega <= 0, so that max z <= h_mu(z) <= max z + mu D
           entropy: omega = sum u log u, D = log m;  squares: omega = (|u|^2 - 1)/2, D = 1/2 (less than it: (1 - 1/m)/2)
Objective  F_mu(w) = lam/2 |w|^2 + sum_i c_i h_mu(H_i(.; w)),  c_i = s_i/S
Gradient   lam w - sum_i c_i sum_y u_i(y) psi_i(y) = lam (w - w(u)), where w(u) are the weights of u as a dual point
Gap        P(w) - D(u) = |grad F_mu(w)|^2 / (2 lam) + sum_i c_i (max H_i - E_u H_i), of any u on the simplices

Algorithm 4 asks of its inner solver a solution as good as (26); what is sufficient for it is
``|grad|^2 <= (lam + kappa) delta kappa |w - z|^2``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

import numpy as np
from scipy.optimize import brentq, linprog, minimize

from .enumeration import Array, EnumeratedProblem
from .first_order import softmax

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class Smoother(Protocol):
    """A way to smooth the maximum of a vector, and how strongly."""

    mu: float

    def distribution(self, z: Array) -> Array:
        """The u at which the maximum is attained: the gradient."""

    def value(self, z: Array) -> float:
        """h_mu(z)."""

    def range(self, m: int) -> float:
        """D: how far omega is below 0 at the most, over distributions on m outputs."""

    def curvature(self, psi: Array) -> float:
        """Of ``w -> h_mu(b - psi w)`` times mu: a bound on it, |psi|_{2,1}^2 or |psi|_{2,2}^2 (58)."""


@dataclass(frozen=True)
class Entropy:
    """mu log sum exp(z/mu)."""

    mu: float

    def distribution(self, z: Array) -> Array:
        return softmax(z / self.mu)

    def value(self, z: Array) -> float:
        top = float(np.max(z))
        return top + self.mu * math.log(float(np.sum(np.exp((z - top) / self.mu))))

    def range(self, m: int) -> float:
        return math.log(m)

    def curvature(self, psi: Array) -> float:
        return float(np.max(np.sum(psi**2, axis=1)))


@dataclass(frozen=True)
class Squares:
    """The projection of z/mu on the simplex; with `top_k`, of the k largest entries of z only, ties to the first."""

    mu: float
    top_k: int | None = None

    def distribution(self, z: Array) -> Array:
        u = np.zeros(len(z))
        kept = np.argsort(-z, kind="stable")[: self.top_k]
        u[kept] = project(z[kept] / self.mu)
        return u

    def value(self, z: Array) -> float:
        u = self.distribution(z)
        return float(u @ z - self.mu / 2 * (u @ u - 1.0))

    def range(self, m: int) -> float:
        return 0.5

    def curvature(self, psi: Array) -> float:
        return float(np.linalg.norm(psi, 2) ** 2)

    def is_exact(self, z: Array) -> bool:
        """Whether the projection of all of z has no more than `top_k` non-zeros (Propositions 3 and 4)."""
        if self.top_k is None or self.top_k >= len(z):
            return True
        ordered = np.sort(z)[::-1]
        return bool(np.sum(ordered[: self.top_k] - ordered[self.top_k]) >= self.mu)


def project(v: Array) -> Array:
    """The point of the simplex nearest to v, by sorting: the largest k with a positive entry decides."""
    v = v - np.max(v)  # beside 1e16, rounding would lose the 1 that is to be shared out
    ordered = np.sort(v)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, len(v) + 1)
    k = int(np.flatnonzero(ordered > excess)[-1])
    return np.maximum(v - excess[k], 0.0)


@dataclass(frozen=True)
class Smooth:
    """F_mu at w, its gradient, and the distributions u behind them."""

    value: float
    gradient: Array
    u: list[Array]
    inexact: float


def smoothed(problem: EnumeratedProblem, w: Array, lam: float, smoother: Smoother) -> Smooth:
    scores = [problem.augmented(i, w) for i in range(problem.n)]
    u = [smoother.distribution(z) for z in scores]
    value = lam / 2 * (w @ w) + sum(c * smoother.value(z) for c, z in zip(problem.shares, scores, strict=True))
    pull = sum(c * (a @ psi) for c, a, psi in zip(problem.shares, u, problem.psi, strict=True))
    exact = [not isinstance(smoother, Squares) or smoother.is_exact(z) for z in scores]
    return Smooth(float(value), lam * w - pull, u, 1.0 - float(np.mean(exact)))


def gap_at(problem: EnumeratedProblem, w: Array, lam: float, smoother: Smoother) -> float:
    """P(w) less the dual value of the smoothed distributions there, by the formula with the gradient."""
    found = smoothed(problem, w, lam, smoother)
    scores = [problem.augmented(i, w) for i in range(problem.n)]
    slack = [float(np.max(z) - a @ z) for z, a in zip(scores, found.u, strict=True)]
    return float(found.gradient @ found.gradient / (2 * lam) + problem.shares @ slack)


def floor_of(problem: EnumeratedProblem, smoother: Smoother) -> float:
    """mu D, the mean over samples: what the smoothed objective is above the other at the most."""
    return smoother.mu * float(problem.shares @ [smoother.range(len(loss)) for loss in problem.losses])


def hinge_optimum(problem: EnumeratedProblem, tol: float = 1e-9) -> tuple[Array, float]:
    """(w, optimum) at lam = 0, of two linear programs that have to agree.

    min sum_i c_i xi_i  s.t.  xi_i >= L_i(y) - <w, psi_i(y)>, and
    max sum_i c_i L_i'alpha_i  s.t.  sum_i c_i alpha_i'psi_i = 0, alpha_i in the simplex.
    """
    kept = np.flatnonzero(problem.weights > 0)
    sizes = [len(problem.losses[i]) for i in kept]
    psi = np.vstack([problem.psi[i] for i in kept])
    loss = np.concatenate([problem.losses[i] for i in kept])
    member = np.repeat(np.eye(len(kept)), sizes, axis=0)
    share = np.repeat(problem.shares[kept], sizes)
    cost = np.concatenate([np.zeros(problem.d), problem.shares[kept]])
    upper = linprog(cost, A_ub=np.hstack([-psi, -member]), b_ub=-loss, bounds=(None, None), method="highs")
    balance, ones = (share[:, None] * psi).T, member.T
    b_eq = np.concatenate([np.zeros(problem.d), np.ones(len(kept))])
    lower = linprog(-share * loss, A_eq=np.vstack([balance, ones]), b_eq=b_eq, bounds=(0, None), method="highs")
    if upper.status != 0 or lower.status != 0 or not abs(upper.fun + lower.fun) <= tol:
        raise ArithmeticError(f"the two linear programs disagree: {upper.message}, {lower.message}")
    w = upper.x[: problem.d]
    return w, problem.primal(w, 0.0)


def smoothed_optimum(problem: EnumeratedProblem, lam: float, smoother: Smoother) -> tuple[Array, float]:
    """The minimiser of F_mu, lam > 0, and its value."""
    return Proximal(problem, lam, smoother, 0.0, np.zeros(problem.d)).solve()


@dataclass(frozen=True)
class Proximal:
    """F_mu(w) + kappa/2 |w - centre|^2 (25)."""

    problem: EnumeratedProblem
    lam: float
    smoother: Smoother
    kappa: float
    centre: Array

    def value(self, w: Array) -> float:
        apart = w - self.centre
        return smoothed(self.problem, w, self.lam, self.smoother).value + self.kappa / 2 * float(apart @ apart)

    def gradient(self, w: Array) -> Array:
        return smoothed(self.problem, w, self.lam, self.smoother).gradient + self.kappa * (w - self.centre)

    def quadratic_gradient(self, w: Array) -> Array:
        """Of the terms that all samples share."""
        return self.lam * w + self.kappa * (w - self.centre)

    def sample_gradient(self, w: Array, i: int) -> Array:
        """Of n c_i h_mu: one sample of n stands for all."""
        u = self.smoother.distribution(self.problem.augmented(i, w))
        return -self.problem.n * self.problem.shares[i] * (u @ self.problem.psi[i])

    def is_solved(self, w: Array, delta: float) -> bool:
        """What is sufficient for (26), since the problem is strongly convex with lam + kappa."""
        gradient, apart = self.gradient(w), w - self.centre
        return float(gradient @ gradient) <= (self.lam + self.kappa) * delta * self.kappa * float(apart @ apart)

    @property
    def lipschitz(self) -> float:
        """The largest curvature of a sample, quadratic terms included."""
        blocks = zip(self.problem.shares, self.problem.psi, strict=True)
        largest = max(self.problem.n * share * self.smoother.curvature(psi) for share, psi in blocks)
        return float(largest / self.smoother.mu + self.lam + self.kappa)

    def solve(self) -> tuple[Array, float]:
        """The minimiser, by quasi-Newton steps, as exactly as they find it; and its value."""
        w = self.centre
        for _ in range(5):  # from where a line search gave up, with curvature known anew
            w = minimize(
                lambda v: (self.value(v), self.gradient(v)),
                w,
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 30},
            ).x
        return w, self.value(w)


def svrg_epoch(objective: Proximal, w: Array, order: Iterable[int], rate: float) -> Array:
    """One epoch (Johnson and Zhang 2013): a full gradient at w, a step for each sample; the mean of the iterates.

    ``x <- x - rate (grad_i(x) - grad_i(w) + mean of all grad_j(w))``, the quadratic terms taken as they are at x.
    """
    snapshot = w
    full = objective.gradient(snapshot) - objective.quadratic_gradient(snapshot)
    x, total, steps = snapshot, np.zeros_like(w), 0
    for i in order:
        change = objective.sample_gradient(x, i) - objective.sample_gradient(snapshot, i)
        x = x - rate * (change + full + objective.quadratic_gradient(x))
        total, steps = total + x, steps + 1
    return total / steps


def svrg(
    problem: EnumeratedProblem,
    lam: float,
    smoother: Smoother,
    epochs: int,
    rng: np.random.Generator,
    rate: float | None = None,
) -> Array:
    """Row k: the point after k epochs, from 0 on; samples in the order of permutations."""
    objective = Proximal(problem, lam, smoother, 0.0, np.zeros(problem.d))
    rate = 1.0 / objective.lipschitz if rate is None else rate
    points = [np.zeros(problem.d)]
    for _ in range(epochs):
        points.append(svrg_epoch(objective, points[-1], rng.permutation(problem.n), rate))
    return np.array(points)


# Algorithm 4


@dataclass(frozen=True)
class Rule:
    """Of the k-th problem."""

    mu: float
    kappa: float
    delta: float


def constant_rules(lam: float, mu: float, kappa: float) -> Iterator[Rule]:
    """Corollaries 17 and 19."""
    for k in count(1):
        yield Rule(mu, kappa, accuracy(lam, kappa, k))


def adaptive_rules(lam: float, mu: float, kappa: float) -> Iterator[Rule]:
    """Corollaries 18 and 20."""
    for k in count(1):
        if lam > 0:
            eta = 1.0 - math.sqrt(lam / (lam + kappa)) / 2
            yield Rule(mu * eta ** (k / 2), kappa, accuracy(lam, kappa, k))
        else:
            yield Rule(mu / k, kappa * k, accuracy(lam, kappa, k))


def accuracy(lam: float, kappa: float, k: int) -> float:
    """delta_k."""
    if lam == 0:
        return 1.0 / (k + 1) ** 2
    root = math.sqrt(lam / (lam + kappa))
    return root / (2.0 - root)


def best_kappa(problem: EnumeratedProblem, lam: float, smoother: Smoother) -> float:
    """Propositions 29 and 31, of constant smoothing; `lam` where the data are easy."""
    largest = max(smoother.curvature(psi) for psi, s in zip(problem.psi, problem.weights, strict=True) if s > 0)
    if lam == 0:
        return largest / (smoother.mu * (problem.n + 1))
    kappa = largest / (smoother.mu * problem.n)
    return kappa - lam if kappa > 4 * lam else lam


def first_alpha(lam: float, kappa: float) -> float:
    return math.sqrt(lam / (lam + kappa)) if lam > 0 else GOLDEN


def next_alpha(alpha: float, lam: float, kappa: float, following: float) -> float:
    """The root in (0, 1] of ``a^2 (kappa' + lam) = (1 - a) alpha^2 (kappa + lam) + a lam`` (27), by search."""
    before = alpha**2 * (kappa + lam)
    return float(brentq(lambda a: a * a * (following + lam) - (1.0 - a) * before - a * lam, 0.0, 1.0, xtol=1e-16))


def momentum(alpha: float, following_alpha: float, lam: float, kappa: float, following: float) -> float:
    """beta_k (29)."""
    stiff, next_stiff = kappa + lam, following + lam
    return alpha * (1.0 - alpha) * stiff / (alpha**2 * stiff + following_alpha * next_stiff)


@dataclass
class Outer:
    """Row k of each: what is there after k problems (row 0: the start)."""

    w: list[Array] = field(default_factory=list)
    centre: list[Array] = field(default_factory=list)
    alpha: list[float] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)  # of problem k + 1


Inner = Callable[[Proximal, Array, float], Array]  # the problem, where to start, delta -> w


def casimir(
    problem: EnumeratedProblem,
    lam: float,
    rules: Iterator[Rule],
    smoother_of: Callable[[float], Smoother],
    inner: Inner,
    steps: int,
    warm_start: str = "prox-center",
) -> Outer:
    """`steps` problems of Algorithm 4, from 0 on."""
    w, rule = np.zeros(problem.d), next(rules)
    outer = Outer([w], [w], [first_alpha(lam, rule.kappa)], [rule])
    for _ in range(steps):
        objective = Proximal(problem, lam, smoother_of(rule.mu), rule.kappa, outer.centre[-1])
        w = inner(objective, first_point(outer, lam, warm_start), rule.delta)
        following = next(rules)
        alpha = next_alpha(outer.alpha[-1], lam, rule.kappa, following.kappa)
        beta = momentum(outer.alpha[-1], alpha, lam, rule.kappa, following.kappa)
        outer.centre.append(w + beta * (w - outer.w[-1]))
        outer.w.append(w)
        outer.alpha.append(alpha)
        outer.rules.append(following)
        rule = following
    return outer


def first_point(outer: Outer, lam: float, warm_start: str) -> Array:
    """Where the inner solver starts (Section 7.3.1); before the first problem there is one centre only."""
    if warm_start == "previous":
        return outer.w[-1]
    if warm_start == "prox-center" or len(outer.centre) == 1:
        return outer.centre[-1]
    kappa = outer.rules[-1].kappa
    return outer.w[-1] + kappa / (kappa + lam) * (outer.centre[-1] - outer.centre[-2])


def exactly(objective: Proximal, start: Array, delta: float) -> Array:
    """An inner solver that finds the minimiser."""
    return objective.solve()[0]


def by_svrg(rng: np.random.Generator, epochs: int | None = None) -> Inner:
    """SVRG until (26) holds, or for so many epochs."""

    def inner(objective: Proximal, start: Array, delta: float) -> Array:
        w, rate = start, 1.0 / objective.lipschitz
        for done in count():
            solved = objective.is_solved(w, delta) if epochs is None else done == epochs
            if solved and done > 0:
                return w
            w = svrg_epoch(objective, w, rng.permutation(objective.problem.n), rate)
        raise AssertionError

    return inner
