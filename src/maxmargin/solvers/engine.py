"""What the runs of all solvers share: how they begin, go on from an earlier state, and become one.

A solver writes its mathematics: `begin`, `advance`, `certify`, and which of its attributes a later run needs, `kept`.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from .._compile import runs_compiled
from ..structures.fingerprint import fingerprint
from .box import same_bounds
from .kept import Kept
from .objective import Certified, DualPoint, DualValue, Objective
from .parts.samplers import Draws, Permutation, Sampling
from .passes import Passes

# Beside this many steps, entering a compiled loop costs nothing.
COMPILED_CHUNK = 500


@dataclass
class State:
    """Everything a run needs to go on as if it had not stopped."""

    family: str  # of solvers that can go on from here
    fingerprint: int  # of the problem
    lam: float
    bounds: Any  # on the weights
    steps: int  # oracle calls of steps
    draws: Draws
    kept: dict[str, Any] = field(repr=False)  # by the solver
    best: Certified | None = field(default=None, repr=False)  # found so far
    doubt: int = 1

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["kept"][name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True)
class Earlier:
    """The state of a run on the first samples of a problem, which others have joined since.

    Parameters
    ----------
    state : State
        ``Result.state`` of that run.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, Earlier
    >>> from maxmargin.structures import make_multiclass_problem
    >>> few, more = (make_multiclass_problem(np.eye(4)[:n], np.array([0, 1, 2, 2])[:n], 3) for n in (3, 4))
    >>> solver = BlockFrankWolfe(step="pairwise")
    >>> first = solver.solve(few, 0.1, tol=1e-6, random_state=0)
    >>> second = solver.solve(more, 0.1, tol=1e-6, state=Earlier(first.state))
    >>> print(second.status, second.history["dual"][0] > 0.0)  # it does not begin at 0
    converged True
    """

    state: State


def check_state(state: Any, family: str, mark: int) -> None:
    """Refuse to go on from a state of another solver or other data: its certificate would be wrong."""
    check_family(state, family)
    if state.fingerprint != mark:
        raise ValueError("state belongs to other data (or costs, or weights) than this problem; start without it")


def check_family(state: Any, family: str) -> None:
    """Refuse to go on from a state of another solver."""
    got = state.family if isinstance(state, State) else type(state).__name__
    if got != family:
        raise TypeError(f"state must be that of {family} of an earlier Result, got {got}")


class Engine(ABC):
    """One optimisation run in progress, driven by :mod:`.driver`.

    Parameters
    ----------
    problem : what solvers speak to
    lam, box : the objective
    n_jobs : threads for exact passes
    """

    family: ClassVar[str]  # solvers whose states mean the same
    kept: ClassVar[tuple[str, ...]]  # attributes that a later run goes on with
    counted: ClassVar[tuple[str, ...]] = ("oracle_calls",)  # what a run counts for itself: a later one begins at 0
    certifies: ClassVar[bool] = True  # whether there are dual values
    keeps_best: ClassVar[bool] = True  # whether the lowest primal value so far is what is wanted
    sampling: Sampling = Permutation()  # how blocks are drawn, where they are

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None):
        self.passes = self.passes_over(problem, n_jobs)
        self.problem, self.lam, self.n = problem, lam, self.passes.n  # n: oracle calls of a pass
        self.posed = problem  # by the user, where steps work on another one
        self.objective = Objective(problem, lam, box)
        self.certifiable = self.certifies and self.passes.certifiable
        self.steps = 0  # oracle calls of steps so far, warm starts included
        self.oracle_calls = 0  # all oracle calls of this run, certificates included

    def passes_over(self, problem: Any, n_jobs: int | None) -> Any:
        """Exact passes over the samples, which may not be here."""
        return Passes(problem, n_jobs)

    @property
    def chunk(self) -> int:
        """So few oracle calls may always follow each other without a look at the clock."""
        if not runs_compiled(self.problem):
            return 1
        return min(COMPILED_CHUNK, self.n) if self.sampling.follows_gaps else COMPILED_CHUNK

    def steps_in(self, passes: float) -> float:
        """Steps of so many passes: at least one, and no end for infinitely many."""
        return passes if passes == np.inf else max(1, round(passes * self.n))

    def start(self, state: State | Earlier | None, random_state: Any) -> None:
        """Begin, or go on from an earlier state; without a seed, with its own randomness."""
        if isinstance(state, Earlier):
            self.draws = Draws(self.n, copy.deepcopy(state.state.draws.rng) if random_state is None else random_state)
            self.join(copy.deepcopy(state.state))
            return
        if state is None:
            self.draws = Draws(self.n, random_state)
            self.begin()
            return
        check_state(state, self.family, self.mark)
        state = copy.deepcopy(state)
        self.steps, self.draws = state.steps, state.draws
        if random_state is not None:
            self.draws = Draws(self.n, random_state)
        self.resume(state)

    def continues(self, state: State) -> bool:
        """Whether an earlier run had the same objective."""
        return state.lam == self.lam and same_bounds(state.bounds, self.objective.box)

    @abstractmethod
    def begin(self) -> None:
        """Set what is kept at the starting point."""

    def resume(self, state: State) -> None:
        """Set what is kept from an earlier state, which is this run's own; lam and bounds may be others.

        A run that cannot take all of it as it is says itself what it takes.
        """
        vars(self).update(state.kept)

    def join(self, state: State) -> None:
        """Begin where the first samples are as a run left them, which had no others."""
        raise TypeError(f"samples cannot join a run of {self.family}: its states are not taken apart by samples")

    def prepare(self) -> None:  # noqa: B027
        """Compile or load what the run needs, before the clock starts; where `begin` did not."""

    @abstractmethod
    def advance(self, n_steps: int) -> None:
        """Take at most `n_steps` oracle calls' worth of steps."""

    @abstractmethod
    def certify(self) -> list[Certified]:
        """Exact values at the current point, and at others worth returning; each costs a pass of oracle calls."""

    @abstractmethod
    def estimate(self) -> Certified:
        """What a certificate would say, as far as it is known without asking: it steers, and certifies nothing."""

    def best_point(self) -> DualPoint | None:
        """The best dual point known, where there are any."""
        return None

    def carried(self, state: State | None) -> Certified | None:
        """What an earlier run found, as far as it holds for this one."""
        if state is None or not same_bounds(state.bounds, self.objective.box):
            return None
        found = state.best if state.lam == self.lam else self.objective.carried(state.best, state.lam)
        point = self.best_point()
        return found if point is None else self.objective.improved(found, point)

    def nothing_to_learn(self) -> None:
        """Without weights, no sample has a hinge: a structure may know that this cannot be."""
        getattr(self.problem, "nothing_to_learn", lambda: None)()

    def extras(self) -> dict[str, float]:
        """Further columns for the history."""
        return {}

    def reconsider(self, gap: float, best: Kept) -> None:  # noqa: B027
        """A new certificate is there, and the best weights: a chance to change course."""

    def state(self) -> State:
        """What a later run needs; the caller adds what is certified."""
        kept = {name: getattr(self, name) for name in self.kept}
        draws = copy.deepcopy(self.draws)  # the user may go on drawing from a generator of his own
        return State(self.family, self.mark, self.lam, self.objective.box, self.steps, draws, kept)

    def check_keepable(self) -> None:  # noqa: B027
        """Refuse checkpoints that nobody could go on from; by default all can."""

    @cached_property
    def mark(self) -> int:
        """What tells the data of the problem from others; looking at all of them takes a while."""
        return fingerprint(self.posed)

    def counts(self) -> dict[str, Any]:
        """What was counted so far."""
        return {name: copy.copy(attrgetter(name)(self)) for name in self.counted}

    def count_on(self, counts: dict[str, Any]) -> None:
        """Go on counting from there: this is the same run."""
        for name, count in counts.items():
            mine = attrgetter(name)(self)
            if isinstance(mine, np.ndarray):
                mine[...] = count
            else:
                setattr(self, name, count)

    def hinges(self, w: np.ndarray) -> np.ndarray:
        """Exact hinges at w; a run that has another kernel compiled anyway finds them by that."""
        return self.passes.hinges(w)

    def hinge_loss(self, w: np.ndarray) -> float:
        """The exact hinge loss of weights; a pass of oracle calls."""
        self.oracle_calls += self.n
        return float(self.passes.primal(w, 0.0, self.hinges(w)))

    def value_at(self, w: np.ndarray, value: DualValue, hinges: np.ndarray | None = None) -> Certified:
        """Exact values of weights, whose hinges may be known, beside that of a dual point."""
        self.oracle_calls += self.n
        return Certified(w, self.passes.primal(w, self.lam, hinges), *value)
