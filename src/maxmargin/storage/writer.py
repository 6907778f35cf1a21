"""Samples to disk, batch by batch."""

from __future__ import annotations

import json
import os
import shutil
import uuid
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..estimators.inputs.labels import stack_labels
from ..estimators.inputs.sequences import needs_vectorizer, stack_sequences
from ..features.tables import tidy_rows
from ..persistence import save
from ..structures.on_disk.arrays import GrowingArray, StoredArray
from ..structures.on_disk.sequences import (
    DATA,
    ENCODER,
    FORMAT,
    HEADER,
    INDICES,
    INDPTR,
    LABELS,
    OFFSETS,
    VALUES,
    VERSION,
    written_classes,
)
from ..structures.rows import is_dense
from .vocabulary import NamedFeatures, NumberedFeatures, Vocabulary

AT_ONCE = 1 << 20  # numbers that are read back together


class SequenceWriter:
    """Writes sequences with labels to a folder, in batches that fit into memory.

    The folder appears when all is written: one that was cut off, or in which something was wrong, leaves nothing.
    Labels and feature dicts need not be known beforehand; what they are called is settled at the end.

    Parameters
    ----------
    folder : str or path
        Where to; there must be nothing yet.
    min_count : int, default=1
        Of feature dicts: features with fewer occurrences have no column.
    encoder : encoder or None, default=None
        A fitted encoder that made the rows, to be kept with them.
    numbered : bool, default=False
        Whether columns of sparse rows are numbers of features as a file has them, so that batches may differ in width;
        those that occur get columns.

    Examples
    --------
    >>> import tempfile
    >>> from maxmargin.storage import SequenceWriter, open_samples
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with SequenceWriter(f"{folder}/samples") as out:
    ...         out.add([[{"w": "the"}, {"w": "cat"}]], [["DET", "NOUN"]])
    ...         out.add([[{"w": "a"}, {"w": "cat"}]], [["DET", "NOUN"]])
    ...     samples = open_samples(f"{folder}/samples")
    ...     print(len(samples), samples.n_features, samples.encoder.feature_names_)
    2 3 ['w=a', 'w=cat', 'w=the']
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, min_count: int = 1, encoder: Any = None, numbered: bool = False
    ):
        self.target = Path(os.path.abspath(folder))
        if self.target.exists():
            raise FileExistsError(f"{os.fspath(folder)!r} is there already: delete it, or give another folder")
        self.folder = self.target.with_name(f".{self.target.name}.{uuid.uuid4().hex}")
        self.folder.mkdir()
        self.encoder = encoder
        self.files: dict[str, GrowingArray] = {}
        self.labels: dict[Any, int] = {}  # numbers by when they came
        self.label_kinds: set[np.dtype] = set()
        self.named = NamedFeatures(min_count)  # of feature dicts
        self.vocabulary: Vocabulary | None = NumberedFeatures() if numbered else None
        self.n = self.longest = 0
        self.n_features: int | None = None
        self.is_sparse, self.ones = numbered, True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def add(self, X: Any, y: Any, lengths: Any = None) -> None:
        """Write sequences after those before.

        Parameters
        ----------
        X : list of arrays or sparse matrices of shape (T, F)
            Or lists of T feature dicts each, or one stacked matrix with `lengths`: as `ChainSVM.fit` takes them.
        y : list of T labels each
            Strings or integers.
        lengths : array of int or None, default=None
            The lengths of the sequences of a stacked X.
        """
        named = needs_vectorizer(X)
        if not self.n and named and self.vocabulary is None:
            self.vocabulary = self.named
        if named != (self.vocabulary is self.named):
            raise ValueError("X holds feature dicts in some batches and numbers in others: give all the same way")
        vectorizer = None if self.vocabulary is None else self.vocabulary.new_encoder()
        given = stack_sequences(X, lengths, vectorizer=vectorizer).as_matrix()
        labels = stack_labels(y, given.offsets)
        self._check_labels(labels)
        rows: Any = given.rows
        if not self.n:
            self.is_sparse = self.is_sparse or sp.issparse(rows) or not is_dense(rows)
            self._open(rows.shape[1])
        elif self.vocabulary is None and rows.shape[1] != self.n_features:
            raise ValueError(f"X has {rows.shape[1]} features, but the batches before have {self.n_features}")
        self._add_rows(rows, vectorizer)
        numbers = [self.labels.setdefault(label, len(self.labels)) for label in labels.tolist()]
        self.files[LABELS].add(np.array(numbers))
        self.files[OFFSETS].add(self._positions() - given.offsets[-1] + given.offsets[1:])
        self.n += len(given.lengths)
        self.longest = max(self.longest, int(given.lengths.max()))

    def close(self) -> None:
        """Settle what labels and features are called, and let the folder appear."""
        try:
            self._finish()
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Leave nothing behind."""
        for file in self.files.values():
            file.file.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _positions(self) -> int:
        return self.files[LABELS].n_rows

    def _check_labels(self, labels: np.ndarray) -> None:
        kinds = {one.kind in "UO" for one in self.label_kinds}
        if kinds and (labels.dtype.kind in "UO") not in kinds:
            raise ValueError("y holds strings in some batches and numbers in others: they do not mix")
        self.label_kinds.add(labels.dtype)

    def _open(self, n_features: int) -> None:
        self.n_features = n_features
        kinds: dict[str, Any] = {OFFSETS: np.int64, LABELS: np.int32}
        kinds |= {INDPTR: np.int64, INDICES: np.int32, DATA: np.float64} if self.is_sparse else {VALUES: np.float64}
        for name, kind in kinds.items():
            self.files[name] = GrowingArray(self.folder / name, kind, n_features if name == VALUES else None)
        for name in {OFFSETS, INDPTR} & kinds.keys():
            self.files[name].add(np.zeros(1, np.int64))

    def _add_rows(self, rows: Any, vectorizer: Any) -> None:
        if not self.is_sparse:
            self.files[VALUES].add(rows.toarray() if sp.issparse(rows) else rows)
            return
        matrix = sp.csr_matrix(rows)
        indices = matrix.indices
        if self.vocabulary is not None:
            indices = self.vocabulary.take(vectorizer, indices)
        self.files[INDPTR].add(self.files[INDICES].n_rows + matrix.indptr[1:].astype(np.int64))
        self.files[INDICES].add(indices)
        self.files[DATA].add(matrix.data)
        self.ones = self.ones and bool(np.all(matrix.data == 1.0))

    def _finish(self) -> None:
        if not self.n:
            raise ValueError("there is no sample: add at least one before the end")
        for file in self.files.values():
            file.close()
        if self.vocabulary is not None:
            self.encoder, self.n_features = self._settle_features(self.vocabulary)
        classes = self._settle_labels()
        if self.is_sparse and self.ones:
            self.files.pop(DATA).path.unlink()
        if self.encoder is not None:
            save(self.encoder, self.folder / ENCODER)
        samples = {
            "n": self.n,
            "n_positions": self._positions(),
            "n_features": self.n_features,
            "n_stored": self.files[INDICES].n_rows if self.is_sparse else -1,
            "ones": self.is_sparse and self.ones,
            "longest": self.longest,
            "classes": written_classes(classes),
            "encoded": self.encoder is not None,
            "checksum": self._checksum(),
        }
        document = {"format": FORMAT, "version": VERSION, "samples": samples}
        (self.folder / HEADER).write_text(json.dumps(document), "ascii")
        for path in self.folder.iterdir():
            with open(path, "rb") as written:
                os.fsync(written.fileno())
        os.rename(self.folder, self.target)

    def _checksum(self) -> int:
        total = 1
        for name in sorted(self.files):
            total = zlib.crc32(f"{name} {self.files[name].checksum}".encode(), total)
        return total

    def _settle_labels(self) -> np.ndarray:
        """Labels become numbers in their sorted order."""
        names = sorted(self.labels)
        kind = next(iter(self.label_kinds)).kind if len(self.label_kinds) == 1 else ""
        text = all(isinstance(name, str) for name in names)
        dtype = (object if kind == "O" else str) if text else np.result_type(*self.label_kinds)
        number = {name: k for k, name in enumerate(names)}
        new = np.array([number[name] for name in self.labels], np.int32)
        self._rewrite(LABELS, lambda codes: new[codes])
        return np.array(names, dtype=dtype)

    def _rewrite(self, name: str, change: Any) -> None:
        """Change all numbers of a file, some at a time."""
        old = self.files[name]
        stored = StoredArray(old.path, old.dtype, (old.n_rows,))
        made = GrowingArray(self.folder / f"new-{name}", old.dtype)
        for first in range(0, old.n_rows, AT_ONCE):
            made.add(change(stored.read((first, min(first + AT_ONCE, old.n_rows)))))
        made.close()
        self.files[name] = self._take_place(made, name)

    def _take_place(self, made: GrowingArray, name: str) -> GrowingArray:
        made.path.replace(self.folder / name)
        made.path = self.folder / name
        return made

    def _settle_features(self, vocabulary: Vocabulary) -> tuple[Any, int]:
        """Columns become those of sorted names; rare ones go."""
        encoder, columns = vocabulary.settled()
        n_positions, n_stored = self._positions(), self.files[INDICES].n_rows
        ends = StoredArray(self.folder / INDPTR, np.int64, (n_positions + 1,))
        indices = StoredArray(self.folder / INDICES, np.int32, (n_stored,))
        data = StoredArray(self.folder / DATA, np.float64, (n_stored,))
        made = {
            name: GrowingArray(self.folder / f"new-{name}", self.files[name].dtype) for name in (INDPTR, INDICES, DATA)
        }
        made[INDPTR].add(np.zeros(1, np.int64))
        first = 0
        while first < n_positions:
            indptr = ends.read((first, min(first + AT_ONCE // 8, n_positions) + 1))
            fits = max(1, int(np.searchsorted(indptr, indptr[0] + AT_ONCE, side="right")) - 1)
            indptr = indptr[: fits + 1]
            low, high = int(indptr[0]), int(indptr[-1])
            own, values, indptr = columns[indices.read((low, high))], data.read((low, high)), indptr - low
            first += len(indptr) - 1
            size = tidy_rows(own, values, indptr)
            made[INDPTR].add(made[INDICES].n_rows + indptr[1:])
            made[INDICES].add(own[:size])
            made[DATA].add(values[:size])
        for name, file in made.items():
            file.close()
            self.files[name] = self._take_place(file, name)
        return encoder, int(columns.max()) + 1
