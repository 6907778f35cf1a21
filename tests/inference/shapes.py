"""Graphs to be labelled, by name: how many nodes, and edges."""

import itertools

import numpy as np

CYCLE = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
CLIQUE = list(itertools.combinations(range(4), 2))
GRID = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]
NAMED = [(1, []), (3, []), (5, CYCLE), (4, CLIQUE), (6, GRID), (5, [(2, 0), (3, 4)]), (3, [(0, 1), (1, 0), (2, 1)])]


def grid(n_rows, n_columns):
    """Nodes column by column."""
    number = np.arange(n_rows * n_columns).reshape(n_columns, n_rows)
    pairs = [(number[:-1], number[1:]), (number[:, :-1], number[:, 1:])]
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])
