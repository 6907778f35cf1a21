"""One slack for all samples: a constraint is one output of each, summed."""  # joachims09, Alg. 3

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from ..._sums import dot
from ...structures.fingerprint import fingerprint
from ..base import Passes, check_state
from ..block_coordinate.memory import Memory, NoMemory
from ..box import same_bounds
from ..objective import Certified, DualPoint, Objective
from ..result import Record
from .cuts import Cuts
from .passes import memory_pass, oracle_pass

# A constraint made of remembered outputs is taken if it cuts off this share of the last gap; so many in a row at most.
WORTH, MOST_REMEMBERED = 0.1, 50

# The restricted problem is solved to this share of the gap.
PRECISION = 1e-5


class CutsState(NamedTuple):
    cuts: Cuts
    memory: Memory | NoMemory
    steps: int
    best: Certified | None
    fingerprint: int


class OneSlackEngine:
    """See :class:`~.driver.Engine`."""

    def __init__(self, passes: Passes, lam: float, box: Any, memory: Memory | NoMemory, state: Any):
        self.passes, self.problem = passes, passes.problem
        self.n = self.chunk = passes.n
        self.steps, self.oracle_calls, self.doubt = 0, 0, 1
        self.certifiable = passes.certifiable
        self.objective = Objective(self.problem, lam, box)
        self.cuts, self.memory = Cuts(self.objective, passes.dimension), memory
        self.best: Certified | None = None
        self.n_remembered = 0
        if state is not None:
            check_state(state, CutsState, self.problem)
            self.resume(state)
        self.gap = np.inf
        self.solve()
        self.look()

    def resume(self, state: CutsState) -> None:
        earlier = state.cuts.objective
        self.cuts, self.steps = state.cuts.under(self.objective), state.steps
        if type(state.memory) is type(self.memory):
            self.memory = copy.deepcopy(state.memory)  # the earlier result keeps its own
        if same_bounds(earlier.box, self.objective.box):
            same = earlier.lam == self.objective.lam
            self.best = state.best if same else self.objective.carried(state.best, earlier.lam)

    def prepare(self) -> None:
        return None  # the first look, which every run begins with, did that

    def advance(self, n_steps: int) -> None:
        self.cuts.add(self.corner)
        self.solve()
        if isinstance(self.memory, Memory):
            self.use_memory()
        self.steps += self.n
        self.look()

    def use_memory(self) -> None:
        for _ in range(MOST_REMEMBERED):
            hinges, losses, vector = self.room()
            memory_pass(self.problem, self.passes.work, self.memory, self.w, hinges, losses, vector)
            if self.primal_of(hinges) - self.dual <= WORTH * self.gap:
                return
            self.n_remembered += 1
            self.cuts.add(DualPoint(vector, dot(self.problem.weight, losses)))
            self.solve()

    def solve(self) -> None:
        """The best mixture of the constraints known, and its weights."""
        self.point = self.cuts.solve(PRECISION * min(self.gap, 1.0))
        self.w, _ = self.objective.weights(self.point)
        self.dual = self.objective.dual(self.point)

    def look(self) -> None:
        """Ask all samples at the current w: the next constraint and the exact value of this one."""
        hinges, losses, vector = self.room()
        oracle_pass(self.problem, self.passes.work, self.memory, self.w, self.steps, hinges, losses, vector)
        self.oracle_calls += self.n
        self.corner = DualPoint(vector, dot(self.problem.weight, losses))
        self.primal = self.primal_of(hinges)
        self.gap = self.primal - self.dual

    def room(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.empty(self.n), np.empty(self.n), np.zeros(self.passes.dimension)

    def primal_of(self, hinges: np.ndarray) -> float:
        return self.passes.primal(self.w, self.objective.lam, hinges)

    def estimate(self) -> Certified:
        return self.objective.certified(self.w, self.primal, self.point)

    def extras(self) -> dict[str, float]:
        return {"constraints": len(self.cuts.losses) - 1, "remembered": self.n_remembered}

    def reconsider(self, record: Record) -> None:
        return None

    def certify(self) -> list[Certified]:
        return [self.estimate()]  # a step ends with an exact pass

    def state(self) -> CutsState:
        return CutsState(self.cuts, self.memory, self.steps, self.best, fingerprint(self.problem))
