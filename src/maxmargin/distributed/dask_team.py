"""Partitions on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from distributed import Client, Future
from distributed.client import FutureCancelledError
from distributed.comm import CommClosedError

from ..solvers.block_coordinate import BlockFrankWolfe
from .partitions import LostError, Operation, answer, begin, describe, state_of, total_of
from .travel import Whole

FAN_IN = 8  # reports that one worker adds up
LOST = ("lost", "cancelled", "error")
PATIENCE = 30.0  # seconds until a scheduler that does not answer is taken for gone

GONE = (
    "the Dask scheduler does not answer any more, and what its workers held is lost: connect to a cluster again, and "
    "run the same fit with the same checkpoint= to go on from there"
)


class DaskTeam:
    """Whoever works for a client.

    Parameters
    ----------
    client : distributed.Client
        Of any cluster.
    problems : list of futures
        Of the partitions' problems, each a :class:`~.travel.Whole`.
    load : function of a client
        Gives these again where some were lost.
    """

    loses = True

    def __init__(self, client: Client, problems: list[Future], load: Callable[[Client], list[Future]]):
        self.client, self.problems, self.load = client, problems, load

    def describe(self) -> list[Any]:
        return self.gathered([self.submit(describe_whole, problem) for problem in self.problems])

    def share(self, value: Any) -> Future:
        """One worker gets it, and others from whoever has it (to hand it round at once may wait for a dead one)."""
        try:
            return self.client.scatter(value, hash=False)
        except (TimeoutError, OSError) as error:  # it left in this very moment
            raise LostError("a worker left") from error

    def place(self, states: Sequence[Any]) -> list[Future]:
        return [self.submit(with_no_report, self.share(Whole(state))) for state in states]

    def begin(self, solver: BlockFrankWolfe, seeds: Sequence[int]) -> list[Future]:
        pairs = zip(self.problems, seeds, strict=True)
        return [self.submit(begin_whole, problem, solver, seed) for problem, seed in pairs]

    def ask(self, operation: Operation, held: Sequence[Future], *common: Any) -> list[Future]:
        pairs = zip(self.problems, held, strict=True)
        return [self.submit(answer_whole, operation, problem, state, *common) for problem, state in pairs]

    def total(self, held: Sequence[Future]) -> Any:
        """The sum, which workers form among each other: one vector comes here, whatever their number is."""
        reports = [self.submit(report_of, one) for one in held]
        while len(reports) > 1:
            groups = [reports[at : at + FAN_IN] for at in range(0, len(reports), FAN_IN)]
            reports = [self.submit(total_of, group) for group in groups]
        return self.gathered(reports)[0]

    def fetch(self, held: Sequence[Future], share: float) -> list[Any]:
        pairs = zip(self.problems, held, strict=True)
        states = self.gathered([self.submit(state_whole, problem, one, share) for problem, one in pairs])
        return [state.value for state in states]

    def submit(self, function: Callable[..., Any], *args: Any) -> Future:
        return self.client.submit(function, *args, pure=False)

    def gathered(self, futures: list[Future]) -> list[Any]:
        try:
            return self.client.gather(futures)
        except (FutureCancelledError, CommClosedError, TimeoutError) as error:
            raise LostError("a worker left") from error

    def repair(self) -> None:
        """Load the partitions again, where they were lost."""
        try:
            self.client.sync(self.client.scheduler.identity, callback_timeout=PATIENCE)
        except (OSError, TimeoutError, RuntimeError) as error:
            raise ConnectionError(GONE) from error
        if any(problem.status in LOST for problem in self.problems):
            self.problems = self.load(self.client)


def on_each(
    client: Client, function: Callable[..., Any], first: Any, data: Sequence[Future], *others: Any
) -> list[Any]:
    """What a function gives for each partition."""
    return client.gather([client.submit(function, first, one, *others, pure=False) for one in data])


def describe_whole(problem: Whole) -> Any:
    return describe(problem.value)


def begin_whole(problem: Whole, solver: BlockFrankWolfe, seed: int) -> Whole:
    return Whole(begin(problem.value, solver, seed))


def answer_whole(operation: Operation, problem: Whole, held: Whole, *common: Any) -> Whole:
    return Whole(answer(operation, problem.value, held.value, *common))


def state_whole(problem: Whole, held: Whole, share: float) -> Whole:
    return Whole(state_of(problem.value, held.value, share))


def with_no_report(state: Whole) -> Whole:
    return Whole((state.value, None))


def report_of(held: Whole) -> Any:
    return held.value[1]
