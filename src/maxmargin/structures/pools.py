"""Lists of different lengths in one array, with room between them."""

from __future__ import annotations

import numpy as np


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """(n + 1,) where lists of these sizes begin, one after the other, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def places_of(first: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Where the entries of lists lie that begin at `first`, list by list."""
    return np.arange(sizes.sum()) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes)


def moved_lists(
    arrays: dict[str, np.ndarray], old: np.ndarray, new: np.ndarray, sizes: np.ndarray
) -> dict[str, np.ndarray]:
    """The same lists where they begin at `new`, (n + 1,) with the end of the last one's room; they began at `old`."""
    here, there = places_of(old[:-1], sizes), places_of(new[:-1], sizes)
    moved = {name: np.zeros((new[-1], *array.shape[1:]), array.dtype) for name, array in arrays.items()}
    for name, array in arrays.items():
        moved[name][there] = array[here]
    return moved
