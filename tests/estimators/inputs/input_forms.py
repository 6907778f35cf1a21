"""Three small sequences, and ways to hand them over."""

from __future__ import annotations

import numpy as np

LENGTHS = [2, 1, 4]
OFFSETS = np.array([0, 2, 3, 7])
ROWS = np.array([[1, 0, 2], [0, 0, 3], [4, 5, 0], [0, 0, 0], [6, 0, 7], [0, 8, 0], [9, 0, 1]], dtype=float)
SAMPLES = [ROWS[0:2], ROWS[2:3], ROWS[3:7]]


class Frame:
    """Like a DataFrame: no array, but becomes one."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def objects(items):
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array
