"""Features of tokens as people write them, dicts or lists of attributes, made sparse rows without a loop in Python.

A string value means the feature ``name=value``, present; a number the feature ``name`` with that value; a list or set
of strings one feature each: what scikit-learn's ``DictVectorizer`` makes of them. That joins name and value of every
feature into a new string, and looks it up among strings all over memory. Here iterators of C walk through all dicts
and take the hash of every pair as it is, and a compiled table of hashes knows their columns. What it does not know is
looked at once more: unknown strings are left out, numbers go by their names.

Python's hashes of strings have 64 bits, drawn anew in every process: in 1e9 look-ups among 1e6 features the chance that
one unknown pair is taken for a known one is 5e-5. Tables are made when first wanted, and not pickled. The empty string
alone has a hash that is no secret, that of 0: pairs with it are looked at once more, too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, pairwise, repeat
from numbers import Number
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._compile import helper, kernel
from ._parameters import check_count

UNKNOWN, UNSURE = -1, -2  # in place of a column: there is none; it depends on whether the value is "" or 0
LISTS = (list, tuple, set, frozenset)


class Coded(NamedTuple):
    """The three arrays of a CSR matrix, one row a token; columns are sorted and distinct."""

    data: np.ndarray  # (nnz,) float64
    indices: np.ndarray  # (nnz,) int32
    indptr: np.ndarray  # (N + 1,) int64


@dataclass(frozen=True)
class Keys:
    """What the features of tokens are looked up by."""

    tokens: Sequence[Collection]
    n: int
    paired: bool  # pairs (name, value), or attributes
    of_token: Callable[[Any], Iterable[Any]]

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(map(self.of_token, self.tokens))

    def hashes(self) -> np.ndarray:
        return np.fromiter(map(hash, self), np.int64, self.n)

    def some(self, chosen: np.ndarray) -> list[Any]:
        return list(compress(self, chosen.tobytes()))  # bytes give numbers, which are quicker than numpy's bools

    @property
    def is_sure(self) -> Callable[[Any], bool]:
        """Whether the hash of a key says what it means: neither those of numbers nor those of empty strings do."""
        return _is_sure_pair if self.paired else _is_text


def _is_sure_pair(pair: tuple) -> bool:
    return isinstance(pair[1], str) and pair[1] != ""


def _is_text(key: Any) -> bool:
    return isinstance(key, str)


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
        return _read(tokens, self._columns)

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
        return _read(tokens, self._learn)

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
        kept = sorted(name for name, count in times.items() if count >= min_count)
        vocabulary = {name: column for column, name in enumerate(kept)}
        column_of = np.fromiter(map(vocabulary.get, names, repeat(UNKNOWN)), np.int32, len(names))
        odd = [(key, column) for key, column in zip(distinct, column_of.tolist(), strict=True) if _is_odd(key)]
        self._oddly_named = {key: column for key, column in odd if column != UNKNOWN}
        self.feature_names_, self.vocabulary_ = kept, vocabulary
        self._forget_tables()
        return rest.filled_in(column_of[codes], vocabulary)

    def _columns(self, keys: Keys) -> tuple[np.ndarray, np.ndarray]:
        columns = np.empty(keys.n, np.int32)
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

    def _pairs(self) -> dict[tuple, int]:
        known = dict(self._oddly_named)
        for name, column in self.vocabulary_.items():
            known.update((cut, column if cut[1] else UNSURE) for cut in _cuts(name, self.separator))
        return known

    def _forget_tables(self) -> None:
        for name in TABLES:
            self.__dict__.pop(name, None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in TABLES}


TABLES = ("_table_of_names", "_table_of_pairs")  # of hashes that another process would not know


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
    >>> rows.shape, rows.sum()
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


def are_attributes(token: Any) -> bool:
    """Whether a token is a list of attributes: with one string at least."""
    return isinstance(token, LISTS) and any(isinstance(one, str) for one in token)


def flat_tokens(X: Any) -> tuple[list[Any], np.ndarray | None]:
    """All tokens, and where each sequence of them begins; None where X is a single list of tokens."""
    samples = list(X)
    first = next((sample for sample in samples if len(sample)), None)
    if first is None or isinstance(first, Mapping) or are_attributes(first):
        return samples, None
    return list(chain.from_iterable(samples)), np.cumsum([0, *map(len, samples)])


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


def feature_of(key: Any, separator: str) -> tuple[Any, float]:
    """The name of the feature that a pair (name, value) or an attribute means, and its value."""
    if isinstance(key, str):
        return key, 1.0
    if not isinstance(key, tuple):
        raise TypeError(f"Unsupported attribute {key!r} of type {type(key).__name__}: attributes are strings")
    name, value = key
    if isinstance(value, str):
        return f"{name}{separator}{value}", 1.0
    if isinstance(value, (float, Number, np.bool_)):
        return name, float(value)  # type: ignore[arg-type]
    if value is None:
        return name, np.nan
    raise TypeError(_unsupported(name, value))


def _unsupported(name: Any, value: Any) -> str:
    wanted = "give a string, a number, or a list of strings"
    return f"Unsupported value {value!r} of type {type(value).__name__} for {name!r}: {wanted}"


def _is_odd(key: Any) -> bool:
    return isinstance(key, tuple) and not isinstance(key[0], str)


def _read(tokens: Sequence[Any], find: Callable[[Keys], tuple[np.ndarray, np.ndarray]]) -> Coded:
    kinds = set(map(type, tokens))
    paired = any(issubclass(kind, Mapping) for kind in kinds)
    if not all(issubclass(kind, Mapping if paired else LISTS) for kind in kinds):
        raise TypeError(f"tokens must be all dicts or all lists of strings, got {sorted(map(str, kinds))}")
    if not paired:
        return _coded(tokens, False, iter, find)
    try:
        return _coded(tokens, True, dict.items, find)
    except TypeError:  # values that are lists, mappings other than dicts; what is wrong is so still
        return _coded([list(_listed_pairs(token)) for token in tokens], True, iter, find)


def _listed_pairs(token: Mapping) -> Iterator[tuple]:
    """Name and value of each feature, those of lists one by one."""
    for name, value in token.items():
        if isinstance(value, str) or not isinstance(value, Iterable):
            yield name, value
            continue
        if isinstance(value, Mapping):
            raise TypeError(_unsupported(name, value))
        for one in value:
            if not isinstance(one, str):
                raise TypeError(f"Unsupported type {type(one).__name__} in the list of {name!r}: give strings")
            yield name, one


def _coded(tokens: Sequence[Collection], paired: bool, of_token: Callable, find: Callable[[Keys], Any]) -> Coded:
    indptr = np.zeros(len(tokens) + 1, np.int64)
    np.fromiter(map(len, tokens), np.int64, len(tokens)).cumsum(out=indptr[1:])
    indices, data = find(Keys(tokens, int(indptr[-1]), paired, of_token))
    size = tidy_rows(indices, data, indptr)
    return Coded(data[:size], indices[:size], indptr)


def _cuts(name: Any, separator: str) -> Iterator[tuple[str, str]]:
    """All pairs that a separator joins to this name."""
    at = name.find(separator) if separator and isinstance(name, str) else -1
    while at >= 0:
        yield name[:at], name[at + len(separator) :]
        at = name.find(separator, at + 1)


def _hashed(names: Iterable[str], n: int, width: int) -> np.ndarray:
    as_bytes = map(str.encode, names, repeat("utf-8"), repeat("surrogatepass"))
    return (np.fromiter(map(crc32, as_bytes), np.uint32, n) % width).astype(np.int32)


def new_table(n: int) -> np.ndarray:
    """Room for n hashes and what they stand for, in pairs."""
    table = np.empty((2 << max(n, 4).bit_length(), 2), np.int64)
    table[:, 1] = UNKNOWN
    return table


def number_hashes(hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number distinct hashes in the order of their first places; also whether a place is a first one."""
    codes, is_first = np.empty(len(hashes), np.int64), np.zeros(len(hashes), bool)
    table, done, n = new_table(1 << 10), 0, 0
    while True:
        done, n = number_some(table, hashes, done, n, codes, is_first)
        if done == len(hashes):
            return codes, is_first
        table = new_table(4 * n)
        fill_table(table, hashes[is_first], np.arange(n))


@helper
def place_in(table, one):
    """Where a hash is in the table, or would be."""
    mask = len(table) - 1
    at = one & mask
    while table[at, 1] != UNKNOWN and table[at, 0] != one:
        at = (at + 1) & mask
    return at


@kernel
def fill_table(table, hashes, columns):
    for p in range(len(hashes)):
        at = place_in(table, hashes[p])
        table[at, 0], table[at, 1] = hashes[p], columns[p]


@kernel
def look_up(table, hashes, columns):
    for p in range(len(hashes)):
        columns[p] = table[place_in(table, hashes[p]), 1]


@kernel
def number_some(table, hashes, done, n, codes, is_first):
    """Go on numbering from place `done`, after n distinct ones, until all is done or half of the table is full."""
    for p in range(done, len(hashes)):
        if 2 * n >= len(table):
            return p, n
        at = place_in(table, hashes[p])
        if table[at, 1] == UNKNOWN:
            table[at, 0], table[at, 1] = hashes[p], n
            is_first[p] = True
            n += 1
        codes[p] = table[at, 1]
    return len(hashes), n


@kernel
def tidy_rows(indices, data, indptr):
    """Leave out zeros and columns below 0, sort each row and add up what is there twice, in place; returns the size."""
    size = begin = 0
    for t in range(len(indptr) - 1):
        end, first = indptr[t + 1], size
        for p in range(begin, end):
            if indices[p] >= 0 and data[p] != 0.0:
                indices[size], data[size] = indices[p], data[p]
                size += 1
        begin = end
        gap = 1
        while gap < (size - first) // 8:
            gap = 3 * gap + 1
        while gap > 0:  # shell sort: rows are short
            for p in range(first + gap, size):
                column, value, q = indices[p], data[p], p
                while q >= first + gap and indices[q - gap] > column:
                    indices[q], data[q] = indices[q - gap], data[q - gap]
                    q -= gap
                indices[q], data[q] = column, value
            gap //= 3
        last = first
        for p in range(first + 1, size):
            if indices[p] == indices[last]:
                data[last] += data[p]
            else:
                last += 1
                indices[last], data[last] = indices[p], data[p]
        size = last + 1 if size > first else size
        indptr[t + 1] = size
    return size
