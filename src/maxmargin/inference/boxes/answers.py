"""Questions about boxes, asked in Python."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy.special import softmax

from .scan import scan_rows
from .search import branch_and_bound

NO_TRUTH = np.zeros(4, np.int64)  # no box has a pixel in common with it

# Steps of a scan (pairs of rows, times columns) that take about as long as halving one set of boxes. Measured.
STEPS_A_SPLIT = 200


def best_box(scores: Any, truth: Any = None) -> tuple[np.ndarray, float]:
    """A box (left, top, right, bottom) of the highest value, and the value; see `top_boxes`."""
    boxes, values = top_boxes(scores, 1, truth)
    return boxes[0], float(values[0])


def top_boxes(scores: Any, k: int, truth: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """The k best boxes (k, 4) and their values, best first; fewer where there are no more.

    Branch and bound finds them soon where scores are good in one place and bad elsewhere, and may take for ever
    elsewhere. So it is given about the time that a scan of all pairs of rows takes, and then the scan is run.

    Parameters
    ----------
    scores : (H, W) finite scores of pixels
    k : how many boxes
    truth : a box (left, top, right, bottom); a box is worth its scores less its intersection over union with truth
    """
    scores, unit, truth, k = _checked(scores, truth, k)
    short, long = sorted(scores.shape)
    boxes, values = _room(scores, k)
    found, _, _ = branch_and_bound(scores, unit, truth, short * (short + 1) // 2 * long // STEPS_A_SPLIT, boxes, values)
    return (boxes, values) if found == len(values) else scan_boxes(scores, k, truth)


def search_boxes(
    scores: Any, k: int, truth: Any = None, max_splits: int = 2**62
) -> tuple[np.ndarray, np.ndarray, float]:
    """`top_boxes` by branch and bound alone: boxes, values, and a bound on those not returned.

    Fewer than k boxes if more than `max_splits` sets of boxes would have to be split for them.
    """
    scores, unit, truth, k = _checked(scores, truth, k)
    boxes, values = _room(scores, k)
    found, _, bound = branch_and_bound(scores, unit, truth, max_splits, boxes, values)
    return boxes[:found], values[:found], bound


def scan_boxes(scores: Any, k: int, truth: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """`top_boxes` by looking at all pairs of rows, or of columns if there are fewer."""
    scores, unit, truth, k = _checked(scores, truth, k)
    boxes, values = _room(scores, k)
    if scores.shape[0] <= scores.shape[1]:
        scan_rows(scores, unit, truth, boxes, values)
        return boxes, values
    turned = [1, 0, 3, 2]
    scan_rows(np.ascontiguousarray(scores.T), unit, truth[turned], boxes, values)
    return boxes[:, turned], values


def candidate_marginals(scores: Any) -> np.ndarray:
    """Probabilities of given boxes under ``p(y) ~ exp(score(y))``."""
    return softmax(np.asarray(scores, np.float64))


def _room(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    height, width = scores.shape
    k = min(k, height * (height + 1) // 2 * (width * (width + 1) // 2))
    return np.zeros((k, 4), np.int64), np.zeros(k)


def _checked(scores: Any, truth: Any, k: int) -> tuple[np.ndarray, float, np.ndarray, int]:
    """Arrays of their types, and the power of two that scores are rounded to multiples of."""
    scores = np.ascontiguousarray(scores, np.float64)
    if scores.ndim != 2 or not scores.size:
        raise ValueError(f"scores must be a matrix with at least one pixel, got shape {scores.shape}")
    if isinstance(k, bool) or not isinstance(k, numbers.Integral) or k < 1:
        raise ValueError(f"k must be an integer >= 1, got {k!r}")
    total = float(np.abs(scores).sum())
    if not total < np.inf:
        raise ValueError("scores must be finite numbers with a finite sum")
    unit = 2.0 ** max(-1000, int(np.frexp(total)[1]) - 61)
    truth = NO_TRUTH if truth is None else np.ascontiguousarray(truth, np.int64)
    return scores, unit, truth, int(k)
