"""Where sequences lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class ChainPlan(NamedTuple):
    """Positions that follow each other, K labels at each.

    What other plans spell out is known of chains: edge t joins the positions t and t + 1, and all edges have the same
    scores, the table (K, K) at the beginning of `edge`.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,)
        Sequence i has the positions ``offsets[i]:offsets[i + 1]``.
    start : ndarray of shape (K,)
        Scores added at the first position: 0, or -inf for labels that are forbidden there.
    end : ndarray of shape (K,)
        The same at the last position.
    longest : int
        Positions of the longest sequence.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import ChainPlan
    >>> from maxmargin.inference.verbs import find_best, new_scratch
    >>> plan = ChainPlan(np.array([0, 3]), np.zeros(2), np.zeros(2), 3)
    >>> node, stay = np.array([1.0, 0.0, 0.0, 0.5, 1.0, 0.0]), np.eye(2).ravel()
    >>> labels = np.zeros(3, int)
    >>> float(find_best(plan, 0, node, stay, new_scratch(plan, 1), labels))
    4.0
    >>> labels
    array([0, 0, 0])
    """

    offsets: np.ndarray
    start: np.ndarray
    end: np.ndarray
    longest: int


class SparseChainPlan(NamedTuple):
    """Positions that follow each other, many labels at each, and edge scores that are 0 but for a few.

    Answers are those of a :class:`ChainPlan`, of which it has the fields; the best labeling is found without a look at
    all pairs of labels. Where scores are not 0, a scratch finds out when it first sees a table, and remembers: it is to
    be told of changes, see `inference.verbs.forget_tables`.
    """

    offsets: np.ndarray
    start: np.ndarray
    end: np.ndarray
    longest: int
