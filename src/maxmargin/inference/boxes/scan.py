"""All boxes at once: pairs of rows, and for each pair the runs of columns that could still matter."""

from __future__ import annotations

import numpy as np

from ..._compile import helper, kernel
from .values import add_up, common, united, value_of


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


@helper
def scan_strip(total, unit, truth, top, bottom, first, last, boxes, values, found):
    """Add the boxes with these rows whose left side is one of first..last-1, as far as they are among the best."""
    full = found == len(values)
    least = values[found - 1] if full else -np.inf
    lowest = np.int64(2**62)
    for right in range(first + 1, total.shape[1]):
        if right <= last:
            lowest = min(lowest, total[bottom, right - 1] - total[top, right - 1])
        bound = (total[bottom, right] - total[top, right] - lowest) * unit
        if bound <= least:  # most often, and without a division
            continue
        overlap = common(truth, min(right, last) - 1, top, right, bottom) / united(truth, first, top, right, bottom)
        if bound - overlap > least:
            for left in range(first, min(right, last)):
                value = value_of(total, unit, truth, left, top, right, bottom)
                if value > least:
                    found = insert(boxes, values, found, (left, top, right, bottom), value)
                    full = found == len(values)
                    least = values[found - 1] if full else -np.inf
    return found


@kernel
def scan_rows(scores, unit, truth, boxes, values):
    """The best boxes, best first, into the rows of `boxes` and `values`; returns how many there are.

    For every pair of rows, the best run of columns that ends at each is known from the one before (bentley84). Its
    score bounds the values of all runs that end there: they are looked at only where it exceeds what was found. With a
    truth, runs that begin before, in the first or second half of, or after its columns are told apart, since the
    overlap with it that they have at least makes the bound tighter.
    """
    sums = add_up(scores, unit)
    total = sums.positive + sums.negative
    height, width = scores.shape
    starts = (0, truth[0], (truth[0] + truth[2]) // 2, truth[2], width)
    found = 0
    for top in range(height):
        for bottom in range(top + 1, height + 1):
            for part in range(4):
                if starts[part] < starts[part + 1]:
                    first, last = starts[part], starts[part + 1]
                    found = scan_strip(total, unit, truth, top, bottom, first, last, boxes, values, found)
    return found
