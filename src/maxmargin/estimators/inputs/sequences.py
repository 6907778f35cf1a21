"""Stack sequences, however they are handed over, into one matrix and offsets, or say which sample is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...features import LISTS, DictEncoder, are_attributes
from ...structures.rows import CodedRows
from .arrays import SEQUENCES, Words, as_any_array, as_array, as_float64, is_list, refuse_mask, rows_of, take
from .sparse import csr_arrays, read_csr, stack_csr

_SCAN = 1 << 20  # values looked at together when a NaN is searched for


class Stacked(NamedTuple):
    """All positions of all sequences under each other; sequence i is ``rows[offsets[i]:offsets[i + 1]]``."""

    rows: np.ndarray | sp.csr_matrix | CodedRows  # (N, F) float64; C-contiguous, or canonical CSR with int64 indptr
    offsets: np.ndarray  # int64, (n + 1,)
    flat: bool  # one stacked matrix was given, so outputs are flat too

    @property
    def lengths(self) -> np.ndarray:
        return self.offsets[1:] - self.offsets[:-1]  # np.diff takes four times as long

    @property
    def matrix(self) -> np.ndarray | sp.csr_matrix:
        """The rows as an array or a matrix of scipy."""
        return as_csr(self.rows) if isinstance(self.rows, CodedRows) else self.rows

    def as_matrix(self) -> Stacked:
        """The same with rows that can be taken apart."""
        return self._replace(rows=self.matrix)

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
    words: Words = SEQUENCES,
) -> Stacked:
    """Stack sequences given as a list, a 3-d array, one matrix with ``lengths``, or lists of feature dicts.

    An unfitted ``vectorizer`` is fitted when X holds feature dicts. What already has the right layout is shared with
    the caller, never written to. ``name`` is what messages call X, ``estimator`` what expects ``n_features``: where
    these are known, the model is fitted, and there may be nothing to predict, or sequences of no position.
    """
    fitted = n_features is not None
    if not (sp.issparse(X) or isinstance(X, (list, tuple))):
        X = as_array(X, name)
    dicts = needs_vectorizer(X)
    listed = dicts or isinstance(X, (list, tuple)) or (X.ndim == 1 and X.dtype == object)
    flat = not listed and X.ndim != 3
    if lengths is not None and not flat:
        raise ValueError(
            f"lengths goes with one stacked 2-d matrix, but {name} already is a list of {words.sample}s: drop lengths, "
            f"or cut padding off with [x[:length] for x, length in zip({name}, lengths)]"
        )
    n_given = X.shape[0] if flat else len(X)
    if n_given == 0 and not (flat or fitted):
        raise ValueError(f"{name} is empty: found 0 sample(s) while a minimum of 1 is required.")

    rows: Any = None
    blocks: list[Any] = []
    if dicts:
        rows, offsets = _vectorize(X, vectorizer, name, words)
    elif listed:
        blocks = X if _are_plain(X) else _matrices(X, name, words)
        offsets = _offsets_of([block.shape[0] for block in blocks])
    elif flat:
        offsets = _offsets_of(_check_lengths(lengths, n_given, name, least=0 if fitted else 1))
        blocks = [_matrix(X, name, words, lambda row: place_of(name, offsets, row, words))]
    else:
        offsets = np.arange(n_given + 1, dtype=np.int64) * X.shape[1]
        _check_shape(X.shape[1:], f"{name}, sample 0", words)
        stacked = X.reshape(n_given * X.shape[1], X.shape[2])
        blocks = [_matrix(stacked, name, words, lambda row: place_of(name, offsets, row, words))]
    if not fitted:
        _refuse_empty(offsets, name, words)

    blocks = [block for block in blocks if block.shape[0]]  # what has no position need not know the features
    if not (dicts or blocks):
        return Stacked(np.zeros((0, n_features or 0)), offsets, flat)
    width = (rows if dicts else blocks[0]).shape[1]
    if n_features is not None and width != n_features:
        raise ValueError(f"{name} has {width} features, but {estimator} is expecting {n_features} features as input.")
    if not dicts:
        is_one = fitted and len(blocks) == 1
        rows = _join_csr(blocks, offsets, name, is_one) if sp.issparse(blocks[0]) else _join_dense(blocks)
    _check_finite(rows, offsets, name, words)
    return Stacked(rows, offsets, flat)


def split_chains(X: Any) -> tuple[Any, list[Any] | None]:
    """Sequences, and features of their transitions if they are given as tuples (features, edge_features)."""
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        X = X.tolist()
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


def place_of(name: str, offsets: np.ndarray, row: int, words: Words = SEQUENCES) -> str:
    i = int(np.searchsorted(offsets, row, side="right")) - 1
    return f"{name}, sample {i}, {words.site} {row - offsets[i]}"


def _offsets_of(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _retold(error: Exception, where: str) -> Exception:
    return (TypeError if isinstance(error, TypeError) else ValueError)(f"{where}: {error}")


def _check_lengths(given: Any, n_rows: int, name: str, least: int) -> np.ndarray:
    if given is None:
        return np.array([n_rows])
    lengths = as_any_array(given, "lengths")
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        raise ValueError(
            f"lengths must be a 1-d sequence of integers, got shape {lengths.shape} and dtype {lengths.dtype}"
        )
    if least * len(lengths) > n_rows:
        raise ValueError(f"lengths names {len(lengths)} sequences, but {name} has {n_rows} rows")
    # Each length is bounded before they are summed, so that huge ones cannot wrap around.
    wrong = (lengths < least) | (lengths > n_rows)
    if wrong.any():
        i = int(wrong.argmax())
        raise ValueError(
            f"lengths, sample {i}: length {lengths[i]} is not between {least} and the {n_rows} rows of {name}"
        )
    if int(lengths.sum()) != n_rows:
        raise ValueError(f"lengths sum to {int(lengths.sum())}, but {name} has {n_rows} rows")
    return lengths


def _refuse_empty(offsets: np.ndarray, name: str, words: Words) -> None:
    """There is nothing to learn from no position, and the label that goes with it is missing: better asked about."""
    for i in np.flatnonzero(np.diff(offsets) == 0):
        raise ValueError(
            f"{name}, sample {i}: empty {words.sample}, while a minimum of 1 {words.site} is required: drop it, and "
            "its labels"
        )


def _hint_of_one(X: Any, name: str, words: Words) -> str:
    """What to do about a list that looks like a single sample."""
    first: Any = X[0] if len(X) else None
    if isinstance(first, (str, bytes)):
        one = f'[[{{"word": token}} for token in {name}]]'
        return f"; tokens need features: if {name} is one {words.sample}, give {one}"
    if isinstance(first, Mapping) or (is_list(first) and len(first) and np.isscalar(first[0])):
        return f"; if {name} is one {words.sample}, wrap it: [{name}]"
    return ""


def _check_shape(shape: tuple[int, ...], where: str, words: Words, hint: str = "") -> None:
    if len(shape) != 2:
        raise ValueError(
            f"{where}: expected a 2-d array ({words.site}s x features), got a {len(shape)}-d one. Reshape your data: "
            f"x.reshape(-1, 1) if it has a single feature, x.reshape(1, -1) if it is a single {words.site}{hint}"
        )
    if shape[1] == 0:
        raise ValueError(f"{where}: found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


def _matrix(
    x: Any, where: str, words: Words = SEQUENCES, place: Callable[[int], str] | None = None, hint: str = ""
) -> Any:
    """x as a 2-d numeric array of any layout, or as CSR; ``place`` names a row of it. What is empty stays as it is."""
    if not sp.issparse(x):
        refuse_mask(x, where)
        try:
            array = np.asarray(x)
        except ValueError as error:
            raise ValueError(f"{where}: rows differ in their number of features ({error})") from error
        if array.ndim == 0 and array.dtype.kind not in "biufc":
            what = type(x).__name__
            raise TypeError(f"{where}: expected a 2-d array, a sparse matrix or feature dicts, got {what}{hint}")
        x = array
    if x.shape[:1] == (0,):
        return x
    if x.dtype.kind in "US":
        raise ValueError(
            f"{where}: dtype {x.dtype} is not numeric: encode it as numbers, or give feature dicts per {words.site}, "
            'such as {"word": "cat"}'
        )
    _check_shape(x.shape, where, words, hint)
    if x.dtype.kind == "c":
        raise ValueError(f"{where}: Complex data not supported")
    if x.dtype.kind == "O" and not sp.issparse(x):
        return _numbers(x, place or (lambda row: f"{where}, {words.site} {row}"))
    if x.dtype.kind not in "biuf":
        raise ValueError(
            f"{where}: dtype {x.dtype} is not numeric: encode it as numbers, or give feature dicts per {words.site}"
        )
    return read_csr(x, where) if sp.issparse(x) and x.format != "csr" else x  # many are checked together, when stacked


def _are_plain(X: Any) -> bool:
    """Whether all samples are arrays of real numbers, of one width: what a look at each would take as it is."""
    if set(map(type, X)) != {np.ndarray} or {x.ndim for x in X} != {2}:
        return False
    kinds, widths = {x.dtype.kind for x in X}, {x.shape[1] for x in X}
    return kinds <= set("biuf") and len(widths) == 1 and min(widths) > 0 and all(map(len, X))


def _matrices(X: Any, name: str, words: Words) -> list[Any]:
    """The samples as matrices, all dense or all sparse, and of one width; one that cannot be is named."""
    hint = _hint_of_one(X, name, words)
    blocks = [_matrix(x, f"{name}, sample {i}", words, hint=hint) for i, x in enumerate(X)]
    _check_alike(blocks, name)
    return blocks


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
    """All dense or all sparse, and of one width; those of no position may be anything."""
    names = {True: "sparse", False: "dense"}
    present = [i for i, block in enumerate(blocks) if block.shape[0]]
    for i in present:
        first, block = blocks[present[0]], blocks[i]
        if sp.issparse(block) != sp.issparse(first):
            mine, others = names[sp.issparse(block)], names[sp.issparse(first)]
            raise ValueError(f"{name}, sample {i}: {mine}, but sample {present[0]} is {others}: give all the same way")
        if block.shape[1] != first.shape[1]:
            raise ValueError(
                f"{name}, sample {i}: {block.shape[1]} features, but sample {present[0]} has {first.shape[1]}"
            )


def _vectorize(
    X: Any, vectorizer: DictEncoder | None, name: str, words: Words
) -> tuple[CodedRows | sp.csr_matrix, np.ndarray]:
    """Rows of feature dicts, canonical, and where sequences begin; a matrix of scipy where features are learned."""
    if vectorizer is None:
        raise ValueError(
            f"{name} holds feature dicts or attributes, but the model was fitted without: give arrays as in fit"
        )
    for i, sample in enumerate(X):
        _check_tokens(sample, f"{name}, sample {i}", words)
    offsets, tokens = _offsets_of(list(map(len, X))), list(chain.from_iterable(X))
    fitted = hasattr(vectorizer, "vocabulary_")
    try:
        coded = vectorizer.encode(tokens) if fitted else vectorizer.fit_encode(tokens)
    except (TypeError, ValueError, OverflowError) as error:
        _raise_for_token(tokens, offsets, name, words)
        raise _retold(error, name) from error
    rows = CodedRows(*coded, len(vectorizer.feature_names_))
    _check_shape(rows.shape, name, words)
    return rows if fitted else as_csr(rows), offsets


def as_csr(rows: CodedRows) -> sp.csr_matrix:
    matrix = sp.csr_matrix(rows[:3], shape=rows.shape)
    matrix.has_canonical_format = True
    matrix.indptr = rows.indptr  # scipy gives both index arrays the same dtype
    return matrix


def _check_tokens(sample: Any, where: str, words: Words) -> None:
    if not isinstance(sample, (list, tuple, np.ndarray)):
        raise TypeError(f"{where}: expected a list of feature dicts, got {type(sample).__name__}")
    wanted = Mapping if len(sample) and isinstance(sample[0], Mapping) else LISTS
    if not all(issubclass(kind, wanted) for kind in set(map(type, sample))):
        t = next(t for t, token in enumerate(sample) if not isinstance(token, wanted))
        what = "a feature dict" if wanted is Mapping else "a feature dict or a list of attributes"
        raise TypeError(f"{where}, {words.site} {t}: expected {what}, got {type(sample[t]).__name__}")


def _raise_for_token(tokens: list[Any], offsets: np.ndarray, name: str, words: Words) -> None:
    """Name the position whose features cannot be read, tried one by one."""
    for row, token in enumerate(tokens):
        try:
            DictEncoder().fit_encode([token])
        except (TypeError, ValueError, OverflowError) as error:
            raise _retold(error, place_of(name, offsets, row, words)) from error


def _join_dense(blocks: list[np.ndarray]) -> np.ndarray:
    if len(blocks) == 1:
        return as_float64(blocks[0])
    rows = np.empty((sum(len(block) for block in blocks), blocks[0].shape[1]))
    with np.errstate(over="ignore"):  # an overflow shows as infinity, and is named as such later
        return np.concatenate(blocks, out=rows, casting="unsafe")  # without out, Fortran blocks give Fortran order


def _join_csr(blocks: list[Any], offsets: np.ndarray, name: str, is_one: bool) -> Any:
    """A matrix; or its arrays, if it is one to predict for."""

    def where(i: int) -> str:
        return name if len(blocks) == 1 else f"{name}, sample {np.flatnonzero(np.diff(offsets))[i]}"

    width = blocks[0].shape[1]
    is_narrow = width <= np.iinfo(np.int32).max
    if is_narrow and is_one:  # to make a matrix takes as long as to label a sentence
        data, indices, indptr = csr_arrays(blocks, where)
        if blocks[0].has_canonical_format:  # which nobody may ask before the arrays were looked at
            return CodedRows(data, indices.astype(np.int32, copy=False), indptr.astype(np.int64, copy=False), width)
    rows = stack_csr(blocks, where)
    # Set last: scipy's constructors give both index arrays the same dtype.
    rows.indices = rows.indices.astype(np.int32 if is_narrow else np.int64, copy=False)
    rows.indptr = rows.indptr.astype(np.int64, copy=False)
    return rows


def _check_finite(rows: Any, offsets: np.ndarray, name: str, words: Words) -> None:
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
                f"{place_of(name, offsets, row, words)}: {name} contains {what} (feature {column}): impute or drop"
            )
