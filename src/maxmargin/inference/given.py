"""Tables of pairs as conditional distributions: of a row's label, given that of the column."""

from __future__ import annotations

from .._compile import helper
from .vectors import log_of
from .verbs import FLOOR


@helper
def find_shares(pairs, shares):
    """``1 / sum_a pairs[a, b]`` for every column b."""
    n_rows, n_columns = pairs.shape
    for b in range(n_columns):
        shares[b] = n_rows * FLOOR
    for a in range(n_rows):
        for b in range(n_columns):
            shares[b] += pairs[a, b]
    for b in range(n_columns):
        shares[b] = 1.0 / shares[b]


@helper
def multiply_given(pairs, factors, shares, out):
    """``out[a, b] = q(a | b) factors[a, b]``."""
    find_shares(pairs, shares)
    for a in range(pairs.shape[0]):
        for b in range(pairs.shape[1]):
            out[a, b] = (pairs[a, b] + FLOOR) * (factors[a, b] * shares[b])


@helper
def add_log_given(pairs, scores, shares, out):
    """``out[a, b] = log q(a | b) + scores[a, b]``."""
    find_shares(pairs, shares)
    for a in range(pairs.shape[0]):
        for b in range(pairs.shape[1]):
            out[a, b] = log_of((pairs[a, b] + FLOOR) * shares[b]) + scores[a, b]
