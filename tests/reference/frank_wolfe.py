"""Batch and block-coordinate Frank-Wolfe on an enumerated problem (Lacoste-Julien et al. 2013, Algorithms 2 and 4).

Sample weights enter through the columns: w_s = s_i/(lam S) psi_i(y), ell_s = s_i/S L_i(y).
Ties in the argmax go to the lowest row, that is to the lexicographically first labeling; pass ``oracle`` to follow
another rule (what it returns is checked to be a maximiser).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .enumeration import Array, EnumeratedProblem

Step = Literal["line_search", "fixed"]
Oracle = Callable[[int, Array], int]


@dataclass(frozen=True)
class Trajectory:
    """Row k of a state holds it after k steps (row 0: the start); entry k of a step quantity is of step k = 0, 1, ...

    ``gaps[k]`` is the gap of what step k works on (one block, or all of them), before the step.
    ``corners[k]`` is the row chosen: an int per step for blocks, n of them per step for the batch method.
    """

    w: Array
    ell: Array
    dual: Array
    w_avg: Array
    ell_avg: Array
    dual_avg: Array
    gammas: Array
    gaps: Array
    corners: NDArray[np.int64]
    alpha: list[Array]
    alpha_avg: list[Array]


def batch_frank_wolfe(
    problem: EnumeratedProblem,
    lam: float,
    n_steps: int,
    *,
    step: Step = "line_search",
    oracle: Oracle | None = None,
    alpha0: Sequence[ArrayLike] | None = None,
) -> Trajectory:
    """Algorithm 2; the fixed step is 2/(k+2)."""
    alpha = _start(problem, alpha0)
    w, ell = problem.weights_of(alpha, lam), problem.ell_of(alpha)
    record = _Recorder(lam, w, ell, alpha)
    for k in range(n_steps):
        rows = [_maximise(problem, i, w, oracle) for i in range(problem.n)]
        corners = [np.eye(len(a))[row] for a, row in zip(alpha, rows, strict=True)]
        w_s, ell_s = problem.weights_of(corners, lam), problem.ell_of(corners)
        gap = float(lam * ((w - w_s) @ w) - ell + ell_s)
        gamma = _line_search(gap, lam, w - w_s) if step == "line_search" else 2 / (k + 2)
        w, ell = (1 - gamma) * w + gamma * w_s, (1 - gamma) * ell + gamma * ell_s
        alpha = [(1 - gamma) * a + gamma * s for a, s in zip(alpha, corners, strict=True)]
        record.add(k, w, ell, alpha, gamma, gap, rows)
    return record.trajectory(np.array(record.corners, dtype=np.int64).reshape(n_steps, problem.n))


def block_frank_wolfe(
    problem: EnumeratedProblem,
    lam: float,
    order: ArrayLike,
    *,
    step: Step = "line_search",
    oracle: Oracle | None = None,
    alpha0: Sequence[ArrayLike] | None = None,
) -> Trajectory:
    """Algorithm 4, visiting block ``order[k]`` at step k; the fixed step is 2n/(k+2n), n counting every block."""
    blocks = np.asarray(order, dtype=np.int64)
    n, shares = problem.n, problem.shares
    alpha = _start(problem, alpha0)
    w_block = [shares[i] / lam * (alpha[i] @ problem.psi[i]) for i in range(n)]
    ell_block = [float(shares[i] * (alpha[i] @ problem.losses[i])) for i in range(n)]
    w, ell = np.sum(w_block, axis=0), float(np.sum(ell_block))
    record = _Recorder(lam, w, ell, alpha)
    for k, i in enumerate(blocks):
        row = _maximise(problem, int(i), w, oracle)
        w_s, ell_s = shares[i] / lam * problem.psi[i][row], float(shares[i] * problem.losses[i][row])
        gap = float(lam * ((w_block[i] - w_s) @ w) - ell_block[i] + ell_s)
        gamma = _line_search(gap, lam, w_block[i] - w_s) if step == "line_search" else 2 * n / (k + 2 * n)
        w_new, ell_new = (1 - gamma) * w_block[i] + gamma * w_s, (1 - gamma) * ell_block[i] + gamma * ell_s
        w, ell = w + w_new - w_block[i], ell + ell_new - ell_block[i]
        w_block[i], ell_block[i] = w_new, ell_new
        alpha = list(alpha)
        alpha[i] = (1 - gamma) * alpha[i] + gamma * np.eye(len(alpha[i]))[row]
        record.add(k, w, ell, alpha, gamma, gap, [row])
    return record.trajectory(np.array(record.corners, dtype=np.int64).reshape(len(blocks)))


def _start(problem: EnumeratedProblem, alpha0: Sequence[ArrayLike] | None) -> list[Array]:
    if alpha0 is None:
        return problem.true_alpha()
    if not problem.is_feasible(alpha0):
        raise ValueError("alpha0 is not in the product of simplices")
    return [np.array(a, dtype=float) for a in alpha0]


def _maximise(problem: EnumeratedProblem, i: int, w: Array, oracle: Oracle | None) -> int:
    if oracle is None:
        return problem.oracle(i, w)
    row = int(oracle(i, w))
    if row not in problem.maximisers(i, w, tol=1e-9):
        raise ValueError(f"row {row} does not maximise block {i}")
    return row


def _line_search(gap: float, lam: float, direction: Array) -> float:
    """argmax over [0, 1] of gap gamma - lam/2 |direction|^2 gamma^2; where w cannot move: 1 if the gap is positive."""
    curvature = float(lam * (direction @ direction))
    if curvature == 0.0:
        return 1.0 if gap > 0 else 0.0
    return min(max(gap / curvature, 0.0), 1.0)


class _Recorder:
    """Rows of a run, with the weighted averages z_avg <- k/(k+2) z_avg + 2/(k+2) z of w, ell and alpha."""

    def __init__(self, lam: float, w: Array, ell: float, alpha: list[Array]) -> None:
        self.lam = lam
        self.w, self.ell = [w], [ell]
        self.w_avg, self.ell_avg = [w], [ell]
        self.alpha, self.alpha_avg = alpha, alpha
        self.gammas: list[float] = []
        self.gaps: list[float] = []
        self.corners: list[list[int]] = []

    def add(self, k: int, w: Array, ell: float, alpha: list[Array], gamma: float, gap: float, rows: list[int]) -> None:
        old, new = k / (k + 2), 2 / (k + 2)
        self.w.append(w)
        self.ell.append(ell)
        self.w_avg.append(old * self.w_avg[-1] + new * w)
        self.ell_avg.append(old * self.ell_avg[-1] + new * ell)
        self.alpha = alpha
        self.alpha_avg = [old * a + new * b for a, b in zip(self.alpha_avg, alpha, strict=True)]
        self.gammas.append(gamma)
        self.gaps.append(gap)
        self.corners.append(rows)

    def trajectory(self, corners: NDArray[np.int64]) -> Trajectory:
        w, w_avg = np.array(self.w), np.array(self.w_avg)
        ell, ell_avg = np.array(self.ell), np.array(self.ell_avg)
        return Trajectory(
            w=w,
            ell=ell,
            dual=ell - self.lam / 2 * np.sum(w**2, axis=1),
            w_avg=w_avg,
            ell_avg=ell_avg,
            dual_avg=ell_avg - self.lam / 2 * np.sum(w_avg**2, axis=1),
            gammas=np.array(self.gammas),
            gaps=np.array(self.gaps),
            corners=corners,
            alpha=self.alpha,
            alpha_avg=self.alpha_avg,
        )
