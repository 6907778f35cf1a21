"""What can be read off a word: its letters, its ends, its shape."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..formats import Column


def shape(word: str) -> str:
    """Kinds of characters, runs of a kind as one, e.g. ``Xx-d`` for ``Boeing-747``."""
    return RUN.sub(r"\1", "".join(map(KINDS.__getitem__, word)))


RUN = re.compile(r"(.)\1+", re.DOTALL)


class _Kinds(dict):
    """The kind of each character, found out once."""

    def __missing__(self, character: str) -> str:
        kind = character
        if character.isdigit():
            kind = "d"
        elif character.isalpha():
            kind = "X" if character.isupper() else "x"
        self[character] = kind
        return kind


KINDS = _Kinds()


def capital(word: str) -> str:
    """Whether the first letter is one."""
    return "yes" if word[:1].isupper() else ""


def digit(word: str) -> str:
    """Whether it is a number of digits alone."""
    return "yes" if word.isdigit() else ""


def prefix(n: int) -> Callable[[str], str]:
    """The first n letters in lower case; none of shorter words."""
    return lambda word: word[:n].lower() if len(word) >= n else ""


def suffix(n: int) -> Callable[[str], str]:
    """The last n letters in lower case; none of shorter words."""
    return lambda word: word[-n:].lower() if len(word) >= n else ""


LENGTHS = range(1, 6)
VIEWS: dict[str, Callable[[str], str]] = {
    "x": str,
    "lower": str.lower,
    "shape": shape,
    "capital": capital,
    "digit": digit,
    **{f"prefix{n}": prefix(n) for n in LENGTHS},
    **{f"suffix{n}": suffix(n) for n in LENGTHS},
}


def view_of(column: Column, name: str) -> Column:
    """The column as a view shows it; where that is the empty string, tokens have none."""
    return column if name == "x" else column.map(VIEWS[name])
