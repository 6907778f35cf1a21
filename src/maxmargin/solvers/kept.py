"""Weights that a run keeps beside those it works with: those alone that are not 0, where these are few of millions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import kernel
from .._threads import sweep

# So many weights, and no more than this share of them: 8 bytes for a weight, and 8 for its place.
MANY, SHARE = 1_000_000, 0.25
PIECE = 1 << 14  # weights that a thread looks at in one go


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
    if len(w) < MANY:
        return Whole(w)
    bounds = np.append(np.arange(0, len(w), PIECE), len(w))
    counts = np.zeros(len(bounds) - 1, np.int64)
    sweep(len(counts), PIECE, lambda first, last: count_pieces(w, bounds, counts, first, last))
    begins, total = np.cumsum(counts) - counts, int(np.sum(counts))
    if total > SHARE * len(w):
        return Whole(w)
    few = Few(len(w), np.empty(total, np.int64), np.empty(total))
    sweep(len(counts), PIECE, lambda first, last: list_pieces(w, bounds, begins, few, first, last))
    return few


@kernel
def count_pieces(w, bounds, counts, first, last):
    """How many weights are not 0, of each piece."""
    for piece in range(first, last):
        some, count = w[bounds[piece] : bounds[piece + 1]], 0  # loops from 0 vectorise
        for j in range(some.shape[0]):
            count += some[j] != 0.0
        counts[piece] = count


@kernel
def list_pieces(w, bounds, begins, few, first, last):
    """List them."""
    for piece in range(first, last):
        at = begins[piece]
        for j in range(bounds[piece], bounds[piece + 1]):
            if w[j] != 0.0:
                few.places[at], few.values[at] = j, w[j]
                at += 1


def are_same(one: Any, other: Any) -> bool:
    """Two that are kept."""
    return type(one) is type(other) and all(map(np.array_equal, one, other))
