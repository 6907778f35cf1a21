"""The k best labelings of a tree, from best scores alone.

Label the nodes one after the other, each after its head, and rank partial labelings by the score of their best
completion, which the tables of max-product know exactly. The k best of each size are enough: each partial labeling left
out has k others whose best completions are k different labelings at least as good as all of its own. So top-k costs one
max-product and k looks at one column for each node; tables with k scores for each label (pillutla18, Alg. 2 and 8) cost
more than k times a max-product (about 15 operations for each pair of labels at k = 5 in place of 1). Ties need no care.

A step labels one node. Each slot remembers which slot of the step before it came from, and its label; labelings are
read off backwards at the end. To keep them whole and copy them wherever slots change places is no slower where scores
differ, since that is rare then, but with ties slots change at every node, and top-k took time in T^2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._compile import helper

# A score found again is the same but for the rounding of a few sums: far less than this share of what is added there.
ROUNDING, TINY = 1e-12, 1e-300


class Beam(NamedTuple):
    """Partial labelings, best first: the scores of two steps in turn, on two `sides`, and all that was chosen."""

    score: np.ndarray  # (2, k) of the best completion
    rest: np.ndarray  # (2, k) of what is labelled, where that is wanted
    origin: np.ndarray  # (N, k) by step: the slot that a label was added to
    pick: np.ndarray  # (N, k) that label


@helper
def new_beam(n_nodes, k):
    return Beam(np.zeros((2, k)), np.zeros((2, k)), np.zeros((n_nodes, k), np.int32), np.zeros((n_nodes, k), np.int32))


@helper
def least_of(beam, side, count, k):
    """What the scores of the next step exceed, since it can do as this one does: most labels need not be inserted.

    But for rounding: a step that finds fewer than k so must look again without it, unless its scores are those of the
    slots to the bit where nothing is lost, as those of trees are.
    """
    if count < k:
        return -np.inf
    last = beam.score[side, k - 1]
    return last - ROUNDING * abs(last) - TINY


@helper
def extend(beam, step, side, count, k, s, base, best, scores, column, least):
    """Add every label a to slot s: its best completion then has the score ``base - (best - scores[a] - column[a])``.

    The k best go to the other side, which has `count` so far; returns how many it has then.
    """
    floor = beam.score[1 - side, k - 1] if count == k else least - ROUNDING * (abs(base) + abs(best))
    for a in range(len(scores)):
        score = base - (best - (scores[a] + column[a]))
        if score > floor:
            count = insert(beam, step, 1 - side, count, k, score, s, a)
            if count == k:
                floor = beam.score[1 - side, k - 1]
    return count


@helper
def insert(beam, step, side, count, k, score, origin, pick):
    """Insert into the k best, after equals; the last of k goes."""
    scores, origins, picks = beam.score[side], beam.origin[step], beam.pick[step]
    at = count if count < k else k - 1
    while at > 0 and scores[at - 1] < score:
        scores[at] = scores[at - 1]
        origins[at] = origins[at - 1]
        picks[at] = picks[at - 1]
        at -= 1
    scores[at] = score
    origins[at] = origin
    picks[at] = pick
    return count + 1 if count < k else k
