"""What a run remembers of each block: outputs, their dual masses, and when one may stand for the oracle's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, verb
from ..._prefetch import prefetch
from ...structures.joining import with_first
from ...structures.numbered import widened
from ...structures.verbs import (
    announce_labelings,
    enlarged,
    find_corner,
    is_corner,
    keep_corner,
    new_labelings,
    slot_value,
    take_corner,
    upper_value,
)


@verb
def remember(memory, problem, work, i, k):
    """The slot of block i that holds the corner, a new one if need be; -1 where nothing is remembered."""


@verb
def announce_outputs(memory, problem, i):
    """Block i comes next: what is remembered of it may be fetched ahead. By default nothing is."""


@implements(announce_outputs, object)
def _(memory, problem, i):
    return None


@verb
def needs_room(memory, i, steps):
    """Whether block i should get more slots before its next steps, so many."""


@verb
def shift_mass(memory, i, slot, gamma):
    """Masses after a step of length gamma from alpha_i to the output of the slot."""


@verb
def worst_slot(memory, problem, work, w, i):
    """The slot with mass whose output has the lowest value, or -1."""


@verb
def corner_from_cache(cache, problem, run, i, current):
    """Take a remembered output for the corner if its gap is good enough; its value, or -inf."""


@verb
def find_in(source, memory, problem, work, w, i, k):
    """The best output that a source knows becomes the corner; its value, or an upper bound on that."""


@verb
def nameless(memory):
    """The memory for a dual state whose outputs are not known by name."""


@verb
def is_named(memory):
    """Whether all mass is known by name."""


@verb
def taken_over(memory, earlier, problem):
    """What an earlier run of the same kind remembers, with the room and the limit of a new one."""


@verb
def with_first_outputs(memory, earlier, problem):
    """The same where the earlier one had the first samples of the problem."""


@verb
def renumbered(memory, masses):
    """What is remembered where outputs are numbers, and have these masses (n, outputs)."""


class NoMemory(NamedTuple):
    """Nothing is remembered."""


@implements(nameless, NoMemory)
def _(memory):
    return memory


@implements(is_named, NoMemory)
def _(memory):
    return False


@implements(taken_over, NoMemory)
def _(memory, earlier, problem):
    return memory


@implements(with_first_outputs, NoMemory)
def _(memory, earlier, problem):
    return memory


@implements(renumbered, NoMemory)
def _(memory, masses):
    return memory


@implements(needs_room, NoMemory)
def _(memory, i, steps):
    return False


@implements(remember, NoMemory)
def _(memory, problem, work, i, k):
    return -1


@implements(shift_mass, NoMemory)
def _(memory, i, slot, gamma):
    return None


@implements(worst_slot, NoMemory)
def _(memory, problem, work, w, i):
    return -1


class Memory(NamedTuple):
    """Outputs with their masses in slots, the same number for every block.

    There may be few at first, and twice as many where a visit might fill those of a block. From `capacity` outputs on,
    the one without mass that was used least recently makes room. A block whose slots all hold mass gets more: they
    double for every block, before the next step of that block, so that when they do depends on nothing but the steps
    taken. At the limit the output with the least mass makes room. Its mass then stays in the dual state but is no
    longer known by name: Frank-Wolfe steps still shrink it, away and pairwise steps cannot take it. The gap is that of
    the dual state, so it stays valid.
    """

    labelings: Any
    filled: np.ndarray  # (n,) slots in use
    mass: np.ndarray  # (n, slots)
    last_used: np.ndarray  # (n, slots) step
    capacity: int  # slots for outputs with mass or without; further ones are for those with mass
    limit: int  # of the slots


SLOT_BYTES = 16  # mass and time of last use
A_VISIT = 4  # steps, at most
NAMELESS = 1e-9  # less mass is what rounding leaves


def new_memory(labelings: Any, n: int, capacity: int, limit: int, slots: int | None = None) -> Memory:
    """All mass on the true outputs, with so many slots: as many as the capacity, where nothing is said."""
    shape = n, capacity if slots is None else slots
    mass, last_used = np.zeros(shape), np.zeros(shape, np.int64)
    mass[:, 0] = 1.0
    return Memory(labelings, np.ones(n, np.int64), mass, last_used, capacity, limit)


def doubled(memory: Memory, problem: Any) -> Memory:
    """The memory with twice the slots, as far as the capacity, or from there on the limit, allows."""
    slots = memory.mass.shape[1]
    return _with_slots(memory, problem, min(2 * slots, memory.capacity if slots < memory.capacity else memory.limit))


def _with_slots(memory: Memory, problem: Any, slots: int) -> Memory:
    return memory._replace(
        labelings=enlarged(problem, memory.labelings, memory.filled, slots),
        mass=widened(memory.mass, slots),
        last_used=widened(memory.last_used, slots),
    )


@implements(taken_over, Memory)
def _(memory, earlier, problem):
    slots = max(memory.mass.shape[1], earlier.mass.shape[1])
    return _with_slots(earlier, problem, slots)._replace(capacity=memory.capacity, limit=memory.limit)


@implements(with_first_outputs, Memory)
def _(memory, earlier, problem):
    slots, n = earlier.mass.shape[1], len(memory.filled)
    joined = with_first(new_memory(new_labelings(problem, slots), n, memory.capacity, memory.limit, slots), earlier)
    return taken_over(memory, joined, problem)


@implements(announce_outputs, Memory)
def _(memory, problem, i):
    slots, filled = memory.mass.shape[1], memory.filled[i]
    prefetch(memory.mass, i * slots, filled)
    prefetch(memory.last_used, i * slots, filled)
    announce_labelings(problem, memory.labelings, i, filled)


@implements(nameless, Memory)
def _(memory):
    memory.mass[:] = 0.0
    return memory


@implements(is_named, Memory)
def _(memory):
    return bool(np.all(memory.mass.sum(axis=1) >= 1.0 - NAMELESS))


def with_outputs(memory: Memory, labelings: Any, masses: list[np.ndarray]) -> Memory:
    """The memory of outputs in `labelings`, with as many slots, whose masses are these."""
    slots = labelings.capacity
    mass = np.array([np.pad(one[:slots], (0, max(0, slots - len(one)))) for one in masses])
    filled = np.minimum([len(one) for one in masses], slots)
    return memory._replace(labelings=labelings, filled=filled, mass=mass, last_used=np.zeros(mass.shape, np.int64))


@implements(renumbered, Memory)
def _(memory, masses):
    rows, numbers = np.nonzero(masses)
    filled = np.bincount(rows, minlength=len(masses))
    slots = np.arange(len(rows)) - np.repeat(np.cumsum(filled) - filled, filled)
    width = max(memory.capacity, int(filled.max()))
    labelings, mass = np.zeros((len(masses), width), np.int32), np.zeros((len(masses), width))
    labelings[rows, slots], mass[rows, slots] = numbers, masses[rows, numbers]
    return memory._replace(labelings=labelings, filled=filled, mass=mass, last_used=np.zeros(mass.shape, np.int64))


@implements(remember, Memory)
def _(memory, problem, work, i, k):
    count = memory.filled[i]
    for j in range(count):
        if is_corner(problem, memory.labelings, work, i, j):
            memory.last_used[i, j] = k
            return j
    slot = count if count < min(memory.capacity, memory.mass.shape[1]) else least_needed(memory, i)
    if count < memory.mass.shape[1] and memory.mass[i, slot] > 0.0:
        slot = count
    memory.filled[i] = max(count, slot + 1)
    keep_corner(problem, memory.labelings, work, i, slot)
    memory.mass[i, slot] = 0.0
    memory.last_used[i, slot] = k
    return slot


@helper
def least_needed(memory, i):
    """The slot with the least mass; of several, the one used least recently."""
    slot = 0
    for j in range(1, memory.filled[i]):
        mass, least = memory.mass[i, j], memory.mass[i, slot]
        if mass < least or (mass == least and memory.last_used[i, j] < memory.last_used[i, slot]):
            slot = j
    return slot


@implements(needs_room, Memory)
def _(memory, i, steps):
    slots = memory.mass.shape[1]
    if slots < memory.capacity:
        return memory.filled[i] + steps > slots
    if memory.filled[i] < slots or slots >= memory.limit:
        return False
    for j in range(slots):
        if memory.mass[i, j] == 0.0:
            return False
    return True


@helper
def has_nameless_mass(memory, i):
    """Whether block i holds mass on outputs it has forgotten: only Frank-Wolfe steps shrink that."""
    named = 0.0
    for j in range(memory.filled[i]):
        named += memory.mass[i, j]
    return named < 1.0 - NAMELESS


@implements(shift_mass, Memory)
def _(memory, i, slot, gamma):
    for j in range(memory.filled[i]):
        memory.mass[i, j] *= 1.0 - gamma  # gamma = 1 resets the active set
    memory.mass[i, slot] = max(memory.mass[i, slot] + gamma, 0.0)


@implements(worst_slot, Memory)
def _(memory, problem, work, w, i):
    worst, lowest = -1, np.inf
    for j in range(memory.filled[i]):
        if memory.mass[i, j] > 0.0:
            value = slot_value(problem, memory.labelings, work, w, i, j)
            if value < lowest:
                worst, lowest = j, value
    return worst


class NoCache(NamedTuple):
    """The oracle is always asked."""


@implements(corner_from_cache, NoCache)
def _(cache, problem, run, i, current):
    return -np.inf


class CacheRule(NamedTuple):
    """A remembered output is good enough if its gap is at least ``max(F g_i, nu/n g)``."""  # osokin16, Alg. 5, l. 10

    F: float
    nu: float


@helper
def best_slot(memory, problem, work, w, i):
    """The slot whose output has the highest value, and that value."""
    best, value = -1, -np.inf
    for j in range(memory.filled[i]):
        candidate = slot_value(problem, memory.labelings, work, w, i, j)
        if candidate > value:
            best, value = j, candidate
    return best, value


@helper
def corner_from_memory(memory, problem, work, w, i):
    """The best of the outputs remembered becomes the corner; returns its value."""
    best, value = best_slot(memory, problem, work, w, i)
    take_corner(problem, memory.labelings, work, i, best)
    return value


@implements(corner_from_cache, CacheRule)
def _(cache, problem, run, i, current):
    best, value = best_slot(run.memory, problem, run.work, run.w, i)
    promise = problem.weight[i] * (value - current)
    # an infinite F or nu means never, also where the known gap is 0 and the product is not a number
    n = problem.weight.shape[0]
    good = promise > 0.0 and promise >= cache.F * run.gaps[i] and promise >= cache.nu / n * run.total_gap
    if not good:
        return -np.inf
    take_corner(problem, run.memory.labelings, run.work, i, best)
    return value


class Remembered(NamedTuple):
    """Only outputs that are remembered count; the oracle is never asked."""


@implements(corner_from_cache, Remembered)
def _(cache, problem, run, i, current):
    return corner_from_memory(run.memory, problem, run.work, run.w, i)


@implements(find_in, Remembered)
def _(source, memory, problem, work, w, i, k):
    return corner_from_memory(memory, problem, work, w, i)


class Oracle(NamedTuple):
    """The oracle is asked, and its answers are remembered."""


@implements(find_in, Oracle)
def _(source, memory, problem, work, w, i, k):
    value = find_corner(problem, work, w, i)
    remember(memory, problem, work, i, k)
    return upper_value(problem, work, w, i, value)
