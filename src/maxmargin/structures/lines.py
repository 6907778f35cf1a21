"""Potentials at weights on a line, ``anchor + share offset``, of which the share changes faster than anybody could
write weights down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._compile import helper, implements, verb
from .verbs import find_potentials_with, find_support


class Line(NamedTuple):
    """Weights ``anchor + share offset``."""

    anchor: np.ndarray  # (d,)
    offset: np.ndarray  # (d,)
    w: np.ndarray  # (d,) room for the weights of a block
    support: np.ndarray  # room for the ranges of these


@verb
def find_potentials_on(problem, line, work, i, share, emphasis):
    """Potentials of block i on a line, augmented by `emphasis` times the losses.

    Where verbs that speak of them read weights, too, ``line.w`` becomes these. By default that is wherever the block
    has weights, and potentials are found from there; a structure that adds up scores may do so for anchor and offset.
    """


@helper
def write_weights(line, count, share):
    """``line.w`` becomes the weights in the ranges listed."""
    for r in range(count):
        first, last = line.support[r, 0], line.support[r, 1]
        w, anchor, offset = line.w[first:last], line.anchor[first:last], line.offset[first:last]
        for p in range(w.shape[0]):  # loops from 0 vectorise
            w[p] = anchor[p] + share * offset[p]


@implements(find_potentials_on, object)
def _(problem, line, work, i, share, emphasis):
    write_weights(line, find_support(problem, i, line.support), share)
    find_potentials_with(problem, work, line.w, i, emphasis)
