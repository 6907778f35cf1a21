"""One sample after another, whose labels and listed pairs share anew: steps on few factors of many.

As :mod:`.loop` says, with two states of a label: its messages to both are opposite numbers, so that a label's share has
the gain ``score + cost + 2 rho sum m`` and the curvature ``c_i/lam |phi|^2 + 2 rho pairs``, and its step is exact. All
labels of a sample move at a visit: their scores are read row by row of features anyway.
"""  # yen16, Alg. 3

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compile import helper, kernel
from ...structures.factors.label_sets import (
    BOTH,
    PairLists,
    fill_table,
    find_set_hinges,
    new_pair_lists,
    place_of_pair,
    read_interactions,
    with_more_room,
)
from ...structures.factors.oracles import Exhaustive
from ...structures.multilabel import cost_of, spread
from ...structures.verbs import find_potentials, new_work
from ..objective import DualPoint
from .engine import FactorEngine, Settings
from .set_pairs import ByMargins, lend, list_pairs, mark, message, move_pair, new_scratch

# A pair's step is not exact: so many follow each other.
TURNS = 2


@kernel
def set_pass(parts, lists, scratch, search, step, w, lam, rho, order):
    """Labels and pairs of the samples in `order`."""
    for position in range(order.shape[0]):
        i = order[position]
        share = parts.labels.weight[i] / lam
        gather_messages(lists, scratch, i)
        move_labels(parts, lists, scratch, w, share, rho, i)
        list_pairs(lists, scratch, search, i)
        for p in range(lists.first[i], lists.first[i] + lists.size[i]):
            lend(lists, scratch, rho, i, p)
            for _ in range(TURNS):
                move_pair(parts, lists, scratch, step, w, share, rho, i, p)
        mark(lists, scratch, i, False)


@helper
def gather_messages(lists, scratch, i):
    for k in range(scratch.pull.shape[0]):
        scratch.pull[k], scratch.degree[k], scratch.is_listed[k, k] = 0.0, 0.0, True
        scratch.rise[k] = scratch.interactions.rises[k]
    mark(lists, scratch, i, True)
    for p in range(lists.first[i], lists.first[i] + lists.size[i]):
        a, b = lists.a[p], lists.b[p]
        scratch.pull[a] += message(lists, i, p, 0)
        scratch.pull[b] += message(lists, i, p, 1)
        rise = max(scratch.interactions.table[a, b], 0.0)
        scratch.rise[a] -= rise
        scratch.rise[b] -= rise
        scratch.degree[a] += 1.0
        scratch.degree[b] += 1.0


@helper
def move_labels(parts, lists, scratch, w, share, rho, i):
    """Shares of all labels."""
    problem, work, of_labels = parts.labels, scratch.work, w[: parts.first_pair]
    gain, curvature = work.node, share * problem.squared_norm[i]
    find_potentials(problem, work, of_labels, i)
    count = 0
    for k in range(gain.shape[0]):
        count = move_label(lists, scratch, curvature, rho, i, k, count)
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
    scratch.spare[k] = 0.0 if wanted > 0.0 else scratch.lent * max(bend * (wanted - q) - slope, 0.0)
    if wanted == q:
        return count
    lists.share[i, k] = wanted
    scratch.work.active[count], scratch.work.values[count] = k, wanted - q
    return count + 1


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


@helper
def list_shares(lists, scratch, i):
    """List the labels that have a share; returns how many do."""
    count = 0
    for k in range(lists.share.shape[1]):
        if lists.share[i, k] > 0.0:
            scratch.work.active[count] = k
            count += 1
    return count


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

    # That of a pair is the penalty of all its samples' labels, which have hundreds: less than of chains. Chosen on
    # bibtex and enron, from 0.005 to 10.
    unit_of_rho = 0.05

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, settings: Settings):
        if settings.nu > 1:
            raise ValueError(f"nu must be 1 with sets of labels, whose scores are found all at once, got {settings.nu}")
        super().__init__(problem, lam, box, n_jobs, settings)

    def new_duals(self) -> PairLists:
        return with_more_room(new_pair_lists(self.parts))

    def look_up(self) -> None:
        self.search: Any = ByMargins() if self.settings.orders else Exhaustive()
        self.scratch = new_scratch(self.parts, read_interactions(self.parts, self.w), self.settings.lent)

    def make_room(self) -> None:
        if np.any(self.factors.size == np.diff(self.factors.first)):
            self.factors = with_more_room(self.factors)

    def visit(self, order: np.ndarray) -> None:
        tools = self.scratch, self.search, self.settings.step
        set_pass(self.parts, self.factors, *tools, self.w, self.lam, self.rho, order)

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
