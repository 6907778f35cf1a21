"""What flat weights of sites and links mean: ``[sites (F + extras, K) | links (R, K, K)]``, (R,) for differences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..weights import Layout, Part, Table, site_parts


class Differences(NamedTuple):
    """Costs (R,) of labels that differ, shown as tables (R, K, K) or (K, K): copies, which cannot be written to.

    Assigned tables must be of that kind, costs >= 0.
    """

    costs: Table
    shape: tuple[int, ...]

    def read(self, w: np.ndarray) -> np.ndarray:
        tables = self._tables(self.costs.read(w)).reshape(self.shape)
        tables.flags.writeable = False  # a change would be lost
        return tables

    def write(self, w: np.ndarray, value: np.ndarray, name: str) -> None:
        tables = value.reshape(-1, *self.shape[-2:])
        costs = -tables[:, 0, 1]
        bad = (costs < 0) | (tables != self._tables(costs)).any(axis=(1, 2))
        if bad.any():
            which = f"{name}, edge feature {int(np.argmax(bad))}" if value.ndim == 3 else name
            raise ValueError(
                f'{which}: its weights are no cost >= 0 of labels that differ, as inference="cut" needs: fit again'
            )
        self.costs.read(w)[...] = costs

    def _tables(self, costs: np.ndarray) -> np.ndarray:
        return -costs[:, None, None] * (1.0 - np.eye(self.shape[-1]))


@dataclass(frozen=True)
class PairwiseWeights(Layout):
    """Weights of chains, trees and graphs.

    Parameters
    ----------
    n_features : int or None
        Rows of weights of the sites' features. None where sites come with the scores of their labels, as those behind a
        kernel do: then the weights of these are 1, and have no name.
    n_labels : int
    intercept, boundary : bool
        Whether labels have a bias, and the first and last site biases of their own. They read as 0 where not.
    n_edge_features : int
        Features of links, beside the constant one.
    differences : bool
        Whether a link costs where its labels differ, whatever they are, instead of a weight a pair of labels.

    Examples
    --------
    >>> import numpy as np
    >>> layout = PairwiseWeights(n_features=1, n_labels=2, intercept=True)
    >>> w = layout.pack(coef=[[3.0], [4.0]], transitions=np.eye(2))
    >>> w
    array([3., 4., 0., 0., 1., 0., 0., 1.])
    >>> layout.unpack(w)["coef"]
    array([[3.],
           [4.]])
    """

    n_features: int | None
    n_labels: int
    intercept: bool
    boundary: bool = False
    n_edge_features: int = 0
    differences: bool = False

    @property
    def _site_rows(self) -> int:
        return self.n_labels if self.n_features is None else self.n_features

    @property
    def _first_of_links(self) -> int:
        return (self._site_rows + self.intercept + 2 * self.boundary) * self.n_labels

    @property
    def size(self) -> int:
        return self._first_of_links + (1 + self.n_edge_features) * (1 if self.differences else self.n_labels**2)

    @cached_property
    def parts(self) -> dict[str, Part]:
        sites = site_parts(self._site_rows, self.n_labels, intercept=self.intercept, boundary=self.boundary)
        if self.n_features is None:
            del sites["coef"]
        return {**sites, **self._link_parts()}

    def _link_parts(self) -> dict[str, Part]:
        table = (self.n_labels, self.n_labels)
        shapes = {"transitions": table, "edge_coef": (self.n_edge_features, *table)}
        if not self.differences:
            first = Table(self._first_of_links, table)
            return {"transitions": first, "edge_coef": Table(first.end, shapes["edge_coef"])}
        constant = Table(self._first_of_links, (1,))
        costs = {"transitions": constant, "edge_coef": Table(constant.end, (self.n_edge_features,))}
        return {name: Differences(costs[name], shapes[name]) for name in costs}

    @property
    def positive(self) -> np.ndarray | None:
        return np.arange(self._first_of_links, self.size) if self.differences else None

    def blank(self) -> np.ndarray:
        w = super().blank()
        if self.n_features is None:
            w[: self.n_labels**2] = np.eye(self.n_labels).ravel()
        return w

    def of_scores(self) -> PairwiseWeights:
        """The layout where sites come with scores instead of features."""
        return replace(self, n_features=None)
