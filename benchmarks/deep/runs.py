"""Runs of methods on one task, tuned alike, and tables of them."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from torch import nn

from maxmargin.deep import GradientSteps, ProxLinear, Risk, train

RATES = (0.01, 0.1, 1.0)
ETAS = (1.0, 10.0, 100.0)
SCHEDULES = {"SGD, constant": "constant", "SGD, t^-1/2": "sqrt", "SGD, t^-1": "linear"}


class Task(NamedTuple):
    """What is to be learned, always from the same first weights."""

    name: str
    network: nn.Module
    samples: Any
    lam: float
    passes: float  # of oracle calls that a method has
    batch_size: int
    test: Callable[[nn.Module], float]
    metric: str
    top_k: int


class Curve(NamedTuple):
    """One row an iteration."""

    passes: np.ndarray
    seconds: np.ndarray  # CPU, of training alone
    objective: np.ndarray  # the lowest so far
    test: float  # at the end
    rows: list[dict[str, float]]

    def at(self, passes: float) -> float:
        """The objective after so many passes; that of the first iteration where none is over."""
        return float(self.objective[max(int(np.sum(self.passes <= passes)) - 1, 0)])


class Looked(Risk):
    """Counts the CPU seconds of looks at the objective."""

    looking = 0.0

    def value(self) -> float:
        began = time.process_time()
        found = super().value()
        self.looking += time.process_time() - began
        return found


def follow(method: Any, task: Task) -> Curve:
    network = copy.deepcopy(task.network)
    risk = Looked(network, task.samples, task.lam)
    needs_value = isinstance(method, ProxLinear)  # stochastic steps do not look where they are
    rows: list[dict[str, float]] = []
    seconds, spent = [], 0.0
    began = time.process_time()

    def note(row: dict[str, float]) -> bool:
        nonlocal began, spent
        spent += time.process_time() - began - (0.0 if needs_value else risk.looking)
        rows.append(row)
        seconds.append(spent)
        risk.looking = 0.0
        began = time.process_time()
        return bool(row["oracle_calls"] >= task.passes * risk.n)

    try:
        train(method, risk, max_iterations=10**6, callback=note, random_state=0)
    except ValueError as error:  # rates that are tried may be too large
        if "shorter steps" not in str(error) or not rows:
            return Curve(np.array([0.0]), np.array([0.0]), np.array([np.inf]), 0.0, rows)
    passes = np.array([row["oracle_calls"] for row in rows]) / risk.n
    objective = np.minimum.accumulate([row["objective"] for row in rows])
    return Curve(passes, np.array(seconds), objective, task.test(network), rows)


def sgd(task: Task, schedule: str) -> tuple[float, Curve]:
    """The rate that leads to the lowest objective, and its run."""
    tried = {rate: follow(GradientSteps("sgd", rate, schedule, batch_size=task.batch_size), task) for rate in RATES}
    best = min(tried, key=lambda rate: tried[rate].objective[-1])
    return best, tried[best]


def prox_linear(task: Task, **options: Any) -> Curve:
    return follow(ProxLinear(batch_size=task.batch_size, top_k=task.top_k, **options), task)


def print_head(task: Task) -> None:
    looks = "".join(f"{f'at {share * task.passes:.0f}':>10}" for share in (0.25, 0.5, 1.0))
    print(f"{'':34}{looks}   CPU s  passes  {task.metric}")


def print_row(name: str, task: Task, curve: Curve) -> None:
    values = "".join(f"{curve.at(share * task.passes):10.4f}" for share in (0.25, 0.5, 1.0))
    taken = [row["taken"] for row in curve.rows if "taken" in row]
    steps = f"   {int(sum(taken))} of {len(taken)} steps taken" if taken else ""
    print(f"{name:34}{values}{curve.seconds[-1]:8.1f}{curve.passes[-1]:8.0f}  {curve.test:.3f}{steps}", flush=True)


def compare(task: Task, *, adam: float | None = None) -> dict[str, Curve]:
    """Prox-linear steps with eta as tuned and as found, and stochastic steps with rates as tuned."""
    n = len(task.samples.weight)
    print(f"\n{task.name}, n = {n}, lam = {task.lam:.2g}; objective after passes of oracle calls")
    print_head(task)
    found: dict[str, Curve] = {}
    for name, schedule in SCHEDULES.items():
        rate, found[name] = sgd(task, schedule)
        print_row(f"{name}, rate {rate:g} (best of {len(RATES)})", task, found[name])
    if adam is not None:
        found["Adam"] = follow(GradientSteps("adam", adam, batch_size=task.batch_size), task)
        print_row(f"Adam, rate {adam:g}", task, found["Adam"])
    tried = {eta: prox_linear(task, eta=eta) for eta in ETAS}
    eta = min(tried, key=lambda eta: tried[eta].objective[-1])
    found["PL-Casimir, tuned"] = tried[eta]
    print_row(f"PL-Casimir, eta {eta:g} (best of {len(ETAS)})", task, tried[eta])
    found["PL-Casimir"] = prox_linear(task)
    print_row("PL-Casimir, eta found", task, found["PL-Casimir"])
    return found


def largest_rise(curves: dict[str, Curve]) -> float:
    """Of the objective of prox-linear steps, relative to it."""
    rows = [[row["objective"] for row in curve.rows] for name, curve in curves.items() if "PL" in name]
    return max(float(np.max(np.diff(row) / row[0], initial=-1.0)) for row in rows)
