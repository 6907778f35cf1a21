"""One sample after another, whose labels and listed pairs share anew: greedy steps on few factors of many.

As :mod:`.loop` says, with two states of a label: its messages to both are opposite numbers, so that a label's share has
the gain ``score + cost + 2 rho sum m`` and the curvature ``c_i/lam |phi|^2 + 2 rho pairs``, and its step is exact. Of
labels without a pair the one that gains most moves at a visit, and all that have moved before.
"""  # yen16, Alg. 3

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, kernel
from ...structures.factors.label_sets import (
    BOTH,
    FIRST,
    NEITHER,
    SECOND,
    Interactions,
    LabelSets,
    PairLists,
    best_unlisted,
    change_interaction,
    fill_table,
    find_set_hinges,
    new_pair_lists,
    place_of_pair,
    read_interactions,
    with_more_room,
)
from ...structures.multilabel import cost_of, spread
from ...structures.verbs import find_potentials, new_work
from ..objective import DualPoint
from .engine import FactorEngine
from .steps import Outputs, new_outputs, share_mass

# A pair's step is not exact: so many follow each other.
TURNS = 2


class Scratch(NamedTuple):
    """Of one run. Flags are False, and sums 0, between calls."""

    work: Any  # of the labels: what they gain by themselves, which change, and how much
    pull: np.ndarray  # (L,) sums of messages
    degree: np.ndarray  # (L,) listed pairs
    is_listed: np.ndarray  # (L, L) bool
    interactions: Interactions
    outputs: Outputs  # of a pair
    visited: np.ndarray  # (2,) entries looked at, and searches


def new_scratch(parts: LabelSets, interactions: Interactions) -> Scratch:
    n_labels, outputs = parts.labels.present.shape[1], new_outputs(4)
    outputs.row[:], outputs.column[:] = (0, 0, 1, 1), (0, 1, 0, 1)
    return Scratch(
        work=new_work(parts.labels),
        pull=np.zeros(n_labels),
        degree=np.zeros(n_labels),
        is_listed=np.zeros((n_labels, n_labels), np.bool_),
        interactions=interactions,
        outputs=outputs,
        visited=np.zeros(2, np.int64),
    )


@kernel
def set_pass(parts, lists, scratch, step, w, lam, rho, order):
    """Labels and pairs of the samples in `order`."""
    for position in range(order.shape[0]):
        i = order[position]
        share = parts.labels.weight[i] / lam
        gather_messages(lists, scratch, i)
        move_labels(parts, lists, scratch, w, share, rho, i)
        list_pairs(lists, scratch, i)
        for p in range(lists.first[i], lists.first[i] + lists.size[i]):
            for _ in range(TURNS):
                move_pair(parts, lists, scratch, step, w, share, rho, i, p)
        mark(lists, scratch, i, False)


@helper
def message(lists, i, p, end):
    """What pair p gives its first or second label more than it has, and the multiplier."""
    mass = lists.mass[p]
    if end == 0:
        return mass[BOTH] + mass[FIRST] - lists.share[i, lists.a[p]] + lists.multiplier[p, 0]
    return mass[BOTH] + mass[SECOND] - lists.share[i, lists.b[p]] + lists.multiplier[p, 1]


@helper
def mark(lists, scratch, i, flag):
    for p in range(lists.first[i], lists.first[i] + lists.size[i]):
        a, b = lists.a[p], lists.b[p]
        scratch.is_listed[a, b], scratch.is_listed[b, a] = flag, flag


@helper
def gather_messages(lists, scratch, i):
    for k in range(scratch.pull.shape[0]):
        scratch.pull[k], scratch.degree[k], scratch.is_listed[k, k] = 0.0, 0.0, True
    mark(lists, scratch, i, True)
    for p in range(lists.first[i], lists.first[i] + lists.size[i]):
        a, b = lists.a[p], lists.b[p]
        scratch.pull[a] += message(lists, i, p, 0)
        scratch.pull[b] += message(lists, i, p, 1)
        scratch.degree[a] += 1.0
        scratch.degree[b] += 1.0


@helper
def move_labels(parts, lists, scratch, w, share, rho, i):
    """Shares of the labels with pairs, of those between 0 and 1, and of the best of all others."""
    problem, work, of_labels = parts.labels, scratch.work, w[: parts.first_pair]
    gain, curvature = work.node, share * problem.squared_norm[i]
    find_potentials(problem, work, of_labels, i)
    best, most, count = -1, 0.0, 0
    for k in range(gain.shape[0]):
        q = lists.share[i, k]
        if scratch.degree[k] > 0.0 or 0.0 < q < 1.0:
            count = move_label(lists, scratch, curvature, rho, i, k, count)
        elif (gain[k] if q == 0.0 else -gain[k]) > most:
            best, most = k, abs(gain[k])
    if best >= 0:
        count = move_label(lists, scratch, curvature, rho, i, best, count)
    spread(problem, work, i, -share, count, of_labels)


@helper
def move_label(lists, scratch, curvature, rho, i, k, count):
    """The best share of a label; returns how many have changed."""
    slope = scratch.work.node[k] + 2.0 * rho * scratch.pull[k]
    bend, q = curvature + 2.0 * rho * scratch.degree[k], lists.share[i, k]
    if bend > 0.0:
        wanted = min(max(q + slope / bend, 0.0), 1.0)
    else:
        wanted = 1.0 if slope > 0.0 else 0.0
    if wanted == q:
        return count
    lists.share[i, k] = wanted
    scratch.work.active[count], scratch.work.values[count] = k, wanted - q
    return count + 1


@helper
def list_pairs(lists, scratch, i):
    """List the pair of the largest interaction, and those that cannot agree with their labels as they are.

    What finds no room waits for the next pass.
    """
    a, b = best_unlisted(scratch.interactions, scratch.is_listed, scratch.visited)
    if a >= 0:
        list_pair(lists, scratch, i, a, b)
    for x in range(list_shares(lists, scratch, i)):
        for y in range(x):
            a, b = scratch.work.active[y], scratch.work.active[x]
            if lists.share[i, a] + lists.share[i, b] > 1.0 and not scratch.is_listed[a, b]:
                list_pair(lists, scratch, i, a, b)


@helper
def list_shares(lists, scratch, i):
    """List the labels that have a share; returns how many do."""
    count = 0
    for k in range(lists.share.shape[1]):
        if lists.share[i, k] > 0.0:
            scratch.work.active[count] = k
            count += 1
    return count


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


@kernel
def raise_set_multipliers(lists, eta):
    """As ``raise_multipliers``; returns the sum of what pairs and labels disagree by."""
    total = 0.0
    for i in range(lists.size.shape[0]):
        for p in range(lists.first[i], lists.first[i] + lists.size[i]):
            for end in range(2):
                apart = message(lists, i, p, end) - lists.multiplier[p, end]
                lists.multiplier[p, end] += eta * apart
                total += 2.0 * abs(apart)
    return total


@kernel
def add_agreeing(parts, lists, scratch, vector):
    """Add what pairs, as near to their masses as their labels allow, make of ``lam A alpha``; returns ``b'alpha``.

    Pairs that still wait for room in a list count, too.
    """
    problem, loss = parts.labels, 0.0
    n_labels = problem.present.shape[1]
    for i in range(lists.size.shape[0]):
        share = problem.weight[i]
        for p in range(lists.first[i], lists.first[i] + lists.size[i]):
            a, b = lists.a[p], lists.b[p]
            q, r = lists.share[i, a], lists.share[i, b]
            mass = min(max(lists.mass[p, BOTH], q + r - 1.0, 0.0), q, r)
            truth = float(problem.present[i, a]) * float(problem.present[i, b])
            vector[parts.first_pair + place_of_pair(n_labels, a, b)] += share * (truth - mass)
        mark(lists, scratch, i, True)
        for x in range(list_shares(lists, scratch, i)):
            for y in range(x):
                a, b = scratch.work.active[y], scratch.work.active[x]
                excess = lists.share[i, a] + lists.share[i, b] - 1.0
                if excess > 0.0 and not scratch.is_listed[a, b]:
                    vector[parts.first_pair + place_of_pair(n_labels, a, b)] -= share * excess
        mark(lists, scratch, i, False)
        for k in range(n_labels):
            changed = lists.share[i, k] - float(problem.present[i, k])
            loss += share * cost_of(problem, i, k) * changed
    return loss


class LabelSetEngine(FactorEngine):
    """A step is a pass over the samples."""

    def new_duals(self) -> PairLists:
        return with_more_room(new_pair_lists(self.parts))

    def look_up(self) -> None:
        self.scratch = new_scratch(self.parts, read_interactions(self.parts, self.w))

    def make_room(self) -> None:
        if np.any(self.factors.size == np.diff(self.factors.first)):
            self.factors = with_more_room(self.factors)

    def visit(self, order: np.ndarray) -> None:
        set_pass(self.parts, self.factors, self.scratch, self.settings.step, self.w, self.lam, self.rho, order)

    def prepare(self) -> None:
        super().prepare()
        find_set_hinges(self.parts, self.scratch.work, self.scratch.interactions.table, self.w, np.empty(0))

    def hinges(self, w: np.ndarray) -> np.ndarray:
        """Compiled, of all samples in one call: the oracle of the structure answers one at a time."""
        n_labels = self.parts.labels.present.shape[1]
        table, found = np.zeros((n_labels, n_labels)), np.empty(self.n)
        fill_table(self.parts.first_pair, w, table)
        find_set_hinges(self.parts, new_work(self.parts.labels), table, w, found)
        return found

    def pull_together(self) -> float:
        total = raise_set_multipliers(self.factors, self.settings.eta)
        return total / max(2 * int(self.factors.size.sum()), 1)

    def agreeing(self) -> DualPoint:
        vector = self.lam * self.w
        vector[self.parts.first_pair :] = 0.0
        loss = add_agreeing(self.parts, self.factors, self.scratch, vector)
        return DualPoint(vector, loss)

    def visited(self) -> float:
        return self.scratch.visited[0] / max(self.scratch.visited[1], 1)
