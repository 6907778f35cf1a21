"""Whom a step tells what it changes: nobody, or the threads beside its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements, verb
from ...structures.changes import changes_bound, list_changes


class ToNobody(NamedTuple):
    """There is one thread."""


class ToOthers(NamedTuple):
    """Lists that others will read, of the last few rounds."""

    keys: np.ndarray  # (rounds, room)
    values: np.ndarray  # (rounds, room)
    block: np.ndarray  # (rounds, moves)
    end: np.ndarray  # (rounds, moves) where the changes of a move end
    moves: np.ndarray  # (rounds, LINE) how many there are, in the first word
    now: np.ndarray  # (LINE,) which of these rounds it is, in the first word


@verb
def tell_move(telling, problem, direction, run, i, gamma):
    """Block i is about to move so far along a direction."""


@implements(tell_move, ToNobody)
def _(telling, problem, direction, run, i, gamma):
    return None


@implements(tell_move, ToOthers)
def _(telling, problem, direction, run, i, gamma):
    now, first = telling.now[0], n_told(telling)
    count = telling.moves[now, 0]
    keys, values = telling.keys[now], telling.values[now]
    telling.block[now, count] = i
    telling.end[now, count] = list_changes(problem, direction, run.blocks, run.work, i, gamma, keys, values, first)
    telling.moves[now, 0] = count + 1


@helper
def n_told(telling):
    """How many changes are listed in this round."""
    now = telling.now[0]
    count = telling.moves[now, 0]
    return telling.end[now, count - 1] if count > 0 else 0


@helper
def lacks_room_to_tell(telling, problem, blocks, i, moves):
    """Whether so many moves of block i, one after the other, may change more than there is room for."""
    return n_told(telling) + changes_bound(problem, blocks, i, moves) > telling.keys.shape[1]
