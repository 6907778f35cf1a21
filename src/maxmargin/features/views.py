"""What can be read off a word: its letters, its ends, its shape."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..formats import Column


def shape(word: str) -> str:
    """Kinds of characters, runs of a kind as one, e.g. ``Xx-d`` for ``Boeing-747``."""
    return re.sub(r"(.)\1+", r"\1", "".join(map(_kind, word)), flags=re.DOTALL)


def _kind(character: str) -> str:
    if character.isdigit():
        return "d"
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return character


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
