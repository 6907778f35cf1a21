"""The k best labelings of a tree, from best scores alone.

Label the nodes one after the other, each after its head, and rank partial labelings by the score of their best
completion, which the tables of max-product know exactly. The k best of each size are enough: each partial labeling left
out has k others whose best completions are k different labelings at least as good as all of its own. So top-k costs one
max-product and k looks at one column for each node; tables with k scores for each label (pillutla18, Alg. 2 and 8) cost
more than k times a max-product (about 15 operations for each pair of labels at k = 5 in place of 1). Ties need no care.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._compile import helper


class Beam(NamedTuple):
    """Partial labelings, best first, of two sizes in turn: slots of one `side` come from slots of the other."""

    score: np.ndarray  # (2, k) of the best completion
    rest: np.ndarray  # (2, k) of what is labelled, where that is wanted
    origin: np.ndarray  # (k,) the slot that a label was added to
    pick: np.ndarray  # (k,) that label
    spare: np.ndarray  # (k, N)


@helper
def new_beam(n_nodes, k):
    spare = np.zeros((k, n_nodes), np.int32)
    return Beam(np.zeros((2, k)), np.zeros((2, k)), np.zeros(k, np.int32), np.zeros(k, np.int32), spare)


@helper
def extend(beam, side, count, k, s, base, best, scores, column):
    """Add every label a to slot s: its best completion then has the score ``base - (best - scores[a] - column[a])``.

    The k best go to the other side, which has `count` so far; returns how many it has then.
    """
    for a in range(len(scores)):
        score = base - (best - (scores[a] + column[a]))
        if score > (beam.score[1 - side, k - 1] if count == k else -np.inf):
            count = insert(beam, 1 - side, count, k, score, s, a)
    return count


@helper
def insert(beam, side, count, k, score, origin, pick):
    """Insert into the k best, after equals; the last of k goes."""
    scores = beam.score[side]
    at = count if count < k else k - 1
    while at > 0 and scores[at - 1] < score:
        scores[at] = scores[at - 1]
        beam.origin[at] = beam.origin[at - 1]
        beam.pick[at] = beam.pick[at - 1]
        at -= 1
    scores[at] = score
    beam.origin[at] = origin
    beam.pick[at] = pick
    return count + 1 if count < k else k


@helper
def write_picks(beam, count, v, labels):
    """Rows of `labels` follow their slots, with the new labels at node v. Mostly slots stay where they are."""
    moved = False
    for s in range(count):
        moved |= beam.origin[s] != s
    if moved:
        for s in range(count):
            for u in range(labels.shape[1]):
                beam.spare[s, u] = labels[beam.origin[s], u]
        for s in range(count):
            for u in range(labels.shape[1]):
                labels[s, u] = beam.spare[s, u]
    for s in range(count):
        labels[s, v] = beam.pick[s]
