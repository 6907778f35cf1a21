"""The largest entries of a (K, K) table that changes little by little, found without looking at all of it.

Bounds are kept on blocks of `WIDE` neighbours of each row and of each column, and on rows and columns as a whole. They
are never too small: an entry that grows lifts its bounds, one that shrinks leaves them, and who looks at a block and
finds less than its bound says corrects it. A search looks where bounds promise more than what it has: of K^2 entries at
some hundreds, however large K is.
"""  # what the ordered multimaps of yen16, Sec. 3.2, are for; with K^2 / WIDE numbers instead of three trees of K^2

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._compile import helper, kernel

WIDE = 64


class Maxima(NamedTuple):
    """Upper bounds on entries of a table."""

    of_rows: np.ndarray  # (K, blocks)
    of_columns: np.ndarray  # (K, blocks)
    row: np.ndarray  # (K,)
    column: np.ndarray  # (K,)
    top: np.ndarray  # (blocks,) of blocks of rows


def new_maxima(n_labels: int) -> Maxima:
    """Of a table that is all zero."""
    blocks = -(-n_labels // WIDE)
    shapes = (n_labels, blocks), (n_labels, blocks), n_labels, n_labels, blocks
    return Maxima(*(np.zeros(shape) for shape in shapes))


@kernel
def read_maxima(maxima, table):
    """Bounds become what the table holds."""
    for k in range(table.shape[0]):
        tighten_line(maxima.of_rows, maxima.row, table, k)
        tighten_line(maxima.of_columns, maxima.column, table.T, k)
    for c in range(maxima.top.shape[0]):
        tighten_top(maxima, c)


@helper
def tighten_line(blocks, whole, table, k):
    """Bounds of row k of a table."""
    best = -np.inf
    for c in range(blocks.shape[1]):
        largest = -np.inf
        for j in range(c * WIDE, min((c + 1) * WIDE, table.shape[0])):
            largest = max(largest, table[k, j])
        blocks[k, c] = largest
        best = max(best, largest)
    whole[k] = best


@helper
def tighten_top(maxima, c):
    best = -np.inf
    for a in range(c * WIDE, min((c + 1) * WIDE, maxima.row.shape[0])):
        best = max(best, maxima.row[a])
    maxima.top[c] = best


@helper
def lift(maxima, a, b, value):
    """An entry became so large."""
    maxima.of_rows[a, b // WIDE] = max(maxima.of_rows[a, b // WIDE], value)
    maxima.of_columns[b, a // WIDE] = max(maxima.of_columns[b, a // WIDE], value)
    maxima.row[a] = max(maxima.row[a], value)
    maxima.column[b] = max(maxima.column[b], value)
    maxima.top[a // WIDE] = max(maxima.top[a // WIDE], value)


@helper
def best_in_row(maxima, table, a, hidden, above, visited):
    """The column of the largest entry of a row that is more than `above`, -1 if none is; columns may be hidden.

    Blocks that are looked at get exact bounds. `visited` counts entries.
    """
    return best_in_line(maxima.of_rows, maxima.row, table, a, hidden, above, visited)


@helper
def best_in_column(maxima, table, b, hidden, above, visited):
    """The row of the largest entry of a column, likewise."""
    return best_in_line(maxima.of_columns, maxima.column, table.T, b, hidden, above, visited)


@helper
def best_in_line(blocks, whole, table, k, hidden, above, visited):
    found, best = -1, -np.inf
    for c in range(blocks.shape[1]):
        if blocks[k, c] > above:
            largest = -np.inf
            for j in range(c * WIDE, min((c + 1) * WIDE, table.shape[0])):
                value = table[k, j]
                largest = max(largest, value)
                if value > above and not hidden[j]:
                    found, above = j, value
            blocks[k, c] = largest
            visited[0] += WIDE
        best = max(best, blocks[k, c])
    whole[k] = best
    return found


@helper
def best_pair(maxima, table, hidden_rows, hidden, above, visited):
    """The row and the column of the largest entry of all, likewise; (-1, -1) if none is more than `above`.

    `hidden` are columns of every row, (K, K), or of all rows, (1, K).
    """
    best, found = (-1, -1), 0
    for c in range(1, maxima.top.shape[0]):  # where most is promised first: then little is left to look at
        found = c if maxima.top[c] > maxima.top[found] else found
    for turn in range(maxima.top.shape[0] + 1):
        c = found if turn == 0 else turn - 1
        if maxima.top[c] <= above:
            continue
        for a in range(c * WIDE, min((c + 1) * WIDE, table.shape[0])):
            if maxima.row[a] > above and not hidden_rows[a]:
                b = best_in_row(maxima, table, a, hidden[a % hidden.shape[0]], above, visited)
                if b >= 0:
                    best, above = (a, b), table[a, b]
        tighten_top(maxima, c)
    return best
