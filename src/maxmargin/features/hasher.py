"""Features in a fixed number of columns: `DictHasher`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any, Self
from zlib import crc32

import numpy as np

from .._parameters import check_count
from .base import TokenEncoder
from .tokens import Keys, feature_of


class DictHasher(TokenEncoder):
    """Sparse rows of feature dicts in a fixed number of columns: features share them by chance, none has to be known.

    For streams, and for vocabularies too large to keep. The column is a checksum of the name, the same everywhere.

    Parameters
    ----------
    n_features : int, default=2**18
        F, the number of columns.
    separator : str, default="="
        Between the name and the value of a feature whose value is a string.

    See Also
    --------
    DictEncoder : A column for every feature, with names.

    Examples
    --------
    >>> from maxmargin import DictHasher
    >>> rows = DictHasher(64).transform([{"w": "the", "length": 3}])
    >>> rows.shape, float(rows.sum())
    ((1, 64), 4.0)
    """

    def __init__(self, n_features: int = 2**18, *, separator: str = "="):
        self.n_features = n_features
        self.separator = separator

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: there is nothing to learn.

        Parameters
        ----------
        X : ignored
            For pipelines.
        y : ignored
            For pipelines.

        Returns
        -------
        self : DictHasher
        """
        return self

    @property
    def _width(self) -> int:
        width = check_count("n_features", self.n_features)
        if width > np.iinfo(np.int32).max:
            raise ValueError(f"n_features={width} is more than the 2**31 - 1 that indices hold")
        return width

    def _columns(self, keys: Keys) -> tuple[np.ndarray, np.ndarray]:
        names: Iterable[Any] = map(self.separator.join, keys) if keys.paired else keys
        try:
            return _hashed(names, keys.n, self._width), np.ones(keys.n)
        except TypeError:  # not strings alone
            features = [feature_of(key, self.separator) for key in keys]
        values = np.array([value for _, value in features], np.float64)
        return _hashed((str(name) for name, _ in features), keys.n, self._width), values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def _hashed(names: Iterable[str], n: int, width: int) -> np.ndarray:
    as_bytes = map(str.encode, names, repeat("utf-8"), repeat("surrogatepass"))
    return (np.fromiter(map(crc32, as_bytes), np.uint32, n) % width).astype(np.int32)
