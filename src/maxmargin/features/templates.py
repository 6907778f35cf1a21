"""Template files: which strings around a token are its features, in the language of CRF++.

A line ``U05:%x[-1,0]/%x[0,1]`` reads column 0 of the token before and column 1 of the token itself. ``U`` lines make
features of labels, ``B`` lines features of transitions; ``B`` alone stands for the weights of transitions, which chains
have in any case. In the place of ``x`` stands what to read off the string: ``%lower``, ``%suffix3``, ``%shape``, ...
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ..formats import FileFormatError
from ..formats.source import Source, decoded, name_of, numbered_lines
from .attributes import Reading, Template
from .views import VIEWS

MACRO = re.compile(r"%(\w+)\[(-?[0-9]{1,9}),([0-9]{1,9})\]")
FARTHEST = 100  # tokens away


class Templates(NamedTuple):
    """Templates of features of labels and of transitions; their columns are called ``view,number``."""

    nodes: tuple[Template, ...]
    edges: tuple[Template, ...]

    @property
    def views(self) -> set[tuple[str, int]]:
        """What is read: views and numbers of columns."""
        readings = (reading for template in (*self.nodes, *self.edges) for reading in template.readings)
        return {view_and_number(reading.column) for reading in readings}


def view_and_number(column: str) -> tuple[str, int]:
    """What the column of a reading is a view of."""
    view, number = column.split(",")
    return view, int(number)


def read_templates(source: Source, n_columns: int | None = None) -> list[str]:
    """The lines of a template file, checked; `n_columns` is how many columns there are, where that is known."""
    name = name_of(source)
    lines = [decoded(line, name, number) for number, line in numbered_lines(source)]
    parse_templates(lines, n_columns, name)
    return lines


def parse_templates(lines: Iterable[str], n_columns: int | None = None, name: str = "templates") -> Templates:
    """Read templates line by line; `n_columns` is how many columns there are, where that is known."""
    nodes, edges, last = list[Template](), list[Template](), 0
    for number, line in enumerate(lines, 1):
        text, last = line.strip(), number
        if not text or text.startswith("#"):
            continue
        if text[0] not in "UB":
            raise FileFormatError(f"a template starts with U or B, not with {text[0]!r}", name, number)
        template = _parse(text, n_columns, name, number)
        if text[0] == "U":
            nodes.append(template)
        elif template.readings:
            edges.append(template)
    if not nodes:
        raise FileFormatError("no template that starts with U", name, last or None)
    return Templates(tuple(nodes), tuple(edges))


def _parse(text: str, n_columns: int | None, name: str, number: int) -> Template:
    texts, readings, at = list[str](), list[Reading](), 0
    for macro in MACRO.finditer(text):
        view, offset, column = macro[1], int(macro[2]), int(macro[3])
        _check(macro[0], view, offset, column, n_columns, name, number)
        texts.append(text[at : macro.start()])
        readings.append(Reading(f"{view},{column}", offset))
        at = macro.end()
    texts.append(text[at:])
    broken = next((piece for piece in texts if re.search(r"%\w*\[", piece)), None)
    if broken is not None:
        raise FileFormatError(f"{broken!r} is no macro: expected %x[row,column], two whole numbers", name, number)
    texts[0] = texts[0].removeprefix("U:")  # templates without a name of their own
    return Template(tuple(texts), tuple(readings), padded=True)


def _check(macro: str, view: str, offset: int, column: int, n_columns: int | None, name: str, number: int) -> None:
    if view not in VIEWS:
        known = ", ".join(f"%{one}" for one in VIEWS)
        raise FileFormatError(f"{macro}: there is no %{view}; there are {known}", name, number)
    if abs(offset) > FARTHEST:
        raise FileFormatError(f"{macro}: at most {FARTHEST} tokens away", name, number)
    if n_columns is not None and column >= n_columns:
        have = "column 0 alone" if n_columns == 1 else f"columns 0 to {n_columns - 1}"
        raise FileFormatError(f"{macro}: tokens have {have}, the label not counted", name, number)


def _windows(name: str, macro: str, column: int, *spans: range) -> Iterable[str]:
    """Lines for the strings at all offsets of each span, read together."""
    for span in spans:
        left = "|".join(f"{name}[{t}]" for t in span)
        yield f"U:{left}=" + "|".join(f"%{macro}[{t},{column}]" for t in span)


def _spans(length: int, low: int, high: int) -> list[range]:
    """All of that many neighbouring offsets from low to high."""
    return [range(t, t + length) for t in range(low, high - length + 2)]


def window_templates(n_columns: int) -> list[str]:
    """Strings around a token: those of CRFsuite's tutorial for words (column 0) and tags (all others)."""
    lines = [*_windows("w", "x", 0, *_spans(1, -2, 2), *_spans(2, -1, 1))]
    for c in range(1, n_columns):
        lines += _windows(f"c{c}", "x", c, *_spans(1, -2, 2), *_spans(2, -2, 2), *_spans(3, -2, 2))
    return lines


def full_templates(n_columns: int) -> list[str]:
    """The same, and what can be read off words: case, shape, beginnings and ends."""
    lines = window_templates(n_columns)
    lines += _windows("lower", "lower", 0, *_spans(1, -1, 1))
    lines += _windows("shape", "shape", 0, *_spans(1, -1, 1))
    affixes = [f"{end}{n}" for end in ("prefix", "suffix") for n in range(1, 5)]
    for view in (*affixes, "capital", "digit"):
        lines += _windows(view, view, 0, range(1))
    return lines


BUILT_IN = {"full": full_templates, "window": window_templates}
