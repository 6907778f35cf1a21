"""Attributes that can be read off the words of sentences: neither tags nor trees are needed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from maxmargin.features.attributes import ENDS, Tokens, window
from maxmargin.features.views import view_of
from maxmargin.formats import column

# What the columns are called in the names of features, and the views of words that they are.
VIEWS = {"w": "x", "lower": "lower", "shape": "shape", "capitalised": "capital", "digit": "digit"}
VIEWS |= {name: name for name in ("prefix2", "prefix3", "suffix2", "suffix3")}

TEMPLATES = (
    *(window("w", (t,)) for t in range(-2, 3)),
    *(window("lower", (t,)) for t in range(-1, 2)),
    *(window(name, (0,)) for name in ("prefix2", "prefix3", "suffix2", "suffix3", "shape", "capitalised", "digit")),
    *ENDS,
)


def lexical_tokens(words: Sequence[str], offsets: np.ndarray) -> Tokens:
    """The columns that the templates read, of sentences laid end to end."""
    own = column(words)
    return Tokens({name: view_of(own, view) for name, view in VIEWS.items()}, offsets).with_ends()
