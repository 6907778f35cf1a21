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
