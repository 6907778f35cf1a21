"""Units that make the objective free of units, and the lam that goes with them.

With features in units of their spread and losses in units of the largest ones, one `lam` suits data of all kinds: see
docs/regularization.md for the argument and the figures.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..structures.rows import KernelRows, is_dense
from .inputs.weights import check_loss

# lam of one sample with one position, for features of spread 1 and losses of 1; n samples of T positions have T/n
# times that. Best values lie between a third and three times it on most data sets, and scores change little in between.
LAM_OF_ONE = 0.5
LAM_OF_LOG_LOSS = 0.05  # of one sample of any size, for features of spread 1: docs/crf.md

ROWS_AT_ONCE = 4096  # whose deviations are held at a time
ROUNDING = 1e-14  # of a variance, relative to the square of the mean
LINEAR = ("coef", "intercept", "boundary", "transitions", "edge_coef", "interactions")  # in the losses


class Scaling(NamedTuple):
    """Units in which an objective was minimised; fitted weights are for features and losses as they came.

    Parameters
    ----------
    features : float
        Features were divided by it: the square root of the summed variances of their columns, or 1.
    edges : float
        The same for features of edges or transitions.
    loss : float
        Losses were divided by it: the mean over samples of the largest loss, or 1.
    center : array of shape (F,) or None
        Means that were subtracted before, of dense features with an intercept; None: nothing was.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM
    >>> model = MulticlassSVM(random_state=0).fit(*load_iris(return_X_y=True))
    >>> round(model.scaling_.features, 2), model.scaling_.loss
    (2.13, 1.0)
    """

    features: float = 1.0
    edges: float = 1.0
    loss: float = 1.0
    center: np.ndarray | None = None

    def apply(self, matrix: Any) -> Any:
        """Features (N, F) in these units; what came is left as it is."""
        if self.center is not None:
            matrix = matrix - self.center
            matrix /= self.features
            return matrix
        return _divided(matrix, self.features)

    def apply_to_kernel(self, rows: KernelRows, in_place: bool) -> KernelRows:
        """Kernel values in these units; a matrix of the user's must not be changed in place."""
        square = self.features**2
        return KernelRows(
            np.divide(rows.gram, square, out=rows.gram if in_place else None) if square != 1.0 else rows.gram
        )

    def apply_to_edges(self, matrix: Any) -> Any:
        """Features of edges in these units, or None for none."""
        return None if matrix is None else _divided(matrix, self.edges)

    def undo(self, parts: dict[str, Any], kernel: bool = False) -> dict[str, Any]:
        """Parts of weights by name, for features and losses as they came."""
        given = {name: self.loss * part if name in LINEAR else part for name, part in parts.items()}
        if "coef" in given:
            given["coef"] = given["coef"] / (self.features**2 if kernel else self.features)
        if "edge_coef" in given:
            given["edge_coef"] = given["edge_coef"] / self.edges
        if self.center is not None:
            given["intercept"] = given["intercept"] - given["coef"] @ self.center
        return given


PLAIN = Scaling()


def _divided(matrix: Any, scale: float) -> Any:
    if scale == 1.0:
        return matrix
    if not sp.issparse(matrix):
        return matrix / scale
    shared = (matrix.data / scale, matrix.indices, matrix.indptr)
    divided = type(matrix)(shared, shape=matrix.shape, copy=False)
    divided.has_canonical_format = matrix.has_canonical_format
    return divided


class Spread(NamedTuple):
    """Where the rows of one or several matrices lie."""

    mean: np.ndarray | None  # (F,), None of a kernel's
    variance: float  # summed over columns

    @property
    def width(self) -> float:
        """How far rows lie apart; 0 where rounding explains it."""
        square = 0.0 if self.mean is None else float(self.mean @ self.mean)
        return float(np.sqrt(self.variance)) if self.variance > ROUNDING * square else 0.0


def spread_of(matrices: Sequence[Any], weights: Sequence[np.ndarray]) -> Spread:
    """Mean and summed variance of the rows of matrices (N, F), each row with its weight.

    Of kernel rows: the variance in the kernel's space, ``E k(x, x) - E k(x, x')``.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = sum(weight.sum() for weight in weights)
        shares = [weight / total for weight in weights]
        if isinstance(matrices[0], KernelRows):
            (rows,), (share,) = matrices, shares
            return Spread(None, float(share @ np.diagonal(rows.gram) - share @ rows.gram @ share))
        mean = np.zeros(matrices[0].shape[1])
        for matrix, share in zip(matrices, shares, strict=True):
            mean += matrix.T @ share
        return Spread(mean, sum(map(deviation, matrices, shares, [mean] * len(shares)), 0.0))


def deviation(matrix: Any, share: np.ndarray, mean: np.ndarray) -> float:
    """``sum_t share_t |x_t - mean|^2``."""
    if sp.issparse(matrix):  # zeros deviate by the mean itself
        stored = matrix.data * (matrix.data - 2.0 * mean[matrix.indices])
        return float(np.repeat(share, np.diff(matrix.indptr)) @ stored + share.sum() * (mean @ mean))
    total = 0.0
    for first in range(0, len(matrix), ROWS_AT_ONCE):
        away = matrix[first : first + ROWS_AT_ONCE] - mean
        total += share[first : first + ROWS_AT_ONCE] @ np.einsum("tf,tf->t", away, away)
    return float(total)


class Units(NamedTuple):
    """What an estimator learns in, and what ``lam=None`` means there."""

    scaling: Scaling
    lam: float


def settle_units(
    estimator: Any,
    matrices: Sequence[Any],
    row_weights: Sequence[np.ndarray],
    lam: float,
    weight: np.ndarray,
    *,
    loss: float = 1.0,
    center: bool = False,
    edges: float = 1.0,
) -> Units:
    """Choose units for the features of all samples, given the lam of one sample in units and their mean largest loss.

    Where `scale` says no, features and losses stay as they are; the lam that then suits the features alone follows.
    """
    if not needs_spread(estimator):
        return settled_units(estimator, None, lam, weight)
    centers = center and all(isinstance(matrix, np.ndarray) for matrix in matrices) and is_dense(*matrices)
    spread = spread_of(matrices, row_weights)
    return settled_units(estimator, spread, lam, weight, loss=loss, center=centers, edges=edges)


def needs_spread(estimator: Any) -> bool:
    """Whether units or the rule for lam ask how far features lie apart."""
    return wants_scaling(estimator) or estimator.lam is None


def settled_units(
    estimator: Any,
    spread: Spread | None,
    lam: float,
    weight: np.ndarray,
    *,
    loss: float = 1.0,
    center: bool = False,
    edges: float = 1.0,
) -> Units:
    """The same, given where the rows lie, if anything asks for that."""
    if spread is None:
        return Units(PLAIN, np.nan)
    features, loss = usable(spread.width), usable(loss)
    lam = lam / effective_count(weight)
    if not wants_scaling(estimator):
        return Units(PLAIN, lam * features**2 / loss)
    centered = center and spread.width > 0.0
    return Units(Scaling(features, edges, loss, spread.mean if centered else None), lam)


def units_of_sites(
    estimator: Any,
    matrix: Any,
    counts: np.ndarray,
    weight: np.ndarray,
    lam: float,
    loss: float,
    edges: tuple[Any, np.ndarray] | None = None,
) -> Units:
    """Units of samples with `counts` sites each, and edges with features (E, F) and counts, or None."""
    if estimator._settle_units is not None:
        return estimator._settle_units(matrix, counts, weight, lam, loss, edges)
    of_edges = 1.0
    if edges is not None and edges[0].shape[0] and wants_scaling(estimator):
        of_edges = usable(spread_of([edges[0]], [np.repeat(weight, edges[1])]).width)
    return settle_units(
        estimator,
        [matrix],
        [np.repeat(weight, counts)],
        lam,
        weight,
        loss=loss,
        center=bool(estimator.fit_intercept),
        edges=of_edges,
    )


def wants_scaling(estimator: Any) -> bool:
    """Whether the estimator's objective is that of scaled features and losses."""
    if estimator.scale is None:
        return not isinstance(estimator.lam, numbers.Number)
    if not isinstance(estimator.scale, bool | np.bool_):
        raise ValueError(f"scale must be True, False or None, got {estimator.scale!r}")
    return bool(estimator.scale)


def normalizes(estimator: Any) -> bool:
    """Whether the loss of a sample is the share of its wrong labels, not their number.

    Left open, it is where nothing is scaled: scores are better where every label counts alike, see
    docs/regularization.md.
    """
    return not wants_scaling(estimator) if estimator.loss is None else check_loss(estimator.loss)


def effective_count(weight: np.ndarray) -> float:
    """How many samples weighted ones stand for: their sum, but not less than what equal weights would give.

    Integer weights count as repetitions, and weights that sum to 1 do not make one sample of many.
    """
    share = weight / weight.max()
    return max(float(weight.sum()), float(share.sum() ** 2 / (share @ share)))


def mean_largest_loss(worst: np.ndarray, offsets: np.ndarray, normalize: bool, weight: np.ndarray) -> float:
    """The mean over samples of the largest loss, given the largest cost of each position."""
    sums = np.add.reduceat(worst, offsets[:-1])
    return float(np.average(sums / np.diff(offsets) if normalize else sums, weights=weight))


def usable(scale: float) -> float:
    """A scale, or 1 where nothing varies and there is nothing to divide."""
    return float(scale) if 0.0 < scale < np.inf else 1.0
