"""Small sequences, in memory and on disk."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.storage import SequenceWriter, StoredSequences, open_samples

N_FEATURES, LABELS = 5, ["a", "b", "c"]


def sequences(n: int = 24, length: int | None = 4, seed: int = 0) -> tuple[list[np.ndarray], list[list[str]]]:
    """Features that tell labels roughly; lengths from 1 to 6 where none is given."""
    rng = np.random.default_rng(seed)
    lengths = [length or int(rng.integers(1, 7)) for _ in range(n)]
    codes = [rng.integers(len(LABELS), size=one) for one in lengths]
    centres = rng.normal(size=(len(LABELS), N_FEATURES))
    return [centres[y] + rng.normal(size=(len(y), N_FEATURES)) for y in codes], [[LABELS[k] for k in y] for y in codes]


def sparse_sequences(**how: Any) -> tuple[list[Any], list[list[str]]]:
    X, y = sequences(**how)
    return [sp.csr_matrix(np.where(x > 0.5, np.round(x, 1), 0.0)) for x in X], y


def stored(folder: Path, X: Any, y: Any, batch: int = 7, writer: Any = None, **how: Any) -> StoredSequences:
    """The same on disk, written in batches."""
    with SequenceWriter(folder / "samples", **(writer or {})) as out:
        for first in range(0, len(X), batch):
            out.add(X[first : first + batch], y[first : first + batch])
    return open_samples(folder / "samples", **how)
