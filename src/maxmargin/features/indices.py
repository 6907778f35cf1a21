"""Numbered features in columns of their own: `IndexEncoder`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted


class IndexEncoder(TransformerMixin, BaseEstimator):
    """Sparse rows without the columns that training has nothing in.

    Files number their features as they please, with gaps, from 0 or 1, and up to some billions; other files have
    other features. What is left are the columns that occur in training; new ones are left out.

    Attributes
    ----------
    indices_ : array of int of shape (F,)
        The columns that are kept, ascending.

    See Also
    --------
    DictEncoder : Features that have names.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from maxmargin import IndexEncoder
    >>> encoder = IndexEncoder().fit(sp.csr_matrix([[0, 2.0, 0, 1.0]]))
    >>> encoder.indices_, encoder.transform(sp.csr_matrix([[5.0, 7.0, 0, 0, 3.0]])).toarray()
    (array([1, 3]), array([[7., 0.]]))
    """

    indices_: np.ndarray

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which columns there are.

        Parameters
        ----------
        X : CSR matrix of shape (N, any), or list of these
            Rows of features.
        y : ignored
            For pipelines.

        Returns
        -------
        self : IndexEncoder
        """
        seen = [np.unique(rows.indices) for rows in (X if isinstance(X, list) else [X])]
        self.indices_ = np.unique(np.concatenate(seen)).astype(np.int64)
        return self

    def transform(self, X: Any) -> Any:
        """Leave out all other columns.

        Parameters
        ----------
        X : CSR matrix of shape (N, any), or list of these
            Rows of features.

        Returns
        -------
        rows : CSR matrix of shape (N, F), or list of these
        """
        check_is_fitted(self)
        return [self._rows(rows) for rows in X] if isinstance(X, list) else self._rows(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Give the names of the columns: the numbers that they had.

        Parameters
        ----------
        input_features : ignored
            For pipelines.

        Returns
        -------
        names : array of shape (F,)
            Strings, as objects.
        """
        check_is_fitted(self)
        return np.array([str(index) for index in self.indices_.tolist()], dtype=object)

    def _rows(self, rows: Any) -> Any:
        known, width = self.indices_, len(self.indices_)
        place = np.minimum(np.searchsorted(known, rows.indices), max(width - 1, 0))
        kept = known[place] == rows.indices if width else np.zeros(rows.nnz, bool)
        indptr = np.append(0, np.cumsum(kept))[rows.indptr]
        return sp.csr_matrix((rows.data[kept], place[kept].astype(np.int32), indptr), shape=(rows.shape[0], width))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
