"""Efficient subwindow search (lampert08): best-first branch and bound over sets of boxes.

A set is given by the ranges of its sides: first and last left, top, right and bottom, eight numbers. The set of the
highest bound is halved at its widest range; a set of one box that comes up is the best one left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, kernel, routine
from .values import add_up, upper_bound

ROOM = 256  # sets to begin with


class Heap(NamedTuple):
    """Sets by decreasing bound; of equal ones the latest first, so that one tie is followed to its end, not all."""

    bound: np.ndarray
    number: np.ndarray  # the larger, the later
    place: np.ndarray  # row of `ranges`; those of no set follow the others, so that each row is named once
    ranges: np.ndarray  # (capacity, 8)


@helper
def comes_first(heap, a, b):
    if heap.bound[a] != heap.bound[b]:
        return heap.bound[a] > heap.bound[b]
    return heap.number[a] > heap.number[b]


@helper
def swap(heap, a, b):
    heap.bound[a], heap.bound[b] = heap.bound[b], heap.bound[a]
    heap.number[a], heap.number[b] = heap.number[b], heap.number[a]
    heap.place[a], heap.place[b] = heap.place[b], heap.place[a]


@helper
def sift_up(heap, at):
    while at > 0 and comes_first(heap, at, (at - 1) // 2):
        swap(heap, at, (at - 1) // 2)
        at = (at - 1) // 2


@routine
def sift_down(heap, size):
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and comes_first(heap, child + 1, child):
            child += 1
        if not comes_first(heap, child, at):
            return
        swap(heap, at, child)
        at = child


@routine
def new_heap(room):
    return Heap(np.empty(room), np.empty(room, np.int64), np.arange(room), np.empty((room, 8), np.int32))


@routine
def enlarged(heap):
    size = len(heap.bound)
    larger = new_heap(2 * size)
    larger.bound[:size] = heap.bound
    larger.number[:size] = heap.number
    larger.place[:size] = heap.place
    larger.ranges[:size] = heap.ranges
    return larger


@helper
def narrow(ranges):
    """Leave out sides that no box with some pixel has."""
    ranges[1] = min(ranges[1], ranges[5] - 1)
    ranges[3] = min(ranges[3], ranges[7] - 1)
    ranges[4] = max(ranges[4], ranges[0] + 1)
    ranges[6] = max(ranges[6], ranges[2] + 1)


@helper
def widest(ranges):
    """The side that is known least, and how many places it may have besides one."""
    side = 0
    for other in range(1, 4):
        if ranges[2 * other + 1] - ranges[2 * other] > ranges[2 * side + 1] - ranges[2 * side]:
            side = other
    return side, ranges[2 * side + 1] - ranges[2 * side]


@helper
def halve(ranges, other, side, spread):
    """Keep the first half of a range, and give the second to `other`."""
    middle = ranges[2 * side] + spread // 2
    for c in range(8):
        other[c] = ranges[c]
    ranges[2 * side + 1], other[2 * side] = middle, middle + 1
    narrow(ranges)
    narrow(other)


@kernel
def branch_and_bound(scores, unit, truth, budget, boxes, values):
    """The best boxes, best first, into the rows of `boxes` and `values`.

    Returns how many were found, how many sets were halved for it, and a bound on what is left. At most `budget` are
    halved.
    """
    height, width = scores.shape
    sums, heap = add_up(scores, unit), new_heap(ROOM)
    heap.ranges[0] = np.array([0, width - 1, 0, height - 1, 1, width, 1, height])
    heap.bound[0], heap.number[0] = upper_bound(sums, unit, truth, heap.ranges[0]), 0
    size, found, halved = 1, 0, 0
    while size > 0 and found < len(values):
        ranges = heap.ranges[heap.place[0]]
        side, spread = widest(ranges)
        if spread == 0:
            for c in range(4):
                boxes[found, c] = ranges[2 * c]
            values[found] = heap.bound[0]
            found += 1
            size -= 1
            swap(heap, 0, size)
            sift_down(heap, size)
            continue
        if halved == budget:
            break
        halved += 1
        if size == len(heap.bound):
            heap = enlarged(heap)
        ranges, other = heap.ranges[heap.place[0]], heap.ranges[heap.place[size]]
        halve(ranges, other, side, spread)
        heap.bound[0], heap.number[0] = upper_bound(sums, unit, truth, ranges), 2 * halved
        heap.bound[size], heap.number[size] = upper_bound(sums, unit, truth, other), 2 * halved + 1
        sift_down(heap, size)
        sift_up(heap, size)
        size += 1
    return found, halved, heap.bound[0] if size > 0 else -np.inf
