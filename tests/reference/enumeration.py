"""Structural SVMs with every labeling written out, and their optimum from an independent QP solver.

Primal      P(w) = lam/2 |w|^2 + (1/S) sum_i s_i max_y H_i(y; w),   H_i(y; w) = L_i(y) - <w, psi_i(y)>
Difference  psi_i(y) = phi(x_i, y_i) - phi(x_i, y),   S = sum_i s_i
Dual        D(alpha) = sum_i (s_i/S) sum_y alpha_i(y) L_i(y) - lam/2 |w(alpha)|^2,   alpha_i in the unit simplex
            w(alpha) = sum_i s_i/(lam S) sum_y alpha_i(y) psi_i(y)

Labelings are enumerated in lexicographic order (first position slowest).
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

MAX_LABELINGS = 100_000


@dataclass(frozen=True)
class EnumeratedProblem:
    """One row of ``psi[i]``, one entry of ``losses[i]`` and of ``labelings[i]`` per labeling of sample i.

    ``truth[i]`` is the row of the true labeling; without it, the first row with zero psi and zero loss is taken.
    """

    psi: list[Array]
    losses: list[Array]
    weights: Array
    labelings: Sequence[Sequence[Any]]
    truth: list[int] | None = None

    def __post_init__(self) -> None:
        sizes = {len(self.psi), len(self.losses), len(self.weights), len(self.labelings)}
        if len(sizes) != 1 or not self.psi:
            raise ValueError("psi, losses, weights and labelings need one entry per sample, and at least one sample")
        if not np.all(np.isfinite(self.weights)) or np.any(self.weights < 0) or np.sum(self.weights) <= 0:
            raise ValueError("weights must be finite and non-negative, with a positive sum")
        for i, (psi, loss, labels) in enumerate(zip(self.psi, self.losses, self.labelings, strict=True)):
            if psi.shape != (len(loss), self.psi[0].shape[1]) or len(labels) != len(loss):
                raise ValueError(f"sample {i}: psi {psi.shape}, {len(loss)} losses, {len(labels)} labelings")
        if self.truth is None:
            blocks = zip(self.psi, self.losses, strict=True)
            found = [np.flatnonzero((loss == 0) & ~psi.any(axis=1)) for psi, loss in blocks]
            if not all(len(rows) for rows in found):
                raise ValueError("a sample has no labeling with zero psi and zero loss: give truth")
            object.__setattr__(self, "truth", [int(rows[0]) for rows in found])

    @property
    def n(self) -> int:
        """Number of samples, those of weight 0 included."""
        return len(self.psi)

    @property
    def d(self) -> int:
        """Dimension of w."""
        return int(self.psi[0].shape[1])

    @property
    def shares(self) -> Array:
        """s_i / S."""
        return self.weights / np.sum(self.weights)

    def true_alpha(self) -> list[Array]:
        """The dual point with all mass on the true labelings; w = 0 there."""
        assert self.truth is not None
        return [np.eye(len(loss))[t] for loss, t in zip(self.losses, self.truth, strict=True)]

    def augmented(self, i: int, w: Array) -> Array:
        """H_i(y; w) for every labeling y."""
        return self.losses[i] - self.psi[i] @ w

    def maximisers(self, i: int, w: Array, tol: float = 1e-12) -> NDArray[np.intp]:
        """Every row whose H_i is within ``tol`` (relative to max(1, |max|)) of the largest, in increasing order."""
        values = self.augmented(i, w)
        best = float(np.max(values))
        return np.flatnonzero(values >= best - tol * max(1.0, abs(best)))

    def oracle(self, i: int, w: Array) -> int:
        """Row of a maximiser of H_i; ties (up to rounding) go to the lexicographically first labeling."""
        return int(self.maximisers(i, w)[0])

    def index_of(self, i: int, labeling: Any) -> int:
        """Row of a labeling of sample i."""
        for row, other in enumerate(self.labelings[i]):
            if _same(other, labeling):
                return row
        raise ValueError(f"sample {i} has no labeling {labeling!r}")

    def primal(self, w: ArrayLike, lam: float) -> float:
        """P(w), with exact maxima."""
        w = np.asarray(w, dtype=float)
        hinge = [float(np.max(self.augmented(i, w))) for i in range(self.n)]
        return float(lam / 2 * (w @ w) + self.shares @ hinge)

    def weights_of(self, alpha: Sequence[ArrayLike], lam: float) -> Array:
        """w(alpha)."""
        w = np.zeros(self.d)
        for share, psi, a in zip(self.shares, self.psi, alpha, strict=True):
            w += share / lam * (np.asarray(a, dtype=float) @ psi)
        return w

    def ell_of(self, alpha: Sequence[ArrayLike]) -> float:
        """The linear part of the dual: sum_i (s_i/S) sum_y alpha_i(y) L_i(y)."""
        blocks = zip(self.shares, self.losses, alpha, strict=True)
        return float(sum(share * (np.asarray(a, dtype=float) @ loss) for share, loss, a in blocks))

    def dual(self, alpha: Sequence[ArrayLike], lam: float) -> float:
        """D(alpha); a lower bound on every P(w) when alpha is feasible (not checked here)."""
        w = self.weights_of(alpha, lam)
        return self.ell_of(alpha) - float(lam / 2 * (w @ w))

    def block_gaps(self, alpha: Sequence[ArrayLike], lam: float) -> Array:
        """g_i = (s_i/S) (max_y H_i(y; w) - sum_y alpha_i(y) H_i(y; w)) at w = w(alpha); they sum to P(w) - D(alpha)."""
        w = self.weights_of(alpha, lam)
        values = [self.augmented(i, w) for i in range(self.n)]
        slack = [float(np.max(h) - np.asarray(a, dtype=float) @ h) for h, a in zip(values, alpha, strict=True)]
        return np.multiply(self.shares, slack, dtype=np.float64)

    def is_feasible(self, alpha: Sequence[ArrayLike], tol: float = 1e-9) -> bool:
        """Whether every block lies in its unit simplex."""
        blocks = [np.asarray(a, dtype=float) for a in alpha]
        shapes = [a.shape for a in blocks] == [loss.shape for loss in self.losses]
        return shapes and all(float(np.min(a)) >= -tol and abs(float(np.sum(a)) - 1) <= tol for a in blocks)

    def solve(self, lam: float, tol: float = 1e-8) -> tuple[Array, float, list[Array]]:
        """(w, optimum, alpha), from the primal and the dual QP solved separately by an interior-point method.

        D(alpha) <= optimum <= P(w) holds whatever the solver says of itself, since w is any vector and alpha is put
        back on the simplices. P(w) - D(alpha) > tol max(1, |optimum|) raises. |w - w*|^2 <= 2 (P(w) - D(alpha)) / lam.
        """
        if not lam > 0:
            raise ValueError("lam must be positive")
        w_primal, alpha_primal = self._solve_primal(lam)
        alpha_dual = self._solve_dual(lam)
        candidates = [w_primal, self.weights_of(alpha_dual, lam), self.weights_of(alpha_primal, lam)]
        w = min(candidates, key=lambda v: self.primal(v, lam))
        alpha = max([alpha_dual, alpha_primal], key=lambda a: self.dual(a, lam))
        upper, lower = self.primal(w, lam), self.dual(alpha, lam)
        if not upper - lower <= tol * max(1.0, abs(upper)):
            raise ArithmeticError(f"the two QPs disagree: primal {upper!r}, dual {lower!r}")
        return w, (upper + lower) / 2, alpha

    def _solve_primal(self, lam: float) -> tuple[Array, list[Array]]:
        """min lam/2 |w|^2 + sum_i (s_i/S) xi_i  s.t.  xi_i >= L_i(y) - <w, psi_i(y)>; multipliers are s_i/S alpha_i.

        Samples of weight 0 have a free slack and are left out.
        """
        kept = np.flatnonzero(self.weights > 0)
        psi = np.vstack([self.psi[i] for i in kept])
        loss = np.concatenate([self.losses[i] for i in kept])
        member = sparse.block_diag([np.ones((len(self.losses[i]), 1)) for i in kept])
        quadratic = sparse.diags(np.concatenate([np.full(self.d, lam), np.zeros(len(kept))]))
        linear = np.concatenate([np.zeros(self.d), self.shares[kept]])
        constraints = sparse.hstack([-sparse.csc_matrix(psi), -member])
        x, z = _clarabel(quadratic, linear, constraints, -loss, [clarabel.NonnegativeConeT(len(loss))])
        return x[: self.d], self._on_simplices(z, kept)

    def _solve_dual(self, lam: float) -> list[Array]:
        """min lam/2 |w|^2 - sum_i (s_i/S) L_i'alpha_i  s.t.  w = w(alpha), sum_y alpha_i(y) = 1, alpha >= 0."""
        kept = np.flatnonzero(self.weights > 0)
        share = np.concatenate([np.full(len(self.losses[i]), self.shares[i]) for i in kept])
        loss = np.concatenate([self.losses[i] for i in kept])
        columns = np.vstack([self.psi[i] for i in kept]).T * (share / lam)
        member = sparse.block_diag([np.ones((1, len(self.losses[i]))) for i in kept])
        m = len(loss)
        quadratic = sparse.diags(np.concatenate([np.full(self.d, lam), np.zeros(m)]))
        linear = np.concatenate([np.zeros(self.d), -share * loss])
        constraints = sparse.bmat(
            [[sparse.identity(self.d), -sparse.csc_matrix(columns)], [None, member], [None, -sparse.identity(m)]]
        )
        bounds = np.concatenate([np.zeros(self.d), np.ones(len(kept)), np.zeros(m)])
        cones = [clarabel.ZeroConeT(self.d + len(kept)), clarabel.NonnegativeConeT(m)]
        x, _ = _clarabel(quadratic, linear, constraints, bounds, cones)
        return self._on_simplices(x[self.d :], kept)

    def _on_simplices(self, flat: Array, kept: NDArray[np.intp]) -> list[Array]:
        """Cut a flat vector into the blocks ``kept``, clip at 0 and normalise; other blocks stay at the truth."""
        alpha = self.true_alpha()
        for i, part in zip(kept, np.split(flat, np.cumsum([len(self.losses[i]) for i in kept])[:-1]), strict=True):
            part = np.maximum(part, 0.0)
            alpha[i] = part / np.sum(part)
        return alpha


def _clarabel(quadratic: Any, linear: Array, constraints: Any, bounds: Array, cones: list[Any]) -> tuple[Array, Array]:
    """min x'Px/2 + q'x  s.t.  b - Ax in the cones: solution and multipliers."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 500
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(quadratic), linear, sparse.csc_matrix(constraints), bounds, cones, settings
    )
    solution = solver.solve()
    return np.array(solution.x), np.array(solution.z)


def _same(a: Any, b: Any) -> bool:
    """Equality of two labelings: elementwise for arrays, lists and tuples, == for anything else."""
    if isinstance(a, np.ndarray | list | tuple) or isinstance(b, np.ndarray | list | tuple):
        return bool(np.array_equal(a, b))
    return bool(a == b)


def from_callables(
    n: int,
    labels_of: Callable[[int], Sequence[Any]],
    joint_feature: Callable[[int, Any], ArrayLike],
    loss: Callable[[int, Any], float],
    y_true: Sequence[Any] | Callable[[int], Any],
    weights: ArrayLike | None = None,
) -> EnumeratedProblem:
    """Enumerate a user-written structure: ``joint_feature(i, y)`` gives phi(x_i, y), dense or scipy-sparse.

    ``y_true[i]`` (or ``y_true(i)``) must equal one of ``labels_of(i)``.
    """
    psi, losses, labelings, truth = [], [], [], []
    for i in range(n):
        target = y_true(i) if callable(y_true) else y_true[i]
        labels = list(labels_of(i))
        rows = [row for row, y in enumerate(labels) if _same(y, target)]
        if len(rows) != 1:
            raise ValueError(f"sample {i}: the true labeling occurs {len(rows)} times among its labelings")
        phi_true = _dense(joint_feature(i, target))
        psi.append(np.array([phi_true - _dense(joint_feature(i, y)) for y in labels]))
        losses.append(np.array([loss(i, y) for y in labels], dtype=float))
        labelings.append(labels)
        truth.append(rows[0])
    s = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    return EnumeratedProblem(psi, losses, s, labelings, truth)


def _dense(vector: Any) -> Array:
    return np.asarray(vector.toarray() if sparse.issparse(vector) else vector, dtype=float).ravel()


def chain_labelings(
    length: int,
    n_labels: int,
    allowed: ArrayLike | None = None,
    allowed_start: ArrayLike | None = None,
    allowed_end: ArrayLike | None = None,
) -> Labels:
    """(m, length): every labeling without a forbidden transition, start or end, in lexicographic order."""
    if length < 1 or n_labels**length > MAX_LABELINGS:
        raise ValueError(f"{n_labels} labels at {length} positions are not for enumeration")
    trans = np.ones((n_labels, n_labels), bool) if allowed is None else np.asarray(allowed, bool)
    start = np.ones(n_labels, bool) if allowed_start is None else np.asarray(allowed_start, bool)
    end = np.ones(n_labels, bool) if allowed_end is None else np.asarray(allowed_end, bool)
    kept = [
        y
        for y in itertools.product(range(n_labels), repeat=length)
        if start[y[0]] and end[y[-1]] and all(trans[a, b] for a, b in itertools.pairwise(y))
    ]
    return np.array(kept, dtype=np.int64).reshape(-1, length)


def chain_joint_feature(
    X: ArrayLike, y: ArrayLike, n_labels: int, *, intercept: bool = True, boundary: bool = True
) -> Array:
    """phi(x, y): node (F, K), transitions (K, K), [bias (K)], [first (K), last (K)], flattened row-major."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=np.int64)
    node = np.zeros((X.shape[1], n_labels))
    transitions = np.zeros((n_labels, n_labels))
    bias, first, last = np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_labels)
    for t in range(len(y)):
        node[:, y[t]] += X[t]
        bias[y[t]] += 1
    for t in range(len(y) - 1):
        transitions[y[t], y[t + 1]] += 1
    first[y[0]] = 1
    last[y[-1]] = 1
    blocks = [node.ravel(), transitions.ravel()]
    blocks += [bias] if intercept else []
    blocks += [first, last] if boundary else []
    return np.concatenate(blocks)


def chain_loss(
    y_true: ArrayLike,
    y: ArrayLike,
    n_labels: int,
    *,
    cost: ArrayLike | None = None,
    class_weight: ArrayLike | None = None,
    normalize: bool = True,
) -> float:
    """sum_t cw[y_true_t] cost[y_true_t, y_t], divided by the length when ``normalize``."""
    table = 1.0 - np.eye(n_labels) if cost is None else np.asarray(cost, dtype=float)
    cw = np.ones(n_labels) if class_weight is None else np.asarray(class_weight, dtype=float)
    pairs = list(zip(np.asarray(y_true), np.asarray(y), strict=True))
    total = float(sum(cw[a] * table[a, b] for a, b in pairs))
    return total / len(pairs) if normalize else total


def enumerate_chain(
    X: Sequence[ArrayLike],
    y: Sequence[ArrayLike],
    n_labels: int,
    *,
    intercept: bool = True,
    boundary: bool = True,
    cost: ArrayLike | None = None,
    class_weight: ArrayLike | None = None,
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
    allowed: ArrayLike | None = None,
    allowed_start: ArrayLike | None = None,
    allowed_end: ArrayLike | None = None,
) -> EnumeratedProblem:
    """Chains: ``X[i]`` (T_i, F), ``y[i]`` (T_i,); ``allowed[a, b]`` permits label b right after label a."""
    lengths = [len(np.asarray(target)) for target in y]
    if lengths != [len(np.asarray(x)) for x in X]:
        raise ValueError("X and y differ in their lengths")
    return from_callables(
        len(lengths),
        lambda i: list(chain_labelings(lengths[i], n_labels, allowed, allowed_start, allowed_end)),
        lambda i, labels: chain_joint_feature(X[i], labels, n_labels, intercept=intercept, boundary=boundary),
        lambda i, labels: chain_loss(y[i], labels, n_labels, cost=cost, class_weight=class_weight, normalize=normalize),
        y,
        sample_weight,
    )


def multiclass_joint_feature(x: ArrayLike, label: int, n_labels: int, *, intercept: bool = True) -> Array:
    """phi(x, y): node (F, K) row-major, [bias (K)]."""
    x = np.asarray(x, dtype=float)
    node, bias = np.zeros((len(x), n_labels)), np.zeros(n_labels)
    node[:, label] = x
    bias[label] = 1
    return np.concatenate([node.ravel(), bias] if intercept else [node.ravel()])


def enumerate_multiclass(
    X: ArrayLike,
    y: ArrayLike,
    n_labels: int,
    *,
    intercept: bool = True,
    cost: ArrayLike | None = None,
    class_weight: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> EnumeratedProblem:
    """Multiclass: ``X`` (n, F), ``y`` (n,); s_i = sample_weight[i] class_weight[y_i], in S too."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=np.int64)
    table = 1.0 - np.eye(n_labels) if cost is None else np.asarray(cost, dtype=float)
    s = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if class_weight is not None:
        s = s * np.asarray(class_weight, dtype=float)[y]
    return from_callables(
        len(y),
        lambda i: range(n_labels),
        lambda i, label: multiclass_joint_feature(X[i], label, n_labels, intercept=intercept),
        lambda i, label: float(table[y[i], label]),
        [int(label) for label in y],
        s,
    )
