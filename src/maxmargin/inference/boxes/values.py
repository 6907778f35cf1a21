"""Values of boxes and of sets of boxes in a map of scores, from integral images.

A box (left, top, right, bottom) has the pixels left..right-1 and top..bottom-1, at least one. Its value is the sum of
their scores, less its intersection over union (IoU) with a box `truth`: one more than that is the score plus the loss
1 - IoU. A truth without pixels takes nothing away.

Sums are exact: scores are rounded once, to multiples of a power of two so small that the whole map fits into 62 bits,
and added up as integers. So equal boxes tie, a bound is never below a value by rounding (each of its operations is
monotone, rounded or not), and every way to search finds the same values to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, routine


class Sums(NamedTuple):
    """Integral images (H + 1, W + 1) of what is positive and what is negative."""

    positive: np.ndarray
    negative: np.ndarray


@routine
def add_up(scores, unit):
    """Integral images of a map, in multiples of `unit`, a power of two."""
    height, width = scores.shape
    positive, negative = np.zeros((height + 1, width + 1), np.int64), np.zeros((height + 1, width + 1), np.int64)
    for row in range(height):
        above, below = np.int64(0), np.int64(0)
        for column in range(width):
            score = np.int64(np.rint(scores[row, column] / unit))
            above += max(score, 0)
            below += min(score, 0)
            positive[row + 1, column + 1] = positive[row, column + 1] + above
            negative[row + 1, column + 1] = negative[row, column + 1] + below
    return Sums(positive, negative)


@helper
def inside(sums, left, top, right, bottom):
    return sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]


@helper
def common(truth, left, top, right, bottom):
    """Pixels that a box has in common with `truth`."""
    width = min(right, truth[2]) - max(left, truth[0])
    height = min(bottom, truth[3]) - max(top, truth[1])
    return max(width, 0) * max(height, 0)


@helper
def united(truth, left, top, right, bottom):
    """Pixels of a box and of `truth` together."""
    both = common(truth, left, top, right, bottom)
    return (right - left) * (bottom - top) + (truth[2] - truth[0]) * (truth[3] - truth[1]) - both


@helper
def value_of(total, unit, truth, left, top, right, bottom):
    """The value of one box; `total` is the integral image of all scores."""
    overlap = common(truth, left, top, right, bottom) / united(truth, left, top, right, bottom)
    return inside(total, left, top, right, bottom) * unit - overlap


@routine
def upper_bound(sums, unit, truth, ranges):
    """What no box with its sides in these ranges exceeds; if there is but one, its value (lampert08, Sec. 3.2).

    What is good is counted over the largest box, what is bad over the smallest, if all have one in common. The IoU is
    at least the intersection of truth with the smallest over its union with the largest: what a box has in common with
    truth grows with the box, and so does what it has besides (blaschko08, Sec. 4).
    """
    left, top, right, bottom = ranges[0], ranges[2], ranges[5], ranges[7]
    score, both = inside(sums.positive, left, top, right, bottom), 0
    if ranges[1] < ranges[4] and ranges[3] < ranges[6]:
        score += inside(sums.negative, ranges[1], ranges[3], ranges[4], ranges[6])
        both = common(truth, ranges[1], ranges[3], ranges[4], ranges[6])
    return score * unit - both / united(truth, left, top, right, bottom)
