"""Features as nobody should give them, and as somebody well may."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from trials import Subject, Trial, same_answers, same_optimum


def with_value(value: Any, dtype: Any = float) -> Callable[[np.ndarray], np.ndarray]:
    """The last number is another."""

    def change(x):
        x = np.array(x, dtype)
        x[(-1,) * x.ndim] = value
        return x

    return change


def objects(*items: Any) -> np.ndarray:
    array = np.empty(len(items), object)
    for i, item in enumerate(items):
        array[i] = item
    return array


BAD: dict[str, Callable[[np.ndarray], Any]] = {
    "NaN": with_value(np.nan),
    "infinity": with_value(np.inf),
    "minus infinity": with_value(-np.inf),
    "NaN in float16": with_value(np.nan, np.float16),
    "infinity in float32": with_value(np.inf, np.float32),
    "beyond float64": with_value(np.longdouble("1e4000"), np.longdouble),
    "None inside": with_value(None, object),
    "text inside": with_value("a", object),
    "a list inside": with_value([1, 2], object),
    "a huge integer inside": with_value(10**400, object),
    "complex": lambda x: x + 0j,
    "text": lambda x: np.full(x.shape, "a"),
    "numbers as text": lambda x: x.astype(str),
    "bytes": lambda x: x.astype("S3"),
    "dates": lambda x: x.astype("M8[D]"),
    "durations": lambda x: x.astype("m8[s]"),
    "records": lambda x: np.zeros(x.shape, [("a", float)]),
    "masked": lambda x: np.ma.masked_array(x, x == x.max()),
    "one dimension less": lambda x: x[0],
    "one dimension more": lambda x: x[None],
    "flat": lambda x: x.ravel(),
    "a number": lambda x: 3.0,
    "None": lambda x: None,
    "a word": lambda x: "features",
    "a dict": lambda x: {"a": 1.0},
    "a set": lambda x: {1.0, 2.0},
    "a function": lambda x: np.mean,
    "a generator": lambda x: (row for row in x),
    "ragged": lambda x: [*x.tolist(), [1.0]],
    "no features": lambda x: x[..., :0],
    "a feature less": lambda x: x[..., :-1],
    "a feature more": lambda x: np.concatenate([x, x[..., :1]], axis=-1),
}


def corrupt(**changes: Any) -> Callable[[np.ndarray], sp.csr_matrix]:
    """A CSR matrix with arrays changed behind its back, where scipy does not look."""

    def change(x):
        matrix = sp.csr_matrix(np.ones_like(x))  # every row has an index to go wrong
        for name, edit in changes.items():
            setattr(matrix, name, edit(getattr(matrix, name).copy()))
        return matrix

    return change


def ending(value: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda array: np.append(array[:-1], np.array(value, array.dtype))


def corrupt_columns(x: np.ndarray) -> sp.csc_matrix:
    matrix = sp.csc_matrix(np.ones_like(x))
    matrix.indices = ending(10**6)(matrix.indices)
    return matrix


def corrupt_places(x: np.ndarray) -> sp.coo_matrix:
    matrix = sp.coo_matrix(np.ones_like(x))
    matrix.coords = (ending(-(10**6))(matrix.coords[0]), matrix.coords[1])
    return matrix


def corrupt_blocks(x: np.ndarray) -> sp.bsr_matrix:
    matrix = sp.bsr_matrix(np.ones_like(x), blocksize=(1, 1))
    matrix.indices = ending(10**6)(matrix.indices)
    return matrix


CORRUPT: dict[str, Callable[[np.ndarray], Any]] = {
    "index of the width": lambda x: corrupt(indices=ending(x.shape[1]))(x),
    "index far outside": corrupt(indices=ending(2**30)),
    "index below 0": corrupt(indices=ending(-1)),
    "index far below 0": corrupt(indices=ending(-(2**30))),
    "index outside, 64 bits": corrupt(indices=lambda a: ending(2**40)(a.astype(np.int64))),
    "indices of floats": corrupt(indices=lambda a: a.astype(float)),
    "an index less": corrupt(indices=lambda a: a[:-1]),
    "a value less": corrupt(data=lambda a: a[:-1]),
    "indptr falls": corrupt(indptr=lambda a: np.append(a[-1:], a[1:])),
    "indptr too short": corrupt(indptr=lambda a: a[:-1]),
    "indptr too long": corrupt(indptr=lambda a: np.append(a, a[-1:])),
    "indptr too far": corrupt(indptr=lambda a: ending(a[-1] + 10**6)(a)),
    "indptr below 0": corrupt(indptr=ending(-1)),
    "corrupt CSC": corrupt_columns,
    "corrupt COO": corrupt_places,
    "corrupt BSR": corrupt_blocks,
    "sparse NaN": lambda x: sp.csr_matrix(with_value(np.nan)(x)),
    "sparse infinity": lambda x: sp.csr_matrix(with_value(np.inf)(x)),
    "sparse complex": lambda x: sp.csr_matrix(x + 1j),
}


def read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


def memory_mapped(x: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, float, "w+", shape=x.shape)
        mapped[:] = x
        return mapped


def strided(x: np.ndarray) -> np.ndarray:
    return np.repeat(np.repeat(x, 2, axis=0), 3, axis=-1)[::2, ..., ::3]


class Subclass(np.ndarray):
    """An ndarray by another name."""


class Frame:
    """As a DataFrame: no array, but becomes one."""

    def __init__(self, values):
        self.values, self.shape, self.ndim = values, values.shape, values.ndim

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)


ODD: dict[str, Callable[[np.ndarray], Any]] = {
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
    "strided": strided,
    "reversed": lambda x: x[::-1].copy()[::-1],
    "memory-mapped": memory_mapped,
    "big-endian": lambda x: x.astype(">f8"),
    "float16": lambda x: x.astype(np.float16),
    "float32": lambda x: x.astype(np.float32),
    "longdouble": lambda x: x.astype(np.longdouble),
    "int8": lambda x: x.astype(np.int8),
    "int64": lambda x: x.astype(np.int64),
    "uint64": lambda x: x.astype(np.uint64),
    "subclass": lambda x: x.view(Subclass),
    "masked nowhere": np.ma.masked_array,
    "lists": lambda x: x.tolist(),
    "frame": Frame,
}
ODD_MATRICES: dict[str, Callable[[np.ndarray], Any]] = {
    "objects": lambda x: x.astype(object),
    "np.matrix": np.matrix,
}


def with_duplicates(x: np.ndarray) -> sp.csr_matrix:
    """Every value as a sum of three, unsorted."""
    once = sp.csr_matrix(x)
    indptr = 3 * once.indptr
    parts = [np.tile(once.indices[a:b], 3)[::-1] for a, b in zip(once.indptr[:-1], once.indptr[1:], strict=True)]
    values = [np.concatenate([once.data[a:b]] * 2 + [-once.data[a:b]])[::-1] for a, b in _bounds(once)]
    return sp.csr_matrix((np.concatenate(values), np.concatenate(parts), indptr), x.shape)


def _bounds(matrix: sp.csr_matrix) -> Any:
    return zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)


def unsorted_behind_its_back(x: np.ndarray) -> sp.csr_matrix:
    """Marked as canonical, and then not."""
    matrix = sp.csr_matrix(x)
    assert matrix.has_canonical_format
    matrix.data, matrix.indices = matrix.data.copy(), matrix.indices.copy()
    for a, b in _bounds(matrix):
        matrix.data[a:b], matrix.indices[a:b] = matrix.data[a:b][::-1].copy(), matrix.indices[a:b][::-1].copy()
    return matrix


def with_zeros(x: np.ndarray) -> sp.csr_matrix:
    matrix = sp.csr_matrix(np.ones_like(x))
    matrix.data[:] = x.ravel()
    return matrix


def with_spare_room(x: np.ndarray) -> sp.csr_matrix:
    matrix = sp.csr_matrix(x)
    matrix.data, matrix.indices = np.append(matrix.data, [np.nan, 7]), np.append(matrix.indices, [99, -1])
    return matrix


def with_wide_indices(x: np.ndarray) -> sp.csr_matrix:
    matrix = sp.csr_matrix(x)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
SPARSE: dict[str, Callable[[np.ndarray], Any]] = {
    **{f"sparse {name}": lambda x, name=name: sp.csr_matrix(x).asformat(name) for name in FORMATS},
    "sparse array": sp.csr_array,
    "sparse integers": lambda x: sp.csr_matrix(x.astype(np.int32)),
    "sparse float32": lambda x: sp.csr_matrix(x.astype(np.float32)),
    "sparse duplicates": with_duplicates,
    "sparse unsorted": unsorted_behind_its_back,
    "sparse explicit zeros": with_zeros,
    "sparse spare room": with_spare_room,
    "sparse 64-bit indices": with_wide_indices,
}


def bad_features(subject: Subject) -> Iterator[Trial]:
    """In the first or last sample, in fit and after it."""
    as_sparse = subject.with_features(sp.csr_matrix) if subject.sparse else []
    for X, makers in ((subject.X, BAD), (as_sparse, CORRUPT if subject.sparse else {})):
        for name, change in makers.items():
            for i in sorted({0, subject.n_parts - 1}):
                place = subject.place.format(i=i)
                # which of two samples has the wrong number of features, nobody can tell
                expected = r"\bX\b" if "feature" in name else subject.exceptions.get(name, place)

                def make(X=X, change=change, i=i):
                    return (subject.put(X, i, change(subject.get(subject.X, i))),)

                yield Trial(f"{name}, sample {i}, predict", "predict", make, expected)
                if not callable(expected) and i > 0:
                    yield Trial(f"{name}, sample {i}, score", "score", lambda make=make: (*make(), subject.y), expected)
                if not (subject.whole and name in ("a feature less", "a feature more")):  # which are features as others
                    expected = same_optimum if callable(expected) else expected
                    yield Trial(f"{name}, sample {i}, fit", "fit", lambda make=make: (*make(), subject.y), expected)


def odd_features(subject: Subject) -> Iterator[Trial]:
    """In all samples: the answers are those of plain ones."""
    two_d = subject.get(subject.X, 0).ndim == 2
    for name, change in (ODD | (ODD_MATRICES if two_d else {}) | (SPARSE if subject.sparse else {})).items():

        def make(change=change):
            return (subject.with_features(change),)

        refused = subject.exceptions.get(name)
        yield Trial(f"{name}, predict", "predict", make, refused or same_answers)
        yield Trial(f"{name}, fit", "fit", lambda make=make: (*make(), subject.y), refused or same_optimum)
