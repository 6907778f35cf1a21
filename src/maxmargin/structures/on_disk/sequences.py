"""A folder of sequences, opened: what it holds, and ranges of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..pools import starts_of
from .arrays import StoredArray
from .errors import StorageError

FORMAT, VERSION = "maxmargin sequences", 1
HEADER, ENCODER = "samples.json", "features.npz"
OFFSETS, LABELS, VALUES = "offsets.npy", "labels.npy", "values.npy"
INDPTR, INDICES, DATA = "indptr.npy", "indices.npy", "data.npy"

DEFAULT_LIMIT = "1GB"
UNITS = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
BATCH = 1 / 8  # of the limit that a batch of samples takes


class Header(NamedTuple):
    """What a folder says of itself."""

    n: int  # sequences
    n_positions: int
    n_features: int
    n_stored: int  # entries of sparse rows; -1 where rows are dense
    ones: bool  # whether all these are 1, and not stored
    longest: int
    classes: dict[str, Any]
    encoded: bool  # whether there is an encoder of features
    checksum: int


class StoredSequences:
    """Sequences with labels in a folder, of which as much is in memory at a time as a limit allows.

    :func:`~maxmargin.storage.open_samples` makes them; `ChainSVM.fit`, `predict` and `score` take them in place of X.

    Parameters
    ----------
    folder : str or path
        What :class:`~maxmargin.storage.SequenceWriter` wrote.
    memory_limit : int, float or str, default="1GB"
        Bytes that samples, dual variables and weights may take together, as a number or with a unit, "500MB". The
        interpreter and its libraries come on top of it.
    scratch : str, path or None, default=None
        A folder for the dual variables of a run. They stay there, so that runs with checkpoints can go on. None: a
        folder beside the samples, which is deleted when the run is over.

    Attributes
    ----------
    classes : array of shape (K,)
        The labels, sorted.
    n_features : int
        Columns of the rows.
    offsets : array of int of shape (n + 1,)
        Where the positions of each sequence begin.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from maxmargin.storage import SequenceWriter, open_samples
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with SequenceWriter(f"{folder}/samples") as out:
    ...         out.add([np.eye(2), np.ones((3, 2))], [["a", "b"], ["b", "b", "a"]])
    ...     samples = open_samples(f"{folder}/samples", memory_limit="10MB")
    ...     print(len(samples), samples.classes.tolist(), [len(labels) for X, y in samples.batches() for labels in y])
    2 ['a', 'b'] [2, 3]
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        memory_limit: float | str = DEFAULT_LIMIT,
        scratch: str | os.PathLike[str] | None = None,
    ):
        self.folder, self.limit = Path(folder), as_bytes(memory_limit)
        self.scratch = None if scratch is None else Path(scratch)
        self.header = header = read_header(self.folder)
        self.classes = as_classes(header.classes, self.folder)
        self.n_features = header.n_features
        self.offsets = self._read_starts(OFFSETS, header.n, header.n_positions)
        if header.n < 1 or np.any(np.diff(self.offsets) < 1) or np.diff(self.offsets).max() != header.longest:
            raise StorageError(f"{self.folder / OFFSETS} is damaged: lengths of sequences are not what they should be")
        self._labels = StoredArray(self.folder / LABELS, np.int32, (header.n_positions,))
        self.is_sparse = header.n_stored >= 0
        if self.is_sparse:
            self._indptr = StoredArray(self.folder / INDPTR, np.int64, (header.n_positions + 1,))
            self._indices = StoredArray(self.folder / INDICES, np.int32, (header.n_stored,))
            self._data = None if header.ones else StoredArray(self.folder / DATA, np.float64, (header.n_stored,))
        else:
            self._values = StoredArray(self.folder / VALUES, np.float64, (header.n_positions, header.n_features))

    def __len__(self) -> int:
        return self.header.n

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return (
            f"StoredSequences({str(self.folder)!r}: {len(self)} sequences, {self.header.n_positions} positions, "
            f"{self.n_features} features, {kind}, {len(self.classes)} labels)"
        )

    @cached_property
    def encoder(self) -> Any:
        """What made rows of features, or None where rows came as they are."""
        from ...persistence import load

        return load(self.folder / ENCODER) if self.header.encoded else None

    @property
    def encoder_of_dicts(self) -> Any:
        """The encoder, where it is one that estimators have for feature dicts."""
        return self.encoder if hasattr(self.encoder, "vocabulary_") else None

    @cached_property
    def n_stored(self) -> np.ndarray:
        """(n,) how many numbers are stored of each sequence."""
        lengths = np.diff(self.offsets)
        if not self.is_sparse:
            return self.n_features * lengths
        ends = np.empty(len(self.offsets), np.int64)
        for first, last in even_ranges(8 * lengths, BATCH * self.limit):
            places = self.offsets[first : last + 1]
            ends[first : last + 1] = self._indptr.read((int(places[0]), int(places[-1]) + 1))[places - places[0]]
        if np.any(np.diff(ends) < 0):
            raise StorageError(f"{self._indptr.path} is damaged: ends of rows must rise")
        return np.diff(ends)

    @cached_property
    def row_bytes(self) -> np.ndarray:
        """(n,) what the rows of each sequence take in memory."""
        return 12 * self.n_stored + 8 * np.diff(self.offsets) if self.is_sparse else 8 * self.n_stored

    def rows(self, *ranges: tuple[int, int]) -> np.ndarray | sp.csr_matrix:
        """The features of sequences from a first one up to a last one, range after range, under each other."""
        if not self.is_sparse:
            return self._values.read(*self.positions(ranges))
        data, indices, indptr = self.csr(*ranges)
        matrix = sp.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, self.n_features))
        matrix.has_canonical_format = True
        matrix.indptr = indptr  # scipy gives both index arrays the same dtype
        return matrix

    def csr(self, *ranges: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arrays of sparse rows, looked at: an index out of range would crash compiled code."""
        positions = self.positions(ranges)
        ends = self._indptr.read(*((begin, end + 1) for begin, end in positions))
        first = starts_of(np.array([end + 1 - begin for begin, end in positions]))
        low, high = ends[first[:-1]], ends[first[1:] - 1]
        counts = np.delete(np.diff(ends), first[1:-1] - 1)  # not between two ranges
        if np.any(counts < 0) or low.min() < 0 or high.max() > self.header.n_stored:
            raise StorageError(f"{self._indptr.path} is damaged: ends of rows must rise")
        stored = list(zip(low.tolist(), high.tolist(), strict=True))
        indices = self._indices.read(*stored)
        if len(indices) and not (indices.min() >= 0 and indices.max() < self.n_features):
            raise StorageError(f"{self._indices.path} is damaged: it holds columns that are not there")
        data = np.ones(len(indices)) if self._data is None else self._data.read(*stored)
        return data, indices, starts_of(counts)

    def codes(self, *ranges: tuple[int, int]) -> np.ndarray:
        """The labels of sequences, range after range, as numbers among the classes."""
        found = self._labels.read(*self.positions(ranges))
        if len(found) and not (found.min() >= 0 and found.max() < len(self.classes)):
            raise StorageError(f"{self._labels.path} is damaged: it holds labels that are not there")
        return found

    def positions(self, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Where the positions of ranges of sequences begin and end."""
        return [(int(self.offsets[first]), int(self.offsets[last])) for first, last in ranges]

    def batches(self) -> Iterator[tuple[list[Any], list[np.ndarray]]]:
        """Sequences as lists of matrices and of labels, so many at a time that an eighth of the limit has to do.

        Returns
        -------
        batches : iterator of tuples (X, y)
            Lists of arrays or CSR matrices of shape (T, F), and of arrays of shape (T,).
        """
        for first, last in self.parts():
            cuts = self.offsets[first + 1 : last] - self.offsets[first]
            labels = self.classes[self.codes((first, last))]
            yield self.matrices(first, last, [0, *cuts.tolist(), len(labels)]), np.split(labels, cuts)

    def matrices(self, first: int, last: int, bounds: list[int]) -> list[Any]:
        """The features of each sequence from a first one up to a last one, given where they begin and end there."""
        if not self.is_sparse:
            rows = self.rows((first, last))
            return [rows[a:b] for a, b in pairwise(bounds)]
        # scipy's own slices of rows whose index arrays are of two types copy all of them for each
        data, indices, ends = self.csr((first, last))
        found = []
        for a, b in pairwise(bounds):
            low, high = ends[a], ends[b]
            own = data[low:high], indices[low:high], (ends[a : b + 1] - low).astype(np.int32)
            found.append(sp.csr_matrix(own, shape=(b - a, self.n_features)))
            found[-1].has_canonical_format = True
        return found

    def parts(self) -> list[tuple[int, int]]:
        """Ranges of sequences that take an eighth of the limit at most, if a single one does."""
        return even_ranges(self.row_bytes + 16 * np.diff(self.offsets), BATCH * self.limit)

    def _read_starts(self, name: str, count: int, last: int) -> np.ndarray:
        starts = StoredArray(self.folder / name, np.int64, (count + 1,)).read((0, count + 1))
        if starts[0] != 0 or starts[-1] != last:
            raise StorageError(f"{self.folder / name} is damaged: it does not go from 0 to {last}")
        return starts


def even_ranges(sizes: np.ndarray, most: float) -> list[tuple[int, int]]:
    """Ranges of about the same size, none larger than `most` unless it has a single member."""
    ends = starts_of(np.ceil(sizes))
    n_ranges = max(1, int(np.ceil(ends[-1] / max(most, 1.0))))
    while True:
        goals = np.linspace(0, ends[-1], n_ranges + 1)[1:-1]
        bounds = np.unique([0, *np.searchsorted(ends, goals), len(sizes)])
        widths = np.diff(ends[bounds])
        if np.all((widths <= most) | (np.diff(bounds) == 1)) or n_ranges > 2 * len(sizes):
            return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
        n_ranges += 1 + n_ranges // 16


def as_bytes(limit: float | str) -> float:
    """A number of bytes, however it is written."""
    found = re.fullmatch(r"\s*([\d.]+(?:E\+?\d+)?)\s*([KMGT]?I?B?)\s*", str(limit).upper())
    try:
        number = float(limit) if not isinstance(limit, str) else float(found[1]) * UNITS[found[2]]  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        number = np.nan
    if isinstance(limit, bool) or not 0 < number < np.inf:
        raise ValueError(f'memory_limit must be a number of bytes, such as 5e8 or "500MB", got {limit!r}')
    return number


def read_header(folder: Path) -> Header:
    """What the folder says of itself."""
    try:
        text = (folder / HEADER).read_text("ascii")
    except OSError as error:
        raise StorageError(
            f"{folder} holds no samples, or a conversion was cut off: there is no {HEADER} ({error.strerror})"
        ) from error
    except UnicodeDecodeError as error:
        raise StorageError(f"{folder / HEADER} is damaged") from error
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(f"format {document['format']!r}")
        if document["version"] != VERSION:
            raise StorageError(
                f"{folder} is of version {document['version']} of the format, and this maxmargin reads {VERSION}: "
                "convert the samples again"
            )
        header = Header(**document["samples"])
        numbers = [header.n, header.n_positions, header.n_features, header.longest]
        if not all(type(one) is int and one >= 1 for one in numbers) or type(header.n_stored) is not int:
            raise ValueError("sizes are no numbers")
        return header
    except StorageError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StorageError(f"{folder / HEADER} describes no sequences: it is damaged ({error})") from error


def as_classes(written: Any, folder: Path) -> np.ndarray:
    """Labels as `written_classes` wrote them."""
    try:
        kind, values = written["dtype"], written["values"]
        found = np.array(values, dtype=str if kind == "U" else object if kind == "O" else np.dtype(kind))
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(f"{folder / HEADER} is damaged: its labels cannot be read") from error
    if found.ndim != 1 or not len(found) or len(set(found.tolist())) < len(found):
        raise StorageError(f"{folder / HEADER} is damaged: it names labels twice, or none")
    return found


def written_classes(classes: np.ndarray) -> dict[str, Any]:
    """Labels as JSON."""
    kind = classes.dtype.kind
    return {"dtype": kind if kind in "UO" else classes.dtype.newbyteorder("<").str, "values": classes.tolist()}
