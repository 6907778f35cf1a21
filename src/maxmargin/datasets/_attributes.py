"""Window attributes of the tokens of sentences, built from integer codes.

A template names a column of strings (words, tags, suffixes, ...) and the offsets it is read at; its attribute at a
token is the strings found there. Every end of a sentence has an attribute of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class Template(NamedTuple):
    """Values of one column at consecutive offsets, read as one attribute."""

    column: str
    offsets: tuple[int, ...]

    @property
    def name(self) -> str:
        return "|".join(f"{self.column}[{offset}]" for offset in self.offsets)


_END_NAMES = ("__BOS__", "__EOS__")


class Column(NamedTuple):
    """One string a token: its sorted distinct values, and the code of each token's value (-1: it has none)."""

    values: np.ndarray
    codes: np.ndarray

    def map(self, function: Callable[[str], str]) -> Column:
        """The column of ``function(value)``, which is called once for each distinct value."""
        image = column([function(value) for value in self.values])
        # The appended -1 is what the code -1 picks.
        return Column(image.values, np.append(image.codes, -1)[self.codes])


def column(strings: Sequence[str]) -> Column:
    """Encode one string a token; the empty string stands for no value."""
    values = sorted(set(strings) - {""})
    codes = {value: code for code, value in enumerate(values)} | {"": -1}
    encoded = np.fromiter((codes[string] for string in strings), dtype=np.int64, count=len(strings))
    return Column(np.array(values, dtype=object), encoded)


class Tokens(NamedTuple):
    """Sentences laid end to end: named columns, and where each sentence starts (and the last one ends)."""

    columns: Mapping[str, Column]
    offsets: np.ndarray


class AttributeEncoder:
    """Vocabulary of the attributes that occur at least `min_freq` times in the training sentences.

    An attribute is coded by an integer, the digits of which are the codes of its strings, so that counting and
    look-up sort integers instead of building millions of strings.
    """

    def __init__(self, templates: Sequence[Template], tokens: Tokens, min_freq: int) -> None:
        self._templates = tuple(templates)
        self._values = {name: column.values for name, column in tokens.columns.items()}
        self._kept: list[np.ndarray] = []
        for keys in self._all_keys(tokens):
            values, counts = np.unique(keys[keys >= 0], return_counts=True)
            self._kept.append(values[counts >= min_freq])
        self._first_ids = np.cumsum([0] + [len(kept) for kept in self._kept])

    @property
    def n_attributes(self) -> int:
        return int(self._first_ids[-1])

    def names(self) -> np.ndarray:
        """Attribute names in the order of the columns, e.g. ``w[-1]|w[0]=in|the``, as an array of str objects."""
        parts = [self._template_names(*pair) for pair in zip(self._templates, self._kept, strict=False)]
        at_ends = self._kept[len(self._templates) :]
        ends = [name for name, kept in zip(_END_NAMES, at_ends, strict=True) if len(kept)]
        return np.concatenate([*parts, np.array(ends, dtype=object)])

    def encode(self, tokens: Tokens) -> list[csr_matrix]:
        """One 0/1 matrix (length, n_attributes) per sentence; attributes outside the vocabulary are dropped."""
        ids = np.empty((tokens.offsets[-1], len(self._kept)), dtype=np.int32)
        for k, keys in enumerate(self._all_keys(tokens)):
            ids[:, k] = self._look_up(k, keys)
        present = ids >= 0
        # Ids grow with the template, so the columns of each row are sorted already.
        indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        return _split_rows(ids[present], indptr, tokens.offsets, self.n_attributes)

    def _all_keys(self, tokens: Tokens) -> Sequence[np.ndarray]:
        codes = {name: self._training_codes(name, column) for name, column in tokens.columns.items()}
        sentence = np.repeat(np.arange(len(tokens.offsets) - 1), np.diff(tokens.offsets))
        keys = [self._keys(template, codes[template.column], sentence) for template in self._templates]
        for ends in (tokens.offsets[:-1], tokens.offsets[1:] - 1):
            at_end = np.full(len(sentence), -1)
            at_end[ends] = 0
            keys.append(at_end)
        return keys

    def _training_codes(self, name: str, column: Column) -> np.ndarray:
        """The column's codes in terms of the training values; -1 where there is none."""
        return np.append(_codes(self._values[name], column.values), -1)[column.codes]

    def _keys(self, template: Template, codes: np.ndarray, sentence: np.ndarray) -> np.ndarray:
        """Integer key of the template's attribute at each token; -1 where it has none."""
        base = len(self._values[template.column])
        keys = np.zeros(len(codes), dtype=np.int64)
        absent = np.zeros(len(codes), dtype=bool)
        for offset in template.offsets:
            shifted = _shift(codes, offset)
            absent |= (shifted < 0) | (_shift(sentence, offset) != sentence)
            keys = keys * base + shifted
        keys[absent] = -1
        return keys

    def _look_up(self, k: int, keys: np.ndarray) -> np.ndarray:
        position = _codes(self._kept[k], keys)
        return np.where(position >= 0, position + self._first_ids[k], -1)

    def _template_names(self, template: Template, kept: np.ndarray) -> np.ndarray:
        vocabulary = self._values[template.column]
        shape = (len(vocabulary),) * len(template.offsets)
        first, *others = (vocabulary[digits] for digits in np.unravel_index(kept, shape))
        names = f"{template.name}=" + first
        for values in others:
            names = names + "|" + values
        return names


def _codes(vocabulary: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Positions of the values in a sorted vocabulary; -1 where absent."""
    if not len(vocabulary):
        return np.full(len(values), -1)
    position = np.minimum(np.searchsorted(vocabulary, values), len(vocabulary) - 1)
    return np.where(vocabulary[position] == values, position, -1)


def _shift(values: np.ndarray, offset: int) -> np.ndarray:
    """``values[t + offset]`` at each t; -1 beyond the ends."""
    shifted = np.full(len(values), -1, dtype=np.int64)
    if offset >= 0:
        shifted[: len(values) - offset] = values[offset:]
    else:
        shifted[-offset:] = values[:offset]
    return shifted


def _split_rows(indices: np.ndarray, indptr: np.ndarray, offsets: np.ndarray, n_columns: int) -> list[csr_matrix]:
    from scipy.sparse import csr_matrix

    data = np.ones(len(indices))
    matrices = []
    for start, stop in pairwise(offsets):
        rows = indptr[start : stop + 1]
        part = slice(rows[0], rows[-1])
        local = (rows - rows[0]).astype(np.int32)
        matrix = csr_matrix((data[part], indices[part], local), shape=(stop - start, n_columns))
        matrix.has_canonical_format = True
        matrices.append(matrix)
    return matrices
