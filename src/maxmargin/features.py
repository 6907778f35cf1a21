"""Features of tokens as people write them, dicts or lists of attributes, made sparse rows without a loop in Python.

A string value means the feature ``name=value``, present; a number the feature ``name`` with that value; a list or set
of strings one feature each: what scikit-learn's ``DictVectorizer`` makes of them. That joins name and value of every
feature into a new string. Here pairs are looked up as they are, by iterators of C that walk through all dicts, and only
what was never seen is looked at once more.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, count, pairwise, repeat
from numbers import Number
from operator import itemgetter
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._compile import kernel
from ._parameters import check_count

UNKNOWN, ZERO = -1, -2  # in place of columns: of what has none, and of known features that are 0
LISTS = (list, tuple, set, frozenset)


class Coded(NamedTuple):
    """The three arrays of a CSR matrix, one row a token; columns are sorted and distinct."""

    data: np.ndarray  # (nnz,) float64
    indices: np.ndarray  # (nnz,) int32
    indptr: np.ndarray  # (N + 1,) int64


@dataclass(frozen=True)
class Keys:
    """What the features of tokens are looked up by."""

    by_token: Sequence[Collection]  # pairs (name, value), or attributes
    n: int
    paired: bool

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.by_token)

    def values(self, keys: Iterable[Any]) -> Iterable[Any]:
        return map(itemgetter(1), keys) if self.paired else keys


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
    _numeric: list[int]  # columns of features that came as numbers
    _oddly_named: dict[tuple, int]  # columns of pairs whose name is no string
    _known_pairs: dict[tuple, int]  # made when first wanted

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
        first_seen: defaultdict[Any, int] = defaultdict(count().__next__)  # distinct keys, numbered as they come
        codes = np.fromiter(map(first_seen.__getitem__, keys), np.int64, keys.n)
        features = [feature_of(key, self.separator) for key in first_seen]
        counts = np.bincount(codes, minlength=len(features)).tolist()
        often: defaultdict[Any, int] = defaultdict(int)
        for (name, _), times in zip(features, counts, strict=True):
            often[name] += times
        names = sorted(name for name, times in often.items() if times >= min_count)
        vocabulary = {name: column for column, name in enumerate(names)}

        columns = [vocabulary.get(name, UNKNOWN) for name, _ in features]
        pairs = [(key, column) for key, column in zip(first_seen, columns, strict=True) if keys.paired and column >= 0]
        self._numeric = sorted({column for (_, value), column in pairs if not isinstance(value, str)})
        self._oddly_named = {
            pair: column for pair, column in pairs if isinstance(pair[1], str) and not isinstance(pair[0], str)
        }
        self.feature_names_, self.vocabulary_ = names, vocabulary
        self.__dict__.pop("_known_pairs", None)
        return np.array(columns, np.int32)[codes], np.array([value for _, value in features], np.float64)[codes]

    def _columns(self, keys: Keys) -> tuple[np.ndarray, np.ndarray]:
        known: dict[Any, int] = self._pairs if keys.paired else self.vocabulary_
        columns = np.fromiter(map(known.get, keys, repeat(UNKNOWN)), np.int32, keys.n)
        values, missed = np.ones(keys.n), columns == UNKNOWN
        unseen = list(compress(keys, missed.tobytes()))  # bytes give numbers, which are quicker than numpy's bools
        if not set(map(type, keys.values(unseen))) <= {str}:  # a string that is not known has no column
            for at, key in zip(np.flatnonzero(missed).tolist(), unseen, strict=True):
                name, values[at] = feature_of(key, self.separator)
                columns[at] = self.vocabulary_.get(name, UNKNOWN)
        return columns, values

    @property
    def _pairs(self) -> dict[tuple, int]:
        """Columns by name and value: every way to cut a name in two; 0 and 1 where numbers were seen."""
        if "_known_pairs" not in self.__dict__:
            known = dict(self._oddly_named)
            for name, column in self.vocabulary_.items():
                known.update(zip(_cuts(name, self.separator), repeat(column)))
            for column in self._numeric:
                name = self.feature_names_[column]
                known[name, 1], known[name, 0] = column, ZERO
            self._known_pairs = known
        return self._known_pairs

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_known_pairs"}


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
        width, values = self._width, np.ones(keys.n)
        names: Iterable[Any] = map(self.separator.join, keys) if keys.paired else keys
        try:
            return _hashed(names, keys.n, width), values
        except TypeError:  # not strings alone
            features = [feature_of(key, self.separator) for key in keys]
        values[:] = [value for _, value in features]
        return _hashed((str(name) for name, _ in features), keys.n, width), values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def are_attributes(token: Any) -> bool:
    """Whether a token is a list of attributes, one of them at least."""
    return isinstance(token, LISTS) and len(token) > 0 and all(isinstance(one, str) for one in token)


def flat_tokens(X: Any) -> tuple[list[Any], np.ndarray | None]:
    """All tokens, and where each sequence of them begins; None where X is a single list of tokens."""
    samples = list(X)
    first = next((sample for sample in samples if len(sample)), None)
    if first is None or isinstance(first, Mapping) or are_attributes(first):
        return samples, None
    return list(chain.from_iterable(samples)), np.cumsum([0, *map(len, samples)])


def feature_of(key: Any, separator: str) -> tuple[Any, float]:
    """The name of the feature that a pair (name, value) or an attribute means, and its value."""
    if isinstance(key, str):
        return key, 1.0
    if not isinstance(key, tuple):
        raise TypeError(f"Unsupported attribute {key!r} of type {type(key).__name__}: attributes are strings")
    name, value = key
    if isinstance(value, str):
        return f"{name}{separator}{value}", 1.0
    if value is None:
        return name, np.nan
    if isinstance(value, (Number, np.bool_)):
        return name, float(value)  # type: ignore[arg-type]
    raise TypeError(
        f"Unsupported value {value!r} of type {type(value).__name__} for {name!r}: "
        "give a string, a number, or a list of strings"
    )


def _read(tokens: Sequence[Any], find: Callable[[Keys], tuple[np.ndarray, np.ndarray]]) -> Coded:
    kinds = set(map(type, tokens))
    paired = any(issubclass(kind, Mapping) for kind in kinds)
    if not all(issubclass(kind, Mapping if paired else LISTS) for kind in kinds):
        raise TypeError(f"tokens must be all dicts or all lists of strings, got {sorted(map(str, kinds))}")
    if not paired:
        return _coded(tokens, False, find)
    try:
        return _coded(list(map(dict.items, tokens)), True, find)
    except TypeError:  # values that are lists, mappings other than dicts; what is wrong is so still
        return _coded([list(_listed_pairs(token)) for token in tokens], True, find)


def _listed_pairs(token: Mapping) -> Iterator[tuple]:
    """Name and value of each feature, those of lists one by one."""
    for name, value in token.items():
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            yield name, value
            continue
        for one in value:
            if not isinstance(one, str):
                raise TypeError(f"Unsupported type {type(one).__name__} in the list of {name!r}: give strings")
            yield name, one


def _coded(by_token: Sequence[Collection], paired: bool, find: Callable[[Keys], Any]) -> Coded:
    indptr = np.zeros(len(by_token) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, by_token), np.int64, len(by_token)), out=indptr[1:])
    indices, data = find(Keys(by_token, int(indptr[-1]), paired))
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
