"""Window attributes of the tokens of sentences, built from integer codes.

A template reads strings of columns (words, tags, suffixes, ...) at offsets from a token; its attribute there is a text
with these strings in it. An attribute is coded by an integer, the digits of which are the codes of its strings, so that
counting and look-up work on integers instead of building millions of strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from ..formats import Column

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LARGEST = 2**62  # keys stay below
DENSE = 4  # a table of all keys that there could be has at most so many entries a token


class Reading(NamedTuple):
    """The string of a column at an offset from the token."""

    column: str
    offset: int

    @property
    def sign(self) -> str:
        """How positions beyond the end of a sentence are called in this direction."""
        return "-" if self.offset < 0 else "+"


class Template(NamedTuple):
    """Readings, and the texts before, between and after them.

    Where a reading is beyond the ends of the sentence, a padded template has the string ``_B-1``, ``_B-2`` (before the
    first token) or ``_B+1`` there, as in CRF++; others have no attribute, as where a column has no string.
    """

    texts: tuple[str, ...]
    readings: tuple[Reading, ...]
    padded: bool = False


def window(column: str, offsets: Sequence[int]) -> Template:
    """Strings of one column, called ``w[-1]|w[0]=in|the``."""
    name = "|".join(f"{column}[{offset}]" for offset in offsets)
    texts = (f"{name}=", *repeat("|", len(offsets) - 1), "")
    return Template(texts, tuple(Reading(column, offset) for offset in offsets))


_END_NAMES = ("__BOS__", "__EOS__")
ENDS = tuple(Template(("", ""), (Reading(name, 0),)) for name in _END_NAMES)


class Tokens(NamedTuple):
    """Sentences laid end to end: named columns, and where each sentence starts (and the last one ends)."""

    columns: Mapping[str, Column]
    offsets: np.ndarray

    def with_ends(self) -> Tokens:
        """With two more columns, that say which tokens are first and last: what the templates `ENDS` read."""
        columns = dict(self.columns)
        for name, places in zip(_END_NAMES, (self.offsets[:-1], self.offsets[1:] - 1), strict=True):
            codes = np.full(self.offsets[-1], -1)
            codes[places] = 0
            columns[name] = Column(np.array([name], dtype=object), codes)
        return Tokens(columns, self.offsets)


class _Places(NamedTuple):
    """Of every token: its place, and those of the first and the last token of its sentence."""

    own: np.ndarray
    first: np.ndarray
    last: np.ndarray

    @classmethod
    def of(cls, offsets: np.ndarray) -> Self:
        lengths = np.diff(offsets)
        return cls(np.arange(offsets[-1]), np.repeat(offsets[:-1], lengths), np.repeat(offsets[1:] - 1, lengths))


class AttributeEncoder:
    """Vocabulary of attributes, made by `learn`.

    Parameters
    ----------
    templates : sequence of Template
        What attributes are made of.
    vocabularies : dict of lists of str
        The strings of each column that have a code.
    stages : list of lists of arrays
        For each template the keys that are known, ascending; the last array has those of its attributes. Others are
        there where keys of all readings would not fit into 64 bits: those of the first few readings.
    """

    def __init__(
        self,
        templates: Sequence[Template],
        vocabularies: Mapping[str, Sequence[str]],
        stages: list[list[np.ndarray]],
    ) -> None:
        self._templates, self._vocabularies, self.stages = tuple(templates), vocabularies, stages
        self._sizes = {name: len(values) for name, values in vocabularies.items()}
        self._numbers: dict[str, dict[str, int]] = {}
        self._first_ids = np.cumsum([0] + [len(stage[-1]) for stage in stages])

    @classmethod
    def learn(cls, templates: Sequence[Template], tokens: Tokens, min_count: int) -> Self:
        """The attributes that occur at least `min_count` times."""
        vocabularies = {name: column.values.tolist() for name, column in tokens.columns.items()}
        return cls.learn_from(templates, vocabularies, lambda: [tokens], min_count)

    @classmethod
    def learn_from(
        cls,
        templates: Sequence[Template],
        vocabularies: Mapping[str, Sequence[str]],
        batches: Callable[[], Iterable[Tokens]],
        min_count: int,
    ) -> Self:
        """The same of tokens that come in batches, as often as they are asked for: once, and once for each fold."""
        stages: list[list[np.ndarray]] = [[] for _ in templates]
        encoder = cls(templates, vocabularies, [[np.zeros(0, np.int64)] for _ in templates])
        unknown = list(range(len(templates)))
        while unknown:
            tallies = {k: Tally() for k in unknown}
            for tokens in batches():
                for k, (keys, bound, whole) in zip(unknown, encoder._all_keys(tokens, stages, unknown), strict=True):
                    tallies[k].add(keys, bound, whole)
            for k, tally in tallies.items():
                stages[k].append(tally.known(min_count if tally.whole else 1))
            unknown = [k for k in unknown if not tallies[k].whole]
        return cls(templates, vocabularies, stages)

    def check(self) -> None:
        """Refuse keys that no attribute can have: they may come from anywhere."""
        for template, stages in zip(self._templates, self.stages, strict=True):
            if not all(isinstance(keys, np.ndarray) and keys.dtype == np.int64 and keys.ndim == 1 for keys in stages):
                raise ValueError("keys of features are not arrays of integers")
            bounds = [bound for _, bound in _bounds([self._base(template, one) for one in template.readings], stages)]
            if len(bounds) != len(stages):
                raise ValueError("there are not as many lists of keys as a template needs")
            for keys, bound in zip(stages, bounds, strict=True):
                if len(keys) and (keys[0] < 0 or keys[-1] >= bound or np.any(keys[1:] <= keys[:-1])):
                    raise ValueError("keys of features are not ascending, or too large")

    @property
    def n_attributes(self) -> int:
        return int(self._first_ids[-1])

    def names(self) -> np.ndarray:
        """Attribute names in the order of the columns, e.g. ``w[-1]|w[0]=in|the``, as an array of str objects."""
        parts = [self._names_of(*pair) for pair in zip(self._templates, self.stages, strict=True)]
        return np.concatenate([np.array([], dtype=object), *parts])

    def encode(self, tokens: Tokens) -> list[csr_matrix]:
        """One 0/1 matrix (length, n_attributes) per sentence; attributes outside the vocabulary are dropped."""
        ids = np.empty((tokens.offsets[-1], len(self.stages)), dtype=np.int32)
        every = range(len(self.stages))
        for k, (keys, bound, _) in zip(every, self._all_keys(tokens, self.stages, every), strict=True):
            position = _positions(self.stages[k][-1], keys, bound)
            ids[:, k] = np.where(position >= 0, position + self._first_ids[k], -1)
        present = ids >= 0
        # Ids grow with the template, so the columns of each row are sorted already.
        indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        return split_rows(ids[present], indptr, tokens.offsets, self.n_attributes)

    def _all_keys(
        self, tokens: Tokens, stages: list[list[np.ndarray]], some: Sequence[int]
    ) -> Iterator[tuple[np.ndarray, int, bool]]:
        """Keys of some templates at each token, -1 where there is no attribute, what they are below, and if they are
        whole: those of the first few readings, where stages know no more."""
        wanted = {reading.column for k in some for reading in self._templates[k].readings}
        codes = {name: self._known_codes(name, tokens.columns[name]) for name in sorted(wanted)}
        places = _Places.of(tokens.offsets)
        for k in some:
            yield self._keys(self._templates[k], codes, places, stages[k])

    def _known_codes(self, name: str, column: Column) -> np.ndarray:
        """The column's codes in terms of the values known; -1 where there is none."""
        if name not in self._numbers:
            self._numbers[name] = {value: code for code, value in enumerate(self._vocabularies[name])}
        known = np.fromiter(map(self._numbers[name].get, column.values, repeat(-1)), np.int64, len(column.values))
        return np.append(known, -1)[column.codes]

    def _keys(
        self, template: Template, codes: Mapping[str, np.ndarray], places: _Places, known: list[np.ndarray]
    ) -> tuple[np.ndarray, int, bool]:
        keys, bound, n_folds = np.zeros(len(places.own), dtype=np.int64), 1, 0
        for reading in template.readings:
            base = self._base(template, reading)
            if bound > LARGEST // base:
                if n_folds == len(known):  # to be learned
                    return keys, bound, False
                keys, bound, n_folds = _positions(known[n_folds], keys, bound), len(known[n_folds]), n_folds + 1
            digits = self._digits(template, reading, codes[reading.column], places)
            keys = np.where((keys < 0) | (digits < 0), -1, keys * base + digits)
            bound *= base
        return keys, bound, True

    def _base(self, template: Template, reading: Reading) -> int:
        """How many strings there may be: those of the column and those beyond the end."""
        return max(self._sizes[reading.column] + (abs(reading.offset) if template.padded else 0), 1)

    def _digits(self, template: Template, reading: Reading, codes: np.ndarray, places: _Places) -> np.ndarray:
        place = places.own + reading.offset
        beyond = places.first - place if reading.offset < 0 else place - places.last
        outside = self._sizes[reading.column] + beyond - 1 if template.padded else -1
        return np.where(beyond > 0, outside, codes.take(place, mode="clip")) if len(codes) else codes

    def _names_of(self, template: Template, stages: list[np.ndarray]) -> np.ndarray:
        """Texts of a template's attributes, from the last digit of their keys to the first."""
        *folds, keys = stages
        names = np.full(len(keys), template.texts[-1], dtype=object)
        bases = [self._base(template, reading) for reading in template.readings]
        folded = {at: known for (at, _), known in zip(_bounds(bases, folds), folds, strict=False)}
        for i in reversed(range(len(bases))):
            keys, digits = np.divmod(keys, bases[i])
            names = template.texts[i] + self._strings(template.readings[i])[digits] + names
            keys = folded[i][keys] if i in folded else keys
        return names

    def _strings(self, reading: Reading) -> np.ndarray:
        beyond = [f"_B{reading.sign}{k}" for k in range(1, abs(reading.offset) + 1)]
        return np.array([*self._vocabularies[reading.column], *beyond], dtype=object)


def _bounds(bases: list[int], stages: list[np.ndarray]) -> list[tuple[int, int]]:
    """Before which readings keys are numbered anew, and what they are below there; and so at the end."""
    bound, found = 1, list[tuple[int, int]]()
    for i, base in enumerate(bases):
        if bound > LARGEST // base:
            found.append((i, bound))
            bound = len(stages[len(found) - 1]) if len(found) <= len(stages) else 1
        bound *= base
    return [*found, (len(bases), bound)]


class Tally:
    """How often keys occur, in batches of them."""

    def __init__(self) -> None:
        self.whole = True
        self.parts: list[
            tuple[np.ndarray, np.ndarray]
        ] = []  # keys, ascending, and how often: the first are most of all

    def add(self, keys: np.ndarray, bound: int, whole: bool) -> None:
        self.whole = whole
        present = keys[keys >= 0]
        if bound <= DENSE * len(keys):
            count = np.bincount(present, minlength=bound)
            values = np.flatnonzero(count)
            self.parts.append((values, count[values]))
        else:
            self.parts.append(np.unique(present, return_counts=True))
        if sum(len(values) for values, _ in self.parts[1:]) > len(self.parts[0][0]):
            self.merge()

    def merge(self) -> None:
        if len(self.parts) > 1:
            values, place = np.unique(np.concatenate([values for values, _ in self.parts]), return_inverse=True)
            counts = np.bincount(place, np.concatenate([counts for _, counts in self.parts]), len(values))
            self.parts = [(values, counts.astype(np.int64))]

    def known(self, min_count: int) -> np.ndarray:
        """The keys that are there often enough, ascending."""
        self.merge()
        ((values, counts),) = self.parts
        return values[counts >= min_count]


def _positions(known: np.ndarray, keys: np.ndarray, bound: int) -> np.ndarray:
    """Positions of keys among those known; -1 where absent."""
    if bound <= DENSE * len(keys):
        table = np.full(bound + 1, -1)
        table[known] = np.arange(len(known))
        return table[keys]  # the last entry is that of the key -1
    if not len(known):
        return np.full(len(keys), -1)
    position = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[position] == keys, position, -1)


def split_rows(indices: np.ndarray, indptr: np.ndarray, offsets: np.ndarray, n_columns: int) -> list[csr_matrix]:
    """Rows of ones as a matrix a sentence."""
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
