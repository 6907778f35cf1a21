"""Column files (CoNLL, CRF++): a token a line, columns between tabs or spaces, a blank line after each sentence.

What a line means is worked out once for each distinct line: most lines of a text occur again and again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np

from .errors import FileFormatError
from .source import Source, blocks, decoded, is_blank, name_of, pieces

DOCUMENT = b"-DOCSTART-"
SPACE = b" \t\r\x0b\x0c"


class Column(NamedTuple):
    """One string a token, as numbers.

    Parameters
    ----------
    values : array of objects
        The distinct strings.
    codes : array of int
        The place of each token's string among them; -1 where it has none.

    Examples
    --------
    >>> from maxmargin.formats import column
    >>> column(["the", "cat", "the"]).map(str.upper).strings().tolist()
    ['THE', 'CAT', 'THE']
    """

    values: np.ndarray
    codes: np.ndarray

    def map(self, function: Callable[[str], str]) -> Column:
        """The column of ``function(value)``, which is called once for each distinct value."""
        image = column([function(value) for value in self.values])
        # The appended -1 is what the code -1 picks.
        return Column(image.values, np.append(image.codes, -1)[self.codes])

    def strings(self) -> np.ndarray:
        """The string of every token; empty where it has none."""
        has = self.codes >= 0
        found = np.full(len(self.codes), "", dtype=object)
        found[has] = self.values[self.codes[has]]
        return found


def column(strings: Sequence[Any], nothing: Any = "") -> Column:
    """Encode one string a token, values sorted.

    Parameters
    ----------
    strings : sequence of str
        One a token.
    nothing : str, default=""
        What stands for no value.

    Returns
    -------
    column : Column

    Examples
    --------
    >>> from maxmargin.formats import column
    >>> column(["the", "", "cat"])
    Column(values=array(['cat', 'the'], dtype=object), codes=array([ 1, -1,  0]))
    """
    values = sorted(set(strings) - {nothing})
    codes = {value: code for code, value in enumerate(values)} | {nothing: -1}
    encoded = np.fromiter(map(codes.__getitem__, strings), dtype=np.int64, count=len(strings))
    return Column(np.array(values, dtype=object), encoded)


@dataclass(frozen=True)
class TokenColumns(Sequence):
    """Sentences laid end to end: columns of strings, and where each sentence starts (and the last one ends).

    As a sequence it is one of sentences, each a list of tokens, which are tuples of strings.

    Parameters
    ----------
    columns : tuple of Column
        Distinct values and, for every token, the code of its value.
    offsets : array of int of shape (n + 1,)
        Sentence i is tokens ``offsets[i]`` to ``offsets[i + 1] - 1``.
    asides : tuple of (int, str)
        Lines that belong to no sentence, comments and starts of documents: before which sentence, and their text.
    separator : str
        What stands between columns in the file.
    first_lines : array of int of shape (n,) or None
        The lines that sentences begin in, from 1.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_columns
    >>> sentences = read_columns(io.BytesIO(b"The DT B-NP\\ncat NN I-NP\\n\\nHi UH O\\n"))
    >>> len(sentences), sentences[0]
    (2, [('The', 'DT', 'B-NP'), ('cat', 'NN', 'I-NP')])
    """

    columns: tuple[Column, ...]
    offsets: np.ndarray
    asides: tuple[tuple[int, str], ...] = ()
    separator: str = " "
    first_lines: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        if isinstance(i, slice):
            return [self[at] for at in range(*i.indices(len(self)))]
        at = range(len(self))[i]
        own = slice(self.offsets[at], self.offsets[at + 1])
        return list(zip(*(Column(c.values, c.codes[own]).strings() for c in self.columns), strict=True))

    @property
    def n_tokens(self) -> int:
        return int(self.offsets[-1])

    def cut(self, values: np.ndarray) -> list[np.ndarray]:
        """An array a sentence, of one value a token."""
        return [values[begin:end] for begin, end in pairwise(self.offsets)]

    def split_labels(self) -> tuple[TokenColumns, list[np.ndarray]]:
        """All columns but the last, and the last one cut into sentences."""
        *others, last = self.columns
        names = last.values.astype(str) if len(last.values) else np.array([], str)
        return replace(self, columns=tuple(others)), self.cut(names[last.codes])


def read_columns(source: Source, *, n_columns: Sequence[int] | None = None, comments: bool = False) -> TokenColumns:
    """Read a column file.

    Columns are what stands between tabs if the first line has any, and between white space if not. A line
    ``-DOCSTART-`` belongs to no sentence and ends the one before.

    Parameters
    ----------
    source : path-like or binary file
        The file, which may be gzipped; "-" is standard input.
    n_columns : sequence of int or None, default=None
        The numbers of columns that are fine; None: any, but all lines alike.
    comments : bool, default=False
        Whether lines that start with ``#`` are comments; in texts of one column or more that may be a token.

    Returns
    -------
    sentences : TokenColumns

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_columns
    >>> words, labels = read_columns(io.BytesIO(b"Anna\\tB-PER\\n\\nHello\\tO\\n")).split_labels()
    >>> labels
    [array(['B-PER'], dtype='<U5'), array(['O'], dtype='<U5')]
    """
    reader = _Reader(name_of(source), comments)
    for block in blocks(source):
        reader.take(block.first, block.lines)
    return reader.sentences(n_columns)


def iterate_columns(
    source: Source, *, n_columns: Sequence[int] | None = None, comments: bool = False
) -> Iterator[TokenColumns]:
    """Read a column file some megabytes at a time.

    Parameters
    ----------
    source : path-like or binary file
        The file, which may be gzipped; "-" is standard input.
    n_columns : sequence of int or None, default=None
        The numbers of columns that are fine; None: any, but all lines alike.
    comments : bool, default=False
        Whether lines that start with ``#`` are comments.

    Returns
    -------
    sentences : iterator of TokenColumns
        Whole sentences; strings have codes of their own each time.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import iterate_columns
    >>> [len(some) for some in iterate_columns(io.BytesIO(b"Anna\\tB-PER\\n\\nHello\\tO\\n"))]
    [2]
    """
    aside = _asides(comments)
    for piece in pieces(
        source, lambda line, _: is_blank(line), lambda line: not (is_blank(line) or line.startswith(aside))
    ):
        found = read_columns(piece, n_columns=n_columns, comments=comments)
        n_columns = [len(found.columns)]
        yield found


def _asides(comments: bool) -> tuple[bytes, ...]:
    """How lines start that belong to no sentence."""
    return (DOCUMENT, b"#") if comments else (DOCUMENT,)


class _Reader:
    """What was read so far, as numbers of distinct lines."""

    before = 0  # lines of the file, where these are a piece of it

    def __init__(self, name: str, comments: bool):
        self.name, self.aside = name, _asides(comments)
        self.numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
        self.of_lines: list[np.ndarray] = []

    def take(self, first: int, lines: list[bytes]) -> None:
        if not self.of_lines:
            self.before = first - 1
        self.of_lines.append(np.fromiter(map(self.numbers.__getitem__, lines), np.int32, len(lines)))

    def sentences(self, n_columns: Sequence[int] | None) -> TokenColumns:
        of_lines = np.concatenate(self.of_lines) if self.of_lines else np.zeros(0, np.int32)
        distinct = list(self.numbers)
        is_aside = np.array([line.startswith(self.aside) for line in distinct], bool)
        is_token = ~is_aside & np.array([not line.isspace() and line != b"" for line in distinct], bool)
        if not is_token.any():
            raise FileFormatError("no sentence: the file is empty, or holds blank lines only", self.name)
        tokens = np.flatnonzero(is_token)
        first = distinct[tokens[0]].strip(b"\r\n")
        separator = "\t" if b"\t" in first.strip(SPACE) else " "
        split = partial(bytes.split, sep=b"\t") if separator == "\t" else bytes.split
        own = [distinct[at] for at in tokens.tolist()]
        counts = np.fromiter((len(split(line)) for line in own), np.int64, len(own))
        self.check_alike(counts, tokens, of_lines, n_columns)
        # all at once: a list a line would make work for the garbage collector
        flat = split(separator.encode().join(own))
        flat = [field.strip() for field in flat] if separator == "\t" else flat

        told = is_token[of_lines]
        of_tokens = (np.cumsum(is_token) - 1)[of_lines[told]]  # among distinct lines that are tokens
        columns = tuple(self.column(flat[c :: counts[0]], of_tokens, told) for c in range(counts[0]))
        self.check_labels(columns[-1], told)
        starts = np.flatnonzero(told & ~np.append(False, told[:-1]))
        offsets = np.append(np.cumsum(told)[starts] - 1, len(of_tokens)).astype(np.int64)
        asides = tuple(self.asides(np.flatnonzero(is_aside[of_lines]), of_lines, starts, distinct))
        return TokenColumns(columns, offsets, asides, separator, self.before + starts + 1)

    def check_alike(
        self, counts: np.ndarray, tokens: np.ndarray, of_lines: np.ndarray, n_columns: Sequence[int] | None
    ) -> None:
        """Refuse lines with more or fewer columns than the first one, or that one."""
        expected = int(counts[0])
        first = self.before + 1 + int(np.argmax(of_lines == tokens[0]))
        if n_columns is not None and expected not in n_columns:
            wanted = " or ".join(map(str, n_columns))
            raise FileFormatError(f"{_counted(expected)}, but {wanted} expected", self.name, first)
        odd = np.flatnonzero(counts != expected)
        if len(odd):
            at = int(np.flatnonzero(np.isin(of_lines, tokens[odd]))[0])
            found = int(counts[np.searchsorted(tokens, of_lines[at])])
            words = f"{_counted(found)}, but line {first} has {expected}"
            raise FileFormatError(words, self.name, self.before + 1 + at)

    def column(self, strings: Sequence[bytes], of_tokens: np.ndarray, told: np.ndarray) -> Column:
        coded = column(strings, nothing=b"")
        codes = coded.codes[of_tokens]
        try:
            values = [value.decode("utf-8") for value in coded.values]
        except UnicodeDecodeError:
            self.refuse_bytes(coded.values, codes, told)
        return Column(np.array(values, dtype=object), codes)

    def refuse_bytes(self, values: np.ndarray, codes: np.ndarray, told: np.ndarray) -> None:
        """Name the first line whose value is not UTF-8."""
        lines = self.before + np.flatnonzero(told) + 1
        for line, code in zip(lines.tolist(), codes.tolist(), strict=True):
            decoded(values[code], self.name, line)

    def check_labels(self, last: Column, told: np.ndarray) -> None:
        if (last.codes < 0).any():
            line = self.before + 1 + int(np.flatnonzero(told)[np.argmax(last.codes < 0)])
            raise FileFormatError("the last column is empty", self.name, line)

    def asides(
        self, places: np.ndarray, of_lines: np.ndarray, starts: np.ndarray, distinct: list[bytes]
    ) -> Iterator[tuple[int, str]]:
        for at in places.tolist():
            yield int(np.searchsorted(starts, at)), decoded(distinct[of_lines[at]], self.name, self.before + at + 1)


def _counted(n: int) -> str:
    return "1 column" if n == 1 else f"{n} columns"
