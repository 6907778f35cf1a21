"""The generalised distance transform: for every position the best of all others, less what a spring costs.

``max_q scores[q] - stiffness (q - p - anchor)^2 + pull (q - p - anchor)`` for all p of a line in linear time
(felzenszwalb12), and of a grid by its rows, then its columns. Apart from what q does not change, position q offers p
``h(q) + 2 stiffness p q``, so that only corners of the upper hull of the points (q, h(q)) can be best for any p:
p's is where it begins to rise by less than ``-2 stiffness p``. That divides by distances, never by the stiffness: a
spring of stiffness 0, where one q is best for all p, is no special case, and a tiny one cannot overflow.

Where several positions are best, the first is found (up to rounding; in a grid of the first row that has one).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import helper, kernel, routine

AT_ONCE = 8  # columns: a cache line of each row


class Spring(NamedTuple):
    """Along columns (x), then rows (y); positions as in ``q - p``."""

    stiffness: np.ndarray  # (2,) >= 0
    pull: np.ndarray  # (2,)
    anchor: np.ndarray  # (2,) where the spring is at rest


class GridScratch(NamedTuple):
    values: np.ndarray  # (H, W) of the rows' transforms
    columns: np.ndarray  # (H, W) where they come from
    lines: np.ndarray  # (2, AT_ONCE, H) of columns: scores and transforms
    rows: np.ndarray  # (max(H, W),) where a transform comes from
    hull: np.ndarray  # (max(H, W),) corners
    rise: np.ndarray  # (max(H, W),) of the hull up to a corner


@helper
def new_grid_scratch(height, width):
    longest = max(height, width)
    return GridScratch(
        np.empty((height, width)),
        np.empty((height, width), np.int32),
        np.empty((2, AT_ONCE, height)),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
        np.empty(longest),
    )


@routine
def transform_line(scores, stiffness, pull, anchor, hull, rise, values, places):
    """The transform of a line and where it comes from; -inf and -1 if all scores are -inf."""
    last, slope = -1, 0.0
    for q in range(len(scores)):
        if scores[q] == -np.inf:
            continue
        while last >= 0:
            before = hull[last]
            slope = (scores[q] - scores[before]) / (q - before) - stiffness * (q + before - 2.0 * anchor) + pull
            if last == 0 or slope < rise[last]:
                break
            last -= 1
        last += 1
        hull[last], rise[last] = q, slope
    corner = 0
    for p in range(len(scores)):
        if last < 0:
            values[p], places[p] = -np.inf, -1
            continue
        while corner < last and rise[corner + 1] + 2.0 * stiffness * p > 0.0:
            corner += 1
        q = hull[corner]
        away = q - p - anchor
        values[p], places[p] = scores[q] - stiffness * away * away + pull * away, q


@routine
def transform_grid(scores, spring, scratch, values, places):
    """The transform of a grid (H, W), and the flat positions it comes from, -1 for none."""
    height, width = scores.shape
    stiffness, pull, anchor = spring.stiffness, spring.pull, spring.anchor
    hull, rise, rows = scratch.hull, scratch.rise, scratch.rows
    given, found = scratch.lines[0], scratch.lines[1]
    for y in range(height):
        line, columns = scratch.values[y], scratch.columns[y]
        transform_line(scores[y], stiffness[0], pull[0], anchor[0], hull, rise, line, columns)
    for first in range(0, width, AT_ONCE):
        count = min(AT_ONCE, width - first)
        for y in range(height):
            for c in range(count):
                given[c, y] = scratch.values[y, first + c]
        for c in range(count):
            transform_line(given[c], stiffness[1], pull[1], anchor[1], hull, rise, found[c], rows)
            for y in range(height):
                row = rows[y]
                places[y, first + c] = row * width + scratch.columns[row, first + c] if row >= 0 else -1
        for y in range(height):
            for c in range(count):
                values[y, first + c] = found[c, y]


@kernel
def _transform(spring, scores, values, places):
    transform_grid(scores, spring, new_grid_scratch(*scores.shape), values, places)


def distance_transform(
    scores: Any, stiffness: Any, pull: Any = 0.0, anchor: Any = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """For every position p of a grid the best ``scores[q]`` less what the spring between them costs, and the q.

    Along both axes ``- stiffness (q - p - anchor)^2 + pull (q - p - anchor)`` is added. Linear in the positions.

    Parameters
    ----------
    scores : array_like of shape (H, W)
        Scores of positions; -inf forbids one.
    stiffness : float or pair of floats
        How much stretching costs, >= 0; a pair is for columns (x) and rows (y).
    pull : float or pair of floats
        What a step away from the anchor is worth.
    anchor : float or pair of floats
        Where the spring is at rest.

    Returns
    -------
    values : ndarray of shape (H, W)
        The best sums.
    places : ndarray of shape (H, W)
        Flat positions q, row * W + column; -1 where all are forbidden.

    Examples
    --------
    >>> from maxmargin.inference import distance_transform
    >>> values, places = distance_transform([[0.0, 0.0, 0.0, 5.0]], stiffness=1.0)
    >>> values, places
    (array([[0., 1., 4., 5.]]), array([[0, 3, 3, 3]], dtype=int32))
    """
    scores = np.ascontiguousarray(scores, np.float64)
    if scores.ndim != 2 or scores.size == 0:
        raise ValueError(f"scores must be a grid (H, W) of positions, at least one, got shape {scores.shape}")
    if not (scores < np.inf).all():
        raise ValueError("scores must be numbers below infinity; -inf forbids a position")
    spring = Spring(*(_pair(name, of) for name, of in zip(Spring._fields, (stiffness, pull, anchor), strict=True)))
    if (spring.stiffness < 0).any():
        raise ValueError(f"stiffness must be >= 0, got {stiffness!r}")
    values, places = np.empty(scores.shape), np.empty(scores.shape, np.int32)
    _transform(spring, scores, values, places)
    return values, places


def _pair(name: str, given: Any) -> np.ndarray:
    pair = np.asarray(given, np.float64)
    if pair.shape not in ((), (2,)) or not np.isfinite(pair).all():
        raise ValueError(f"{name} must be a finite number, or two for columns and rows, got {given!r}")
    return np.array(np.broadcast_to(pair, 2))
