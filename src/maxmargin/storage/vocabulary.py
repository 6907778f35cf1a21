"""Features that come batch by batch: numbered as they come, in order at the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._parameters import check_count
from ..features import DictEncoder, IndexEncoder


class Vocabulary(ABC):
    """What an encoder learns of all samples at once, learned from batches of them."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}  # of features, by when they came

    def numbered(self, own: Iterable[Any]) -> np.ndarray:
        """The numbers of the features of a batch."""
        return np.array([self.numbers.setdefault(name, len(self.numbers)) for name in own], np.int32)

    @abstractmethod
    def new_encoder(self) -> Any:
        """What encodes a batch by columns of its own; None where it comes encoded."""

    @abstractmethod
    def take(self, encoder: Any, indices: np.ndarray) -> np.ndarray:
        """The numbers of features for columns of a batch, after it was encoded."""

    @abstractmethod
    def frequent(self) -> list[Any]:
        """The features that get a column, in order."""

    @abstractmethod
    def encoder_of(self, kept: list[Any]) -> Any:
        """The encoder that knows these."""

    def settled(self) -> tuple[Any, np.ndarray]:
        """The encoder of all samples, and the column of each number; -1 where it has none."""
        kept = self.frequent()
        if not kept:
            raise ValueError("no feature occurs, or none often enough: lower min_count")
        place = {name: column for column, name in enumerate(kept)}
        return self.encoder_of(kept), np.array([place.get(name, -1) for name in self.numbers], np.int32)


class BatchEncoder(DictEncoder):
    """Encodes a batch by columns of its own, and remembers how often features occur in it."""

    times: Counter

    def _frequent(self, times: Counter, min_count: int) -> Iterator[Any]:
        self.times = times
        return super()._frequent(times, min_count)


class NamedFeatures(Vocabulary):
    """Those of feature dicts and lists of attributes.

    Parameters
    ----------
    min_count : int
        Features with fewer occurrences have no column.
    """

    def __init__(self, min_count: int):
        super().__init__()
        self.min_count, self.times = check_count("min_count", min_count), Counter[Any]()
        self.odd: dict[tuple, Any] = {}  # names of features by pairs whose name is no string

    def new_encoder(self) -> BatchEncoder:
        return BatchEncoder()

    def take(self, encoder: BatchEncoder, indices: np.ndarray) -> np.ndarray:
        own = encoder.feature_names_
        self.odd |= {pair: own[column] for pair, column in encoder._oddly_named.items()}
        self.times.update(encoder.times)
        return self.numbered(own)[indices]

    def frequent(self) -> list[Any]:
        return sorted(name for name in self.numbers if self.times[name] >= self.min_count)

    def encoder_of(self, kept: list[Any]) -> DictEncoder:
        place = {name: column for column, name in enumerate(kept)}
        odd = {pair: place[name] for pair, name in self.odd.items() if name in place}
        return DictEncoder(min_count=self.min_count).know(kept, odd)


class NumberedFeatures(Vocabulary):
    """Those of files that number their features as they please."""

    def new_encoder(self) -> None:
        return None

    def take(self, encoder: None, indices: np.ndarray) -> np.ndarray:
        own, place = np.unique(indices, return_inverse=True)
        return self.numbered(own.tolist())[place]

    def frequent(self) -> list[int]:
        return sorted(self.numbers)

    def encoder_of(self, kept: list[int]) -> IndexEncoder:
        encoder = IndexEncoder()
        encoder.indices_ = np.array(kept, np.int64)
        return encoder
