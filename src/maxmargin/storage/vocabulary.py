"""Names of features that come batch by batch: numbered as they come, sorted at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._parameters import check_count
from ..features import DictEncoder
from ..features.tables import tidy_rows
from ..features.tokens import Coded


class BatchEncoder(DictEncoder):
    """Encodes a batch by columns of its own, and remembers how often features occur in it."""

    times: Counter

    def _frequent(self, times: Counter, min_count: int) -> Iterator[Any]:
        self.times = times
        return super()._frequent(times, min_count)


class Vocabulary:
    """What `DictEncoder` learns of all tokens at once, learned from batches of them.

    Parameters
    ----------
    min_count : int
        Features with fewer occurrences have no column.
    """

    def __init__(self, min_count: int):
        self.min_count = check_count("min_count", min_count)
        self.names: dict[Any, int] = {}  # numbers by when they came
        self.times: Counter = Counter()
        self.odd: dict[tuple, Any] = {}  # names of features by pairs whose name is no string

    def numbers(self, encoder: BatchEncoder, indices: np.ndarray) -> np.ndarray:
        """The numbers of features for the columns of a batch, which its encoder knows the names of."""
        own = encoder.feature_names_
        numbers = np.array([self.names.setdefault(name, len(self.names)) for name in own], np.int32)
        self.odd |= {pair: own[column] for pair, column in encoder._oddly_named.items()}
        self.times.update(encoder.times)
        return numbers[indices]

    def settled(self) -> tuple[DictEncoder, np.ndarray]:
        """The encoder that knows the features that are frequent enough, and the column of each number, or -1."""
        kept = sorted(name for name in self.names if self.times[name] >= self.min_count)
        place = {name: column for column, name in enumerate(kept)}
        columns = np.array([place.get(name, -1) for name in self.names], np.int32)
        odd = {pair: place[name] for pair, name in self.odd.items() if name in place}
        if not kept:
            raise ValueError(f"no feature occurs {self.min_count} times or more: lower min_count")
        return DictEncoder(min_count=self.min_count).know(kept, odd), columns

    def tidy(self, indices: np.ndarray, data: np.ndarray, indptr: np.ndarray) -> Coded:
        """Rows with their columns in order, without those that are left out."""
        indices, data, indptr = indices.copy(), data.copy(), indptr.astype(np.int64)
        size = tidy_rows(indices, data, indptr)
        return Coded(data[:size], indices[:size], indptr)
