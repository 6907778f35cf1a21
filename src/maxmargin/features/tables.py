"""Tables of hashes and rows of columns, compiled."""

from __future__ import annotations

import numpy as np

from .._compile import helper, kernel

UNKNOWN, UNSURE = -1, -2  # in place of a column: there is none; it depends on whether the value is "" or 0


def new_table(n: int) -> np.ndarray:
    """Room for n hashes and what they stand for, in pairs."""
    table = np.empty((2 << max(n, 4).bit_length(), 2), np.int64)
    table[:, 1] = UNKNOWN
    return table


def number_hashes(hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number distinct hashes in the order of their first places; also whether a place is a first one."""
    codes, is_first = np.empty(len(hashes), np.int64), np.zeros(len(hashes), bool)
    table, done, n = new_table(1 << 10), 0, 0
    while True:
        done, n = number_some(table, hashes, done, n, codes, is_first)
        if done == len(hashes):
            return codes, is_first
        table = new_table(4 * n)
        fill_table(table, hashes[is_first], np.arange(n))


@helper
def place_in(table, one):
    """Where a hash is in the table, or would be."""
    mask = len(table) - 1
    at = one & mask
    while table[at, 1] != UNKNOWN and table[at, 0] != one:
        at = (at + 1) & mask
    return at


@kernel
def fill_table(table, hashes, columns):
    for p in range(len(hashes)):
        at = place_in(table, hashes[p])
        table[at, 0], table[at, 1] = hashes[p], columns[p]


@kernel
def look_up(table, hashes, columns):
    for p in range(len(hashes)):
        columns[p] = table[place_in(table, hashes[p]), 1]


@kernel
def number_some(table, hashes, done, n, codes, is_first):
    """Go on numbering from place `done`, after n distinct ones, until all is done or half of the table is full."""
    for p in range(done, len(hashes)):
        if 2 * n >= len(table):
            return p, n
        at = place_in(table, hashes[p])
        if table[at, 1] == UNKNOWN:
            table[at, 0], table[at, 1] = hashes[p], n
            is_first[p] = True
            n += 1
        codes[p] = table[at, 1]
    return len(hashes), n


@kernel
def tidy_rows(indices, data, indptr):
    """Leave out zeros and columns below 0, sort each row and add up what is there twice, in place; returns the size."""
    size = begin = 0
    for t in range(len(indptr) - 1):
        end, first = indptr[t + 1], size
        for p in range(begin, end):
            if indices[p] >= 0 and data[p] != 0.0:
                indices[size], data[size] = indices[p], data[p]
                size += 1
        begin = end
        gap = 1
        while gap < (size - first) // 8:
            gap = 3 * gap + 1
        while gap > 0:  # shell sort: rows are short
            for p in range(first + gap, size):
                column, value, q = indices[p], data[p], p
                while q >= first + gap and indices[q - gap] > column:
                    indices[q], data[q] = indices[q - gap], data[q - gap]
                    q -= gap
                indices[q], data[q] = column, value
            gap //= 3
        last = first
        for p in range(first + 1, size):
            if indices[p] == indices[last]:
                data[last] += data[p]
            else:
                last += 1
                indices[last], data[last] = indices[p], data[p]
        size = last + 1 if size > first else size
        indptr[t + 1] = size
    return size
