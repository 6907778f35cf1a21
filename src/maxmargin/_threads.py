"""Work on ranges of samples, one thread each."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def on_ranges(n: int, n_threads: int, call: Callable[[int, int], None]) -> None:
    """Call ``call(first, last)`` for ranges that cover ``range(n)``, one thread each."""
    n_threads = min(n_threads, n)
    if n_threads == 1:
        call(0, n)
        return
    bounds = np.linspace(0, n, n_threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(call, bounds[:-1], bounds[1:]))
