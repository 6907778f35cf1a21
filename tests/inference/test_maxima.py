"""Largest entries by bounds, against looking at all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.inference import maxima as module
from maxmargin.inference.maxima import best_in_column, best_in_row, best_pair, lift, new_maxima, read_maxima

pytestmark = pytest.mark.usefixtures("narrow", "no_compilation")


@pytest.fixture
def narrow(monkeypatch):
    """Blocks of a few entries, so that small tables have several."""
    monkeypatch.setattr(module, "WIDE", 3)


@st.composite
def tables(draw):
    """A table that was read and changed since, with ties, and what is hidden of its rows and columns."""
    n_labels = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.integers(-2, 3, size=(n_labels, n_labels)).astype(float)
    maxima = new_maxima(n_labels)
    read_maxima(maxima, table)
    for a, b, change in zip(*rng.integers(n_labels, size=(2, 6)), rng.integers(-3, 4, size=6), strict=True):
        table[a, b] += change
        lift(maxima, a, b, table[a, b])
    return table, maxima, *(rng.random((2, n_labels)) < 0.4)


def check_bounds(maxima, table):
    """No bound is too small."""
    n_labels = len(table)
    for c in range(maxima.top.size):
        block = slice(3 * c, 3 * c + 3)
        assert np.all(maxima.of_rows[:, c] >= table[:, block].max(axis=1))
        assert np.all(maxima.of_columns[:, c] >= table[block].max(axis=0))
        assert maxima.top[c] >= table[block].max()
    assert np.all(maxima.row >= table.max(axis=1)) and np.all(maxima.column >= table.max(axis=0))
    assert maxima.row.shape == (n_labels,)


@given(tables(), st.sampled_from([-np.inf, -1.0, 0.5, 2.0]))
def test_searches_find_the_largest_that_is_not_hidden(case, above):
    table, maxima, rows, columns = case
    visited = np.zeros(1, int)
    for k in range(len(table)):
        for found, entries, hidden in (
            (best_in_row(maxima, table, k, columns, above, visited), table[k], columns),
            (best_in_column(maxima, table, k, rows, above, visited), table[:, k], rows),
        ):
            largest = np.max(entries, where=~hidden, initial=-np.inf)
            assert entries[found] == largest if largest > above else found == -1
        check_bounds(maxima, table)
    a, b = best_pair(maxima, table, rows, columns, above, visited)
    largest = np.max(table, where=~rows[:, None] & ~columns, initial=-np.inf)
    assert (table[a, b] == largest and not rows[a] and not columns[b]) if largest > above else (a, b) == (-1, -1)
    check_bounds(maxima, table)


def test_a_search_looks_at_few_entries(monkeypatch):
    monkeypatch.setattr(module, "WIDE", 64)
    table = np.random.default_rng(0).normal(size=(500, 500))
    maxima, visited, nobody = new_maxima(500), np.zeros(1, int), np.zeros(500, bool)
    read_maxima(maxima, table)
    assert table[best_pair(maxima, table, nobody, nobody, -np.inf, visited)] == table.max()
    assert visited[0] < 0.02 * table.size
