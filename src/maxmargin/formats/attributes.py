r"""CRFsuite's attribute files: ``label TAB attribute[:value] TAB ...`` a token, a blank line after each sentence.

In attributes ``\:`` stands for a colon and ``\\`` for a backslash. What an attribute means is worked out once for each.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from .errors import FileFormatError, shown
from .source import Source, decoded, name_of, numbered_lines

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
    reader = _Reader(name_of(source))
    for number, line in numbered_lines(source):
        reader.take(number, line)
    return reader.file()


@dataclass
class _Reader:
    name: str
    labels: dict[bytes, str] = field(default_factory=dict)
    meanings: dict[bytes, tuple[str, float]] = field(default_factory=dict)  # of attributes as they are written
    weighted: bool = False
    tokens: list[list[tuple[str, float]]] = field(default_factory=list)
    own: list[str] = field(default_factory=list)  # labels of the sentence that is open
    X: list[list[list[tuple[str, float]]]] = field(default_factory=list)
    y: list[list[str]] = field(default_factory=list)

    def take(self, number: int, line: bytes) -> None:
        if not line.strip():
            self.end_sentence()
            return
        label, *fields = line.split(b"\t")
        meanings = self.meanings
        try:
            token = [meanings[one] for one in fields if one]
        except KeyError:
            token = [self.meaning(one, number) for one in fields if one]
        if label not in self.labels:
            self.labels[label] = decoded(label.strip(), self.name, number)
        self.own.append(self.labels[label])
        self.tokens.append(token)

    def meaning(self, text: bytes, number: int) -> tuple[str, float]:
        """Name and value of an attribute, remembered."""
        if text not in self.meanings:
            found = _parse(decoded(text, self.name, number), self.name, number)
            self.weighted |= found[1] != PLAIN
            self.meanings[text] = found
        return self.meanings[text]

    def end_sentence(self) -> None:
        if self.own:
            self.X.append(self.tokens)
            self.y.append(self.own)
            self.tokens, self.own = [], []

    def file(self) -> AttributeFile:
        self.end_sentence()
        if not self.y:
            raise FileFormatError("no sentence: the file is empty, or holds blank lines only", self.name)
        made = _summed if self.weighted else _names
        return AttributeFile([[made(token) for token in sentence] for sentence in self.X], self.y)


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


def _names(token: list[tuple[str, float]]) -> list[str]:
    return [name for name, _ in token]


def _summed(token: list[tuple[str, float]]) -> dict[str, float]:
    values: dict[str, float] = {}
    for name, value in token:
        values[name] = values.get(name, 0.0) + value
    return values
