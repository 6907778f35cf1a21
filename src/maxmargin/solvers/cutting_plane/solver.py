"""Parameters of cutting planes to engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._parameters import check_choice
from ..base import Solver
from ..block_coordinate import Parts
from ..catalyst import Catalyst
from ..engine import Engine
from ..parts.cache import Cache, as_cache, growing_memory, memory_for
from ..parts.memory import Memory, NoMemory
from ..parts.samplers import Permutation
from ..parts.steps import PairwiseStep
from .n_slack import NSlackEngine
from .one_slack import OneSlackEngine


class CuttingPlane(Solver):
    """Cutting planes: ask all samples, add what is violated most, solve the problem with the constraints found so far.

    Parameters
    ----------
    slack : {"one", "n"}, default="one"
        A constraint sums one output of each sample, or is one of a single sample.
    cache : bool or Cache, default=True
        Remember outputs; of a `Cache`, capacity and max_bytes count. With one slack, constraints are made of remembered
        outputs as long as these cut off enough, and the oracle is asked only then. With n slacks the remembered outputs
        are the constraints, so there is always a cache.
    gap_every : float, default=25
        Passes between two records of the history; with one slack they cost nothing. With n slacks, passes over the
        remembered outputs count, four for each of the oracle.
    lower : float, array or None, default=None
        Lower bounds on w, a number or one for each weight.
    upper : float, array or None, default=None
        Upper bounds on w.
    positive : indices, mask, slice or None, default=None
        Weights that must be >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import CuttingPlane
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = CuttingPlane().solve(problem, 0.1, tol=1e-6)
    >>> print(result.status, result.gap <= 1e-6)
    converged True
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

    @property
    def family(self) -> str:  # type: ignore[override]
        return NSlackEngine.family if self.slack == "n" else OneSlackEngine.family

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> Engine:
        check_choice("slack", self.slack, SLACKS)
        return SLACKS[self.slack](problem, lam, self.box(problem), n_jobs, as_cache(self.cache))


def _one(problem: Any, lam: float, box: Any, n_jobs: int | None, cache: Cache | None) -> OneSlackEngine:
    memory: Memory | NoMemory = NoMemory()
    if cache is not None:
        memory = growing_memory(problem, cache)
        memory.mass[:] = 0.0  # outputs make room by age alone
    return OneSlackEngine(problem, lam, box, n_jobs, memory)


def _several(problem: Any, lam: float, box: Any, n_jobs: int | None, cache: Cache | None) -> NSlackEngine:
    parts = Parts(
        sampling=Permutation(),
        step=PairwiseStep(),
        memory=memory_for(problem, PairwiseStep(), cache),
        averages=True,
        acceleration=Catalyst(),
    )
    return NSlackEngine(problem, lam, box, n_jobs, parts)


SLACKS: dict[str, Callable[..., Engine]] = {"one": _one, "n": _several}
