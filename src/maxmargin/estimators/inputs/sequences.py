"""Stack sequences, however they are handed over, into one matrix and offsets, or say which sample is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...features import LISTS, DictEncoder, are_attributes
from ...structures.rows import CodedRows
from .arrays import as_array, as_float64, refuse_mask, rows_of, take

_SCAN = 1 << 20  # values looked at together when a NaN is searched for


class Stacked(NamedTuple):
    """All positions of all sequences under each other; sequence i is ``rows[offsets[i]:offsets[i + 1]]``."""

    rows: np.ndarray | sp.csr_matrix | CodedRows  # (N, F) float64; C-contiguous, or canonical CSR with int64 indptr
    offsets: np.ndarray  # int64, (n + 1,)
    flat: bool  # one stacked matrix was given, so outputs are flat too

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    @property
    def matrix(self) -> np.ndarray | sp.csr_matrix:
        """The rows as an array or a matrix of scipy."""
        return as_csr(self.rows) if isinstance(self.rows, CodedRows) else self.rows

    def take(self, kept: np.ndarray) -> Stacked:
        """Some of the sequences."""
        rows = take(self.rows, rows_of(self.lengths, kept))
        return Stacked(rows, _offsets_of(self.lengths[kept]), self.flat)


def stack_sequences(
    X: Any,
    lengths: Any = None,
    *,
    n_features: int | None = None,
    vectorizer: Any = None,
    name: str = "X",
    estimator: str = "estimator",
) -> Stacked:
    """Stack sequences given as a list, a 3-d array, one matrix with ``lengths``, or lists of feature dicts.

    An unfitted ``vectorizer`` is fitted when X holds feature dicts. What already has the right layout is shared with
    the caller, never written to. ``name`` is what messages call X, ``estimator`` what expects ``n_features``.
    """
    if not (sp.issparse(X) or isinstance(X, (list, tuple))):
        X = as_array(X, name)
    dicts = needs_vectorizer(X)
    listed = dicts or isinstance(X, (list, tuple)) or (X.ndim == 1 and X.dtype == object)
    flat = not listed and X.ndim != 3
    if lengths is not None and not flat:
        raise ValueError(
            f"lengths goes with one stacked 2-d matrix, but {name} already is a collection of sequences: drop lengths, "
            f"or cut padding off with [x[:length] for x, length in zip({name}, lengths)]"
        )
    if not flat and len(X) == 0:
        raise ValueError(f"{name} is empty: found 0 sample(s) while a minimum of 1 is required.")

    rows: Any = None
    blocks: list[Any] = []
    if dicts:
        rows, offsets = _vectorize(X, vectorizer, name)
    elif listed:
        blocks = [_matrix(x, f"{name}, sample {i}") for i, x in enumerate(X)]
        _check_alike(blocks, name)
        offsets = _offsets_of([block.shape[0] for block in blocks])
    elif flat:
        offsets = _offsets_of(_check_lengths(lengths, X.shape[0], name))
        blocks = [_matrix(X, name, lambda row: place_of(name, offsets, row))]
    else:
        _check_shape(X.shape[1:], f"{name}, sample 0")
        offsets = np.arange(X.shape[0] + 1, dtype=np.int64) * X.shape[1]
        blocks = [_matrix(X.reshape(-1, X.shape[2]), name, lambda row: place_of(name, offsets, row))]

    width = (rows if dicts else blocks[0]).shape[1]
    if n_features is not None and width != n_features:
        raise ValueError(f"{name} has {width} features, but {estimator} is expecting {n_features} features as input.")
    if not dicts:
        rows = _join_csr(blocks, name) if sp.issparse(blocks[0]) else _join_dense(blocks)
    _check_finite(rows, offsets, name)
    return Stacked(rows, offsets, flat)


def split_chains(X: Any) -> tuple[Any, list[Any] | None]:
    """Sequences, and features of their transitions if they are given as tuples (features, edge_features)."""
    pairs = [_is_pair(sample) for sample in X] if isinstance(X, (list, tuple)) else []
    if not any(pairs):
        return X, None
    if not all(pairs):
        odd = pairs.index(not pairs[0])
        raise ValueError(f"X, sample {odd}: all samples must be tuples (features, edge_features), or none")
    return [sample[0] for sample in X], [sample[1] for sample in X]


def _is_pair(sample: Any) -> bool:
    if not isinstance(sample, tuple) or len(sample) != 2:
        return False
    first = sample[0]
    # a sequence may itself be a tuple of two positions: those have one dimension, lists of dicts or of rows have two
    listed = isinstance(first, (list, tuple)) and len(first) > 0
    return (listed and (isinstance(first[0], Mapping) or np.ndim(first[0]) == 1)) or getattr(first, "ndim", 0) == 2


def new_vectorizer(X: Any = None) -> DictEncoder | None:
    """What makes rows of feature dicts; None where X is given, and holds none."""
    return DictEncoder() if X is None or needs_vectorizer(X) else None


def needs_vectorizer(X: Any) -> bool:
    """Whether X holds, per sequence, a list of feature dicts or of lists of attributes."""
    if not isinstance(X, (list, tuple)):
        if sp.issparse(X) or not hasattr(X, "__array__"):
            return False
        X = np.asarray(X)
        if X.dtype != object or X.ndim not in (1, 2):
            return False
        if X.ndim == 2:  # a matrix of objects may hold one stray dict; a grid of feature dicts holds nothing else
            return X.size > 0 and all(isinstance(features, Mapping) for features in X[0])
    for sample in X:
        if not isinstance(sample, (list, tuple, np.ndarray)) or getattr(sample, "ndim", 1) == 0:
            return False
        for token in sample:
            if not (isinstance(token, LISTS) and len(token) == 0):  # else the next one tells
                return isinstance(token, Mapping) or are_attributes(token)
    return False


def place_of(name: str, offsets: np.ndarray, row: int) -> str:
    i = int(np.searchsorted(offsets, row, side="right")) - 1
    return f"{name}, sample {i}, position {row - offsets[i]}"


def _offsets_of(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _retold(error: Exception, where: str) -> Exception:
    return (TypeError if isinstance(error, TypeError) else ValueError)(f"{where}: {error}")


def _check_lengths(given: Any, n_rows: int, name: str) -> np.ndarray:
    if given is None:
        return np.array([n_rows])
    lengths = np.asarray(given)
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        raise ValueError(
            f"lengths must be a 1-d sequence of integers, got shape {lengths.shape} and dtype {lengths.dtype}"
        )
    if len(lengths) > n_rows:
        raise ValueError(f"lengths names {len(lengths)} sequences, but {name} has {n_rows} rows")
    # Each length is bounded before they are summed, so that huge ones cannot wrap around.
    wrong = (lengths < 1) | (lengths > n_rows)
    if wrong.any():
        i = int(wrong.argmax())
        raise ValueError(f"lengths, sample {i}: length {lengths[i]} is not between 1 and the {n_rows} rows of {name}")
    if int(lengths.sum()) != n_rows:
        raise ValueError(f"lengths sum to {int(lengths.sum())}, but {name} has {n_rows} rows")
    return lengths


def _check_shape(shape: tuple[int, ...], where: str) -> None:
    if shape and shape[0] == 0:
        raise ValueError(f"{where}: empty sequence (shape={shape}) while a minimum of 1 position is required: drop it")
    if len(shape) != 2:
        raise ValueError(
            f"{where}: expected a 2-d array (positions x features), got a {len(shape)}-d one. Reshape your data: "
            "x.reshape(-1, 1) if it has a single feature, x.reshape(1, -1) if it is a single position"
        )
    if shape[1] == 0:
        raise ValueError(f"{where}: found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


def _matrix(x: Any, where: str, place: Callable[[int], str] | None = None) -> Any:
    """x as a 2-d numeric array of any layout, or as CSR; ``place`` names a row of it."""
    if not sp.issparse(x):
        refuse_mask(x, where)
        try:
            array = np.asarray(x)
        except ValueError as error:
            raise ValueError(f"{where}: rows differ in their number of features ({error})") from error
        if array.ndim == 0 and array.dtype.kind not in "biufc":
            raise TypeError(f"{where}: expected a 2-d array, a sparse matrix or feature dicts, got {type(x).__name__}")
        x = array
    _check_shape(x.shape, where)
    if x.dtype.kind == "c":
        raise ValueError(f"{where}: Complex data not supported")
    if x.dtype.kind == "O" and not sp.issparse(x):
        return _numbers(x, place or (lambda row: f"{where}, position {row}"))
    if x.dtype.kind not in "biuf":
        raise ValueError(
            f"{where}: dtype {x.dtype} is not numeric: encode it as numbers, or give feature dicts per position"
        )
    return x.tocsr() if sp.issparse(x) else x


def _numbers(x: np.ndarray, place: Callable[[int], str]) -> np.ndarray:
    out = np.empty(x.shape)
    for row, values in enumerate(x):
        if any(isinstance(value, (str, bytes)) for value in values):
            raise ValueError(f"{place(row)}: strings are not numbers: encode them, or give feature dicts per position")
        try:
            out[row] = values
        except (TypeError, ValueError, OverflowError) as error:
            raise _retold(error, place(row)) from error
    return out


def _check_alike(blocks: list[Any], name: str) -> None:
    names = {True: "sparse", False: "dense"}
    is_sparse, width = sp.issparse(blocks[0]), blocks[0].shape[1]
    for i, block in enumerate(blocks):
        if sp.issparse(block) != is_sparse:
            raise ValueError(
                f"{name}, sample {i}: {names[not is_sparse]}, but sample 0 is {names[is_sparse]}: give all the same way"
            )
        if block.shape[1] != width:
            raise ValueError(f"{name}, sample {i}: {block.shape[1]} features, but sample 0 has {width}")


def _vectorize(X: Any, vectorizer: DictEncoder | None, name: str) -> tuple[CodedRows | sp.csr_matrix, np.ndarray]:
    """Rows of feature dicts, canonical, and where sequences begin; a matrix of scipy where features are learned."""
    if vectorizer is None:
        raise ValueError(
            f"{name} holds feature dicts or attributes, but the model was fitted without: give arrays as in fit"
        )
    for i, sample in enumerate(X):
        _check_tokens(sample, f"{name}, sample {i}")
    offsets, tokens = _offsets_of(list(map(len, X))), list(chain.from_iterable(X))
    fitted = hasattr(vectorizer, "vocabulary_")
    try:
        coded = vectorizer.encode(tokens) if fitted else vectorizer.fit_encode(tokens)
    except (TypeError, ValueError, OverflowError) as error:
        _raise_for_token(tokens, offsets, name)
        raise _retold(error, name) from error
    rows = CodedRows(*coded, len(vectorizer.feature_names_))
    _check_shape(rows.shape, name)
    return rows if fitted else as_csr(rows), offsets


def as_csr(rows: CodedRows) -> sp.csr_matrix:
    matrix = sp.csr_matrix(rows[:3], shape=rows.shape)
    matrix.has_canonical_format = True
    matrix.indptr = rows.indptr  # scipy gives both index arrays the same dtype
    return matrix


def _check_tokens(sample: Any, where: str) -> None:
    if not isinstance(sample, (list, tuple, np.ndarray)):
        raise TypeError(f"{where}: expected a list of feature dicts, got {type(sample).__name__}")
    if len(sample) == 0:
        _check_shape((0,), where)
    wanted = Mapping if isinstance(sample[0], Mapping) else LISTS
    if not all(issubclass(kind, wanted) for kind in set(map(type, sample))):
        t = next(t for t, token in enumerate(sample) if not isinstance(token, wanted))
        what = "a feature dict" if wanted is Mapping else "a feature dict or a list of attributes"
        raise TypeError(f"{where}, position {t}: expected {what}, got {type(sample[t]).__name__}")


def _raise_for_token(tokens: list[Any], offsets: np.ndarray, name: str) -> None:
    """Name the position whose features cannot be read, tried one by one."""
    for row, token in enumerate(tokens):
        try:
            DictEncoder().fit_encode([token])
        except (TypeError, ValueError, OverflowError) as error:
            raise _retold(error, place_of(name, offsets, row)) from error


def _join_dense(blocks: list[np.ndarray]) -> np.ndarray:
    if len(blocks) == 1:
        return as_float64(blocks[0])
    rows = np.empty((sum(len(block) for block in blocks), blocks[0].shape[1]))
    with np.errstate(over="ignore"):  # an overflow shows as infinity, and is named as such later
        return np.concatenate(blocks, out=rows, casting="unsafe")  # without out, Fortran blocks give Fortran order


def _join_csr(blocks: list[Any], name: str) -> sp.csr_matrix:
    """Stack CSR matrices by their three arrays: scipy's vstack checks each block, at many times the cost."""
    sizes = [int(block.indptr[-1]) for block in blocks]
    if len(blocks) == 1:
        data, indices, indptr = blocks[0].data[: sizes[0]], blocks[0].indices[: sizes[0]], blocks[0].indptr
    else:
        data = np.concatenate(
            [block.data[:size] for block, size in zip(blocks, sizes, strict=True)], dtype=np.float64, casting="unsafe"
        )
        indices = np.concatenate([block.indices[:size] for block, size in zip(blocks, sizes, strict=True)])
        indptr = np.concatenate([np.zeros(1, np.int64), *(block.indptr[1:] for block in blocks)])
        indptr[1:] += np.repeat(_offsets_of(sizes)[:-1], [block.shape[0] for block in blocks])
    width = blocks[0].shape[1]
    intact = indptr[0] == 0 and indptr[-1] == len(data) == len(indices) and bool(np.all(indptr[1:] >= indptr[:-1]))
    if not intact or (len(indices) and (indices.min() < 0 or indices.max() >= width)):
        raise ValueError(f"{name}: corrupt CSR matrix: indptr must not fall, indices must lie in [0, {width})")

    data = as_float64(data)
    rows = sp.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, width))
    if not rows.has_canonical_format:
        rows = rows.copy()  # sorting works in place, and the arrays may be the caller's
        rows.sum_duplicates()
    # Set last: scipy's constructors give both index arrays the same dtype.
    rows.indices = rows.indices.astype(np.int32 if width <= np.iinfo(np.int32).max else np.int64, copy=False)
    rows.indptr = rows.indptr.astype(np.int64, copy=False)
    return rows


def _check_finite(rows: Any, offsets: np.ndarray, name: str) -> None:
    is_sparse = not isinstance(rows, np.ndarray)
    values = rows.data if is_sparse else rows.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # needs no memory; finite values whose sum overflows are looked at below
            return
    for start in range(0, values.size, _SCAN):
        wrong = ~np.isfinite(values[start : start + _SCAN])
        if wrong.any():
            k = start + int(wrong.argmax())
            row, column = divmod(k, rows.shape[1])
            if is_sparse:
                row, column = int(np.searchsorted(rows.indptr, k, side="right")) - 1, rows.indices[k]
            what = "NaN" if np.isnan(values[k]) else "infinity or a value too large for float64"
            raise ValueError(
                f"{place_of(name, offsets, row)}: {name} contains {what} (feature {column}): impute or drop"
            )
