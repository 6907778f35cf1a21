"""Long chains as blocks of pieces: steps on pieces, certificates of the whole.

Links between pieces keep a part of the gap, so that pieces become longer when the gap stops falling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...structures.pairwise.pieces import can_be_cut, in_pieces, joint_vector, merged
from ..engine import COMPILED_CHUNK, Engine, State
from ..objective import Certified, DualPoint, DualValue
from ..parts.averaging import NoAveraging
from ..parts.memory import nameless
from ..passes import Passes
from ..result import Record
from .engine import BlockEngine, Parts

MakeParts = Callable[[Any], Parts]


# Pieces become twice as long when, over so many passes, the gap did not fall below this share of what it was.
PATIENCE, FALLS = 20, 0.9


class JoinedEngine(BlockEngine):
    """Block steps on pieces of chains, whose marginals are dual variables of the chains."""

    kept = (*BlockEngine.kept, "joints")

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, make_parts: MakeParts, longest: int):
        pieces = in_pieces(problem, longest)
        super().__init__(pieces, lam, box, n_jobs, make_parts(pieces))
        self.posed, self.whole = problem, Passes(problem, n_jobs)

    def begin(self) -> None:
        self.joints = np.zeros(self.passes.dimension)
        super().begin()
        self.tie()

    def resume(self, state: State) -> None:
        self.problem.links.node[:] = state.blocks.node
        super().resume(state)
        self.tie()

    def take_over(self, shorter: JoinedEngine) -> None:
        """Go on from the marginals of shorter pieces. What outputs they come from, longer ones have no names for."""
        point, mixture = shorter.dual_point(), shorter.best_point()
        self.blocks = merged(shorter.problem, shorter.blocks, self.problem)
        self.tie()
        self.memory = nameless(self.memory)
        self.known_curvature, self.joints = shorter.known_curvature, joint_vector(self.posed, self.problem)
        self.new_outer(point)
        self.outer.go_on(mixture, shorter.outer.average)
        self.forget_gaps()

    def tie(self) -> None:
        """Pieces see the marginals of their neighbours as they are."""
        node = self.problem.links.node
        node[:] = self.blocks.node
        self.blocks = self.blocks._replace(node=node)

    def prepare(self) -> None:
        super().prepare()
        self.whole.prepare_hinges()

    def new_averaging(self) -> Any:
        return NoAveraging()  # links between pieces do not average with their ends

    def dual_point(self) -> DualPoint:
        """Brings the links between pieces up to date, too: between two looks they are those of the look before."""
        joints = joint_vector(self.posed, self.problem)
        self.w += (joints - self.joints) / self.outer.lam
        self.joints = joints
        return super().dual_point()

    def value_at(self, w: np.ndarray, value: DualValue, hinges: np.ndarray | None = None) -> Certified:
        """Hinges are those of the whole, whatever those of the pieces are."""
        self.oracle_calls += self.n
        return Certified(w, self.whole.primal(w, self.lam), *value)

    def value_of_average(self, w: np.ndarray, value: DualValue) -> Certified:
        return self.value_at(w, value)


class PiecesEngine(Engine):
    """Steps on pieces of the chains, as long as it pays; steps and passes count as those of the first pieces."""

    family = "BlockFrankWolfe on pieces"
    kept = ("longest", "steps_state", "reference", "due")

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, make_parts: MakeParts, longest: int):
        if not can_be_cut(problem):
            raise ValueError("pieces are for chains whose transitions have no features and are all allowed")
        super().__init__(problem, lam, box, n_jobs)
        self.of_length = lambda longest: JoinedEngine(problem, lam, box, n_jobs, make_parts, longest)
        self.longest = longest
        self.inner = self.of_length(longest)
        self.n, self.sampling = self.inner.n, self.inner.sampling
        self.reference = (0, np.inf)  # steps and gap from which on it should fall
        self.due = False  # longer pieces, before the next step

    def begin(self) -> None:
        self.inner.start(None, self.draws.rng)

    def resume(self, state: State) -> None:
        if state.longest != self.longest:
            self.inner = self.of_length(state.longest)
        self.longest, self.due = state.longest, state.due
        self.reference = state.reference if self.continues(state) else (self.steps, np.inf)
        self.inner.start(state.steps_state, None if self.draws is state.draws else self.draws.rng)

    @property
    def steps_state(self) -> State:
        return self.inner.state()

    @property
    def chunk(self) -> int:
        return min(COMPILED_CHUNK, self.n) if self.inner.n == self.n else self.n

    def prepare(self) -> None:
        self.inner.prepare()

    def advance(self, n_steps: int) -> None:
        if self.due:
            self.lengthen()
        before, calls = self.inner.steps, self.inner.oracle_calls
        self.inner.advance(max(1, n_steps * self.inner.n // self.n))
        self.steps += max(1, (self.inner.steps - before) * self.n // self.inner.n)
        self.count(calls)

    def count(self, before: int) -> None:
        """Oracle calls count as those of the first pieces, as passes do; `before` were those of the pieces now."""
        self.oracle_calls += -(-(self.inner.oracle_calls - before) * self.n // self.inner.n)

    def lengthen(self) -> None:
        shorter, self.due = self.inner, False
        self.longest *= 2
        self.inner = self.of_length(self.longest)
        self.inner.start(None, shorter.draws.rng)
        self.inner.take_over(shorter)

    def reconsider(self, record: Record) -> None:
        steps, gap = self.reference
        if self.steps < steps + PATIENCE * self.n:
            return
        self.due = record.gap > FALLS * gap and self.inner.n > len(self.posed.weight)
        self.reference = (self.steps, record.gap)

    def certify(self) -> list[Certified]:
        calls = self.inner.oracle_calls
        found = self.inner.certify()
        self.count(calls)
        return found

    def estimate(self) -> Certified:
        return self.inner.estimate()

    def best_point(self) -> DualPoint:
        return self.inner.best_point()

    def extras(self) -> dict[str, float]:
        return {**self.inner.extras(), "pieces": self.inner.n}
