"""What steps of one thread changed, for the weights of the others: verbs of structures whose blocks may tell.

A thread keeps block i as it was `before` a step, and lists which marginals are others after it: keys, whose meaning is
the structure's, and differences. Another thread adds them to weights of its own. What the step was does not matter.
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
def new_before(problem, capacity):
    """Room for one block, whose changes are no more than so many. For Python only."""


@verb
def changes_bound(problem, blocks, i):
    """No step changes more marginals of block i than that."""


@verb
def keep_before(problem, blocks, before, i):
    """Remember block i as it is."""


@verb
def list_changes(problem, before, blocks, i, keys, values, count):
    """List what has changed since, from position `count` on; returns where the list ends."""


@verb
def add_changes(problem, work, i, keys, values, first, last, scale, w):
    """``w -= scale phi`` of what is listed from `first` to `last`, of block i."""
