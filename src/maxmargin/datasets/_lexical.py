"""Attributes that can be read off the words of sentences: neither tags nor trees are needed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from maxmargin.datasets._attributes import Template, Tokens, column

TEMPLATES = (
    *(Template("w", (t,)) for t in range(-2, 3)),
    *(Template("lower", (t,)) for t in range(-1, 2)),
    *(Template(name, (0,)) for name in ("prefix2", "prefix3", "suffix2", "suffix3", "shape", "capitalised", "digit")),
)


def lexical_tokens(words: Sequence[str], offsets: np.ndarray) -> Tokens:
    """The columns that the templates read, of sentences laid end to end."""
    own = column(words)
    lower = own.map(str.lower)
    columns = {
        "w": own,
        "lower": lower,
        "prefix2": lower.map(lambda word: word[:2] if len(word) >= 2 else ""),
        "prefix3": lower.map(lambda word: word[:3] if len(word) >= 3 else ""),
        "suffix2": lower.map(lambda word: word[-2:] if len(word) >= 2 else ""),
        "suffix3": lower.map(lambda word: word[-3:] if len(word) >= 3 else ""),
        "shape": own.map(_shape),
        "capitalised": own.map(lambda word: "yes" if word[0].isupper() else ""),
        "digit": own.map(lambda word: "yes" if word.isdigit() else ""),
    }
    return Tokens(columns, offsets)


def _shape(word: str) -> str:
    """Kinds of characters, runs of a kind as one, e.g. ``Xx-d`` for ``Boeing-747``."""
    return re.sub(r"(.)\1+", r"\1", "".join(map(_kind, word)), flags=re.DOTALL)


def _kind(character: str) -> str:
    if character.isdigit():
        return "d"
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return character
