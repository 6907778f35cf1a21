"""Kernels of the estimators: functions of two samples, their matrix over the training data, scores from the support."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..structures.pairwise import PairwiseWeights
from ..structures.rows import KernelRows, kernel_coefficients
from ..structures.weights import MulticlassWeights
from ._scaling import PLAIN, Scaling
from ._weights import as_weights, in_given_units

PARAMETERS = {"linear": (), "rbf": ("gamma",), "poly": ("gamma", "degree", "coef0"), "sigmoid": ("gamma", "coef0")}
PRECOMPUTED = "precomputed"

MAX_GRAM_BYTES = 8e9
CHUNK_BYTES = 1 << 26  # of kernel values held at a time when scoring
CHUNK_ROWS = 512  # of the training matrix looked at together

SYMMETRY = 1e-8  # relative to the largest entry
DEFINITE = 1e-6  # how negative an eigenvalue may be, relative to the largest
PROBE = 500  # positions whose eigenvalues are looked at


class KernelFunction(NamedTuple):
    """A kernel with its parameters settled, as they were when the model was fitted."""

    kernel: str | Callable
    parameters: dict[str, float]

    @property
    def precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == PRECOMPUTED

    @property
    def makes_values(self) -> bool:
        """Whether kernel values are made here, and nobody else's."""
        return isinstance(self.kernel, str) and self.kernel != PRECOMPUTED

    def between(self, X: Any, Z: Any) -> np.ndarray:
        """Kernel values (n, m) of the rows of two matrices."""
        X, Z = _plain(X), _plain(Z)
        if isinstance(self.kernel, str):
            from sklearn.metrics.pairwise import pairwise_kernels  # imports half of scikit-learn

            return pairwise_kernels(X, Z, metric=self.kernel, **self.parameters)
        values = self.kernel(X, Z)
        values = np.asarray(values.toarray() if sp.issparse(values) else values, np.float64)
        if values.shape != (X.shape[0], Z.shape[0]):
            raise ValueError(
                f"kernel(X, Z) must give one value for each pair of rows, shape {(X.shape[0], Z.shape[0])}, but gave "
                f"{values.shape}"
            )
        return values


def _plain(rows: Any) -> Any:
    """Rows as others take them: both index arrays of a sparse matrix have one type."""
    if not sp.issparse(rows) or rows.indices.dtype == rows.indptr.dtype:
        return rows
    return sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)  # scipy settles on one


def settle_kernel(kernel: Any, gamma: Any, degree: Any, coef0: Any, rows: Any) -> KernelFunction | None:
    """The kernel an estimator's parameters mean for training rows, or None for none."""
    if kernel is None:
        return None
    if callable(kernel):
        return KernelFunction(kernel, {})
    if not isinstance(kernel, str) or kernel not in (*PARAMETERS, PRECOMPUTED):
        raise ValueError(f"kernel must be None, a function or one of {[*PARAMETERS, PRECOMPUTED]}, got {kernel!r}")
    wanted = PARAMETERS.get(kernel, ())
    parameters: dict[str, float] = {}
    if "gamma" in wanted:
        parameters["gamma"] = _settle_gamma(gamma, rows)
    if "degree" in wanted:
        if isinstance(degree, bool) or not isinstance(degree, numbers.Integral) or degree < 0:
            raise ValueError(f"degree must be an integer >= 0, got {degree!r}")
        parameters["degree"] = int(degree)
    if "coef0" in wanted:
        if isinstance(coef0, bool) or not isinstance(coef0, numbers.Real) or not np.isfinite(float(coef0)):
            raise ValueError(f"coef0 must be a finite number, got {coef0!r}")
        parameters["coef0"] = float(coef0)
    return KernelFunction(kernel, parameters)


def _settle_gamma(gamma: Any, rows: Any) -> float:
    if isinstance(gamma, str) and gamma == "auto":
        return 1.0 / rows.shape[1]
    if isinstance(gamma, str) and gamma == "scale":
        with np.errstate(over="ignore", invalid="ignore"):
            square = rows.multiply(rows).mean() - rows.mean() ** 2 if sp.issparse(rows) else rows.var()
        return float(1.0 / (rows.shape[1] * square)) if square > 0 else 1.0
    if isinstance(gamma, bool | str) or not isinstance(gamma, numbers.Real) or not 0 <= float(gamma) < np.inf:
        raise ValueError(f'gamma must be "scale", "auto" or a finite number >= 0, got {gamma!r}')
    return float(gamma)


def kernel_rows(function: KernelFunction, rows: Any, kept: np.ndarray, n_given: int) -> KernelRows:
    """The training positions by their kernel values; `kept` are their numbers among the `n_given` of the user."""
    n = rows.shape[0]
    if function.precomputed:
        if rows.shape[1] != n_given:
            raise ValueError(
                f'kernel="precomputed" takes kernel values of all positions with all positions, but X has {n_given} '
                f"rows and {rows.shape[1]} columns"
            )
        given = rows if len(kept) == n_given else rows[:, kept]
        own = given is not rows or sp.issparse(given)
        return KernelRows(_checked(given.toarray() if sp.issparse(given) else given, own))
    if 8.0 * n * n > MAX_GRAM_BYTES:
        raise MemoryError(
            f"the kernel matrix of {n} positions takes {8e-9 * n * n:.3g} GB, and the limit is "
            f"{1e-9 * MAX_GRAM_BYTES:.3g} GB: train on fewer, or take kernel=None on features that approximate the "
            "kernel, such as those of sklearn.kernel_approximation.Nystroem"
        )
    return KernelRows(_checked(function.between(rows, rows), own=not callable(function.kernel)))


def _checked(gram: np.ndarray, own: bool) -> np.ndarray:
    """A kernel matrix that is finite, symmetric to the last bit, and not seen to be indefinite."""
    largest, furthest = 0.0, 0.0
    for upper, lower in _mirrored(gram):
        with np.errstate(invalid="ignore"):
            largest = np.maximum(largest, np.abs(upper).max())  # NaN stays
            furthest = np.maximum(furthest, np.abs(upper - lower).max())
    if not np.isfinite(largest) or not np.isfinite(furthest):
        t, u = np.argwhere(~np.isfinite(gram))[0]
        raise ValueError(f"the kernel matrix has the value {gram[t, u]} at positions {t} and {u}: it must be finite")
    if furthest > SYMMETRY * largest:
        t, u = np.unravel_index(np.argmax(np.abs(gram - gram.T)), gram.shape)
        raise ValueError(
            f"the kernel matrix is not symmetric: {gram[t, u]:g} at positions {t} and {u}, but {gram[u, t]:g} at {u} "
            f"and {t}"
        )
    if furthest > 0.0:
        gram = gram if own and gram.flags.writeable else gram.copy()
        for upper, lower in _mirrored(gram):
            upper[:] = lower[:] = 0.5 * (upper + lower)
    _check_definite(gram, largest)
    return gram


def _mirrored(gram: np.ndarray) -> Any:
    """Stripes of the upper triangle, each with its mirror image in the lower one."""
    for first in range(0, len(gram), CHUNK_ROWS):
        last = first + CHUNK_ROWS
        yield gram[first:last, first:], gram[first:, first:last].T


def _check_definite(gram: np.ndarray, largest: float) -> None:
    """Refuse what is no kernel: there the dual has no top, and no gap would be true."""
    diagonal = np.diagonal(gram)
    if np.any(diagonal < 0):
        t = int(np.argmin(diagonal))
        raise ValueError(
            f"the kernel matrix is not positive semi-definite: {diagonal[t]:g} for position {t} with itself"
        )
    # any part of a semi-definite matrix is semi-definite, so that a part may convict the whole
    some = np.unique(np.linspace(0, len(gram) - 1, min(len(gram), PROBE)).astype(np.int64))
    values = np.linalg.eigvalsh(gram[np.ix_(some, some)])
    if values[0] < -DEFINITE * max(values[-1], largest):
        raise ValueError(
            f"the kernel matrix is not positive semi-definite, its eigenvalues reach from {values[0]:.3g} to "
            f"{values[-1]:.3g}: no such kernel has a margin; choose other parameters (a sigmoid rarely is one)"
        )


def unpack_kernel(
    function: KernelFunction,
    rows: Any,
    kept: np.ndarray,
    layout: MulticlassWeights | PairwiseWeights,
    scaling: Scaling,
    w: np.ndarray,
) -> dict[str, Any]:
    """The attributes of a kernel model from weights over kernel rows: its support, and all other weights."""
    w = in_given_units(layout, scaling, w, kernel=True)
    beta = kernel_coefficients(w, rows.shape[0], layout.n_labels)
    support = np.flatnonzero(np.any(beta != 0.0, axis=1))
    fitted = {"support_": kept[support], "dual_coef_": np.ascontiguousarray(beta[support])}
    if not function.precomputed:
        fitted["support_vectors_"] = rows[support]
    others = {name: part for name, part in layout.unpack(w).items() if name != "coef"}
    of_scores = layout.of_scores()
    return {**fitted, **as_weights(of_scores, PLAIN, of_scores.pack(**others))}


def kernel_scores(model: Any, rows: Any) -> np.ndarray:
    """Scores (M, K) of rows under a fitted kernel model, biases left out; memory stays bounded."""
    function, coefficients = model._kernel, model.dual_coef_
    n, n_support = rows.shape[0], len(coefficients)
    scores = np.zeros((n, coefficients.shape[1]))
    chunk = max(1, CHUNK_BYTES // (8 * max(n_support, 1)))
    for first in range(0, n if n_support else 0, chunk):
        part = rows[first : first + chunk]
        values = part[:, model.support_] if function.precomputed else function.between(part, model.support_vectors_)
        scores[first : first + chunk] = values @ coefficients
    if not np.all(np.isfinite(scores)):
        row = int(np.argmin(np.all(np.isfinite(scores), axis=1)))
        raise ValueError(f"X, row {row}: its kernel values with the training positions are not finite numbers")
    return scores
