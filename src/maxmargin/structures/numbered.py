"""Outputs that are numbers, as classes are and outputs that are listed: how they are remembered.

A memory keeps a number a slot; the scratch of such a structure holds the numbers of the corner and the away corner in
``label``, and the values of all outputs in ``node``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from .._compile import implements
from .._prefetch import prefetch
from .verbs import announce_labelings, enlarged, is_corner, keep_corner, slot_value, take_away, take_corner

Problem = TypeVar("Problem", bound=type)


def with_numbered_outputs(problem: Problem) -> Problem:
    """A problem whose outputs are numbers gets the verbs of its memories, but for the one that begins them."""
    for verb, function in VERBS.items():
        implements(verb, problem)(function)
    return problem


def widened(rows: np.ndarray, width: int) -> np.ndarray:
    """Rows with zeros behind them."""
    wider = np.zeros((len(rows), width), rows.dtype)  # not np.pad: what is never written need not become resident
    wider[:, : rows.shape[1]] = rows
    return wider


def _enlarged(problem, labelings, filled, capacity):
    return widened(labelings, capacity)


def _announce_labelings(problem, labelings, i, filled):
    prefetch(labelings, i * labelings.shape[1], filled)


def _keep_corner(problem, labelings, work, i, j):
    labelings[i, j] = work.label[0]


def _take_corner(problem, labelings, work, i, j):
    work.label[0] = labelings[i, j]


def _take_away(problem, labelings, work, i, j):
    work.label[1] = labelings[i, j]


def _is_corner(problem, labelings, work, i, j):
    return labelings[i, j] == work.label[0]


def _slot_value(problem, labelings, work, w, i, j):
    return work.node[labelings[i, j]]


VERBS: dict[Callable, Callable] = {
    announce_labelings: _announce_labelings,
    enlarged: _enlarged,
    keep_corner: _keep_corner,
    take_corner: _take_corner,
    take_away: _take_away,
    is_corner: _is_corner,
    slot_value: _slot_value,
}
