"""Flat weights by name: a layout knows which numbers are which, for those who show them and those who score with them.

Solvers and kernels see one flat array. Which of its numbers belong to features, to biases or to pairs of labels is said
here once a kind of structure; models keep the flat array and show its parts as attributes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np


class Part(Protocol):
    """Some of the flat weights, as an array of their own."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def read(self, w: np.ndarray) -> np.ndarray: ...

    def write(self, w: np.ndarray, value: np.ndarray, name: str) -> None: ...


class Table(NamedTuple):
    """An array that lies in the weights as it is: what is read is a view."""

    begin: int
    shape: tuple[int, ...]

    @property
    def end(self) -> int:
        return self.begin + int(np.prod(self.shape))

    def read(self, w: np.ndarray) -> np.ndarray:
        return w[self.begin : self.end].reshape(self.shape)

    def write(self, w: np.ndarray, value: np.ndarray, name: str) -> None:
        self.read(w)[...] = value


class Columns(NamedTuple):
    """A table whose columns are shown as rows: a view, too."""

    table: Table

    @property
    def shape(self) -> tuple[int, ...]:
        return self.table.shape[::-1]

    def read(self, w: np.ndarray) -> np.ndarray:
        return self.table.read(w).T

    def write(self, w: np.ndarray, value: np.ndarray, name: str) -> None:
        self.read(w)[...] = value


class Absent(NamedTuple):
    """What was not learned: zeros that cannot be changed."""

    shape: tuple[int, ...]

    def read(self, w: np.ndarray) -> np.ndarray:
        return np.broadcast_to(0.0, self.shape)

    def write(self, w: np.ndarray, value: np.ndarray, name: str) -> None:
        if np.any(value):
            raise ValueError(f"{name}: it was not learned and stays 0")


class Triangle(NamedTuple):
    """Weights of pairs, shown as a symmetric table (L, L) with a diagonal of 0: a copy, which cannot be written to."""

    begin: int
    n_labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.n_labels, self.n_labels

    def read(self, w: np.ndarray) -> np.ndarray:
        table = np.zeros(self.shape)
        table[np.triu_indices(self.n_labels, 1)] = w[self.begin :]
        table += table.T
        table.flags.writeable = False
        return table

    def write(self, w: np.ndarray, value: np.ndarray, name: str) -> None:
        if np.any(value != value.T) or np.any(np.diag(value)):
            raise ValueError(f"{name}: the table must be symmetric, and 0 on the diagonal")
        w[self.begin :] = value[np.triu_indices(self.n_labels, 1)]


class Layout(ABC):
    """Names, shapes and places of the parts of flat weights."""

    n_labels: int
    intercept: bool  # whether labels have a bias

    @cached_property
    @abstractmethod
    def parts(self) -> Mapping[str, Part]:
        """The parts by name."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many weights there are."""

    @property
    def positive(self) -> np.ndarray | None:
        """Indices of weights that must be >= 0, or the structure could not be solved; None if any will do."""
        return None

    def blank(self) -> np.ndarray:
        """Weights to be filled in."""
        return np.zeros(self.size)

    def unpack(self, w: np.ndarray) -> dict[str, np.ndarray]:
        """All parts, views of `w` where they can be."""
        return {name: part.read(w) for name, part in self.parts.items()}

    def pack(self, **arrays: Any) -> np.ndarray:
        """Flat weights with these parts; those not given are 0."""
        w = self.blank()
        for name, array in arrays.items():
            self.write(w, name, array)
        return w

    def write(self, w: np.ndarray, name: str, value: Any) -> None:
        """Change a part of `w`."""
        part, array = self.parts[name], np.asarray(value)
        if array.shape != part.shape:
            raise ValueError(f"{name}: the shape must be {part.shape}, got {array.shape}")
        part.write(w, array, name)


class Weights(NamedTuple):
    """Flat weights and what they mean."""

    layout: Layout
    flat: np.ndarray

    def laid_out(self, layout: Layout) -> np.ndarray:
        """Flat, in this layout: as they are, without a copy, where it is their own."""
        if layout == self.layout:
            return np.require(self.flat, np.float64, ["C", "A", "W", "E"])  # what kernels are compiled for
        return layout.pack(**self.layout.unpack(self.flat))


def site_parts(n_features: int, n_labels: int, *, intercept: bool, boundary: bool = False) -> dict[str, Part]:
    """``[features (F, K) | intercept (K,) | boundary (2, K)]``, of which the latter two need not be there."""
    coef = Table(0, (n_features, n_labels))
    bias = Table(coef.end, (n_labels,))
    ends = Table(bias.end if intercept else coef.end, (2, n_labels))
    return {
        "coef": Columns(coef),
        "intercept": bias if intercept else Absent(bias.shape),
        "boundary": ends if boundary else Absent(ends.shape),
    }


@dataclass(frozen=True)
class MulticlassWeights(Layout):
    """Weights of classes: coef (K, F) and intercept (K,).

    Where there are no features there is no coef: behind a kernel, scores come from elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> layout = MulticlassWeights(n_features=3, n_labels=2, intercept=True)
    >>> layout.size
    8
    >>> layout.unpack(np.arange(8.0))["coef"]
    array([[0., 2., 4.],
           [1., 3., 5.]])
    """

    n_features: int
    n_labels: int
    intercept: bool

    @cached_property
    def parts(self) -> dict[str, Part]:
        every = site_parts(self.n_features, self.n_labels, intercept=self.intercept)
        return {name: every[name] for name in ("coef", "intercept") if name != "coef" or self.n_features}

    @property
    def size(self) -> int:
        return (self.n_features + self.intercept) * self.n_labels

    def of_scores(self) -> MulticlassWeights:
        """The layout of what is left where scores of features come from elsewhere."""
        return replace(self, n_features=0)


@dataclass(frozen=True)
class MultilabelWeights(Layout):
    """Weights of labels: coef (L, F), intercept (L,) and, if there are `interactions`, those (L, L).

    Examples
    --------
    >>> import numpy as np
    >>> layout = MultilabelWeights(n_features=1, n_labels=3, intercept=True, interactions=True)
    >>> layout.unpack(np.arange(9.0))["interactions"]
    array([[0., 6., 7.],
           [6., 0., 8.],
           [7., 8., 0.]])
    """

    n_features: int
    n_labels: int
    intercept: bool
    interactions: bool = False

    @cached_property
    def parts(self) -> dict[str, Part]:
        every = site_parts(self.n_features, self.n_labels, intercept=self.intercept)
        parts = {name: every[name] for name in ("coef", "intercept")}
        return {**parts, "interactions": Triangle(self._of_labels, self.n_labels)} if self.interactions else parts

    @property
    def _of_labels(self) -> int:
        return (self.n_features + self.intercept) * self.n_labels

    @property
    def size(self) -> int:
        return self._of_labels + self.interactions * (self.n_labels * (self.n_labels - 1) // 2)
