"""Parameters of cutting planes to engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._parameters import check_choice
from ..base import Passes, Solver
from ..block_coordinate.engine import BlockEngine, Parts
from ..block_coordinate.memory import Memory, NoCache, NoMemory
from ..block_coordinate.samplers import DRAWS
from ..block_coordinate.solver import Cache, as_cache, growing_memory
from ..block_coordinate.steps import PairwiseStep
from ..catalyst import Catalyst
from ..driver import Engine
from .n_slack import NSlackEngine
from .one_slack import OneSlackEngine


class CuttingPlane(Solver):
    """Cutting planes: ask all samples, add what is violated most, solve the problem with the constraints found so far.

    Parameters
    ----------
    slack : "one" (a constraint sums one output of each sample) or "n" (constraints of single samples)
    cache : False, True or a `Cache`, whose capacity and max_bytes count: remember outputs. With one slack, constraints
        are made of remembered outputs as long as these cut off enough, and the oracle is asked only then. With n slacks
        the remembered outputs are the constraints, so there is always a cache
    gap_every : passes between two records of the history; with one slack they cost nothing. With n slacks, passes over
        the remembered outputs count, four for each of the oracle
    lower, upper : bounds on w, numbers or arrays of its length
    positive : indices, mask or slice of w whose weights must be >= 0
    """

    def __init__(
        self,
        slack: str = "one",
        cache: bool | Cache = True,
        gap_every: float = 25,
        *,
        lower: Any = None,
        upper: Any = None,
        positive: Any = None,
    ):
        self.slack = slack
        self.cache = cache
        self.gap_every = gap_every
        self.lower = lower
        self.upper = upper
        self.positive = positive

    def start(self, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None) -> Engine:
        check_choice("slack", self.slack, SLACKS)
        return SLACKS[self.slack](self, problem, lam, state, random_state, n_jobs)


def _one(
    solver: CuttingPlane, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None
) -> OneSlackEngine:
    rule = as_cache(solver.cache)
    memory: Memory | NoMemory = NoMemory(0.0)
    if rule is not None:
        memory = growing_memory(problem, rule)
        memory.mass[:] = 0.0  # outputs make room by age alone
    return OneSlackEngine(Passes(problem, n_jobs), lam, solver.box(problem), memory, state)


def _several(
    solver: CuttingPlane, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None
) -> BlockEngine:
    parts = Parts(
        draw=DRAWS["permutation"],
        by_gaps=False,
        step=PairwiseStep(False),
        cache=NoCache(0.0),
        memory=growing_memory(problem, as_cache(solver.cache) or Cache()),
        averages=True,
        box=solver.box(problem),
        acceleration=Catalyst(),
    )
    return NSlackEngine(Passes(problem, n_jobs), lam, parts, state, random_state)


SLACKS: dict[str, Callable[..., Engine]] = {"one": _one, "n": _several}
