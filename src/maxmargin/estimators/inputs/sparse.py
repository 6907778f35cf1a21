"""Sparse matrices, looked at before anything walks through them: an index out of range would crash compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .arrays import as_float64


def read_csr(x: Any, where: str) -> Any:
    """A 2-d sparse matrix of any format as CSR; one whose arrays contradict each other is refused."""
    _check_parts(x, where)
    converted = x.tocsr()
    if converted is not x:  # formats made of Python objects show what they hold only now
        _check_parts(converted, where)
    return converted


def stack_csr(blocks: Sequence[Any], where: Callable[[int], str]) -> sp.csr_matrix:
    """Stack CSR matrices of one width as canonical float64; `where` names the one that is corrupt."""
    data, indices, indptr = csr_arrays(blocks, where)
    rows = sp.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, blocks[0].shape[1]))
    if not rows.has_canonical_format:
        rows = rows.copy()  # sorting works in place, and the arrays may be the caller's
        rows.sum_duplicates()
    return rows


def csr_arrays(blocks: Sequence[Any], where: Callable[[int], str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values in float64, indices and ends of rows of CSR matrices under each other.

    They are looked at once, together: scipy's vstack checks each block, at many times the cost.
    """
    width = blocks[0].shape[1]
    if not all(map(_is_plausible, blocks)):
        _refuse_corrupt(blocks, where)
    sizes = [int(block.indptr[-1]) for block in blocks]
    if len(blocks) == 1:
        data, indices, indptr = blocks[0].data[: sizes[0]], blocks[0].indices[: sizes[0]], blocks[0].indptr
    else:
        with np.errstate(over="ignore"):  # an overflow shows as infinity, and is named as such later
            values = [block.data[:size] for block, size in zip(blocks, sizes, strict=True)]
            data = np.concatenate(values, dtype=np.float64, casting="unsafe")
        indices = np.concatenate([block.indices[:size] for block, size in zip(blocks, sizes, strict=True)])
        ends = [np.zeros(1, np.int64), *(block.indptr[1:] for block in blocks)]
        indptr = np.concatenate(ends, dtype=np.int64, casting="unsafe")
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])[:-1]
        indptr[1:] += np.repeat(starts, [block.shape[0] for block in blocks])
    if _complaint(indptr, indices, data, len(indptr) - 1, width) is not None:
        _refuse_corrupt(blocks, where)
    return as_float64(data), indices, indptr


def _is_plausible(block: Any) -> bool:
    """What has to hold before arrays can be put after each other."""
    indptr = block.indptr
    return (
        indptr.ndim == block.indices.ndim == block.data.ndim == 1
        and len(indptr) == block.shape[0] + 1
        and 0 == indptr[0] <= indptr[-1] <= min(len(block.indices), len(block.data))
    )


def _refuse_corrupt(blocks: Sequence[Any], where: Callable[[int], str]) -> None:
    for i, block in enumerate(blocks):
        _check_parts(block, where(i))


def _check_parts(x: Any, where: str) -> None:
    """Refuse arrays of a sparse matrix that contradict each other, or its shape."""
    complaint = _COMPLAINTS.get(x.format, lambda _: None)(x)
    if complaint is not None:
        raise ValueError(f"{where}: corrupt {x.format.upper()} matrix: {complaint}")


def _complaint(indptr: Any, indices: Any, data: Any, n_major: int, n_minor: int) -> str | None:
    """What is wrong with rows, or columns, of which those at ``indices[indptr[r]:indptr[r + 1]]`` are no zeros."""
    if not all(array.ndim == 1 and array.dtype.kind in "iu" for array in (indptr, indices)):
        return "indptr and indices must be 1-d arrays of integers"
    if len(indptr) != n_major + 1:
        return f"indptr has {len(indptr)} entries, but the shape needs {n_major + 1}"
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        return "indptr must rise from 0"
    size = int(indptr[-1])
    if size > min(len(indices), len(data)):
        return f"indptr ends at {size}, but there are {len(indices)} indices and {len(data)} values"
    return _outside(indices[:size], n_minor)


def _outside(indices: np.ndarray, n: int) -> str | None:
    if not len(indices) or (indices.min() >= 0 and indices.max() < n):
        return None
    wrong = (indices < 0) | (indices >= n)
    return f"the index {indices[int(np.argmax(wrong))]} is not in [0, {n})"


def _of_rows(x: Any) -> str | None:
    return _complaint(x.indptr, x.indices, x.data, *x.shape)


def _of_columns(x: Any) -> str | None:
    return _complaint(x.indptr, x.indices, x.data, *x.shape[::-1])


def _of_blocks(x: Any) -> str | None:
    if x.data.ndim != 3 or any(size % step for size, step in zip(x.shape, x.blocksize, strict=True)):
        return "blocks must divide the shape"
    n_major, n_minor = (size // step for size, step in zip(x.shape, x.blocksize, strict=True))
    return _complaint(x.indptr, x.indices, x.data, n_major, n_minor)


def _of_places(x: Any) -> str | None:
    if not len(x.row) == len(x.col) == len(x.data):
        return f"{len(x.row)} rows and {len(x.col)} columns of {len(x.data)} values"
    if not all(array.ndim == 1 and array.dtype.kind in "iu" for array in (x.row, x.col)):
        return "rows and columns must be 1-d arrays of integers"
    return _outside(x.row, x.shape[0]) or _outside(x.col, x.shape[1])


def _of_diagonals(x: Any) -> str | None:
    if x.data.ndim != 2 or x.offsets.shape != x.data.shape[:1]:
        return f"{x.offsets.shape} offsets of diagonals that are {x.data.shape}"
    return None


_COMPLAINTS: dict[str, Callable[[Any], str | None]] = {
    "csr": _of_rows,
    "csc": _of_columns,
    "bsr": _of_blocks,
    "coo": _of_places,
    "dia": _of_diagonals,
}
