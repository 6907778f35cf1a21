"""All partitions of a run: who asks them, and what they are between two questions.

A *team* calls a function on every partition and adds up what is reported; what it leaves stays where it is. There is
one that works right here (:class:`Here`), and one on Dask (:mod:`.dask_team`). What is asked is kept since the last
*cut*, where all states came here: a team that lost some of them is asked the same again, from there on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..solvers import BlockFrankWolfe, get_solver
from ..structures.fingerprint import fingerprint
from ..structures.verbs import dimension, n_blocks, offers
from . import local

Operation = Callable[..., Any]

TRIES = 10  # until partitions that are lost again and again are given up
SELDOM = 2.0  # seconds between two cuts, at least
SHARE = 0.05  # of the time of a run that states may be on their way here, for the case that some are lost
MOST_BYTES = 1e9  # of weights that are kept for that case


class LostError(RuntimeError):
    """A team has lost what partitions were."""


class Question(NamedTuple):
    """What all partitions were asked."""

    operation: Operation
    share: float  # of the last change that was taken
    w: np.ndarray | None
    rest: tuple[Any, ...]


class Here:
    """A team of one, which does it all in this process, one partition after the other.

    Parameters
    ----------
    problems : list of problems
        The partitions: their sample weights sum to 1 over all of them.
    """

    loses = False  # what it holds

    def __init__(self, problems: Sequence[Any]):
        self.problems = list(problems)

    def describe(self) -> list[Any]:
        """Ask each partition what it is."""
        return [describe(problem) for problem in self.problems]

    def share(self, value: Any) -> Any:
        """Let everybody have a value."""
        return value

    def place(self, states: Sequence[Any]) -> list[Any]:
        """Hand each partition its state."""
        return [(state, None) for state in states]

    def begin(self, solver: BlockFrankWolfe, seeds: Sequence[int]) -> list[Any]:
        """Let each partition begin."""
        return [begin(problem, solver, seed) for problem, seed in zip(self.problems, seeds, strict=True)]

    def ask(self, operation: Operation, held: Sequence[Any], *common: Any) -> list[Any]:
        """Let each partition do something with what it holds; what it holds then, and its report, stay there."""
        return [answer(operation, *pair, *common) for pair in zip(self.problems, held, strict=True)]

    def total(self, held: Sequence[Any]) -> Any:
        """The sum of the reports."""
        return total_of([report for _, report in held])

    def fetch(self, held: Sequence[Any], share: float) -> list[Any]:
        """The states themselves."""
        return [state_of(*pair, share) for pair in zip(self.problems, held, strict=True)]


class Description(NamedTuple):
    """What must be known of a partition."""

    n: int
    dimension: int
    weight: float  # of its samples, of all
    offered: frozenset[Any]
    mark: int
    certifiable: bool
    solver: Any  # that suits it


def describe(problem: Any) -> Description:
    return Description(
        n=n_blocks(problem),
        dimension=dimension(problem),
        weight=float(np.sum(problem.weight)),
        offered=frozenset(offers(problem)),
        mark=fingerprint(problem),
        certifiable=getattr(problem, "certifiable", True),
        solver=get_solver("auto", problem),
    )


def begin(problem: Any, solver: BlockFrankWolfe, seed: int) -> tuple[Any, None]:
    return local.begin(problem, solver, seed), None


def answer(operation: Operation, problem: Any, held: tuple[Any, Any], *common: Any) -> Any:
    """One partition's answer: what it holds now, and its report."""
    return operation(problem, held[0], *common)


def state_of(problem: Any, held: tuple[Any, Any], share: float) -> Any:
    return local.settled(problem, held[0], share)


def total_of(reports: Sequence[Any]) -> Any:
    total = reports[0]
    for report in reports[1:]:
        total = total.plus(report)
    return total


class Partitions:
    """Partitions in the hands of a team, from question to question."""

    def __init__(self, team: Any, solver: BlockFrankWolfe):
        self.team, self.solver = team, solver
        self.taken = 1.0  # share of the last change
        self.questions: list[Question] = []  # since the last cut
        self.cut, self.cutting = time.monotonic(), 0.0  # when the last one ended, and how long it took
        self.restored = 0  # times

    def begin(self, seeds: Sequence[int]) -> None:
        self.start = lambda: self.team.begin(self.solver, seeds)
        self.held = self.start()

    def resume(self, states: Sequence[Any]) -> None:
        self.start = lambda: self.team.place(states)
        self.held = self.start()

    def ask(self, operation: Operation, w: np.ndarray | None = None, *rest: Any) -> Any:
        """Let all partitions do something, and add up what they report."""
        if self.team.loses and self.is_due():
            self.states()
        question = Question(operation, self.taken, w, rest)

        def answers() -> Any:
            held = self.put(question)
            return held, self.team.total(held)

        self.held, total = self.insist(answers)
        self.taken = 1.0
        if self.team.loses:
            self.questions.append(question)
        return total

    def put(self, question: Question) -> list[Any]:
        operation, share, w, rest = question
        shared = None if w is None else self.team.share(w)
        return self.team.ask(operation, self.held, share, self.solver, shared, *rest)

    def is_due(self) -> bool:
        """Whether to cut: seldom enough to cost little, often enough that not much has to be asked again."""
        kept = sum(question.w.nbytes for question in self.questions if question.w is not None)
        return kept > MOST_BYTES or time.monotonic() - self.cut > max(SELDOM, (1.0 / SHARE - 1.0) * self.cutting)

    def states(self) -> list[Any]:
        """What all partitions are. This is a cut: nobody needs to know any more what was asked before."""
        began = time.monotonic()
        states = self.insist(lambda: self.team.fetch(self.held, self.taken))
        self.start, self.questions = lambda: self.team.place(states), []
        self.cut = time.monotonic()
        self.cutting = self.cut - began
        return states

    def insist(self, action: Callable[[], Any]) -> Any:
        """What an action gives, where others may have to go before it once more."""
        for attempt in range(TRIES):
            try:
                if attempt:
                    self.restore()
                return action()
            except LostError as error:
                lost = error
        raise ConnectionError(
            f"workers were lost {TRIES} times in a row, so that nothing gets done: look into their logs (memory?),"
            " and run the same fit with the same checkpoint= to go on from there"
        ) from lost

    def restore(self) -> None:
        """Ask again all that was asked since the last cut."""
        self.restored += 1
        self.team.repair()
        self.held = self.start()
        for question in self.questions:
            self.held = self.put(question)
