"""Feature dicts in columns of their own: `DictEncoder`.

scikit-learn's ``DictVectorizer`` joins name and value of every
feature into a new string, and looks it up among strings all over memory. Here iterators of C walk through all dicts
and take the hash of every pair as it is, and a compiled table of hashes knows their columns. What it does not know is
looked at once more: unknown strings are left out, numbers go by their names.

Python's hashes of strings have 64 bits, drawn anew in every process: in 1e9 look-ups among 1e6 features the chance that
one unknown pair is taken for a known one is 5e-5. Tables are made when first wanted, and not pickled. The empty string
alone has a hash that is no secret, that of 0: pairs with it are looked at once more, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_count
from .base import TokenEncoder
from .tables import UNKNOWN, UNSURE, fill_table, look_up, new_table, number_hashes
from .tokens import Coded, Keys, feature_of, flat_tokens, read_tokens

TABLES = ("_table_of_names", "_table_of_pairs")  # of hashes that another process would not know
WITHOUT = "_n_without_table"  # how many keys were looked up before there was one


class DictEncoder(TokenEncoder):
    """Sparse rows of feature dicts, with the names, columns and values of scikit-learn's `DictVectorizer`.

    Estimators use it for X of feature dicts (``vectorizer_``); on its own it goes before one in a pipeline.

    Parameters
    ----------
    separator : str, default="="
        Between the name and the value of a feature whose value is a string.
    min_count : int, default=1
        Features with fewer occurrences in training have no column.

    Attributes
    ----------
    feature_names_ : list
        Names of the columns, sorted.
    vocabulary_ : dict
        The column of each name.

    See Also
    --------
    DictHasher : Fixed width, nothing to learn.

    Examples
    --------
    >>> from maxmargin import DictEncoder
    >>> encoder = DictEncoder()
    >>> encoder.fit_transform([{"w": "the", "capital": True}, {"w": "cat", "length": 3}]).toarray()
    array([[1., 0., 0., 1.],
           [0., 3., 1., 0.]])
    >>> encoder.feature_names_
    ['capital', 'length', 'w=cat', 'w=the']
    >>> encoder.transform([["w=the", "w=dog"]]).toarray()  # attributes as CRFsuite takes them; a dog was never seen
    array([[0., 0., 0., 1.]])
    """

    feature_names_: list
    vocabulary_: dict[Any, int]
    _oddly_named: dict[tuple, int]  # columns of pairs whose name is no string

    def __init__(self, *, separator: str = "=", min_count: int = 1):
        self.separator = separator
        self.min_count = min_count

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the features of tokens.

        Parameters
        ----------
        X : list of tokens, or of sequences of tokens
            A token is a dict, or a list, tuple or set of attributes, which are strings.
        y : ignored
            For pipelines.

        Returns
        -------
        self : DictEncoder
        """
        self.fit_encode(flat_tokens(X)[0])
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the features of tokens and make sparse rows of them, in one go.

        Parameters
        ----------
        X : list of tokens, or of sequences of tokens
            A token is a dict, or a list, tuple or set of attributes, which are strings.
        y : ignored
            For pipelines.

        Returns
        -------
        rows : CSR matrix of shape (N, F)
            One row a token; a list of such matrices for sequences.
        """
        return self._in_shape(X, self.fit_encode)

    def fit_encode(self, tokens: Sequence[Any]) -> Coded:
        """Learn the features of tokens and find their sparse rows.

        Parameters
        ----------
        tokens : list of dicts or of lists of strings
            All of one kind.

        Returns
        -------
        coded : Coded
            The arrays of a CSR matrix.
        """
        return read_tokens(tokens, self._learn)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Give the names of the columns.

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
        return np.array([str(name) for name in self.feature_names_], dtype=object)

    def know(self, names: list, odd: dict[tuple, int] | None = None) -> Self:
        """Take these features for the columns, in their order.

        Parameters
        ----------
        names : list
            Of the columns, each once.
        odd : dict or None, default=None
            Columns of pairs whose name is no string.

        Returns
        -------
        self : DictEncoder
        """
        self.feature_names_, self._oddly_named = names, odd or {}
        self.vocabulary_ = dict(zip(names, range(len(names)), strict=True))
        if len(self.vocabulary_) != len(names):
            raise ValueError("a feature is there twice")
        self._forget_tables()
        return self

    @classmethod
    def of_parts(cls, encoders: Sequence[DictEncoder]) -> Self:
        """One that knows all features that others have learned from parts of the data.

        Parameters
        ----------
        encoders : list of DictEncoder
            With the same separator.

        Returns
        -------
        encoder : DictEncoder
            Its columns are those of one that has seen all parts, where none is too rare for `min_count`.
        """
        names = sorted(set().union(*(one.feature_names_ for one in encoders)))
        made = cls(separator=encoders[0].separator).know(names)
        pairs = ((key, one.feature_names_[column]) for one in encoders for key, column in one._oddly_named.items())
        made._oddly_named = {key: made.vocabulary_[name] for key, name in pairs}
        return made

    @property
    def _width(self) -> int:
        return len(self.feature_names_)

    def _learn(self, keys: Keys) -> tuple[np.ndarray, np.ndarray]:
        min_count = check_count("min_count", self.min_count)
        codes, is_first = number_hashes(keys.hashes())
        distinct = keys.some(is_first)
        sure = np.fromiter(map(keys.is_sure, distinct), bool, len(distinct))
        names = [feature_of(key, self.separator)[0] if one else None for key, one in zip(distinct, sure, strict=True)]
        unsure = ~sure[codes]
        rest = looked_at(list(zip(np.flatnonzero(unsure).tolist(), keys.some(unsure), strict=True)), self.separator)

        times = Counter(rest.names)
        for name, one, count in zip(names, sure.tolist(), np.bincount(codes).tolist(), strict=True):
            if one:
                times[name] += count
        kept = sorted(self._frequent(times, min_count))
        vocabulary = {name: column for column, name in enumerate(kept)}
        column_of = np.fromiter(map(vocabulary.get, names, repeat(UNKNOWN)), np.int32, len(names))
        odd = [(key, column) for key, column in zip(distinct, column_of.tolist(), strict=True) if _is_odd(key)]
        self.know(kept, {key: column for key, column in odd if column != UNKNOWN})
        return rest.filled_in(column_of[codes], vocabulary)

    def _frequent(self, times: Counter, min_count: int) -> Iterator[Any]:
        """Names of features that occur often enough, given how often they all do."""
        return (name for name, count in times.items() if count >= min_count)

    def _columns(self, keys: Keys) -> tuple[np.ndarray, np.ndarray]:
        columns = np.empty(keys.n, np.int32)
        if self._can_wait(keys):
            return looked_at(list(enumerate(keys)), self.separator).filled_in(columns, self.vocabulary_)
        look_up(self._table_of(keys.paired), keys.hashes(), columns)
        unseen = columns < 0
        is_sure = keys.is_sure  # of such a key it says: there is no column
        places = np.flatnonzero(unseen).tolist()
        rest = [(at, key) for at, key in zip(places, keys.some(unseen), strict=True) if not is_sure(key)]
        return looked_at(rest, self.separator).filled_in(columns, self.vocabulary_)

    def _table_of(self, paired: bool) -> np.ndarray:
        """The columns of pairs, every way to cut a name in two, or of whole names, by their hashes."""
        name = TABLES[paired]
        if name not in self.__dict__:
            known = self._pairs() if paired else self.vocabulary_
            hashes = np.fromiter(map(hash, known), np.int64, len(known))
            table = new_table(len(known))
            fill_table(table, hashes, np.fromiter(known.values(), np.int64, len(known)))
            self.__dict__[name] = table
        return self.__dict__[name]

    def _can_wait(self, keys: Keys) -> bool:
        """Whether to look keys up one by one, by their names: a table pays after as many as there are features."""
        if TABLES[keys.paired] in self.__dict__:
            return False
        n = self.__dict__[WITHOUT] = self.__dict__.get(WITHOUT, 0) + keys.n
        return n < len(self.vocabulary_)

    def _pairs(self) -> dict[tuple, int]:
        known = dict(self._oddly_named)
        for name, column in self.vocabulary_.items():
            known.update((cut, column if cut[1] else UNSURE) for cut in _cuts(name, self.separator))
        return known

    def _forget_tables(self) -> None:
        for name in (*TABLES, WITHOUT):
            self.__dict__.pop(name, None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in (*TABLES, WITHOUT)}


class Looked(NamedTuple):
    """Features that their hashes do not tell."""

    places: list[int]  # among all keys
    names: list[Any]
    values: list[float]

    def filled_in(self, columns: np.ndarray, vocabulary: dict[Any, int]) -> tuple[np.ndarray, np.ndarray]:
        """Columns, and values: 1 but for these."""
        values = np.ones(len(columns))
        if self.names:
            found = map(vocabulary.get, self.names, repeat(UNKNOWN))
            columns[self.places] = np.fromiter(found, np.int32, len(self.names))
            values[self.places] = self.values
        return columns, values


def looked_at(rest: list[tuple[int, Any]], separator: str) -> Looked:
    """Names and values of keys, each with its place."""
    features = [feature_of(key, separator) for _, key in rest]
    return Looked([at for at, _ in rest], [name for name, _ in features], [value for _, value in features])


def _is_odd(key: Any) -> bool:
    return isinstance(key, tuple) and not isinstance(key[0], str)


def _cuts(name: Any, separator: str) -> Iterator[tuple[str, str]]:
    """All pairs that a separator joins to this name."""
    at = name.find(separator) if separator and isinstance(name, str) else -1
    while at >= 0:
        yield name[:at], name[at + len(separator) :]
        at = name.find(separator, at + 1)
