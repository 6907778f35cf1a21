"""What is averaged over the iterates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, kernel, verb
from ...structures.changes import shared_out
from ...structures.verbs import accumulate, lacks_room_to_add, new_totals, with_room_to_add


@verb
def before_change(averaging, problem, blocks, i, k):
    """Called when block i is about to change in step k (counted from 0 over the whole run)."""


@verb
def sums_lack_room(averaging, problem, blocks, i):
    """Whether sums must get room before block i may change."""


@verb
def with_room_for_sums(averaging, problem, blocks):
    """The averaging where any block may change."""


@verb
def settle(averaging, problem, blocks, k):
    """Sums of the blocks over the first k steps and the weight they hold, or None where nothing is averaged."""


@verb
def averaging_shares(averaging, problem, n_shares):
    """The same averaging for each of several threads, see ``shared_out``. For Python only."""


class NoAveraging(NamedTuple):
    """Only iterates count."""


@implements(before_change, NoAveraging)
def _(averaging, problem, blocks, i, k):
    return None


@implements(sums_lack_room, NoAveraging)
def _(averaging, problem, blocks, i):
    return False


@implements(with_room_for_sums, NoAveraging)
def _(averaging, problem, blocks):
    return averaging


@implements(settle, NoAveraging)
def _(averaging, problem, blocks, k):
    return None


@implements(averaging_shares, NoAveraging)
def _(averaging, problem, n_shares):
    return [averaging] * n_shares


class WeightedAveraging(NamedTuple):
    """Iterates averaged with weights 1, 2, 3, …, lazily: a block is added up when it is about to change.

    The recursion ``w_bar = k/(k+2) w_bar + 2/(k+2) w`` of lacoste13, Alg. 4 is the mean of ``w^(t)`` with weight t.
    """

    totals: Any  # the structure's block state, summed with weights
    counted: np.ndarray  # (n,) weight up to which the block is added up
    begun: int  # the step at which averaging began

    @classmethod
    def begin(cls, problem: Any, steps: int) -> WeightedAveraging:
        """Averages of what comes after so many steps."""
        return cls(new_totals(problem), np.zeros(len(problem.weight)), steps)


@helper
def weight_until(k):
    """Weight of the iterates w^(1) … w^(k); the start, w^(0), has weight 0."""
    return 0.5 * k * (k + 1.0)


@implements(before_change, WeightedAveraging)
def _(averaging, problem, blocks, i, k):
    weight = weight_until(k - averaging.begun)
    accumulate(problem, averaging.totals, blocks, i, weight - averaging.counted[i])
    averaging.counted[i] = weight


@implements(sums_lack_room, WeightedAveraging)
def _(averaging, problem, blocks, i):
    return lacks_room_to_add(problem, averaging.totals, blocks, i)


@implements(with_room_for_sums, WeightedAveraging)
def _(averaging, problem, blocks):
    return averaging._replace(totals=with_room_to_add(problem, averaging.totals, blocks))


@implements(averaging_shares, WeightedAveraging)
def _(averaging, problem, n_shares):
    return [averaging._replace(totals=one) for one in shared_out(problem, averaging.totals, n_shares)]


@kernel
def settle_pass(problem, totals, blocks, counted, weight):
    """Bring lazily kept sums up to date."""
    for i in range(counted.shape[0]):
        accumulate(problem, totals, blocks, i, weight - counted[i])
        counted[i] = weight


@implements(settle, WeightedAveraging)
def _(averaging, problem, blocks, k):
    weight = weight_until(k - averaging.begun)
    if weight == 0.0:
        return None
    settle_pass(problem, averaging.totals, blocks, averaging.counted, weight)
    return averaging.totals, weight


def check_averaging(averaging: Any) -> None:
    """Refuse what is no way to average."""
    if averaging not in (None, "weighted"):
        raise ValueError(f'averaging must be None or "weighted", got {averaging!r}')
