"""What makers of sparse rows share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .tokens import Coded, Keys, flat_tokens, read_tokens


class TokenEncoder(TransformerMixin, BaseEstimator):
    """Base of what makes sparse rows of tokens: dicts, or lists of attributes."""

    separator: str

    @property
    @abstractmethod
    def _width(self) -> int:
        """How many columns there are."""

    @abstractmethod
    def _columns(self, keys: Keys) -> tuple[np.ndarray, np.ndarray]:
        """Columns and values of all keys; those below 0 do not count."""

    def encode(self, tokens: Sequence[Any]) -> Coded:
        """Find the sparse rows of tokens.

        Parameters
        ----------
        tokens : list of dicts or of lists of strings
            All of one kind.

        Returns
        -------
        coded : Coded
            The arrays of a CSR matrix.
        """
        return read_tokens(tokens, self._columns)

    def transform(self, X: Any) -> Any:
        """Make sparse rows of tokens; features never seen are left out.

        Parameters
        ----------
        X : list of tokens, or of sequences of tokens
            A token is a dict, or a list, tuple or set of attributes, which are strings.

        Returns
        -------
        rows : CSR matrix of shape (N, F)
            One row a token; a list of such matrices for sequences.
        """
        check_is_fitted(self)
        return self._in_shape(X, self.encode)

    def _in_shape(self, X: Any, encode: Callable[[Sequence[Any]], Coded]) -> Any:
        tokens, offsets = flat_tokens(X)
        coded = encode(tokens)
        rows = sp.csr_matrix(coded, shape=(len(tokens), self._width))
        rows.has_canonical_format = True
        return rows if offsets is None else [rows[begin:end] for begin, end in pairwise(offsets)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.dict, tags.input_tags.two_d_array = True, False
        return tags
