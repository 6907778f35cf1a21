"""Oracles in plain Python, two jobs against one: seconds to a certified gap.

One is written in Python altogether, dynamic programming over lists, a millisecond a call; the other is that of
matchings, word alignment, which is NumPy around an assignment. Wall-clock seconds, the two taking turns; starting the
processes is part of them. What a full pass gains is shown for both ways of asking: processes, and threads. --quick
leaves out full passes. Run: python -m benchmarks.scale oracles
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin import MatchingSVM, datasets
from maxmargin.solvers import BlockFrankWolfe
from maxmargin.solvers.passes import Passes
from maxmargin.structures import CustomProblem, as_problem
from maxmargin.structures.crew import crew_for

from .._report import Bar
from .threads import BOTH, seconds, speed_up

WORTH = 1.5


class Tags:
    """Tags of a sequence, by a Viterbi algorithm in plain Python."""

    def __init__(self, n_samples: int, length: int = 20, n_tags: int = 25, n_inputs: int = 30):
        rng = np.random.default_rng(0)
        self.n_samples, self.n_tags, self.n_inputs, self.length = n_samples, n_tags, n_inputs, length
        self.n_features = n_tags * n_inputs + n_tags**2
        self.x = rng.normal(size=(n_samples, length, n_inputs))
        scores = self.x @ rng.normal(size=(n_inputs, n_tags))
        self.y = np.argmax(scores + 4.0 * rng.gumbel(size=scores.shape), axis=2)

    def joint_feature(self, i: int, y: Any) -> np.ndarray:
        of_inputs, of_pairs = np.zeros((self.n_tags, self.n_inputs)), np.zeros((self.n_tags, self.n_tags))
        np.add.at(of_inputs, y, self.x[i])
        np.add.at(of_pairs, (y[:-1], y[1:]), 1.0)
        return np.concatenate([of_inputs.ravel(), of_pairs.ravel()])

    def loss(self, i: int, y: Any) -> float:
        return float(np.mean(y != self.y[i]))

    def max_oracle(self, w: np.ndarray, i: int) -> np.ndarray:
        of_inputs, of_pairs = np.split(w, [self.n_tags * self.n_inputs])
        wrong = np.arange(self.n_tags) != self.y[i][:, None]
        scores = (self.x[i] @ of_inputs.reshape(self.n_tags, -1).T + wrong / self.length).tolist()
        columns, best, backwards = of_pairs.reshape(self.n_tags, -1).T.tolist(), scores[0], []
        for here in scores[1:]:
            known = [[value + step for value, step in zip(best, column, strict=True)] for column in columns]
            highest = [max(values) for values in known]
            backwards.append([values.index(value) for values, value in zip(known, highest, strict=True)])
            best = [value + score for value, score in zip(highest, here, strict=True)]
        labels = [best.index(max(best))]
        for back in reversed(backwards):
            labels.append(back[labels[-1]])
        return np.array(labels[::-1])


def alignments(few: bool) -> Any:
    data = datasets.fetch_wordalign()
    X, y = data.X_train[: 10 if few else None], data.y_train[: 10 if few else None]
    links = [np.stack([np.flatnonzero(one >= 0), one[one >= 0]], axis=1) for one in y]
    return MatchingSVM(scale=False).encode(X, links).problem


def full_pass(problem: CustomProblem, releases_lock: bool, turns: int) -> float:
    """How much faster two threads or processes, which are there, make a pass."""
    problem.structure.releases_lock = releases_lock
    w, passes = np.random.default_rng(0).normal(0.0, 0.1, problem.d), Passes(problem, None)
    alone = np.median([seconds(lambda: passes.hinges(w)) for _ in range(turns)])
    with crew_for(problem, 2):
        began = 0.0
        while began < 3.0:  # until processes have started
            began += seconds(lambda: passes.hinges(w))
        together = np.median([seconds(lambda: passes.hinges(w)) for _ in range(turns)])
    del problem.structure.releases_lock
    return float(alone / together)


def to_the_gap(problem: CustomProblem, lam: float, tol: float, turns: int) -> tuple[float, int]:
    """The speed-up, and the oracle calls of a run."""
    solver = BlockFrankWolfe("gap", "weighted", step="pairwise", acceleration="catalyst", working_set=True)
    found = dict[int, Any]()

    def run(n_jobs: int, turn: int) -> None:
        found[n_jobs] = solver.solve(problem, lam, tol=tol, random_state=turn, n_jobs=n_jobs)

    solver.solve(problem, lam, max_passes=1, random_state=0)  # compiles
    ratio = speed_up(run, turns, compiled=True)
    assert np.array_equal(*(found[n_jobs].w for n_jobs in BOTH))
    return ratio, found[1].n_oracle_calls


def show(name: str, problem: CustomProblem, lam: float, tol: float, quick: bool) -> float:
    turns = 1 if quick else 3
    each = seconds(lambda: Passes(problem, None).hinges(np.zeros(problem.d))) / problem.n
    ratio, calls = to_the_gap(problem, lam, tol, turns)
    print(f"{name}, {1e3 * each:.2f} ms a call, {calls} calls to {tol:g}: {ratio:.2f} x", flush=True)
    if not quick:
        gains = [full_pass(problem, releases_lock, 2 * turns + 1) for releases_lock in (True, False)]
        print(f"{name}, full passes: by threads {gains[0]:.2f} x, by processes {gains[1]:.2f} x", flush=True)
    return ratio


def measure(quick: bool) -> list[Bar]:
    show("word alignment", alignments(quick), 0.01, 1e-3, quick)
    ratio = show("an oracle in Python", as_problem(Tags(60 if quick else 1000)), 0.1, 1e-2, quick)
    return [Bar("an oracle in Python, two processes over one", ratio, WORTH, at_least=True)]
