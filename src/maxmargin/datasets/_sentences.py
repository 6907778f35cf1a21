"""Sentences as files have them: a line a word, blank lines between sentences."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from maxmargin.datasets._fetch import DataFile, PathLike, load_file
from maxmargin.datasets._lexical import TEMPLATES, lexical_tokens
from maxmargin.features.attributes import AttributeEncoder, Tokens

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Own = TypeVar("Own", bound="Sentences")


@dataclass(frozen=True)
class Sentences:
    """Sentences laid end to end, and where each starts (and the last one ends); a data set adds what words have."""

    offsets: np.ndarray
    words: Sequence[str]

    def first(self: Own, n: int | None) -> Own:
        """The first n of them, or all."""
        offsets = self.offsets if n is None else self.offsets[: n + 1]
        of_words = [one.name for one in fields(self) if one.name != "offsets"]
        return replace(self, offsets=offsets, **{name: getattr(self, name)[: offsets[-1]] for name in of_words})

    def cut(self, values: Sequence[str] | np.ndarray) -> list[np.ndarray]:
        """An array a sentence."""
        return np.split(np.asarray(values), self.offsets[1:-1])

    def tokens(self) -> Tokens:
        """What window attributes are made of: the words alone."""
        return lexical_tokens(self.words, self.offsets)


def read_lines(text: str, parse_line: Callable[[str], Sequence[str]]) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Where sentences start (and the last one ends), and a column a field."""
    sentences = [
        list(lines) for told, lines in groupby(text.split("\n"), lambda line: line.strip(" \t\r") != "") if told
    ]
    if not sentences:
        raise ValueError("the text holds no sentence")
    columns = list(zip(*(parse_line(line) for lines in sentences for line in lines), strict=True))
    return np.concatenate([[0], np.cumsum([len(lines) for lines in sentences])]), columns


def check_counts(min_freq: int, n_train: int | None = None) -> None:
    """Refuse what is no count, before anything is read or downloaded."""
    from sklearn.utils import check_scalar

    check_scalar(min_freq, "min_freq", numbers.Integral, min_val=1)
    if n_train is not None:
        check_scalar(n_train, "n_train", numbers.Integral, min_val=1)


def load_splits(
    files: Mapping[str, DataFile[bytes]],
    parse: Callable[[bytes], Own],
    n_train: int | None,
    data_home: PathLike | None,
    download_if_missing: bool,
) -> dict[str, Own]:
    """Read all splits, and of the training sentences the first `n_train`."""
    splits = {name: parse(load_file(file, data_home, download_if_missing)) for name, file in files.items()}
    splits["train"] = splits["train"].first(n_train)
    return splits


def lexical_task(splits: Mapping[str, Sentences], target: str, min_freq: int, description: str) -> Bunch:
    """Lexical attributes that training sentences have often enough, the labels named `target`, and the words."""
    from sklearn.utils import Bunch

    tokens = {name: split.tokens() for name, split in splits.items()}
    encoder = AttributeEncoder.learn(TEMPLATES, tokens["train"], min_freq)
    names = np.unique(getattr(splits["train"], target))
    data = Bunch(feature_names=encoder.names(), target_names=names, DESCR=description)
    for name, split in splits.items():
        data[f"X_{name}"] = encoder.encode(tokens[name])
        data[f"y_{name}"] = split.cut(getattr(split, target))
        # Objects: one long address would make every entry as wide.
        data[f"words_{name}"] = split.cut(np.array(split.words, dtype=object))
    return data
