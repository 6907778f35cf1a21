"""The block-coordinate solver: parameters to parts."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._parameters import check_choice
from ...structures.verbs import new_labelings, output_bound, output_bytes
from ..base import Passes, Solver
from ..catalyst import Catalyst, as_catalyst
from .engine import BlockEngine, Parts
from .memory import SLOT_BYTES, CacheRule, Memory, NoCache, NoMemory, new_memory
from .samplers import DRAWS, Draw
from .steps import AwayStep, FixedStep, LineSearch, PairwiseStep

DEFAULT_BYTES = 1e9  # for the outputs of all blocks

# Gap sampling visits every block once before it knows better.
SAMPLING: dict[str, Draw] = {**DRAWS, "gap": DRAWS["permutation"]}


@dataclass(frozen=True)
class Cache:
    """Outputs the oracle gave before, asked first.

    Parameters
    ----------
    F, nu : an output is good enough if its block gap is at least ``max(F g_i, nu/n g)``, with the last known gaps
    capacity : outputs a block remembers, unless more than that hold dual mass and the steps need to know them
    max_bytes : memory for the outputs of all blocks; it lowers the capacity, and beyond it outputs with mass are
        forgotten too. None means 1 GB, or what the capacity takes where that is more. While the memory grows, the old
        and the new one lie beside each other
    """

    F: float = 0.25
    nu: float = 0.01
    capacity: int = 100
    max_bytes: float | None = None


class BlockFrankWolfe(Solver):
    """Block-coordinate Frank-Wolfe: one sample a step, exact line search, certified duality gap.

    Parameters
    ----------
    sampling : "uniform" (blocks drawn with replacement), "permutation" (each pass a new order of all) or "gap" (in
        proportion to the last known block gaps)
    averaging : None or "weighted": also keep the average of the iterates, weighted towards the late ones. The iterate
        or the average is returned, whichever has the lower primal value
    line_search : the exact step; False takes ``2n / (k + 2n)``, with Frank-Wolfe steps only
    gap_every : passes between two certificates
    step : "fw", "away" or "pairwise". The latter two know the outputs that hold dual mass, and converge linearly
    cache : False, True or a `Cache`: ask remembered outputs before the oracle
    safeguard : with pairwise steps, take the Frank-Wolfe step where it gains more
    lower, upper : bounds on w, numbers or arrays of its length
    positive : indices, mask or slice of w whose weights must be >= 0
    acceleration : None, "catalyst" or a `Catalyst`: solve a sequence of proximal problems, which are easier where lam
        is small. Averages, if wanted, are then those of the late iterates
    """

    def __init__(
        self,
        sampling: str = "uniform",
        averaging: str | None = None,
        line_search: bool = True,
        gap_every: float = 10,
        *,
        step: str = "fw",
        cache: bool | Cache = False,
        safeguard: bool = False,
        lower: Any = None,
        upper: Any = None,
        positive: Any = None,
        acceleration: str | Catalyst | None = None,
    ):
        self.sampling = sampling
        self.averaging = averaging
        self.line_search = line_search
        self.gap_every = gap_every
        self.step = step
        self.cache = cache
        self.safeguard = safeguard
        self.lower = lower
        self.upper = upper
        self.positive = positive
        self.acceleration = acceleration

    def start(self, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None) -> BlockEngine:
        check_choice("sampling", self.sampling, SAMPLING)
        check_choice("step", self.step, STEPS)
        if self.averaging not in (None, "weighted"):
            raise ValueError(f'averaging must be None or "weighted", got {self.averaging!r}')
        if not self.line_search and self.step != "fw":
            raise ValueError(f"line_search=False goes with Frank-Wolfe steps only, not with step={self.step!r}")
        if not self.line_search and self.acceleration is not None:
            raise ValueError("line_search=False goes without acceleration: its steps know one problem only")
        rule = as_cache(self.cache)
        passes = Passes(problem, n_jobs)
        parts = Parts(
            draw=SAMPLING[self.sampling],
            by_gaps=self.sampling == "gap",
            step=STEPS[self.step](self),
            cache=NoCache(0.0) if rule is None else CacheRule(float(rule.F), float(rule.nu)),
            memory=self.memory(problem, rule),
            averages=self.averaging == "weighted",
            box=self.box(problem),
            acceleration=as_catalyst(self.acceleration),
        )
        return BlockEngine(passes, lam, parts, state, random_state)

    def memory(self, problem: Any, cache: Cache | None) -> Memory | NoMemory:
        if self.step != "fw":
            return growing_memory(problem, cache or Cache())
        if cache is None:
            return NoMemory(0.0)
        memory = growing_memory(problem, cache)
        return memory._replace(limit=memory.capacity)  # every output has mass, and no step asks how much


STEPS: dict[str, Callable[[BlockFrankWolfe], Any]] = {
    "fw": lambda solver: LineSearch(0.0) if solver.line_search else FixedStep(0.0),
    "away": lambda solver: AwayStep(0.0),
    "pairwise": lambda solver: PairwiseStep(bool(solver.safeguard)),
}


def as_cache(cache: Any) -> Cache | None:
    if isinstance(cache, bool | np.bool_):
        return Cache() if cache else None
    if not isinstance(cache, Cache):
        raise ValueError(f"cache must be False, True or a Cache, got {cache!r}")
    numbers_ok = all(isinstance(x, numbers.Real) and x >= 0 for x in (cache.F, cache.nu, cache.max_bytes or 0))
    if not numbers_ok or not isinstance(cache.capacity, numbers.Integral) or cache.capacity < 2:
        raise ValueError(f"a Cache needs F, nu, max_bytes >= 0 and an integer capacity >= 2, got {cache!r}")
    return cache


def growing_memory(problem: Any, cache: Cache) -> Memory:
    """Room for the cache's capacity, which may grow as far as its bytes allow."""
    n = len(problem.weight)
    a_slot = output_bytes(problem) + SLOT_BYTES * n
    max_bytes = max(DEFAULT_BYTES, cache.capacity * a_slot) if cache.max_bytes is None else cache.max_bytes
    if max_bytes < 2 * a_slot:
        raise ValueError(
            f"max_bytes={max_bytes:g} is too little for two outputs a block; they take {2 * a_slot:.3g} bytes"
        )
    limit = int(min(max_bytes / a_slot, output_bound(problem), sys.maxsize))
    capacity = min(cache.capacity, limit)
    return new_memory(new_labelings(problem, capacity), n, capacity, limit)
