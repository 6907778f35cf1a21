"""How often boxes are found."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._boxes import box_iou


def corloc(a: ArrayLike, b: ArrayLike, threshold: float = 0.5) -> float:
    """Share of boxes correctly localized: of all pairs of boxes, those with an IoU of `threshold` at least.

    Parameters
    ----------
    a : array_like of shape (n, 4)
        Boxes (left, top, right, bottom).
    b : array_like of shape (n, 4)
        What each is compared with.
    threshold : float
        The least IoU that counts.

    Returns
    -------
    float
        The share in [0, 1].

    Examples
    --------
    >>> from maxmargin.metrics import corloc
    >>> corloc([[0, 0, 2, 2], [0, 0, 1, 1]], [[0, 0, 2, 1], [1, 0, 3, 2]])
    0.5
    """
    return float(np.mean(box_iou(a, b) >= threshold))


def average_precision(
    boxes: ArrayLike, scores: ArrayLike, true: ArrayLike, images: ArrayLike | None = None, threshold: float = 0.5
) -> float:
    """Area under the interpolated curve of precision over recall, as PASCAL VOC has it since 2010.

    Detections are ranked by their scores, of equal ones the first comes first. One is right if its IoU with the true
    box of its image is more than `threshold`, and no higher one of that image was right. The precision at a recall is
    the highest that is reached there or further down the ranking.

    Parameters
    ----------
    boxes : array_like of shape (m, 4)
        Detections (left, top, right, bottom).
    scores : array_like of shape (m,)
        How sure each of them is.
    true : array_like of shape (n, 4)
        The box of each image.
    images : array_like of int of shape (m,), optional
        The image of each detection; by default there is one an image, in the order of `true`.
    threshold : float
        The IoU to be exceeded.

    Returns
    -------
    float
        In [0, 1]; the share found if those that are right score higher than all others.

    Examples
    --------
    >>> from maxmargin.metrics import average_precision
    >>> true = [[0, 0, 2, 2], [0, 0, 4, 4], [1, 1, 3, 3]]
    >>> found = [[0, 0, 2, 2], [5, 5, 6, 6], [1, 1, 3, 3]]
    >>> average_precision(found, [0.9, 0.1, 0.5], true)  # the wrong one comes last
    0.6666666666666666
    >>> average_precision(found, [0.9, 0.7, 0.5], true)  # two of three when the second is found
    0.5555...
    """  # everingham10
    found, truth, score = np.asarray(boxes, float), np.asarray(true, float), np.asarray(scores, float)
    of = np.arange(len(found)) if images is None else np.asarray(images)
    if not len(found) == len(of) == len(score) or score.ndim != 1 or of.ndim != 1:
        raise ValueError(f"boxes, scores and images differ in number: {len(found)}, {len(score)}, {len(of)}")
    if images is None and len(found) != len(truth):
        raise ValueError(f"without images there is one box for each of the {len(truth)} images, got {len(found)}")
    if np.isnan(score).any():
        raise ValueError("scores must be numbers, got NaN")
    if len(found) == 0 or len(truth) == 0:
        return 0.0
    if of.dtype.kind not in "iu" or of.min() < 0 or of.max() >= len(truth):
        raise ValueError(f"images must be integers from 0 to {len(truth) - 1}")
    ranked = np.argsort(-score, kind="stable")
    hits = ranked[box_iou(found[ranked], truth[of[ranked]]) > threshold]
    _, first = np.unique(of[hits], return_index=True)
    right = np.isin(ranked, hits[first])
    precision = np.cumsum(right) / np.arange(1, len(ranked) + 1)
    best_from = np.maximum.accumulate(precision[::-1])[::-1]
    return float(best_from[right].sum() / len(truth))
