"""What moves of one thread change, for the weights of the others: verbs of structures whose blocks may tell.

Before block i moves, its thread lists which marginals will change: keys, whose meaning is the structure's, and
differences, which add up where a key is listed twice. Another thread adds them to weights of its own.
"""

from __future__ import annotations

import numpy as np

from .._compile import implements, verb
from .verbs import n_blocks


@verb
def tells_changes(problem):
    """Whether there are the verbs below. For Python only."""


@implements(tells_changes, object)
def _(problem):
    return False


@verb
def blocks_tell(problem, blocks):
    """Whether these do, then: blocks of an earlier run may be kept in another way. For Python only."""


@implements(blocks_tell, object)
def _(problem, blocks):
    return True


@verb
def sizes_of_blocks(problem):
    """(n,) in proportion to the time of a step; by default all alike. For Python only."""


@implements(sizes_of_blocks, object)
def _(problem):
    return np.ones(n_blocks(problem))


@verb
def shared_out(problem, blocks, n_shares):
    """The same blocks, or sums, for each of several threads, with a share of what room was free. For Python only."""


@implements(shared_out, object)
def _(problem, blocks, n_shares):
    return [blocks] * n_shares


@verb
def changes_bound(problem, blocks, i, moves):
    """So many moves of block i, one after the other, list no more changes than that."""


@verb
def list_changes(problem, direction, blocks, work, i, gamma, keys, values, count):
    """List what a move of length gamma is about to change, from position `count` on; returns where the list ends."""


@verb
def announce_changes(problem, i, keys, first, last):
    """What is listed from `first` to `last` will be added soon: its features, which nobody has had here, are wanted.

    By default none are fetched ahead.
    """


@verb
def announce_changed_weights(problem, work, i, keys, first, last, w):
    """Features have come; the weights that will change are wanted. By default none are fetched."""


@implements(announce_changes, object)
def _(problem, i, keys, first, last):
    return None


@implements(announce_changed_weights, object)
def _(problem, work, i, keys, first, last, w):
    return None


@verb
def add_changes(problem, work, i, keys, values, first, last, scale, w):
    """``w -= scale phi`` of what is listed from `first` to `last`, of one move of block i."""
