"""Questions about boxes, asked in Python."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from .scan import scan_rows
from .search import branch_and_bound

NO_TRUTH = np.zeros(4, np.int64)  # no box has a pixel in common with it

# What takes about as long as halving a set of boxes, measured: so many steps of a scan (pairs of rows, times columns);
# and, since it keeps the k best in order, so many of k squared.
STEPS_A_SPLIT, MOVES_A_SPLIT = 200, 4


def best_box(scores: Any, truth: Any = None) -> tuple[np.ndarray, float]:
    """A box of the highest value, and the value; see :func:`top_boxes`.

    Parameters
    ----------
    scores : array_like of shape (H, W)
        Finite scores of pixels.
    truth : array_like of shape (4,), optional
        A box (left, top, right, bottom); a box is then worth its scores less its intersection over union with it.

    Returns
    -------
    box : ndarray of shape (4,)
        Left, top, right and bottom, the last two excluded.
    value : float
        What it is worth.

    Examples
    --------
    >>> from maxmargin.inference import best_box
    >>> best_box([[-1.0, -1.0, -1.0], [-1.0, 2.0, 3.0]])
    (array([1, 1, 3, 2]), 5.0)
    """
    boxes, values = top_boxes(scores, 1, truth)
    return boxes[0], float(values[0])


def top_boxes(scores: Any, k: int, truth: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """The k best boxes.

    Branch and bound finds them soon where scores are good in one place and bad elsewhere, and may take for ever
    elsewhere. So it is given about the time that a scan of all pairs of rows takes, and then the scan is run.

    Parameters
    ----------
    scores : array_like of shape (H, W)
        Finite scores of pixels.
    k : int
        How many boxes, at least 1.
    truth : array_like of shape (4,), optional
        A box (left, top, right, bottom); a box is then worth its scores less its intersection over union with it.

    Returns
    -------
    boxes : ndarray of shape (k, 4)
        Left, top, right and bottom, the last two excluded, best first; fewer where there are no more.
    values : ndarray of shape (k,)
        What they are worth.

    Examples
    --------
    >>> from maxmargin.inference import top_boxes
    >>> boxes, values = top_boxes([[-1.0, -1.0, -1.0], [-1.0, 2.0, 3.0]], 2)
    >>> boxes.tolist(), values.tolist()
    ([[1, 1, 3, 2], [0, 1, 3, 2]], [5.0, 4.0])
    """
    given = _checked(scores, truth, k)
    short, long = sorted(given.scores.shape)
    steps, moves = short * (short + 1) // 2 * long, len(given.values) ** 2
    found, _ = _search(given, steps // STEPS_A_SPLIT + moves // MOVES_A_SPLIT)
    if found < len(given.values):
        _scan(given)
    return given.boxes, given.values


def search_boxes(
    scores: Any, k: int, truth: Any = None, max_splits: int = 2**62
) -> tuple[np.ndarray, np.ndarray, float]:
    """:func:`top_boxes` by branch and bound alone, with a bound on the boxes not returned.

    Parameters
    ----------
    scores : array_like of shape (H, W)
        Finite scores of pixels.
    k : int
        How many boxes, at least 1.
    truth : array_like of shape (4,), optional
        A box (left, top, right, bottom); a box is then worth its scores less its intersection over union with it.
    max_splits : int
        Fewer than k boxes are returned if more sets of boxes than this would have to be split for them.

    Returns
    -------
    boxes : ndarray of shape (k, 4)
        Left, top, right and bottom, the last two excluded, best first; fewer where there are no more.
    values : ndarray of shape (k,)
        What they are worth.
    bound : float
        No other box is worth more.

    Examples
    --------
    >>> from maxmargin.inference import search_boxes
    >>> boxes, values, bound = search_boxes([[-1.0, 2.0, 3.0]], 1)
    >>> boxes.tolist(), values.tolist(), bool(bound >= 4.0)
    ([[1, 0, 3, 1]], [5.0], True)
    """
    given = _checked(scores, truth, k)
    found, bound = _search(given, max_splits)
    return given.boxes[:found], given.values[:found], bound


def scan_boxes(scores: Any, k: int, truth: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """:func:`top_boxes` by looking at all pairs of rows, or of columns if there are fewer.

    Parameters
    ----------
    scores : array_like of shape (H, W)
        Finite scores of pixels.
    k : int
        How many boxes, at least 1.
    truth : array_like of shape (4,), optional
        A box (left, top, right, bottom); a box is then worth its scores less its intersection over union with it.

    Returns
    -------
    boxes : ndarray of shape (k, 4)
        Left, top, right and bottom, the last two excluded, best first; fewer where there are no more.
    values : ndarray of shape (k,)
        What they are worth.

    Examples
    --------
    >>> from maxmargin.inference import scan_boxes
    >>> scan_boxes([[-1.0, 2.0, 3.0]], 1)[0]
    array([[1, 0, 3, 1]])
    """
    given = _checked(scores, truth, k)
    _scan(given)
    return given.boxes, given.values


def candidate_marginals(scores: Any) -> np.ndarray:
    """Probabilities of given boxes under ``p(y) ~ exp(score(y))``.

    Parameters
    ----------
    scores : array_like of shape (n,)
        Scores of the boxes.

    Returns
    -------
    ndarray of shape (n,)
        Probabilities, whose sum is 1.

    Examples
    --------
    >>> from maxmargin.inference import candidate_marginals
    >>> candidate_marginals([1.0, 1.0])
    array([0.5, 0.5])
    """
    return softmax(np.asarray(scores, np.float64))


class Asked(NamedTuple):
    scores: np.ndarray
    unit: float  # the power of two that scores are rounded to multiples of
    truth: np.ndarray
    boxes: np.ndarray  # (k, 4) room for the answer, k not above the number of boxes ...
    values: np.ndarray  # (k,) ... and for what they are worth


def _search(given: Asked, max_splits: int) -> tuple[int, float]:
    scores, unit, truth, boxes, values = given
    found, _, bound = branch_and_bound(scores, unit, truth, max_splits, boxes, values)
    return found, bound


def _scan(given: Asked) -> None:
    scores, unit, truth, boxes, values = given
    if scores.shape[0] <= scores.shape[1]:
        scan_rows(scores, unit, truth, boxes, values)
        return
    turned = [1, 0, 3, 2]
    scan_rows(np.ascontiguousarray(scores.T), unit, truth[turned], boxes, values)
    boxes[:] = boxes[:, turned]


def _checked(scores: Any, truth: Any, k: int) -> Asked:
    scores = np.ascontiguousarray(scores, np.float64)
    if scores.ndim != 2 or not scores.size:
        raise ValueError(f"scores must be a matrix with at least one pixel, got shape {scores.shape}")
    if isinstance(k, bool) or not isinstance(k, numbers.Integral) or k < 1:
        raise ValueError(f"k must be an integer >= 1, got {k!r}")
    total = float(np.abs(scores).sum())
    if not total < np.inf:
        raise ValueError("scores must be finite numbers with a finite sum")
    unit = 2.0 ** max(-1000, int(np.frexp(total)[1]) - 61)
    height, width = scores.shape
    k = min(int(k), height * (height + 1) // 2 * (width * (width + 1) // 2))
    own = NO_TRUTH if truth is None else _as_truth(truth, height, width)
    return Asked(scores, unit, own, np.zeros((k, 4), np.int64), np.zeros(k))


def _as_truth(truth: Any, height: int, width: int) -> np.ndarray:
    own = np.asarray(truth)
    if own.shape != (4,) or own.dtype.kind not in "iu":
        raise ValueError(f"truth must be four integers (left, top, right, bottom), got {truth!r}")
    if not (0 <= own[0] < own[2] <= width and 0 <= own[1] < own[3] <= height):
        raise ValueError(f"truth must be a box within {height} x {width} scores, got {own.tolist()}")
    return own.astype(np.int64)
