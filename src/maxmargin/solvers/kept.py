"""Weights that a run keeps beside those it works with: those alone that are not 0, where these are few of millions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# So many weights, and no more than this share of them: 8 bytes for a weight, and 8 for its place.
MANY, SHARE = 1_000_000, 0.25


class Whole(NamedTuple):
    """All of them, as they were given."""

    values: np.ndarray

    @property
    def size(self) -> int:
        return len(self.values)

    def weights(self) -> np.ndarray:
        return self.values

    def own(self) -> np.ndarray:
        """That nobody else has."""
        return self.values.copy()

    def is_nothing(self) -> bool:
        return not np.any(self.values)


class Few(NamedTuple):
    """Those that are not 0."""

    size: int
    places: np.ndarray
    values: np.ndarray

    def weights(self) -> np.ndarray:
        w = np.zeros(self.size)
        w[self.places] = self.values
        return w

    def own(self) -> np.ndarray:
        return self.weights()

    def is_nothing(self) -> bool:
        return not np.any(self.values)


Kept = Whole | Few


def kept(w: np.ndarray) -> Kept:
    if len(w) < MANY or np.count_nonzero(w) > SHARE * len(w):
        return Whole(w)
    places = np.flatnonzero(w)
    return Few(len(w), places, w[places])


def are_same(one: Any, other: Any) -> bool:
    """Two that are kept."""
    return type(one) is type(other) and all(map(np.array_equal, one, other))
