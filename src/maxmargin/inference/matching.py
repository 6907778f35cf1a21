"""Matchings of rows with columns: the best, the k best, and max-marginals, from a matrix of scores.

A matching uses every row and every column at most once. Its value is the sum of the scores of its pairs; what stays
unmatched adds 0, and -inf forbids a pair. With ``perfect=True`` every row must be matched.

Both kinds are assignments: perfect matchings as they are, partial ones when every row has a column of its own, of score
0, which no other row may take. All but the best partial matching is found on such a table, by paths in its residual
graph (pillutla18, Algorithm 12, after duchi06; derived here since the printed weights are wrong).

Take an optimal assignment as a flow: a node 0 sends a unit through every row, along the row's pair, through the column,
back to node 0. In the residual graph a row leads to every column it does not use (weight: the score), a used column
back to its row (minus the score), a free column to node 0, and node 0 to every used column (both 0). Optimality means
that no cycle has a weight above 0. The difference of any other assignment is a union of cycles, so the best one with a
pair (i, j) differs by one cycle through that arc: it changes the value by the score of (i, j) plus the longest path
from j to i. And the best one without column j changes it by the longest path from j to node 0.
Every column has but one arc to leave by, so paths need only be known between the rows and node 0.
"""

from __future__ import annotations

import heapq
import itertools
import numbers
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy.optimize import linear_sum_assignment


class MatchingMaxMarginals(NamedTuple):
    """Values of the best matchings that have one thing in common; -inf where there are none.

    Attributes
    ----------
    pairs : ndarray of shape (n, m)
        The pair is matched.
    rows : ndarray of shape (n,)
        The row is unmatched.
    columns : ndarray of shape (m,)
        The column is unmatched.
    """

    pairs: np.ndarray
    rows: np.ndarray
    columns: np.ndarray


def best_matching(scores: Any, perfect: bool = False) -> tuple[np.ndarray, float]:
    """The best matching of rows with columns.

    Parameters
    ----------
    scores : array_like of shape (n, m)
        What each pair is worth; -inf forbids it.
    perfect : bool
        Every row must be matched; else pairs that are worth 0 or less stay unmatched.

    Returns
    -------
    columns : ndarray of shape (n,)
        The column of every row, -1 for none; all are where there is no perfect matching.
    value : float
        The sum of the scores, -inf where there is no perfect matching.

    Examples
    --------
    >>> from maxmargin.inference import best_matching
    >>> best_matching([[3.0, 2.0], [2.5, -1.0]])
    (array([1, 0]), 4.5)
    >>> best_matching([[3.0, -2.0], [2.0, -1.0]], perfect=True)
    (array([0, 1]), 2.0)
    """
    scores = _checked(scores)
    if perfect:
        columns = _assign(scores)
        return (np.full(len(scores), -1), -np.inf) if columns is None else (columns, _value(scores, columns))
    # A pair that does not pay counts as 0, as if unmatched: any assignment of the smaller side is then a matching.
    gains = np.maximum(scores, 0.0)
    rows, partners = linear_sum_assignment(gains, maximize=True)
    kept = gains[rows, partners] > 0.0
    columns = np.full(len(scores), -1)
    columns[rows[kept]] = partners[kept]
    return columns, _value(scores, columns)


def matching_max_marginals(scores: Any, perfect: bool = False) -> MatchingMaxMarginals:
    """For every pair the value of the best matching that has it, for every row and column of the best without it.

    Parameters
    ----------
    scores : array_like of shape (n, m)
        What each pair is worth; -inf forbids it.
    perfect : bool
        Every row must be matched.

    Returns
    -------
    MatchingMaxMarginals
        Values of pairs, rows and columns.

    Examples
    --------
    >>> from maxmargin.inference import matching_max_marginals
    >>> matching_max_marginals([[3.0, 2.0], [2.5, -1.0]]).pairs
    array([[3. , 4.5],
           [4.5, 2. ]])
    """
    scores = _checked(scores)
    if len(scores) > scores.shape[1] and not perfect:
        pairs, rows, columns = matching_max_marginals(scores.T)  # the cost is cubic in the number of rows
        return MatchingMaxMarginals(pairs.T, columns, rows)
    n, m = scores.shape
    columns, value = best_matching(scores, perfect)
    if value == -np.inf:
        return MatchingMaxMarginals(np.full((n, m), -np.inf), np.full(n, -np.inf), np.full(m, -np.inf))
    if perfect:
        pairs, without = _changes(scores, columns)
        return MatchingMaxMarginals(value + pairs, np.full(n, -np.inf), value + without)
    pairs, without = _changes(_padded(scores), _with_spares(columns, m))
    return MatchingMaxMarginals(value + pairs[:, :m], value + np.diagonal(pairs[:, m:]), value + without[:m])


def top_matchings(scores: Any, k: int, perfect: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The k best matchings, told apart by their pairs, those of score 0 included.

    Costs one assignment and two times all longest paths for each matching, all cubic in the size.

    Parameters
    ----------
    scores : array_like of shape (n, m)
        What each pair is worth; -inf forbids it.
    k : int
        How many matchings, at least 1.
    perfect : bool
        Every row must be matched.

    Returns
    -------
    columns : ndarray of shape (k, n)
        The column of every row, -1 for none, best first; fewer where there are no more.
    values : ndarray of shape (k,)
        What they are worth.

    Examples
    --------
    >>> from maxmargin.inference import top_matchings
    >>> columns, values = top_matchings([[3.0, 2.0], [2.5, -1.0]], 2)
    >>> columns.tolist(), values.tolist()
    ([[1, 0], [0, -1]], [4.5, 3.0])
    """
    scores = _checked(scores)
    if isinstance(k, bool) or not isinstance(k, numbers.Integral) or k < 1:
        raise ValueError(f"k must be an integer >= 1, got {k!r}")
    m = scores.shape[1]
    columns, value = best_matching(scores, perfect)
    if value == -np.inf:
        return np.empty((0, len(scores)), np.int64), np.empty(0)
    table = scores if perfect else _padded(scores)
    found = np.array(_best_first(table, _with_spares(columns, m), int(k)))
    values = np.array([_value(table, columns) for columns in found])
    order = np.argsort(-values, kind="stable")  # values along paths and of pairs added up differ by rounding
    found[found >= m] = -1
    return found[order], values[order]


def matching_marginals(scores: Any) -> NoReturn:
    """Refused: there is no feasible way to sum over matchings.

    Parameters
    ----------
    scores : array_like of shape (n, m)
        Not looked at.

    Raises
    ------
    NotImplementedError
        Always, saying why.

    Examples
    --------
    >>> from maxmargin.inference import matching_marginals
    >>> matching_marginals([[1.0]])
    Traceback (most recent call last):
    NotImplementedError: marginals of matchings need the sum of exp(score) over all of them, ...
    """
    raise NotImplementedError(
        "marginals of matchings need the sum of exp(score) over all of them, a permanent, which is #P-complete "
        "(Valiant, 1979); max-marginals and the k best matchings are exact"
    )


def _best_first(table: np.ndarray, best: np.ndarray, k: int) -> list[np.ndarray]:
    """The k best assignments of a table, `best` being one of the best (yanover04; pillutla18, Algorithm 10).

    The set of all assignments is divided. Of every part, its best and the pair (i, j) of its second best that the best
    has not are known: the second best of all parts is next, and its part is divided into those with (i, j) and those
    without. Every assignment but the part's best has some pair that the best has not, so max-marginals find it whatever
    the ties.
    """
    found, number = [best], itertools.count()
    heap: list[tuple] = []

    def add(columns: np.ndarray, allowed: np.ndarray) -> None:
        restricted = np.where(allowed, table, -np.inf)
        change, _ = _changes(restricted, columns)
        change[np.arange(len(columns)), columns] = -np.inf
        if change.size and (largest := change.max()) > -np.inf:
            i, j = np.unravel_index(int(change.argmax()), change.shape)
            heapq.heappush(heap, (-(_value(table, columns) + largest), next(number), columns, allowed, i, j))

    add(best, np.ones(table.shape, bool))
    while heap and len(found) < k:
        _, _, columns, allowed, i, j = heapq.heappop(heap)
        having = allowed.copy()
        having[i] = False
        having[i, j] = True
        other = _assign(np.where(having, table, -np.inf))
        assert other is not None  # its value is known, and finite
        found.append(other)
        if len(found) < k:
            allowed[i, j] = False
            add(columns, allowed)
            add(other, having)
    return found


def _changes(table: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much less the best assignment is worth with a pair (n, m) or without a column (m,), numbers <= 0.

    `columns` is an optimal assignment of all rows.
    """
    n, m = table.shape
    every = np.arange(n)
    own = table[every, columns]
    free = np.ones(m, bool)
    free[columns] = False
    path = np.zeros((n + 1, n + 1))  # longest paths between rows, node 0 being the last
    path[:n, :n] = table[:, columns] - own  # a row takes the column of another
    path[:n, n] = table[:, free].max(axis=1, initial=-np.inf)  # a row takes a free column
    path[n, :n] = -own  # a row gives up its column
    # By hand: scipy's Floyd-Warshall takes arcs of weight 0 for none, and rounding for a cycle without end.
    for via in range(n + 1):
        np.maximum(path, path[:, via, None] + path[via], out=path)
    onward = np.empty((m, n + 1))  # from every column
    onward[free] = path[n]
    onward[columns] = path[:n] - own[:, None]
    with_pair = np.minimum(table + onward[:, :n].T, 0.0)
    with_pair[every, columns] = 0.0
    return with_pair, np.where(free, 0.0, np.minimum(onward[:, n], 0.0))


def _assign(table: np.ndarray) -> np.ndarray | None:
    """The best column of every row, or None if there are not enough."""
    if len(table) > table.shape[1]:
        return None
    try:
        return linear_sum_assignment(table, maximize=True)[1]
    except ValueError:  # infeasible; numbers that it would refuse have been refused
        return None


def _value(scores: np.ndarray, columns: np.ndarray) -> float:
    rows = np.flatnonzero(columns >= 0)
    return float(scores[rows, columns[rows]].sum())


def _padded(scores: np.ndarray) -> np.ndarray:
    """(n, m + n): the scores, then a column for every row alone, taken when it is unmatched."""
    spare = np.full((len(scores), len(scores)), -np.inf)
    np.fill_diagonal(spare, 0.0)
    return np.hstack([scores, spare])


def _with_spares(columns: np.ndarray, m: int) -> np.ndarray:
    """Columns of the padded table."""
    return np.where(columns >= 0, columns, m + np.arange(len(columns)))


def _checked(scores: Any) -> np.ndarray:
    scores = np.asarray(scores, np.float64)
    if scores.ndim != 2:
        raise ValueError(f"scores must be a matrix, got shape {scores.shape}")
    if not (scores < np.inf).all():
        raise ValueError("scores must be numbers below infinity; -inf forbids a pair")
    return scores
