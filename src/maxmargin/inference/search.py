"""Best-first branch and bound over sets of outputs, given how to bound and how to split them.

A *state* is a set of outputs, whatever way it is written. Best first means that the set of the highest bound is split
next; a set of one output comes out when no other set can hold a better one. So the first that comes out is the best,
and to go on gives the second best, the third, and so on (pillutla18, Algorithm 13).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

State = TypeVar("State")


class OutOfBudget(RuntimeError):
    """The search stopped early; what it has not yielded is worth `bound` at most.

    Parameters
    ----------
    expansions : int
        How many sets were split.
    bound : float
        The highest bound left.

    Attributes
    ----------
    bound : float
        The highest bound left.

    Examples
    --------
    >>> from maxmargin.inference import OutOfBudget, best_first
    >>> try:
    ...     next(best_first("abcd", len, lambda s: [s[:1], s[1:]] if len(s) > 1 else [], max_expansions=2))
    ... except OutOfBudget as stop:
    ...     print(stop.bound)
    2.0
    """

    def __init__(self, expansions: int, bound: float):
        super().__init__(
            f"no further output found by splitting {expansions} sets; none is better than {bound:g}. "
            "Raise max_expansions, or find tighter bounds"
        )
        self.bound = bound


class _Entry(NamedTuple):
    rank: float  # minus the bound: heapq takes the smallest first
    number: int  # the latest first where bounds are equal, so that ties are followed to their end, not all along
    state: Any


def best_first(
    root: State,
    bound: Callable[[State], float],
    split: Callable[[State], Iterable[State]],
    max_expansions: int | None = None,
) -> Iterator[tuple[State, float]]:
    """Single outputs and their values, best first.

    Parameters
    ----------
    root : state
        All outputs.
    bound : callable
        Number that no output of a state exceeds; of a single output, its value. -inf drops a state.
    split : callable
        Parts of a state, which hold each of its outputs exactly once; nothing for a single output.
    max_expansions : int, optional
        Raise `OutOfBudget`, with the highest bound left, when more states than this had to be split.

    Yields
    ------
    state
        A single output.
    float
        Its value.

    Examples
    --------
    The three largest sums of one number of each list:

    >>> import itertools
    >>> from maxmargin.inference import best_first
    >>> lists = [[3, 1], [2, 5], [4]]
    >>> def bound(chosen):
    ...     return sum(chosen) + sum(max(options) for options in lists[len(chosen):])
    >>> def split(chosen):
    ...     return [(*chosen, one) for one in lists[len(chosen)]] if len(chosen) < len(lists) else []
    >>> list(itertools.islice(best_first((), bound, split), 3))
    [((3, 5, 4), 12.0), ((1, 5, 4), 10.0), ((3, 2, 4), 9.0)]
    """
    numbers, expansions = itertools.count(0, -1), 0
    heap: list[_Entry] = []

    def push(state: State) -> None:
        value = float(bound(state))
        if value != value:
            raise ValueError(f"bound must be a number, got NaN for the state {state!r}")
        if value > -float("inf"):
            heapq.heappush(heap, _Entry(-value, next(numbers), state))

    push(root)
    while heap:
        entry = heapq.heappop(heap)
        parts = list(split(entry.state))
        if not parts:
            yield entry.state, -entry.rank
            continue
        if expansions == max_expansions:
            raise OutOfBudget(expansions, -entry.rank)
        expansions += 1
        for part in parts:
            push(part)
