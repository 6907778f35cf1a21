"""All boxes of an image, one after the other."""

from __future__ import annotations

import itertools

import numpy as np


def all_boxes(height: int, width: int) -> list[tuple[int, int, int, int]]:
    columns, rows = (list(itertools.combinations(range(size + 1), 2)) for size in (width, height))
    return [(left, top, right, bottom) for left, right in columns for top, bottom in rows]


def pixels_of(box: tuple[int, ...]) -> set[tuple[int, int]]:
    left, top, right, bottom = box
    return set(itertools.product(range(top, bottom), range(left, right)))


def overlap(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Intersection over union."""
    a, b = pixels_of(one), pixels_of(other)
    return len(a & b) / len(a | b)


def box_values(scores: np.ndarray, truth: tuple[int, ...] | None = None) -> dict[tuple[int, ...], float]:
    """Every box with the sum of its scores, less its overlap with truth."""
    return {
        box: float(scores[box[1] : box[3], box[0] : box[2]].sum()) - (overlap(box, truth) if truth else 0.0)
        for box in all_boxes(*scores.shape)
    }
