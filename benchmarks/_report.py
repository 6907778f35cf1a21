"""What the benchmarks share: bars at the end, timing of alternatives in turn."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

Given = TypeVar("Given")
Found = TypeVar("Found")


class Bar(NamedTuple):
    """A figure and what it must not exceed (or must reach, with ``at_least``); None where it could not be measured."""

    name: str
    value: float | None
    bound: float
    at_least: bool = False

    @property
    def short(self) -> bool:
        if self.value is None:
            return False
        return not (self.value >= self.bound if self.at_least else self.value <= self.bound)

    def __str__(self) -> str:
        bound = f"({'>=' if self.at_least else '<='} {self.bound:g})"
        if self.value is None:
            return f"{self.name}: not measured {bound}"
        return f"{self.name}: {self.value:.4g} {bound} {'SHORT' if self.short else 'ok'}"


class Look(NamedTuple):
    seconds: float  # CPU seconds of fit until then
    value: float


class Watch:
    """A scikit-learn callback: evaluates the model at each certificate, and times fit without the evaluation."""

    def __init__(self, evaluate: Callable[[Any], float]):
        self.evaluate, self.rows = evaluate, list[Look]()

    def setup(self, estimator, context):
        self.began = time.process_time()

    def teardown(self, estimator, context):
        del self.began

    def on_fit_task_begin(self, estimator, context):
        return None

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "certificate":
            now = time.process_time()
            self.rows.append(Look(now - self.began, self.evaluate(fitted_estimator)))
            self.began += time.process_time() - now


def arguments(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small version, under a minute")
    return parser.parse_args()


def finish(bars: list[Bar]) -> None:
    """Print one line a bar and exit with 1 if any is short."""
    print()
    for bar in bars:
        print(bar)
    sys.exit(int(any(bar.short for bar in bars)))


def time_in_turn(calls: dict[str, Callable[[int], None]], rounds: int, warm_up: int = 2) -> dict[str, np.ndarray]:
    """CPU seconds of each call in each round; taking turns makes their ratios robust against a noisy machine."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds + warm_up):
        for name, call in calls.items():
            before = time.process_time()
            call(turn)
            seconds[name].append(time.process_time() - before)
    return {name: np.array(values[warm_up:]) for name, values in seconds.items()}


def in_turn(function: Callable[[Given], Found], tasks: Iterable[Given], workers: int) -> Iterator[Found]:
    """Results in the order of the tasks, from so many processes."""
    if workers == 1:
        yield from map(function, tasks)
        return
    with ProcessPoolExecutor(workers, initializer=threadpool_limits, initargs=(1,)) as pool:
        yield from pool.map(function, tasks)


def effort_to(goal: float, gap: np.ndarray, effort: np.ndarray) -> float:
    """Effort to a gap, log-linear between certificates; infinite if it is not reached."""
    at = np.flatnonzero(gap <= goal)
    if len(at) == 0:
        return np.inf
    k = at[0]
    if k == 0:
        return float(effort[0])
    upper, lower = np.log(gap[k - 1]), np.log(max(gap[k], 1e-300))
    return float(effort[k - 1] + (effort[k] - effort[k - 1]) * (upper - np.log(goal)) / (upper - lower))
