"""What tokens hold, dicts or lists of attributes, read without a loop in Python.

A string value means the feature ``name=value``, present; a number the feature ``name`` with that value; a list or set
of strings one feature each: what scikit-learn's ``DictVectorizer`` makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from .tables import tidy_rows

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


def read_tokens(tokens: Sequence[Any], find: Callable[[Keys], tuple[np.ndarray, np.ndarray]]) -> Coded:
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
