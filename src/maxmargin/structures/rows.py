"""Feature rows, dense, sparse or behind a kernel: what a position looks like, and the two ways weights meet it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._compile import helper, implements, plain, verb
from .._prefetch import BEYOND_A_CACHE, prefetch
from .._sums import dot
from .._threads import sweep

# Below this share of non-zeros a dense matrix is walked faster as a sparse one.
SPARSE_BELOW = 0.4

TELLING = 1000  # entries that tell, as a rule, whether all may be the same

WEIGHTS_AHEAD = 1 << 14  # numbers: more would leave a core's cache before they are wanted

ROWS_AT_ONCE = 4096  # while a dense matrix becomes a sparse one, which needs some memory a non-zero


class DenseRows(NamedTuple):
    values: np.ndarray  # (N, F) float64


class SparseRows(NamedTuple):
    indptr: np.ndarray  # (N + 1,) int64
    indices: np.ndarray  # (nnz,) int32
    data: np.ndarray  # (nnz,) float64; (1,) where all entries are the same, as most features of words are
    step: int  # from one entry to the next in `data`: 1, or 0 there


class CodedRows(NamedTuple):
    """A CSR matrix by its arrays, sorted and without duplicates: scipy takes longer to make one than we to score it."""

    data: np.ndarray  # (nnz,) float64
    indices: np.ndarray  # (nnz,) int32
    indptr: np.ndarray  # (N + 1,) int64
    width: int  # F

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, self.width


class KernelRows(NamedTuple):
    """Positions known by their kernel values with each other.

    Of the function behind a label's weights, ``sum_u beta_u k(x_u, .)``, two things are kept: its values at all N
    positions, and beta. Both are linear in the dual point, and together they make scores a look-up and the norm a sum;
    a change costs a row of the matrix a label. The 2 N K numbers are ``[values (K, N) | beta (K, N)]``.
    """

    gram: np.ndarray  # (N, N) float64, symmetric


Rows = DenseRows | SparseRows | KernelRows


def as_rows(matrix: Any) -> Rows:
    """Rows over a float64 matrix; a dense one with few non-zeros is stored sparse. Kernel rows stay as they are."""
    if isinstance(matrix, KernelRows):
        return KernelRows(plain(matrix.gram, np.float64))
    if isinstance(matrix, CodedRows):
        return sparse_rows(matrix.indptr, matrix.indices, matrix.data)
    if not sparse.issparse(matrix):
        dense = DenseRows(plain(matrix, np.float64))
        return dense if is_dense(matrix) else _compress(dense, np.count_nonzero(matrix, axis=1))
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()  # sorts, too: products of rows merge their indices
    if matrix.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"{matrix.shape[1]} features are more than the 2**31 - 1 that indices hold")
    return sparse_rows(plain(matrix.indptr, np.int64), plain(matrix.indices, np.int32), plain(matrix.data, np.float64))


def sparse_rows(indptr: np.ndarray, indices: np.ndarray, values: np.ndarray) -> SparseRows:
    """Rows of a CSR matrix. Where its entries are all the same, one is kept: less to bring from memory."""
    few = values[:TELLING]
    if len(few) > 0 and np.all(few == few[0]) and np.all(values == few[0]):
        return SparseRows(indptr, indices, values[:1].copy(), 0)
    return SparseRows(indptr, indices, values, 1)


def values_of(rows: SparseRows) -> np.ndarray:
    """(nnz,) entries of the matrix."""
    return rows.data if rows.step else np.full(len(rows.indices), rows.data[0])


def is_dense(*matrices: np.ndarray) -> bool:
    """Whether rows over matrices that are not sparse have enough non-zeros to stay dense.

    None at all are dense, as most are: no kernel is compiled for samples that happen to have no edges.
    """
    return sum(map(np.count_nonzero, matrices)) >= SPARSE_BELOW * sum(matrix.size for matrix in matrices)


def count_weight_rows(matrix: Any) -> int:
    """How many rows of K weights go with the features of a matrix, or with kernel rows."""
    return 2 * len(matrix.gram) if isinstance(matrix, KernelRows) else matrix.shape[1]


def kernel_coefficients(w: np.ndarray, n: int, n_labels: int) -> np.ndarray:
    """beta (N, K) of the weights over N kernel rows."""
    return w[n * n_labels : 2 * n * n_labels].reshape(n_labels, n).T


def as_sparse(rows: Rows) -> SparseRows:
    """Rows of features, stored sparse whatever their share of non-zeros."""
    if isinstance(rows, SparseRows):
        return rows
    assert isinstance(rows, DenseRows)
    return _compress(rows, np.count_nonzero(rows.values, axis=1))


def _compress(dense: DenseRows, counts: np.ndarray) -> SparseRows:
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    n, n_features = dense.values.shape

    def compress(first: int, last: int) -> None:
        for row in range(first * ROWS_AT_ONCE, last * ROWS_AT_ONCE, ROWS_AT_ONCE):
            some = dense.values[row : row + ROWS_AT_ONCE]
            begin, end = indptr[row], indptr[min(row + ROWS_AT_ONCE, n)]
            places = np.flatnonzero(some)
            indices[begin:end], data[begin:end] = places % n_features, some.ravel()[places]

    sweep(-(-n // ROWS_AT_ONCE), ROWS_AT_ONCE * n_features, compress)
    return sparse_rows(indptr, indices, data)


@verb
def add_scores(rows, t, weights, scores):
    """``scores += weights' x_t`` with weights (F, K)."""


@verb
def add_scores_from(rows, t, weights, low, scores):
    """The same of the labels from `low` on."""


@verb
def label_score(rows, t, weights, k):
    """``<x_t, weights[:, k]>``."""


@verb
def add_outer(rows, t, scale, n_active, active, values, weights):
    """``weights[:, active] += scale x_t values'`` for the first `n_active` of the label list `active`."""


@verb
def add_outer_within(rows, t, scale, n_active, active, values, weights, first, last):
    """As `add_outer`, of the features from `first` to `last` alone."""


@verb
def add_outer_all(rows, t, scale, values, weights):
    """``weights += scale x_t values'``, a value for each label."""


@verb
def most_ranges(rows, offsets):
    """How many ranges of weights the rows of a sample have at most; samples begin at `offsets`."""


@verb
def list_ranges(rows, t, first, width, support, count):
    """List the ranges of flat weights that row t meets, where those of a feature are `width` and all begin at `first`.

    `count` are listed already; returns how many are then.
    """


@helper
def list_sample_ranges(rows, i, intercept_row, n_labels, support):
    """The same of row i, and of an intercept where there is one, >= 0; all that a sample of one row has."""
    count = list_ranges(rows, i, 0, n_labels, support, 0)
    if intercept_row >= 0:
        begin = intercept_row * n_labels
        support[count, 0], support[count, 1] = begin, begin + n_labels
        count += 1
    return count


@verb
def drain_squares(rows, t, buffer):
    """Sum of squares of the buffer's rows at the features of row t; leaves those rows zero."""


@verb
def stored(rows, offsets):
    """Number of stored entries of each range of rows."""


@verb
def prefetch_rows(rows, first, last):
    """Rows `first` to `last` will be wanted soon."""


@verb
def prefetch_weights(rows, first, last, n_labels, w):
    """Weights of the features of rows `first` to `last` will be wanted soon; by default they are at hand, or come."""


@verb
def prefetch_outer(rows, t, n_active, active, n_labels, w, first, last):
    """The same of those that `add_outer_within` changes."""


@verb
def row_dot(rows, t, u):
    """``<x_t, x_u>``."""


@verb
def flat_inner(rows, n_labels, u, v):
    """``<u, v>`` of flat weights that begin with those of the rows, K a row."""


@verb
def has_features(rows):
    """Whether weights are those of features; else they stand for functions."""


@implements(add_scores, DenseRows, SparseRows)
def _(rows, t, weights, scores):
    add_scores_from(rows, t, weights, 0, scores)


@implements(add_scores_from, DenseRows)
def _(rows, t, weights, low, scores):
    n_labels, n_features = scores.shape[0], rows.values.shape[1]
    values = rows.values[t]
    f = 0
    while f + 3 < n_features:  # four features a sweep: a quarter of the loads and stores of `scores`
        x, y, z, v = values[f], values[f + 1], values[f + 2], values[f + 3]
        for k in range(n_labels):
            scores[k] += (x * weights[f, low + k] + y * weights[f + 1, low + k]) + (
                z * weights[f + 2, low + k] + v * weights[f + 3, low + k]
            )
        f += 4
    while f < n_features:
        x = values[f]
        for k in range(n_labels):
            scores[k] += x * weights[f, low + k]
        f += 1


@implements(add_scores_from, SparseRows)
def _(rows, t, weights, low, scores):
    n_labels = scores.shape[0]
    p, end = rows.indptr[t], rows.indptr[t + 1]
    while p + 3 < end:  # as above
        f, g, h, i = rows.indices[p], rows.indices[p + 1], rows.indices[p + 2], rows.indices[p + 3]
        q, step = p * rows.step, rows.step
        x, y, z, v = rows.data[q], rows.data[q + step], rows.data[q + 2 * step], rows.data[q + 3 * step]
        for k in range(n_labels):
            scores[k] += (x * weights[f, low + k] + y * weights[g, low + k]) + (
                z * weights[h, low + k] + v * weights[i, low + k]
            )
        p += 4
    while p < end:
        f, x = rows.indices[p], rows.data[p * rows.step]
        for k in range(n_labels):
            scores[k] += x * weights[f, low + k]
        p += 1


@implements(label_score, DenseRows)
def _(rows, t, weights, k):
    total = 0.0
    for f in range(rows.values.shape[1]):
        total += rows.values[t, f] * weights[f, k]
    return total


@implements(label_score, SparseRows)
def _(rows, t, weights, k):
    total = 0.0
    for p in range(rows.indptr[t], rows.indptr[t + 1]):
        total += rows.data[p * rows.step] * weights[rows.indices[p], k]
    return total


@implements(add_outer, DenseRows)
def _(rows, t, scale, n_active, active, values, weights):
    for j in range(n_active):
        k, value = active[j], scale * values[j]
        for f in range(rows.values.shape[1]):
            weights[f, k] += value * rows.values[t, f]


@implements(add_outer, SparseRows)
def _(rows, t, scale, n_active, active, values, weights):
    for j in range(n_active):
        k, value = active[j], scale * values[j]
        for p in range(rows.indptr[t], rows.indptr[t + 1]):
            weights[rows.indices[p], k] += value * rows.data[p * rows.step]


@helper
def first_within(rows, t, first):
    """Where the entries of features from `first` on begin in row t."""
    p, end = rows.indptr[t], rows.indptr[t + 1]
    while p < end and rows.indices[p] < first:
        p += 1
    return p


@implements(add_outer_within, SparseRows)
def _(rows, t, scale, n_active, active, values, weights, first, last):
    p, end = first_within(rows, t, first), rows.indptr[t + 1]
    while p < end and rows.indices[p] < last:
        f, value = rows.indices[p], scale * rows.data[p * rows.step]
        for j in range(n_active):
            weights[f, active[j]] += value * values[j]
        p += 1


@implements(add_outer_all, DenseRows)
def _(rows, t, scale, values, weights):
    for f in range(rows.values.shape[1]):
        value = scale * rows.values[t, f]
        for k in range(weights.shape[1]):
            weights[f, k] += value * values[k]


@implements(add_outer_all, SparseRows)
def _(rows, t, scale, values, weights):
    for p in range(rows.indptr[t], rows.indptr[t + 1]):
        f, value = rows.indices[p], scale * rows.data[p * rows.step]
        for k in range(weights.shape[1]):
            weights[f, k] += value * values[k]


@implements(most_ranges, DenseRows)
def _(rows, offsets):
    return int(np.diff(offsets).max(initial=0))


@implements(most_ranges, SparseRows)
def _(rows, offsets):
    return int(stored(rows, offsets).max(initial=0))


@implements(list_ranges, DenseRows)
def _(rows, t, first, width, support, count):
    support[count, 0], support[count, 1] = first, first + rows.values.shape[1] * width
    return count + 1


@implements(list_ranges, SparseRows)
def _(rows, t, first, width, support, count):
    for p in range(rows.indptr[t], rows.indptr[t + 1]):
        begin = first + rows.indices[p] * width
        support[count, 0], support[count, 1] = begin, begin + width
        count += 1
    return count


@implements(drain_squares, DenseRows)
def _(rows, t, buffer):
    total = 0.0
    for f in range(rows.values.shape[1]):
        if rows.values[t, f] != 0.0:
            for k in range(buffer.shape[1]):
                total += buffer[f, k] * buffer[f, k]
                buffer[f, k] = 0.0
    return total


@implements(drain_squares, SparseRows)
def _(rows, t, buffer):
    total = 0.0
    for p in range(rows.indptr[t], rows.indptr[t + 1]):
        f = rows.indices[p]
        for k in range(buffer.shape[1]):
            total += buffer[f, k] * buffer[f, k]
            buffer[f, k] = 0.0
    return total


@implements(stored, DenseRows)
def _(rows, offsets):
    return np.diff(offsets) * rows.values.shape[1]


@implements(stored, SparseRows)
def _(rows, offsets):
    return np.diff(rows.indptr[offsets])


@implements(prefetch_rows, DenseRows)
def _(rows, first, last):
    n_features = rows.values.shape[1]
    prefetch(rows.values, first * n_features, (last - first) * n_features)


@implements(prefetch_rows, SparseRows)
def _(rows, first, last):
    begin, count = rows.indptr[first], rows.indptr[last] - rows.indptr[first]
    prefetch(rows.indices, begin, count)
    prefetch(rows.data, begin * rows.step, count * rows.step)


@implements(prefetch_weights, object)
def _(rows, first, last, n_labels, w):
    return None


@implements(prefetch_weights, SparseRows)
def _(rows, first, last, n_labels, w):
    if w.shape[0] > BEYOND_A_CACHE:
        begin = rows.indptr[first]
        for p in range(begin, min(rows.indptr[last], begin + WEIGHTS_AHEAD // n_labels)):
            prefetch(w, rows.indices[p] * n_labels, n_labels)


@implements(prefetch_outer, object)
def _(rows, t, n_active, active, n_labels, w, first, last):
    return None


@implements(prefetch_outer, SparseRows)
def _(rows, t, n_active, active, n_labels, w, first, last):
    if w.shape[0] > BEYOND_A_CACHE:
        p, end = first_within(rows, t, first), rows.indptr[t + 1]
        while p < end and rows.indices[p] < last:
            for j in range(n_active):
                prefetch(w, rows.indices[p] * n_labels + active[j], 1)
            p += 1


@implements(row_dot, DenseRows)
def _(rows, t, u):
    total = 0.0
    for f in range(rows.values.shape[1]):
        total += rows.values[t, f] * rows.values[u, f]
    return total


@implements(row_dot, SparseRows)
def _(rows, t, u):
    # merge of two sorted index lists
    p, p_end = rows.indptr[t], rows.indptr[t + 1]
    q, q_end = rows.indptr[u], rows.indptr[u + 1]
    total = 0.0
    while p < p_end and q < q_end:
        f, g = rows.indices[p], rows.indices[q]
        if f == g:
            total += rows.data[p * rows.step] * rows.data[q * rows.step]
        if f <= g:
            p += 1
        if g <= f:
            q += 1
    return total


@implements(flat_inner, DenseRows, SparseRows)
def _(rows, n_labels, u, v):
    return dot(u, v)


@implements(has_features, DenseRows, SparseRows)
def _(rows):
    return True


@implements(add_scores, KernelRows)
def _(rows, t, weights, scores):
    n, flat = rows.gram.shape[0], weights.reshape(weights.size)
    for k in range(scores.shape[0]):
        scores[k] += flat[k * n + t]


@helper
def add_kernel_row(rows, t, value, k, weights):
    """The function of label k gets `value` times the kernel at position t."""
    n, flat = rows.gram.shape[0], weights.reshape(weights.size)
    products, at_positions = rows.gram[t], flat[k * n : (k + 1) * n]
    for u in range(n):
        at_positions[u] += value * products[u]
    flat[(weights.shape[1] + k) * n + t] += value


@implements(add_outer, KernelRows)
def _(rows, t, scale, n_active, active, values, weights):
    for j in range(n_active):
        add_kernel_row(rows, t, scale * values[j], active[j], weights)


@implements(add_outer_all, KernelRows)
def _(rows, t, scale, values, weights):
    for k in range(weights.shape[1]):
        add_kernel_row(rows, t, scale * values[k], k, weights)


@implements(drain_squares, KernelRows)
def _(rows, t, buffer):
    return np.nan  # there is no feature space to spread over; blocks with a kernel always have their Gram matrix


@implements(stored, KernelRows)
def _(rows, offsets):
    return np.diff(offsets) * rows.gram.shape[0]


@implements(prefetch_rows, KernelRows)
def _(rows, first, last):
    return None  # most blocks do not change, and need no row


@implements(row_dot, KernelRows)
def _(rows, t, u):
    return rows.gram[t, u]


@implements(flat_inner, KernelRows)
def _(rows, n_labels, u, v):
    count = rows.gram.shape[0] * n_labels
    return dot(u[:count], v[count : 2 * count]) + dot(u[2 * count :], v[2 * count :])


@implements(has_features, KernelRows)
def _(rows):
    return False


@verb
def squared_norms(rows):
    """(N,) ``|x_t|^2``."""


@implements(squared_norms, DenseRows)
def _(rows):
    return np.einsum("tf,tf->t", rows.values, rows.values)


@implements(squared_norms, SparseRows)
def _(rows):
    width = int(rows.indices.max(initial=0)) + 1
    squares = sparse.csr_array((values_of(rows) ** 2, rows.indices, rows.indptr), (len(rows.indptr) - 1, width))
    return squares @ np.ones(width)


@implements(squared_norms, KernelRows)
def _(rows):
    return np.diagonal(rows.gram).copy()
