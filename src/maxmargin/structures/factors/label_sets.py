"""Sets of labels that interact, taken apart: every label is a site with two states, every pair of labels a link.

A label's distribution is one number, its share q_l. A pair's is four, the masses of both, the first alone, the second
alone and neither; what it gives a label and the label's share differ by one number, and so have one multiplier. Nearly
all pairs have nothing to say: one whose labels may keep both-or-not as it is in the truth, whatever their shares, needs
no message, since some distribution with that agrees with them. Only pairs are listed that cannot, ``q_l + q_m > 1``
without both in the truth, or whose interaction is positive and more than one of their labels could pay for, together
with all its others. Those of true labels are listed from the start.
"""  # yen16, App. C-2

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, kernel
from ...inference.roof import relax, sums_of_pairs
from ..multilabel import MultilabelProblem
from ..pools import moved_lists, starts_of
from ..verbs import find_potentials

BOTH, FIRST, SECOND, NEITHER = range(4)


class LabelSets(NamedTuple):
    """What is learned: the labels, and where the weights of pairs begin."""

    labels: MultilabelProblem
    first_pair: int

    @property
    def weight(self) -> np.ndarray:
        return self.labels.weight


class PairLists(NamedTuple):
    """The dual state: shares of labels, and lists of pairs of every sample."""

    share: np.ndarray  # (n, L) q_l
    first: np.ndarray  # (n + 1,) where lists begin
    size: np.ndarray  # (n,)
    a: np.ndarray  # (P,) int32, the lower label
    b: np.ndarray  # (P,) int32
    mass: np.ndarray  # (P, 4)
    multiplier: np.ndarray  # (P, 2) of a and of b, scaled


def new_pair_lists(parts: LabelSets) -> PairLists:
    """All mass on the true sets, whose pairs are listed."""
    present = parts.labels.present
    pairs = [np.stack(np.triu_indices(row.sum(), 1)) for row in present]
    labels = [np.flatnonzero(row) for row in present]
    a, b = np.concatenate([of[two] for of, two in zip(labels, pairs, strict=True)], axis=1).astype(np.int32)
    size = np.array([two.shape[1] for two in pairs])
    mass = np.zeros((len(a), 4))
    mass[:, BOTH] = 1.0
    return PairLists(present.astype(np.float64), starts_of(size), size, a, b, mass, np.zeros((len(a), 2)))


def with_more_room(lists: PairLists) -> PairLists:
    """The same lists, where those that are full get half of their length, and a few entries, more."""
    room, n_labels = np.diff(lists.first), lists.share.shape[1]
    full = lists.size == room
    room = np.minimum(np.where(full, 2 * room + 16, room), n_labels * (n_labels - 1) // 2)
    first, arrays = starts_of(room), {name: getattr(lists, name) for name in ("a", "b", "mass", "multiplier")}
    return lists._replace(first=first, **moved_lists(arrays, lists.first, first, lists.size))


@helper
def place_of_pair(n_labels, a, b):
    """Where a pair a < b is in the triangle of weights."""
    return a * (2 * n_labels - a - 1) // 2 + b - a - 1


class Interactions(NamedTuple):
    """Weights of pairs, symmetric, and their sums."""

    table: np.ndarray  # (L, L)
    rises: np.ndarray  # (L,) what all interactions > 0 of a label add


def read_interactions(parts: LabelSets, w: np.ndarray) -> Interactions:
    n_labels = parts.labels.present.shape[1]
    table = np.zeros((n_labels, n_labels))
    fill_table(parts.first_pair, w, table)
    return Interactions(table, np.maximum(table, 0.0).sum(axis=0))


@kernel
def fill_table(first_pair, w, table):
    """The weights of pairs as a symmetric table."""
    n_labels, p = table.shape[0], first_pair
    for a in range(n_labels):
        for b in range(a + 1, n_labels):
            table[a, b] = table[b, a] = w[p]
            p += 1


@kernel
def find_set_hinges(parts, work, table, w, hinges):
    """``hinges[i] = max_mu H_i(mu; w)`` over points of the relaxation, as :mod:`~maxmargin.inference.roof` bounds it.

    The loss of the empty set is in both values that differ here, and left out.
    """
    rises, falls = sums_of_pairs(table)
    shares = np.zeros(len(table))
    for i in range(len(hinges)):
        find_potentials(parts.labels, work, w[: parts.first_pair], i)
        hinges[i] = relax(work.node, table, rises, falls, shares) - worth(work.node, table, parts.labels.present[i])


@helper
def worth(gains, table, present):
    """The value of a set."""
    total = 0.0
    for a in range(len(gains)):
        if present[a]:
            total += gains[a]
            for b in range(a):
                total += table[a, b] * present[b]
    return total


@helper
def change_interaction(interactions, w, first_pair, a, b, amount):
    table = interactions.table
    value = table[a, b] + amount
    rise = max(value, 0.0) - max(table[a, b], 0.0)
    interactions.rises[a] += rise
    interactions.rises[b] += rise
    table[a, b], table[b, a] = value, value
    w[first_pair + place_of_pair(table.shape[0], a, b)] = value
