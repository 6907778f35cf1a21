"""Pairs of labels: which are listed, what labels lend them, and how they share their mass."""  # yen16, App. C-2

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, verb
from ...structures.factors.label_sets import BOTH, FIRST, NEITHER, SECOND, Interactions, LabelSets, change_interaction
from ...structures.factors.oracles import Exhaustive
from ...structures.verbs import new_work
from .steps import Outputs, new_outputs, share_mass


class ByMargins(NamedTuple):
    """Only pairs of labels are looked at that could not pay for all their pairs."""


class Scratch(NamedTuple):
    """Of one run. Flags are False, and sums 0, between calls."""

    work: Any  # of the labels: what they gain by themselves, which change, and how much
    pull: np.ndarray  # (L,) sums of messages
    degree: np.ndarray  # (L,) listed pairs
    rise: np.ndarray  # (L,) what interactions > 0 of pairs that are not listed add
    lent: float  # the share of that what labels are worse by which they lend
    spare: np.ndarray  # (L,) how much worse than none labels without a share are
    is_listed: np.ndarray  # (L, L) bool
    interactions: Interactions
    outputs: Outputs  # of a pair
    visited: np.ndarray  # (2,) pairs looked at, and visits


def new_scratch(parts: LabelSets, interactions: Interactions, lent: float) -> Scratch:
    n_labels, outputs = parts.labels.present.shape[1], new_outputs(4)
    outputs.row[:], outputs.column[:] = (0, 0, 1, 1), (0, 1, 0, 1)
    return Scratch(
        work=new_work(parts.labels),
        pull=np.zeros(n_labels),
        degree=np.zeros(n_labels),
        rise=np.zeros(n_labels),
        lent=lent,
        spare=np.zeros(n_labels),
        is_listed=np.zeros((n_labels, n_labels), np.bool_),
        interactions=interactions,
        outputs=outputs,
        visited=np.zeros(2, np.int64),
    )


@helper
def label_at(lists, p, end):
    return lists.a[p] if end == 0 else lists.b[p]


@helper
def message(lists, i, p, end):
    """What pair p gives its first or second label more than it has, and the multiplier."""
    mass = lists.mass[p]
    alone = mass[FIRST] if end == 0 else mass[SECOND]
    return mass[BOTH] + alone - lists.share[i, label_at(lists, p, end)] + lists.multiplier[p, end]


@helper
def mark(lists, scratch, i, flag):
    for p in range(lists.first[i], lists.first[i] + lists.size[i]):
        a, b = lists.a[p], lists.b[p]
        scratch.is_listed[a, b], scratch.is_listed[b, a] = flag, flag


@verb
def is_clear(search, spare, rise):
    """Whether a label without a share can be left out of the search."""


@implements(is_clear, ByMargins)
def _(search, spare, rise):
    return spare >= rise


@implements(is_clear, Exhaustive)
def _(search, spare, rise):
    return False


@helper
def list_pairs(lists, scratch, search, i):
    """List pairs that cannot agree with their labels as they are, and those of interactions > 0 that nobody pays for.

    A label without a share that is worse than none by more than all its interactions > 0 add has a message to each of
    them that makes it worthless, and no need to write it down. What finds no room waits for the next pass.
    """
    count, active = 0, scratch.work.active
    for k in range(lists.share.shape[1]):
        if lists.share[i, k] > 0.0 or not is_clear(search, scratch.spare[k], scratch.rise[k]):
            active[count] = k
            count += 1
    for x in range(count):
        for y in range(x):
            a, b = active[y], active[x]
            is_needed = scratch.interactions.table[a, b] > 0.0 or lists.share[i, a] + lists.share[i, b] > 1.0
            if is_needed and not scratch.is_listed[a, b]:
                list_pair(lists, scratch, i, a, b)
    scratch.visited[0] += count * (count - 1) // 2
    scratch.visited[1] += 1


@helper
def list_pair(lists, scratch, i, a, b):
    """Neither or one of two labels is in the truth: as it is there, with a distribution that agrees if there is one."""
    p = lists.first[i] + lists.size[i]
    if p == lists.first[i + 1]:
        return
    q, r = lists.share[i, a], lists.share[i, b]
    both = max(q + r - 1.0, 0.0)
    lists.a[p], lists.b[p] = a, b
    lists.mass[p, BOTH] = 0.0
    lists.mass[p, FIRST], lists.mass[p, SECOND] = q - 0.5 * both, r - 0.5 * both
    lists.mass[p, NEITHER] = 1.0 - lists.mass[p, FIRST] - lists.mass[p, SECOND]
    lists.multiplier[p, 0], lists.multiplier[p, 1] = 0.0, 0.0
    lists.size[i] += 1
    scratch.is_listed[a, b], scratch.is_listed[b, a] = True, True


@helper
def lend(lists, scratch, rho, i, p):
    """Labels without a share lend, if they can, what a pair would gain by giving them one; see :mod:`.settling`.

    A pair's score of both labels lies above that of those that have a share by the interaction, less what the others
    take; a label's message counts twice, for it and against its being absent.
    """
    need = scratch.interactions.table[lists.a[p], lists.b[p]]
    for end in range(2):
        if lists.share[i, label_at(lists, p, end)] == 0.0:
            need -= 2.0 * rho * message(lists, i, p, end)
    for end in range(2):
        k = label_at(lists, p, end)
        if need > 0.0 and lists.share[i, k] == 0.0:
            part = min(need, scratch.spare[k])
            lists.multiplier[p, end] += 0.5 * part / rho
            scratch.spare[k] -= part
            need -= part


@helper
def move_pair(parts, lists, scratch, step, w, share, rho, i, p):
    outputs, mass, a, b = scratch.outputs, lists.mass[p], lists.a[p], lists.b[p]
    of_a, of_b = rho * message(lists, i, p, 0), rho * message(lists, i, p, 1)
    outputs.score[BOTH], outputs.score[NEITHER] = scratch.interactions.table[a, b] - of_a - of_b, of_a + of_b
    outputs.score[FIRST], outputs.score[SECOND] = of_b - of_a, of_a - of_b
    for state in range(4):
        outputs.mass[state] = mass[state]
    share_mass(step, outputs, 4, share, rho)
    change = outputs.wanted[BOTH] - mass[BOTH]
    if change != 0.0:
        change_interaction(scratch.interactions, w, parts.first_pair, a, b, -share * change)
    for state in range(4):
        mass[state] = outputs.wanted[state]
