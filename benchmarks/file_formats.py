"""Readers of files: how long CoNLL-2000 takes to arrays, beside the bare read, and 10,000 broken files for each reader.

The bare read is that of the gzipped file to bytes; a plain reader in Python makes lists of strings of its lines, as any
other reader does at least. Broken files are small ones with a few bytes changed, cut out, put in or repeated: each
has to be read, or refused by an error that names file and line. Run: python -m benchmarks.file_formats [--quick]
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.formats.mutations import READERS, outcomes

from maxmargin import TemplateEncoder
from maxmargin.datasets._conll2000 import TRAIN
from maxmargin.datasets._fetch import load_file
from maxmargin.formats import read_columns

from ._report import Bar, arguments, finish, time_in_turn

FILES, FEW_FILES = 10_000, 500


def bare(path: Path) -> bytes:
    with gzip.open(path) as file:
        return file.read()


def in_lists(path: Path) -> list[list[list[str]]]:
    """Sentences of lists of strings."""
    sentences: list[list[list[str]]] = [[]]
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if fields := line.split():
                sentences[-1].append(fields)
            elif sentences[-1]:
                sentences.append([])
    return sentences


def main() -> None:
    quick = arguments(__doc__).quick
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt.gz"
        path.write_bytes(gzip.compress(load_file(TRAIN)))
        calls: dict[str, Callable[[int], object]] = {
            "bare": lambda turn: bare(path),
            "lists of strings": lambda turn: in_lists(path),
            "arrays": lambda turn: read_columns(path),
        }
        seconds = time_in_turn(calls, 3 if quick else 15)  # type: ignore[arg-type]
        took = {name: float(np.median(values)) for name, values in seconds.items()}
        words, _ = read_columns(path).split_labels()
        encoder = TemplateEncoder()
        features = time_in_turn({"features": lambda turn: encoder.fit_transform(words)}, 1 if quick else 5)  # type: ignore[dict-item]
    took["features, of arrays"] = float(np.median(features["features"]))
    for name, value in took.items():
        times = f"{1e3 * value:8.1f} ms {value / took['bare']:6.1f} x the bare read"
        print(f"CoNLL-2000, training sentences: {name:<22}{times}")
    bars = [
        Bar("reading to arrays, over the bare read of the gzipped file", took["arrays"] / took["bare"], 8.0),
        Bar("reading to arrays, over lists of strings", took["arrays"] / took["lists of strings"], 0.5),
    ]
    n = FEW_FILES if quick else FILES
    for name, (read, text) in READERS.items():
        try:
            fine, refused = outcomes(read, text, n, seed=0)
            print(f"{name}: of {n} broken files {fine} could be read, {refused} were refused with the line")
            wrong = 0
        except Exception as error:  # whatever it is, it should not be
            print(f"{name}: {type(error).__name__}: {error}")
            wrong = 1
        bars.append(Bar(f"{name}: broken files that end otherwise", wrong, 0))
    finish(bars)


if __name__ == "__main__":
    main()
