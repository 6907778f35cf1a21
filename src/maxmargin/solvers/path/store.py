"""Many weight vectors in little memory."""

from __future__ import annotations

import tempfile
import threading
import weakref
from typing import Any, NamedTuple

import numpy as np

IN_MEMORY = 256 * 2**20  # bytes; what is more goes to a temporary file


class Place(NamedTuple):
    offset: int
    n_indices: int  # -1: all entries
    n_values: int


class WeightStore:
    """A list of vectors of one length, exact: sparse where that is smaller, on disk where they are many."""

    def __init__(self) -> None:
        self.file: Any = self._new_file()
        self.lock = threading.Lock()  # of the place in the file
        self.places: list[Place] = []
        self.length = 0

    def _new_file(self) -> Any:
        """Lives as long as the store."""
        file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, file.close)
        return file

    def __len__(self) -> int:
        return len(self.places)

    def append(self, w: np.ndarray) -> None:
        if self.places and np.array_equal(w, self[-1]):  # weights may serve several breakpoints
            self.places.append(self.places[-1])
            return
        self.length = len(w)
        used = np.flatnonzero(w)
        is_sparse = 2 * len(used) < len(w)
        indices, values = (used, w[used]) if is_sparse else (used[:0], w)
        place = Place(self.file.seek(0, 2), len(indices) if is_sparse else -1, len(values))
        self.file.write(indices.astype(np.int64).tobytes() + values.astype(np.float64).tobytes())
        self.places.append(place)

    def __getitem__(self, j: int) -> np.ndarray:
        place = self.places[j]
        with self.lock:
            self.file.seek(place.offset)
            if place.n_indices < 0:
                return self._read(place.n_values, np.float64)
            w, indices = np.zeros(self.length), self._read(place.n_indices, np.int64)
            w[indices] = self._read(place.n_values, np.float64)
        return w

    def _read(self, count: int, kind: type) -> np.ndarray:
        return np.frombuffer(bytearray(self.file.read(8 * count)), kind)

    def __getstate__(self) -> dict[str, Any]:
        self.file.seek(0)
        return {**vars(self), "file": self.file.read(), "lock": None}

    @classmethod
    def made(cls, state: dict[str, Any]) -> WeightStore:
        """The store that a state was taken of."""
        store = cls.__new__(cls)
        store.__setstate__(state)
        return store

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, file=self._new_file(), lock=threading.Lock())
        self.file.write(state["file"])
