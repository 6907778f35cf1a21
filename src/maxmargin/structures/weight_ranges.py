"""Corners added up within a range of weights: verbs of structures where threads may have a range each.

A vector of its own for each thread is what caches have no room for where weights are millions.
"""

from __future__ import annotations

from .._compile import implements, verb


@verb
def ranges_of_rows(problem, n_ranges):
    """Bounds of ranges of weight rows that take about as long, no more than so many; or None. For Python only."""


@implements(ranges_of_rows, object)
def _(problem, n_ranges):
    return None


@verb
def add_corner_within(problem, work, i, scale, w, first, last):
    """As ``add_corner``, of the rows of weights from `first` to `last` alone."""
