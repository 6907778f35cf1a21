"""Long chains as blocks of pieces: steps on pieces, certificates of the whole.

Links between pieces keep a part of the gap: little where both their sites are sure of their labels. So after the first
passes chains are cut there, and pieces become longer when the gap stops falling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...structures.pairwise.pieces import (
    blocks_of,
    can_be_cut,
    cut_anew,
    even_cuts,
    every_other,
    in_pieces,
    joint_vector,
    labelings_of,
    merged,
    outputs_of,
    sure_cuts,
    sureness_pass,
)
from ...structures.verbs import mean_loss
from ..engine import COMPILED_CHUNK, Engine, State
from ..kept import Kept
from ..objective import Certified, DualPoint, DualValue
from ..parts.averaging import NoAveraging
from ..parts.memory import is_named, nameless, with_outputs
from ..passes import Passes, weights_pass
from .engine import BlockEngine, Parts

MakeParts = Callable[[Any], Parts]


FIRST_LOOK = 10  # passes after which chains are cut where their sites are sure
# Pieces become twice as long when, over so many passes, the gap did not fall below this share of what it was; passes of
# longer pieces have fewer steps, and count as fewer in proportion.
PATIENCE, FALLS = 10, 0.85


class JoinedEngine(BlockEngine):
    """Block steps on pieces of chains, whose marginals are dual variables of the chains."""

    kept = (*BlockEngine.kept, "joints")

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, make_parts: MakeParts, cuts: Any):
        pieces = in_pieces(problem, cuts)
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

    def take_over(self, earlier: JoinedEngine) -> None:
        """Go on from the marginals of other pieces: by the outputs they come from, where these have names.

        Otherwise these pieces must be made of whole ones of those, and have no names for their outputs.
        """
        old, memory = earlier.problem, earlier.memory
        if is_named(memory):
            outputs = outputs_of(old, memory.labelings, memory.filled, memory.mass)
            outputs = cut_anew(outputs, old.sites.offsets, self.problem.sites.offsets)
            slots = min(max(self.memory.capacity, *map(len, outputs)), self.memory.limit)
            self.blocks = blocks_of(self.problem, outputs)
            masses = [np.array([mass for _, mass in some]) for some in outputs]
            self.memory = with_outputs(self.memory, labelings_of(self.problem, outputs, slots), masses)
        else:
            self.blocks, self.memory = merged(old, earlier.blocks, self.problem), nameless(self.memory)
        self.tie()
        self.known_curvature, self.joints = earlier.known_curvature, joint_vector(self.posed, self.problem)
        vector = self.joints.copy()
        weights_pass(self.problem, self.blocks, self.passes.work, self.n, 1.0, 1.0, vector)
        self.new_outer(DualPoint(vector, mean_loss(self.problem, self.blocks)))
        self.outer.go_on(earlier.best_point(), earlier.outer.average)
        self.forget_gaps()

    def tie(self) -> None:
        """Pieces see the marginals of their neighbours as they are."""
        node = self.problem.links.node
        node[:] = self.blocks.node
        self.blocks = self.blocks._replace(node=node)

    def prepare(self) -> None:
        super().prepare()
        self.whole.prepare_hinges()
        sureness_pass(self.posed, self.whole.work, self.w, self.problem.links.node, np.empty(0), 0, 0)

    def sureness(self, w: np.ndarray) -> np.ndarray:
        """How sure sites are of their labels under w."""
        found = np.empty(len(self.posed.labels))
        sureness_pass(self.posed, self.whole.work, w, self.problem.links.node, found, 0, self.whole.n)
        return found

    def new_averaging(self) -> Any:
        return NoAveraging()  # links between pieces do not average with their ends

    def dual_point(self) -> DualPoint:
        """Brings the links between pieces up to date, too: between two looks they are those of the look before."""
        joints = joint_vector(self.posed, self.problem)
        self.w = self.w + (joints - self.joints) / self.outer.lam  # another one: what follows the old one must know
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
    kept = ("longest", "cuts", "steps_state", "reference", "due", "origin")
    counted = (*Engine.counted, "inner.tally")

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, make_parts: MakeParts, longest: int):
        if not can_be_cut(problem):
            raise ValueError("pieces are for chains whose transitions have no features and are all allowed")
        super().__init__(problem, lam, box, n_jobs)
        self.of_cuts = lambda cuts: JoinedEngine(problem, lam, box, n_jobs, make_parts, cuts)
        self.longest, self.cuts = longest, even_cuts(problem, longest)
        self.inner = self.of_cuts(self.cuts)
        self.n, self.sampling = self.inner.n, self.inner.sampling
        self.reference = (0, np.inf)  # steps and gap from which on it should fall
        self.due: np.ndarray | None = None  # other cuts, before the next step
        self.origin = (0, 0)  # steps, and those of these pieces, where these began

    def begin(self) -> None:
        self.inner.start(None, self.draws.rng)

    def resume(self, state: State) -> None:
        if not np.array_equal(state.cuts, self.cuts):
            self.inner = self.of_cuts(state.cuts)
        self.longest, self.cuts, self.due, self.origin = state.longest, state.cuts, state.due, state.origin
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
        if self.due is not None:
            self.cut(self.due)
        calls = self.inner.oracle_calls
        self.inner.advance(self.steps_to(self.steps + n_steps))
        self.steps = self.steps_at(self.inner.steps)
        self.count(calls)

    def steps_at(self, inner: int) -> int:
        """Steps as they count, after so many of the pieces now: not by how many were taken at a time."""
        begun, first = self.origin
        return begun + (inner - first) * self.n // self.inner.n

    def steps_to(self, goal: int) -> int:
        """Steps of the pieces now until so many count, or a few more."""
        begun, first = self.origin
        return max(1, first - (begun - goal) * self.inner.n // self.n - self.inner.steps)

    def count(self, before: int) -> None:
        """Oracle calls count as those of the first pieces, as passes do; `before` were those of the pieces now."""
        self.oracle_calls += -(-(self.inner.oracle_calls - before) * self.n // self.inner.n)

    def cut(self, cuts: np.ndarray) -> None:
        earlier, self.cuts, self.due = self.inner, cuts, None
        self.inner = self.of_cuts(cuts)
        self.inner.start(None, earlier.draws.rng)
        self.inner.take_over(earlier)
        self.origin = (self.steps, self.inner.steps)

    def reconsider(self, gap: float, best: Kept) -> None:
        (steps, before), named = self.reference, is_named(self.inner.memory)
        first = before == np.inf
        if self.steps < steps + (FIRST_LOOK if first else PATIENCE * self.n / self.inner.n) * self.n:
            return
        self.reference = (self.steps, gap)
        stalled = not first and gap > FALLS * before and self.inner.n > len(self.posed.weight)
        if stalled:
            self.longest *= 2
        if named and (first or stalled):
            self.oracle_calls += 2 * self.n  # from both ends of the chains
            self.due = sure_cuts(self.posed, even_cuts(self.posed, self.longest), self.inner.sureness(best.weights()))
        elif stalled:
            self.due = every_other(self.posed, self.cuts)

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
