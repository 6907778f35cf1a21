"""Overlap of boxes: a loss to structures, a score to metrics."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def box_iou(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Area of the intersection of two boxes over that of their union.

    Parameters
    ----------
    a : array_like of shape (..., 4)
        Boxes (left, top, right, bottom), right and bottom excluded where these are pixels.
    b : array_like of shape (..., 4)
        Others. Shapes are broadcast: ``box_iou(a[:, None], b)`` compares each box of `a` with each of `b`.

    Returns
    -------
    ndarray of shape (...)
        Values in [0, 1]; 0 where neither box has an area.

    Examples
    --------
    >>> from maxmargin.metrics import box_iou
    >>> box_iou([[0, 0, 2, 2], [0, 0, 1, 1]], [1, 0, 3, 2])
    array([0.33333333, 0.        ])
    """
    first, second = _boxes(a, "a"), _boxes(b, "b")
    sides = np.minimum(first[..., 2:], second[..., 2:]) - np.maximum(first[..., :2], second[..., :2])
    intersection = np.maximum(sides, 0).prod(axis=-1)
    union = _area(first) + _area(second) - intersection
    return np.divide(intersection, union, out=np.zeros_like(union), where=union > 0)


def _boxes(boxes: ArrayLike, name: str) -> np.ndarray:
    array = np.asarray(boxes, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != 4:
        raise ValueError(f"{name} must have four numbers a box, got shape {array.shape}")
    bad = ~((array[..., 2:] >= array[..., :2]).all(axis=-1) & np.isfinite(array).all(axis=-1))
    if bad.any():
        raise ValueError(
            f"{name} must have boxes (left, top, right, bottom) with left <= right and top <= bottom, "
            f"got {array[bad][0].tolist()}"
        )
    return array


def _area(boxes: np.ndarray) -> np.ndarray:
    return (boxes[..., 2:] - boxes[..., :2]).prod(axis=-1)
