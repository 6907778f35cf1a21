"""The oracle asked for all samples at once, and what it ever answered worked through before it is asked again.

For structures in plain Python: their oracles cost far more than a step over outputs that are listed, which is compiled
(:mod:`~...structures.listed`). Multi-plane block Frank-Wolfe (shah15) is the relative; here the steps between two
passes of the oracle are the accelerated block loop itself, and end when they have little left to gain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...structures.crew import ask_ahead
from ...structures.listed import ListedProblem, Listing, extended
from ...structures.verbs import find_potentials, truth_value
from ..engine import Engine, State
from ..objective import Certified, DualPoint
from ..parts.memory import find_in, renumbered
from ..passes import ORACLE
from .engine import BlockEngine, Parts

# Passes over the outputs listed end when their gap is this share of the gap known, or after so many looks at it.
SHARE, LOOKS = 0.1, 30
PASSES_A_LOOK = 3

# Outputs without mass are forgotten when the features listed take more than this.
MOST_BYTES = 1e9

# Samples are asked for this share of all at a time: early, the first answers make better questions of the next.
CHUNKS = 4


def ask_pass(problem, work, memory, w, blocks, k, hinges):
    """The answers for some samples at w are remembered; ``hinges[i] = max_y H_i(y; w)``."""
    ask_ahead(problem, work, w, blocks)
    for i in blocks.tolist():
        find_potentials(problem, work, w, i)
        value = find_in(ORACLE, memory, problem, work, w, i, k)
        hinges[i] = value - truth_value(problem, work, w, i)


class Answers:
    """What the oracle answers for all samples at the same weights, not listed yet."""

    def __init__(self, n: int):
        self.corners: list[Any] = [None] * n
        self.hinges = np.empty(n)

    def remember(self, problem: Any, work: Any, i: int, k: int) -> int:
        self.corners[i] = work.corner
        return 0  # its only place

    def list_in(self, listing: Listing, problem: Any, work: Any, blocks: np.ndarray, k: int) -> None:
        """Answers for some samples are listed."""
        for i in blocks.tolist():
            work.corner = self.corners[i]
            listing.remember(problem, work, i, k)


class ListedEngine(BlockEngine):
    """Steps over the outputs listed so far; there may be more of them tomorrow."""

    def take_up(self, problem: ListedProblem) -> None:
        """Go on with more outputs: masses stay, gaps are those of the new problem."""
        self.problem = problem
        self.passes.take_up(problem)
        self.objective = replace(self.objective, problem=problem)
        self.blocks = extended(problem, self.blocks)
        self.averaging = self.new_averaging()
        self.certify()

    def move_masses(self, masses: np.ndarray) -> None:
        """The same masses, of outputs with other numbers."""
        self.blocks = self.blocks._replace(node=masses)
        self.memory = renumbered(self.memory, masses)

    def passes_on(self, count: int) -> None:
        goal = self.steps + count * self.n
        while self.steps < goal:
            self.advance(goal - self.steps)


class WorkingSetEngine(Engine):
    """Oracle calls for a few samples at a time; between them, steps over all outputs listed.

    What a certificate is answered is listed when the run goes on, if a certificate was due: where a run happens to stop
    changes nothing of what comes after. Otherwise it spares the next question, which is asked at the same weights.
    """

    family = "BlockFrankWolfe with a working set"
    kept = ("listing", "steps_state", "w", "asked_hinges", "answers")

    def __init__(
        self,
        problem: Any,
        lam: float,
        box: Any,
        n_jobs: int | None,
        make_parts: Callable[[Any], Parts],
        gap_every: float,
    ):
        super().__init__(problem, lam, box, n_jobs)
        self.make_parts = make_parts  # of the steps, for the problem listed
        self.n_jobs = n_jobs  # for certificates there, too; steps are on one thread
        self.stride = self.steps_in(gap_every)  # between certificates
        self.point = DualPoint(np.zeros(self.passes.dimension), 0.0)
        self.inner: ListedEngine | None = None

    @property
    def chunk(self) -> int:
        return -(-self.n // CHUNKS)

    def begin(self) -> None:
        self.listing, self.w = Listing(self.problem), np.zeros(self.passes.dimension)
        self.asked_hinges = np.full(self.n, np.inf)  # as each sample was last asked
        self.answers: Answers | None = None  # at the weights at hand, where a certificate asked

    @property
    def steps_state(self) -> State | None:
        return None if self.inner is None else self.inner.state()

    def resume(self, state: State) -> None:
        self.listing, self.w, self.asked_hinges = state.listing, state.w, state.asked_hinges
        self.answers = state.answers
        if state.steps_state is not None:
            self.inner = self.new_inner(state.steps_state, reseeded=self.draws is not state.draws)
            self.point = self.inner.best_point()
        if self.answers is not None and not self.continues(state):  # no run would have gone on like this
            self.ask(np.arange(self.n))

    def new_inner(self, state: State | None, reseeded: bool = True) -> ListedEngine:
        listed = self.listing.problem
        inner = ListedEngine(listed, self.lam, self.objective.box, self.n_jobs, self.make_parts(listed))
        inner.posed = self.problem  # what is listed grows, and does not tell problems apart
        inner.start(state, int(self.draws.rng.integers(2**31)) if reseeded else None)  # randomness of its own
        inner.prepare()
        return inner

    def prepare(self) -> None:
        """Compile or load what the steps need, on a list of true outputs."""
        listed = Listing(self.problem).problem
        parts = self.make_parts(listed)._replace(averages=False)  # accelerated steps keep no averages of blocks
        trial = ListedEngine(listed, self.lam, self.objective.box, None, parts)
        trial.start(None, 0)
        trial.prepare()

    def ask(self, blocks: np.ndarray) -> None:
        """What the oracle answers for these samples is listed."""
        if self.inner is not None and self.listing.nbytes > MOST_BYTES:
            self.inner.move_masses(self.listing.keep(self.inner.blocks.node))
        problem, work = self.problem, self.passes.work
        if self.answers is not None:  # the same weights, the same answers
            self.answers.list_in(self.listing, problem, work, blocks, self.steps)
            self.asked_hinges[blocks] = self.answers.hinges[blocks]
            return
        ask_pass(problem, work, self.listing, self.w, blocks, self.steps, self.asked_hinges)
        self.oracle_calls += len(blocks)

    def advance(self, n_steps: int) -> None:
        if self.answers is not None and self.steps % self.stride == 0:
            self.ask(np.arange(self.n))
            self.work_through()
        count = min(n_steps, self.chunk - self.steps % self.n % self.chunk)
        self.ask(self.draws.take(self.sampling, count))
        self.steps += count
        if np.all(np.isfinite(self.asked_hinges)):  # before that, nothing is known of all samples
            self.work_through()

    def work_through(self) -> None:
        """Improve on the outputs listed until little is left to gain there."""
        if self.inner is None:
            self.inner = self.new_inner(None)
        self.inner.take_up(self.listing.problem)
        goal = SHARE * self.known_gap()
        for _ in range(LOOKS):
            self.inner.passes_on(PASSES_A_LOOK)
            found = min(self.inner.certify(), key=lambda one: one.primal)
            self.point = self.inner.best_point()
            if found.primal - self.objective.dual(self.point) <= goal:
                break
        self.w, self.answers = found.w.copy(), None

    def known_gap(self) -> float:
        found = self.estimate()
        return found.primal - found.dual

    def estimate(self) -> Certified:
        return self.objective.certified(self.w, self.passes.primal(self.w, self.lam, self.asked_hinges), self.point)

    def certify(self) -> list[Certified]:
        found = Answers(self.n)
        ask_pass(self.problem, self.passes.work, found, self.w, np.arange(self.n), self.steps, found.hinges)
        self.answers = found
        return [self.value_at(self.w, self.objective.value(self.point), found.hinges)]

    def best_point(self) -> DualPoint:
        return self.point

    def extras(self) -> dict[str, float]:
        steps = 0 if self.inner is None else self.inner.steps
        return {"outputs": self.listing.n_outputs, "steps": steps}
