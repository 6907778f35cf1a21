"""Samples whose outputs are listed, each with its features and its loss: what an oracle gave so far, as a problem.

A structure in plain Python becomes one, output by output (:class:`Listing`), so that steps over outputs known already
run compiled. Features are those of an output less those of the true one, which is output 0.
"""

from __future__ import annotations

import hashlib
import sys
from typing import Any, NamedTuple

import numpy as np

from .._compile import helper, implements
from .custom import CustomProblem
from .directions import Measured, list_change, list_difference, plus
from .numbered import widened, with_numbered_outputs
from .sparse_vector import combine
from .verbs import (
    accumulate,
    add_block,
    add_corner,
    argmax_cost,
    block_value,
    corner_loss,
    dimension,
    find_corner,
    find_potentials_with,
    measure,
    move,
    new_blocks,
    new_labelings,
    new_totals,
    new_work,
    output_bound,
    truth_value,
)


@with_numbered_outputs
class ListedProblem(NamedTuple):
    """Outputs as they are listed: what solvers take."""

    d: int
    weight: np.ndarray  # (n,)
    counts: np.ndarray  # (n,) outputs of each sample, at most `slots`
    begins: np.ndarray  # (n, slots) where the features of an output begin
    ends: np.ndarray  # (n, slots)
    losses: np.ndarray  # (n, slots)
    indices: np.ndarray  # of all features
    values: np.ndarray


class ListedBlocks(NamedTuple):
    node: np.ndarray  # (n, slots) masses
    loss: np.ndarray  # (n,)


class ListedWork(NamedTuple):
    node: np.ndarray  # (slots,) values of the outputs
    label: np.ndarray  # (2,) the corner and the away corner
    active: np.ndarray  # (slots,)
    values: np.ndarray  # (slots,)
    buffer: np.ndarray  # (d,) zero between calls


class Listing:
    """The outputs that the oracle of a structure in plain Python gave, each once.

    Parameters
    ----------
    problem : CustomProblem
        Whose outputs these are. It is not kept.
    """

    def __init__(self, problem: Any):
        if not isinstance(problem, CustomProblem):
            raise TypeError(
                f"a working set is for structures in plain Python, not for {type(problem).__name__}, whose steps are "
                "compiled anyway"
            )
        n = problem.n
        self.d, self.weight = problem.d, problem.weight
        self.counts = np.ones(n, np.int64)
        self.begins, self.ends, self.losses = np.zeros((n, 1), np.int64), np.zeros((n, 1), np.int64), np.zeros((n, 1))
        self.indices, self.values, self.used = np.empty(0, np.int64), np.empty(0), 0
        truth = _name(0.0, np.empty(0, np.int64), np.empty(0))
        self.known: list[dict[bytes, int]] = [{truth: 0} for _ in range(n)]  # places by name

    def remember(self, problem: Any, work: Any, i: int, k: int) -> int:
        """List the corner, unless it is; as memories do, it returns its place."""
        feature, loss = combine(1.0, work.corner.feature, -1.0, problem.truth[i]), work.corner.loss
        kept = feature.values != 0.0
        indices, values = feature.indices[kept], feature.values[kept]
        name = _name(loss, indices, values)
        if name not in self.known[i]:
            self.known[i][name] = int(self.counts[i])
            self._add(i, loss, indices, values)
        return self.known[i][name]

    def _add(self, i: int, loss: float, indices: np.ndarray, values: np.ndarray) -> None:
        slot, end = int(self.counts[i]), self.used + len(indices)
        if slot == self.losses.shape[1]:
            self.begins, self.ends, self.losses = (
                widened(table, 2 * slot) for table in (self.begins, self.ends, self.losses)
            )
        if end > len(self.indices):
            self.indices, self.values = widened(self.indices[None], 2 * end)[0], widened(self.values[None], 2 * end)[0]
        self.indices[self.used : end], self.values[self.used : end] = indices, values
        self.begins[i, slot], self.ends[i, slot], self.losses[i, slot] = self.used, end, loss
        self.used, self.counts[i] = end, slot + 1

    def taken(self) -> dict[str, Any]:
        """All but the places by name, which follow from what is listed."""
        return {name: value for name, value in vars(self).items() if name != "known"}

    @classmethod
    def made(cls, taken: dict[str, Any]) -> Listing:
        """The listing that it was taken of."""
        listing = cls.__new__(cls)
        vars(listing).update(taken)
        listing.known = [
            {listing._name_of(i, j): j for j in range(count)} for i, count in enumerate(listing.counts.tolist())
        ]
        return listing

    def _name_of(self, i: int, j: int) -> bytes:
        some = slice(self.begins[i, j], self.ends[i, j])
        return _name(float(self.losses[i, j]), self.indices[some], self.values[some])

    @property
    def nbytes(self) -> int:
        """Of the features listed."""
        return 16 * self.used

    def keep(self, masses: np.ndarray) -> np.ndarray:
        """Forget the outputs without mass, but the true ones; returns the masses in their new places."""
        kept = widened(masses, self.losses.shape[1]) > 0.0
        kept[:, 0] = True
        places, (rows, old) = np.cumsum(kept, axis=1) - 1, np.nonzero(kept)
        new, sizes = places[rows, old], (self.ends - self.begins)[rows, old]
        ends = np.cumsum(sizes)
        entries = np.arange(ends[-1]) + np.repeat(self.begins[rows, old] - (ends - sizes), sizes)
        self.indices, self.values, self.used = self.indices[entries], self.values[entries], int(ends[-1])
        moved, losses = np.zeros_like(self.losses), self.losses[rows, old]
        moved[rows, new] = widened(masses, self.losses.shape[1])[rows, old]
        for table, filled in ((self.begins, ends - sizes), (self.ends, ends), (self.losses, losses)):
            table[:] = 0
            table[rows, new] = filled
        self.counts = kept.sum(axis=1)
        self.known = [
            {name: int(places[i, j]) for name, j in names.items() if kept[i, j]} for i, names in enumerate(self.known)
        ]
        return moved

    @property
    def problem(self) -> ListedProblem:
        """The outputs listed so far, as a problem; it shares memory with the listing."""
        return ListedProblem(
            self.d, self.weight, self.counts, self.begins, self.ends, self.losses, self.indices, self.values
        )

    @property
    def n_outputs(self) -> int:
        return int(self.counts.sum())


def _name(loss: float, indices: np.ndarray, values: np.ndarray) -> bytes:
    digest = hashlib.blake2b(np.float64(loss).tobytes(), digest_size=16)
    digest.update(indices.tobytes())
    digest.update(values.tobytes())
    return digest.digest()


def extended(problem: ListedProblem, blocks: ListedBlocks) -> ListedBlocks:
    """The masses, with room for all outputs of the problem."""
    return blocks._replace(node=widened(blocks.node, problem.losses.shape[1]))


@implements(dimension, ListedProblem)
def _(problem):
    return problem.d


@implements(new_blocks, ListedProblem)
def _(problem):
    blocks = _zero_blocks(problem)
    blocks.node[:, 0] = 1.0
    return blocks


@implements(new_totals, ListedProblem)
def _zero_blocks(problem):
    return ListedBlocks(np.zeros_like(problem.losses), np.zeros(len(problem.weight)))


@implements(new_work, ListedProblem)
def _(problem):
    slots = problem.losses.shape[1]
    return ListedWork(
        np.zeros(slots), np.zeros(2, np.int64), np.zeros(slots, np.int64), np.zeros(slots), np.zeros(problem.d)
    )


@implements(find_potentials_with, ListedProblem)
def _(problem, work, w, i, emphasis):
    for j in range(problem.counts[i]):
        total = emphasis * problem.losses[i, j]
        for p in range(problem.begins[i, j], problem.ends[i, j]):
            total += problem.values[p] * w[problem.indices[p]]
        work.node[j] = total


@implements(find_corner, ListedProblem)
def _(problem, work, w, i):
    best = 0
    for j in range(1, problem.counts[i]):
        if work.node[j] > work.node[best]:
            best = j
    work.label[0] = best
    return work.node[best]


@implements(truth_value, ListedProblem)
def _(problem, work, w, i):
    return work.node[0]  # 0: its features are its own less its own


@implements(block_value, ListedProblem)
def _(problem, blocks, work, w, i):
    total = 0.0
    for j in range(problem.counts[i]):
        total += work.node[j] * blocks.node[i, j]
    return total


@helper
def list_moves(problem, direction, blocks, work, i):
    """List which masses change along a direction, and by how much; their number is returned."""
    masses = blocks.node[i, : problem.counts[i]]
    return list_change(direction, 0, masses, work.label[0], work.label[1], work.active, work.values)


@helper
def spread(problem, work, i, scale, n_active, w):
    """Add ``scale`` times the features of the outputs listed in the scratch, times their values."""
    for j in range(n_active):
        output, factor = work.active[j], scale * work.values[j]
        for p in range(problem.begins[i, output], problem.ends[i, output]):
            w[problem.indices[p]] += factor * problem.values[p]


@implements(measure, ListedProblem)
def _(problem, direction, blocks, work, i):
    count, total = list_moves(problem, direction, blocks, work, i), 0.0
    spread(problem, work, i, 1.0, count, work.buffer)
    for j in range(count):
        output = work.active[j]
        for p in range(problem.begins[i, output], problem.ends[i, output]):
            entry = work.buffer[problem.indices[p]]
            total += entry * entry
            work.buffer[problem.indices[p]] = 0.0  # counted once
    return Measured(total)


@implements(move, ListedProblem)
def _(problem, direction, measured, blocks, work, w, i, gamma, scale):
    count, loss = list_moves(problem, direction, blocks, work, i), 0.0
    for j in range(count):
        output, value = work.active[j], work.values[j]
        blocks.node[i, output] = plus(blocks.node[i, output], gamma * value)
        loss += problem.losses[i, output] * value
    blocks.loss[i] += gamma * loss
    spread(problem, work, i, -scale * gamma, count, w)


@implements(corner_loss, ListedProblem)
def _(problem, work, i):
    return problem.losses[i, work.label[0]]


@implements(accumulate, ListedProblem)
def _(problem, totals, blocks, i, amount):
    for j in range(problem.counts[i]):
        totals.node[i, j] += amount * blocks.node[i, j]
    totals.loss[i] += amount * blocks.loss[i]


@implements(add_block, ListedProblem)
def _(problem, blocks, work, i, scale, mass, w):
    masses = blocks.node[i, : problem.counts[i]]
    spread(problem, work, i, scale, list_difference(masses, 0, mass, work.active, work.values), w)


@implements(add_corner, ListedProblem)
def _(problem, work, i, scale, w):
    work.active[0], work.values[0] = work.label[0], -1.0
    spread(problem, work, i, scale, 1, w)


@implements(argmax_cost, ListedProblem)
def _(problem):
    return 0.0  # a maximum of values at hand


@implements(output_bound, ListedProblem)
def _(problem):
    return sys.maxsize  # more may be listed


@implements(new_labelings, ListedProblem)
def _(problem, capacity):
    return np.zeros((len(problem.weight), capacity), np.int32)
