"""Where sequences lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class ChainPlan(NamedTuple):
    """Positions that follow each other, K labels at each.

    What other plans spell out is known of chains: edge t joins the positions t and t + 1, and all edges have the same
    scores, the table (K, K) at the beginning of `edge`.
    """

    offsets: np.ndarray  # (n + 1,)
    start: np.ndarray  # (K,) added at the first position: 0 or -inf
    end: np.ndarray  # (K,) and at the last
    longest: int
