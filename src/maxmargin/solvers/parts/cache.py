"""What a user says of remembered outputs: how many, in how much memory, and when they stand for the oracle's."""

from __future__ import annotations

import numbers
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...structures.verbs import new_labelings, output_bound, output_bytes
from .memory import SLOT_BYTES, CacheRule, Memory, NoCache, NoMemory, new_memory
from .steps import traits

DEFAULT_BYTES = 1e9  # for the outputs of all blocks


@dataclass(frozen=True)
class Cache:
    """Outputs the oracle gave before, asked first.

    Parameters
    ----------
    F : float, default=0.25
        An output is good enough if its block gap is at least ``max(F g_i, nu/n g)``, with the last known gaps.
    nu : float, default=0.01
        See `F`.
    capacity : int, default=100
        Outputs a block remembers, unless more than that hold dual mass and the steps need to know them.
    max_bytes : float or None, default=None
        Memory for the outputs of all blocks; it lowers the capacity, and beyond it outputs with mass are forgotten too.
        None means 1 GB, or what the capacity takes where that is more. While the memory grows, the old and the new one
        lie beside each other.

    Examples
    --------
    >>> from maxmargin.solvers import BlockFrankWolfe, Cache
    >>> BlockFrankWolfe(sampling="gap", cache=Cache(capacity=20))
    BlockFrankWolfe(cache=Cache(F=0.25, nu=0.01, capacity=20, max_bytes=None),
                    sampling='gap')
    """

    F: float = 0.25
    nu: float = 0.01
    capacity: int = 100
    max_bytes: float | None = None


def as_cache(cache: Any) -> Cache | None:
    """What `cache`, a truth value or a `Cache`, means."""
    if isinstance(cache, bool | np.bool_):
        return Cache() if cache else None
    if not isinstance(cache, Cache):
        raise ValueError(f"cache must be False, True or a Cache, got {cache!r}")
    numbers_ok = all(isinstance(x, numbers.Real) and x >= 0 for x in (cache.F, cache.nu, cache.max_bytes or 0))
    if not numbers_ok or not isinstance(cache.capacity, numbers.Integral) or cache.capacity < 2:
        raise ValueError(f"a Cache needs F, nu, max_bytes >= 0 and an integer capacity >= 2, got {cache!r}")
    return cache


def rule_of(cache: Cache | None) -> NoCache | CacheRule:
    """When a remembered output is good enough."""
    return NoCache() if cache is None else CacheRule(float(cache.F), float(cache.nu))


FIRST_SLOTS = 8  # of the steps' memory: room for 100 outputs of each block would be most of what short runs touch


def growing_memory(problem: Any, cache: Cache, first: int | None = None) -> Memory:
    """Room for the cache's capacity, which may grow as far as its bytes allow; for fewer outputs at first, if said."""
    n = len(problem.weight)
    a_slot = output_bytes(problem) + SLOT_BYTES * n
    max_bytes = max(DEFAULT_BYTES, cache.capacity * a_slot) if cache.max_bytes is None else cache.max_bytes
    if max_bytes < 2 * a_slot:
        raise ValueError(
            f"max_bytes={max_bytes:g} is too little for two outputs a block; they take {2 * a_slot:.3g} bytes"
        )
    limit = int(min(max_bytes / a_slot, output_bound(problem), sys.maxsize))
    capacity = min(cache.capacity, limit)
    slots = capacity if first is None else min(first, capacity)
    return new_memory(new_labelings(problem, slots), n, capacity, limit, slots)


def memory_for(problem: Any, step: Any, cache: Cache | None) -> Memory | NoMemory:
    """What a step and a cache need to remember."""
    if traits(step).remembers:
        return growing_memory(problem, cache or Cache(), FIRST_SLOTS)
    if cache is None:
        return NoMemory()
    memory = growing_memory(problem, cache, FIRST_SLOTS)
    return memory._replace(limit=memory.capacity)  # every output has mass, and no step asks how much
