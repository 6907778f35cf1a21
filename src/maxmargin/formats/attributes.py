r"""CRFsuite's attribute files: ``label TAB attribute[:value] TAB ...`` a token, a blank line after each sentence.

In attributes ``\:`` stands for a colon and ``\\`` for a backslash. What an attribute means is worked out once for each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .errors import FileFormatError, shown
from .source import Source, decoded, is_blank, name_of, numbered_lines, pieces

SPECIAL = re.compile(r"[:\\]")
ESCAPED = re.compile(r"\\([:\\])")
UNTIL_COLON = re.compile(r"((?:\\.|[^:\\]|\\$)*)(:?)(.*)", re.DOTALL)
PLAIN = 1.0


@dataclass(frozen=True)
class AttributeFile:
    """Sentences of tokens that come with attributes.

    Parameters
    ----------
    X : list of lists of tokens
        A token is a list of attributes where all values are 1, and else a dict of values: what `DictEncoder` takes.
    y : list of lists of str
        The label of every token; empty strings where the file has none.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_attributes
    >>> file = read_attributes(io.BytesIO(b"B-NP\\tw=the\\tcapital\\nI-NP\\tw=cat\\tlength:3\\n"))
    >>> file.y, file.X
    ([['B-NP', 'I-NP']], [[{'w=the': 1.0, 'capital': 1.0}, {'w=cat': 1.0, 'length': 3.0}]])
    """

    X: list[list[Any]]
    y: list[list[str]]


def read_attributes(source: Source) -> AttributeFile:
    """Read an attribute file as CRFsuite does.

    Parameters
    ----------
    source : path-like or binary file
        The file, which may be gzipped; "-" is standard input.

    Returns
    -------
    file : AttributeFile

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_attributes
    >>> read_attributes(io.BytesIO(b"O\\tat 10\\\\:30\\tlate\\n\\n")).X
    [[['at 10:30', 'late']]]
    """
    name = name_of(source)
    meanings, labels = _Meanings(name), _Labels(name)
    X: list[list[Any]] = [[]]
    y: list[list[str]] = [[]]
    for number, line in numbered_lines(source):
        if not is_blank(line):
            meanings.line = labels.line = number
            label, *fields = line.split(b"\t")
            y[-1].append(labels[label])
            X[-1].append([meanings[one] for one in fields if one])
        elif y[-1]:
            X.append([])
            y.append([])
    if not y[-1]:
        del X[-1], y[-1]
    if not y:
        raise FileFormatError("no sentence: the file is empty, or holds blank lines only", name)
    return AttributeFile([[_summed(token) for token in sentence] for sentence in X] if meanings.weighted else X, y)


def iterate_attributes(source: Source) -> Iterator[AttributeFile]:
    """Read an attribute file some megabytes at a time.

    Parameters
    ----------
    source : path-like or binary file
        The file, which may be gzipped; "-" is standard input.

    Returns
    -------
    files : iterator of AttributeFile
        Whole sentences.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import iterate_attributes
    >>> [len(some.y) for some in iterate_attributes(io.BytesIO(b"O\\tw=a\\n\\nO\\tw=b\\n"))]
    [2]
    """
    yield from map(read_attributes, pieces(source, lambda line, _: is_blank(line), lambda line: not is_blank(line)))


class _Labels(dict):
    """Labels by how they are written."""

    def __init__(self, name: str):
        self.name, self.line = name, 0

    def __missing__(self, text: bytes) -> Any:
        self[text] = decoded(text.strip(), self.name, self.line)
        return self[text]


class _Meanings(_Labels):
    """Attributes by how they are written: names, and names with values where these are not 1."""

    weighted = False

    def __missing__(self, text: bytes) -> Any:
        whole = decoded(text, self.name, self.line)
        name, value = (whole, PLAIN) if not SPECIAL.search(whole) else _parse(whole, self.name, self.line)
        self.weighted |= value != PLAIN
        self[text] = name if value == PLAIN else (name, value)
        return self[text]


def _parse(text: str, name: str, number: int) -> tuple[str, float]:
    """Name and value; the first colon that is not escaped stands between them."""
    attribute, colon, value = UNTIL_COLON.fullmatch(text).groups()  # type: ignore[union-attr]
    plain = ESCAPED.sub(r"\1", attribute)
    if not colon:
        return plain, PLAIN
    try:
        weight = float(value)
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight):
        hint = "write \\: for a colon within a name"
        raise FileFormatError(f"the value {shown(value)} of {shown(plain)} is no finite number; {hint}", name, number)
    return plain, weight


def _summed(token: list[str | tuple[str, float]]) -> dict[str, float]:
    values: dict[str, float] = {}
    for one in token:
        name, value = (one, PLAIN) if isinstance(one, str) else one
        values[name] = values.get(name, 0.0) + value
    return values
