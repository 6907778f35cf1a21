"""Trees, graphs of low tree-width, and transitions with features, each against the same features without structure.

- Tags of the English Web Treebank over the given dependency trees (`TreeSVM`), against the same words without edges.
- Strips of three rows of the snakes, 3 x m grids (`GraphSVM`, junction trees), against the same pixels without edges.
- The whole grids of the snakes, too wide for junction trees (`GraphSVM`, linear relaxation), against the same pixels
  without edges; how many relaxations are labelings, and what sweeps of messages cost against the linear program alone.
- Handwritten dates whose transitions know their position (`ChainSVM` with edge features), against plain transitions.

Every model is certified to the same gap. Six minutes. Run: python -m benchmarks.graphs [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from maxmargin import ChainSVM, GraphSVM, TreeSVM, datasets
from maxmargin.inference import Relaxed, relax, relax_by_program
from maxmargin.structures.relaxed import sample_scores

from ._report import Bar, arguments, finish

TOL = 0.02


class Task(NamedTuple):
    name: str
    make: Callable[..., Any]  # an estimator
    with_structure: Callable[[Any], Any]  # what they learn from
    without: Callable[[Any], Any]
    train: tuple[list[Any], list[Any]]
    test: tuple[list[Any], list[Any]]
    lams: tuple[float, ...]
    look: Callable[[Task, Any], list[Bar]] = lambda task, model: []  # at the structured model of the last lam


def treebank(n: int | None) -> Task:
    data = datasets.fetch_ewt(n_train=n)
    train, test = (list(zip(data[f"X_{part}"], data[f"heads_{part}"], strict=True)) for part in ("train", "test"))
    return Task(
        "EWT, trees",
        TreeSVM,
        lambda sample: sample,
        lambda sample: (sample[0], np.full(len(sample[1]), -1)),
        (train, data.y_train),
        (test, data.y_test),
        (1e-3,),
    )


def strips(data: Any, part: str) -> tuple[list[Any], list[Any]]:
    """Three rows of an image at a time, with the edges between their pixels."""
    samples, labels = [], []
    for x, edges, of_edges, y, (height, width) in zip(
        *(data[f"{name}_{part}"] for name in ("X", "edges", "edge_features", "y", "shapes")), strict=True
    ):
        for row in range(0, height - 2, 3):
            first, last = row * width, (row + 3) * width
            inside = ((edges >= first) & (edges < last)).all(axis=1)
            samples.append((x[first:last], edges[inside] - first, of_edges[inside]))
            labels.append(y[first:last])
    return samples, labels


def snakes(n: int | None) -> Task:
    data = datasets.fetch_snakes()
    samples, labels = strips(data, "train")
    return Task(
        "snakes, 3 x m grids",
        GraphSVM,
        lambda sample: sample,
        lambda sample: (sample[0], []),
        (samples[:n], labels[:n]),
        strips(data, "test"),
        (1e-2, 1e-3),
    )


def grids(data: Any, part: str) -> tuple[list[Any], list[Any]]:
    samples = zip(*(data[f"{name}_{part}"] for name in ("X", "edges", "edge_features")), strict=True)
    return list(samples), data[f"y_{part}"]


def relaxed_snakes(n: int | None, edge_features: str = "direction") -> Task:
    data = datasets.fetch_snakes(edge_features)
    samples, labels = grids(data, "train")
    return Task(
        f"snakes, whole grids by LP, edges with {edge_features}",
        partial(GraphSVM, inference="lp"),
        lambda sample: sample,
        lambda sample: (sample[0], []),
        (samples[:n], labels[:n]),
        grids(data, "test"),
        (1e-2,),
        look_at_relaxations,
    )


def dates(n: int | None) -> Task:
    data, positions = datasets.load_dates(n_train=n or 400), np.eye(7)
    return Task(
        "dates, transitions by position",
        ChainSVM,
        lambda sample: (sample, positions),
        lambda sample: sample,
        (data.X_train, data.y_train),
        (data.X_test, data.y_test),
        (1.0, 0.1, 0.03),
    )


class Found(NamedTuple):
    accuracy: float
    gap: float
    passes: float
    seconds: float
    model: Any


def learn(task: Task, view: Callable[[Any], Any], lam: float) -> Found:
    X, y = task.train
    samples = [view(sample) for sample in X]
    task.make(max_passes=1, tol=10.0).fit(samples[:2], y[:2])  # kernels compile, or load, before the clock
    began = time.process_time()
    model = task.make(lam, tol=TOL, random_state=0).fit(samples, y)
    seconds = time.process_time() - began
    X_test, y_test = task.test
    accuracy = model.score([view(sample) for sample in X_test], y_test)
    return Found(accuracy, model.gap_, model.n_passes_, seconds, model)


class Solver(NamedTuple):
    """What one way to solve relaxations has found."""

    milliseconds: float  # CPU, a relaxation
    values: np.ndarray
    is_labeling: np.ndarray  # whether a labeling meets the bound


def solve(relax_one: Callable[..., Relaxed], plan: Any, scores: list[tuple[np.ndarray, np.ndarray]]) -> Solver:
    relax_one(plan, 0, *scores[0])
    began = time.process_time()
    found = [relax_one(plan, i, *of_sample) for i, of_sample in enumerate(scores)]
    seconds = time.process_time() - began
    tight = [one.bound - one.labels_value <= 1e-6 * (1.0 + abs(one.bound)) for one in found]
    return Solver(1e3 * seconds / len(found), np.array([one.value for one in found]), np.array(tight))


def look_at_relaxations(task: Task, model: Any) -> list[Bar]:
    """Those of the training samples with the loss, and of the test samples, under the weights learned."""
    scored, _ = model._lay_out(task.test[0])
    augmented = model.encode(*task.train).problem.structure
    scores = {
        "training": (augmented.problem.plan, [augmented.scores(scored.w, i) for i in range(augmented.n_samples)]),
        "test": (scored.plan, list(sample_scores(scored.sites, scored.links, scored.plan, scored.w, scored.n_labels))),
    }
    bars = []
    for part, given in scores.items():
        sweeps, program = (solve(one, *given) for one in (relax, relax_by_program))
        apart = np.max(np.abs(sweeps.values - program.values) / (1.0 + np.abs(program.values)))
        print(
            f"  {part}: {np.mean(sweeps.is_labeling):.1%} of the relaxations are labelings; sweeps "
            f"{sweeps.milliseconds:.2f} ms, HiGHS {program.milliseconds:.1f} ms a sample, values differ by {apart:.0e}"
        )
        bars.append(
            Bar(f"{task.name}, {part}: HiGHS over sweeps", program.milliseconds / sweeps.milliseconds, 5.0, True)
        )
        bars.append(Bar(f"{task.name}, {part}: values apart", apart, 1e-6))
    return bars


def run(task: Task) -> list[Bar]:
    n_sites = sum(map(len, task.train[1]))
    print(f"\n{task.name}: {len(task.train[0])} samples, {n_sites} nodes")
    best = {"structured": 0.0, "plain": 0.0}
    gaps = []
    for lam in task.lams:
        found = {
            "structured": learn(task, task.with_structure, lam),
            "plain": learn(task, task.without, lam),
        }
        for name, one in found.items():
            print(
                f"  lam {lam:<7g} {name:11s} test accuracy {one.accuracy:.4f}, gap {one.gap:.4f}, "
                f"{one.passes:.0f} passes, {one.seconds:.1f} CPU s"
            )
            best[name] = max(best[name], one.accuracy)
            gaps.append(one.gap)
    further = task.look(task, found["structured"].model)
    return [
        Bar(f"{task.name}: accuracy gained by structure", best["structured"] - best["plain"], 0.0, at_least=True),
        Bar(f"{task.name}: largest certified gap", max(gaps), TOL),
        *further,
    ]


def main() -> None:
    quick = arguments(__doc__).quick
    few = 60 if quick else None
    tasks = [
        treebank(500 if quick else None),
        snakes(few),
        relaxed_snakes(few, "windows"),
        dates(100 if quick else None),
    ]
    tasks += [] if quick else [relaxed_snakes(None)]
    finish([bar for task in tasks for bar in run(task)])


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
