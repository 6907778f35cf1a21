"""All boxes at once: pairs of rows, and for each pair the runs of columns that could still matter."""

from __future__ import annotations

import numpy as np

from ..._compile import helper, kernel
from .values import add_up, value_of


@helper
def insert(boxes, values, count, box, value):
    """Put a box in its place among the best so far, those of equal value before it; returns how many there are."""
    at = min(count, len(values) - 1)
    while at > 0 and values[at - 1] < value:
        values[at] = values[at - 1]
        boxes[at] = boxes[at - 1]
        at -= 1
    values[at] = value
    boxes[at, 0], boxes[at, 1], boxes[at, 2], boxes[at, 3] = box
    return min(count + 1, len(values))


@kernel(n_parts=0)
def scan_rows(scores, unit, truth, boxes, values):
    """The best boxes, best first, into the rows of `boxes` and `values`; returns how many there are.

    For every pair of rows, the best run of columns that ends at each is known from the one before (bentley84). Its
    score bounds the values of all runs that end there: they are looked at only where it exceeds what was found.
    """
    sums = add_up(scores, unit)
    total = sums.positive + sums.negative
    height, width = scores.shape
    found, least = 0, -np.inf
    for top in range(height):
        for bottom in range(top + 1, height + 1):
            lowest = total[bottom, 0] - total[top, 0]
            for right in range(1, width + 1):
                here = total[bottom, right] - total[top, right]
                if (here - lowest) * unit > least:
                    for left in range(right):
                        value = value_of(total, unit, truth, left, top, right, bottom)
                        if value > least:
                            found = insert(boxes, values, found, (left, top, right, bottom), value)
                            least = values[found - 1] if found == len(values) else least
                lowest = min(lowest, here)
    return found
