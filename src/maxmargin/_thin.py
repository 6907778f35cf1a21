"""Large arrays of which little is ever written to."""

from __future__ import annotations

import math
import mmap
from typing import Any

import numpy as np

LARGE = 1 << 22  # bytes, from which on numpy asks for pages of 2 MB


def thin_zeros(shape: int | tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """Zeros that take memory page by page, as they are written to.

    Those of numpy take it 2 MB at a time where the system lets them, so that a number here and there makes all of a
    large array resident.
    """
    kind, size = np.dtype(dtype), math.prod(np.atleast_1d(shape).tolist())
    if size * kind.itemsize < LARGE:
        return np.zeros(shape, kind)
    pages = mmap.mmap(-1, size * kind.itemsize)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, kind).reshape(shape)
