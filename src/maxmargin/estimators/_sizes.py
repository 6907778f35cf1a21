"""How large features and losses are, of samples in parts: what units follow from, in numbers that add up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..structures.rows import is_dense
from ._scaling import PLAIN, Scaling, Spread, Units, spread_of, usable, wants_scaling


class Cloud(NamedTuple):
    """Where rows lie."""

    mass: float
    mean: np.ndarray
    variance: float  # summed over columns

    def joined(self, other: Cloud) -> Cloud:
        mass = self.mass + other.mass
        mean = (self.mass * self.mean + other.mass * other.mean) / mass
        parts = [one.mass * (one.variance + float(np.sum((one.mean - mean) ** 2))) for one in (self, other)]
        return Cloud(mass, mean, sum(parts) / mass)

    @property
    def width(self) -> float:
        return Spread(self.mean, self.variance).width


class Sizes(NamedTuple):
    """Of the samples of a part."""

    rows: Cloud
    edges: Cloud | None
    total: float  # sum of their weights
    square: float  # sum of the squares
    lam: float  # of one sample, in units: the mean
    loss: float  # the largest one: the mean
    is_dense: bool

    def joined(self, other: Sizes) -> Sizes:
        total = self.total + other.total
        edges = [one for one in (self.edges, other.edges) if one is not None]
        return Sizes(
            rows=self.rows.joined(other.rows),
            edges=edges[0].joined(edges[1]) if len(edges) == 2 else next(iter(edges), None),
            total=total,
            square=self.square + other.square,
            lam=(self.total * self.lam + other.total * other.lam) / total,
            loss=(self.total * self.loss + other.total * other.loss) / total,
            is_dense=self.is_dense and other.is_dense,
        )

    @property
    def effective_count(self) -> float:
        """How many samples weighted ones stand for, as in `_scaling`."""
        return max(self.total, self.total**2 / self.square)


def sizes_of(
    matrix: Any,
    counts: np.ndarray,
    weight: np.ndarray,
    lam: float,
    loss: float,
    edges: tuple[Any, np.ndarray] | None = None,
) -> Sizes:
    """What units are settled from, see `units_of_sites`."""
    of_edges = None
    if edges is not None and edges[0].shape[0]:
        of_edges = _cloud(edges[0], np.repeat(weight, edges[1]))
    rows = _cloud(matrix, np.repeat(weight, counts))
    dense = isinstance(matrix, np.ndarray) and is_dense(matrix)
    return Sizes(rows, of_edges, float(weight.sum()), float(weight @ weight), lam, loss, dense)


def _cloud(matrix: Any, weight: np.ndarray) -> Cloud:
    mean, variance = spread_of([matrix], [weight])
    assert mean is not None  # rows of kernels have none
    return Cloud(float(weight.sum()), mean, variance)


def units_from(estimator: Any, sizes: Sizes) -> Units:
    """The units that `settle_units` would choose for all samples at once."""
    scaled = wants_scaling(estimator)
    if not scaled and estimator.lam is not None:
        return Units(PLAIN, np.nan)
    width, loss = sizes.rows.width, usable(sizes.loss)
    features, lam = usable(width), sizes.lam / sizes.effective_count
    if not scaled:
        return Units(PLAIN, lam * features**2 / loss)
    centered = bool(estimator.fit_intercept) and width > 0.0 and sizes.is_dense
    edges = 1.0 if sizes.edges is None else usable(sizes.edges.width)
    return Units(Scaling(features, edges, loss, sizes.rows.mean if centered else None), lam)
