"""`solver="auto"` against every other solver that needs no tuning: is it ever beaten?

Data sets, lam and goals (certified gaps) in rows; each run is what a user would do, `solve(tol=goal)`. Given are CPU
seconds and oracle calls over n, certificates included, medians over seeds, and the best of the others: block
Frank-Wolfe with Frank-Wolfe, pairwise and away steps, batch Frank-Wolfe, cutting planes with one slack and with n,
exponentiated gradient where there are expectations. A run that takes twice what `auto` took is stopped. Oracle calls
count where the oracle is slow: matchings, boxes, relaxations, and a structure in Python that takes a millisecond.
Last, one long sequence, which `auto` cuts into pieces: passes to 1e-2; and with all defaults, passes of `ChainSVM()`,
and how many points it is behind the same text in its parts (words, sentences), each tested in its own form.
--quick takes slices of the data, one seed and goals down to 1e-2.
Run: python -m benchmarks.auto [--quick] [--seeds N] [data sets, "one sequence" among them]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from maxmargin import BoxSVM, ChainSVM, GraphSVM, datasets
from maxmargin.solvers import CuttingPlane, ExponentiatedGradient, Solver, get_solver
from maxmargin.structures import as_problem
from maxmargin.structures.needs import Need
from maxmargin.structures.verbs import offers

from ._problems import chains_of, classes_of, scaled_graphs
from ._report import Bar, finish
from ._trials import alignments, stacked
from .graphs import strips
from .slow_oracle import SlowChains

GOALS, SEEDS = (1e-1, 1e-2, 1e-3), 5
MOST_SECONDS = 20.0  # of a run of auto
MEAN, WORST = 1.1, 1.3  # auto over the best of the others
LONG_PASSES = 100
ONE_SEQUENCE = "one sequence"
SHARE = 0.4  # lam n over the mean length, where features have a summed variance of 1
OTHERS: dict[str, Solver] = {
    **{name: get_solver(name) for name in ("bcfw", "bcpfw", "bcafw", "fw")},
    "cutting plane, 1 slack": CuttingPlane(),
    "cutting plane, n slacks": CuttingPlane("n"),
    "exp. gradient": ExponentiatedGradient(),
}


class Case(NamedTuple):
    lam_name: str
    problem: Any
    lam: float
    positive: Any = None


class Data(NamedTuple):
    name: str
    cases: Callable[[int | None], list[Case]]  # of so many samples, or all
    few: int  # samples for --quick
    slow: bool = False  # whether oracle calls are what counts


class Effort(NamedTuple):
    seconds: float
    calls: float  # oracle calls over n


NEVER = Effort(np.inf, np.inf)


def take(data: Any, n: int | None) -> Bunch:
    """The first samples, without the columns that these do not use."""
    X = data.X_train[:n]
    if n is not None and sp.issparse(X[0]):
        used = np.unique(stacked(X).indices)
        X = [x[:, used] for x in X]
    return Bunch(X_train=X, y_train=data.y_train[:n])


def scaled(data: Any) -> Bunch:
    """Features over one number, so that the variances of their columns sum to 1."""
    rows = stacked(data.X_train)
    mean = np.asarray(rows.mean(axis=0)).ravel()
    square = rows.multiply(rows).mean(axis=0) if sp.issparse(rows) else np.mean(rows**2, axis=0)
    scale = np.sqrt(np.sum(np.asarray(square).ravel() - mean**2))
    return Bunch(X_train=[x / scale for x in data.X_train], y_train=data.y_train)


def chains(fetch: Callable[[], Any]) -> Callable[[int | None], list[Case]]:
    def cases(n: int | None) -> list[Case]:
        data = take(fetch(), n)
        plain, count = chains_of(data), len(data.y_train)
        default = SHARE * np.mean([len(y) for y in data.y_train]) / count
        return [
            Case("1/n", plain, 1 / count),
            Case("0.01", plain, 0.01),
            Case("0.4 T/n, scaled", chains_of(scaled(data)), default),
        ]

    return cases


def under(problem: Any, lams: Iterable[float], positive: Any = None) -> list[Case]:
    return [Case(f"{lam:g}", problem, lam, positive) for lam in lams]


def horses(n: int | None) -> list[Case]:
    data = datasets.fetch_horses()
    encoded = GraphSVM(inference="cut").encode(scaled_graphs(data, "train")[0][:n], data.y_train[:n])
    return under(encoded.problem, (1.0, 0.1), encoded.positive)


def snakes(n: int | None) -> list[Case]:
    samples, labels = strips(datasets.fetch_snakes(), "train")
    return under(GraphSVM().encode(samples[:n], labels[:n]).problem, (0.1, 0.01))


def relaxed_snakes(n: int | None) -> list[Case]:
    data, n = datasets.fetch_snakes(), n or 40
    samples = list(zip(data.X_train, data.edges_train, data.edge_features_train, strict=True))[:n]
    return under(GraphSVM(inference="lp").encode(samples, data.y_train[:n]).problem, (0.1,))


def boxes(n: int | None) -> list[Case]:
    data, n = datasets.fetch_bccd(), n or 60
    return under(BoxSVM(n_words=512).encode(data.words_train[:n], data.y_train[:n]).problem, (1e-4, 1e-5))


def aligned_words(n: int | None) -> list[Case]:
    return under(alignments(datasets.fetch_wordalign(), n).problem, (0.1, 0.01, 0.001))


class BusyChains(SlowChains):
    """Its oracle works for a millisecond: waiting would not count as CPU time."""

    def max_oracle(self, w, i):
        end = time.perf_counter() + 1e-3
        while time.perf_counter() < end:
            pass
        return super().max_oracle(w, i)


def own_structure(n: int | None) -> list[Case]:
    data = take(datasets.fetch_ocr("small"), n or 150)
    offsets = np.cumsum([0, *map(len, data.y_train)])
    names, labels = np.unique(np.concatenate(data.y_train), return_inverse=True)
    structure = BusyChains(np.concatenate(data.X_train), offsets, labels, len(names))
    return under(structure, (1 / structure.n_samples, 0.1))


DATA = (
    Data("OCR-small", chains(lambda: datasets.fetch_ocr("small")), 200),
    Data("OCR-large", chains(lambda: datasets.fetch_ocr("large")), 300),
    Data("CoNLL-2000", chains(datasets.fetch_conll2000), 300),
    Data("dates", chains(lambda: datasets.load_dates(random_state=0)), 100),
    Data("USPS", lambda n: under(classes_of(take(datasets.fetch_usps(), n)), (1e-2, 1e-3)), 500),
    Data("snakes", snakes, 60),
    Data("horses", horses, 40),
    Data("word alignment", aligned_words, 50, True),
    Data("BCCD", boxes, 20, True),
    Data("snakes, relaxed", relaxed_snakes, 5, True),
    Data("own structure", own_structure, 40, True),
)


def measure(solver: Solver, case: Case, goal: float, seed: int, most: Effort) -> Effort:
    """What a run to a certified gap takes; infinite where it takes more than `most`, in both."""

    def look(record: Any) -> bool:
        return time.process_time() - began > most.seconds and record.oracle_calls > most.calls * n

    problem = as_problem(case.problem)
    n = len(problem.weight)
    if case.positive is not None:
        solver = clone(solver).set_params(positive=case.positive)
    began = time.process_time()
    result = solver.solve(problem, case.lam, tol=goal, max_passes=np.inf, callbacks=[look], random_state=seed)
    if result.status != "converged":
        return NEVER
    return Effort(time.process_time() - began, result.n_oracle_calls / n)


def median(solver: Solver, case: Case, goal: float, seeds: int, most: Effort) -> Effort:
    first = measure(solver, case, goal, 0, most)
    if first == NEVER:  # others would hardly be in time
        return first
    runs = [first, *(measure(solver, case, goal, seed, most) for seed in range(1, seeds))]
    return Effort(*np.median(runs, axis=0).tolist())


def fitting(case: Case) -> dict[str, Solver]:
    """The others that the structure, and bounds on weights, admit."""
    expects = Need.EXPECTATIONS in offers(as_problem(case.problem)) and case.positive is None
    return {name: one for name, one in OTHERS.items() if expects or not isinstance(one, ExponentiatedGradient)}


def compare(data: Data, case: Case, goals: Iterable[float], seeds: int) -> list[tuple[float, float]]:
    """Of each goal: auto's seconds and oracle calls over those of the best of the others."""
    auto, others = get_solver("auto", case.problem), fitting(case)
    for solver in (auto, *others.values()):
        measure(solver, case, 0.5, 0, Effort(0.0, 0.0))  # kernels load
    ratios = []
    for goal in goals:
        ours = median(auto, case, goal, seeds, Effort(MOST_SECONDS, 0.0))
        most = Effort(MOST_SECONDS, 0.0) if ours == NEVER else Effort(2 * ours.seconds, 2 * ours.calls * data.slow)
        theirs = {name: median(solver, case, goal, seeds, most) for name, solver in others.items()}
        fastest, thriftiest = (min(theirs, key=lambda name: theirs[name][k]) for k in (0, 1))
        print(
            f"{data.name:16} {case.lam_name:16} {goal:6g}  {ours.seconds:8.3f} s {ours.calls:7.1f} passes   "
            f"{theirs[fastest].seconds:8.3f} s {fastest:24} {theirs[thriftiest].calls:7.1f} passes {thriftiest}",
            flush=True,
        )
        if ours != NEVER or min(one.seconds for one in theirs.values()) < np.inf:
            ratios.append((ours.seconds / theirs[fastest].seconds, ours.calls / theirs[thriftiest].calls))
    return ratios


def bars_of(name: str, what: str, ratios: np.ndarray) -> list[Bar]:
    known = np.where(np.isnan(ratios), np.inf, ratios)
    known = np.maximum(known, 0.5)  # who takes twice as long was stopped
    return [
        Bar(f"{name}: {what}, auto / best of the others, geometric mean", float(np.exp(np.mean(np.log(known)))), MEAN),
        Bar(f"{name}: {what}, auto / best of the others, worst row", float(known.max()), WORST),
    ]


def long_sequence(name: str, fetch: Callable[[], Any], n: int) -> Bar:
    """Passes to 1e-2 of n samples as one sequence, lam as the last one of chains."""
    data = take(fetch(), n)
    one = Bunch(X_train=[stacked(data.X_train)], y_train=[np.concatenate(data.y_train)])
    problem = chains_of(scaled(one))
    solver, length = get_solver("auto", problem), len(problem.labels)
    result = solver.solve(problem, SHARE * length, tol=1e-2, max_passes=2 * LONG_PASSES, random_state=0)
    passes = result.n_passes if result.status == "converged" else np.inf
    return Bar(f"{name}, {length} labels as one sequence: passes to 1e-2", float(passes), LONG_PASSES)


class Text(NamedTuple):
    """What may be one sequence: training samples from the first on, one after the other."""

    name: str
    fetch: Callable[[], Any]
    first: int
    n: int
    quick: bool = True


TEXTS = (
    Text("OCR-large", lambda: datasets.fetch_ocr("large"), 0, 264),
    Text("OCR-large, others", lambda: datasets.fetch_ocr("large"), 3000, 270, False),
    Text("OCR-small", lambda: datasets.fetch_ocr("small"), 0, 626),
    Text("CoNLL-2000", datasets.fetch_conll2000, 0, 85),
    Text("CoNLL-2000, more", datasets.fetch_conll2000, 0, 850, False),
    Text("CoNLL-2000, all", datasets.fetch_conll2000, 0, 9000, False),
)


def with_defaults(text: Text, seeds: int) -> list[Bar]:
    """The median of passes of one sequence, and what its score is behind that of its parts; all is left to defaults."""
    data = text.fetch()
    X, y = (part[text.first : text.first + text.n] for part in (data.X_train, data.y_train))
    parts = ChainSVM(random_state=0).fit(X, y)
    ones = [ChainSVM(random_state=seed).fit([stacked(X)], [np.concatenate(y)]) for seed in range(seeds)]
    passes = [one.n_passes_ if one.status_ == "converged" else np.inf for one in ones]
    score = np.median([one.score([stacked(data.X_test)], [np.concatenate(data.y_test)]) for one in ones])
    behind = 100 * (parts.score(data.X_test, data.y_test) - score)
    name = f"{text.name}, {sum(map(len, y))} labels as one sequence"
    return [
        Bar(f"{name}: passes with all defaults", float(np.median(passes)), LONG_PASSES),
        Bar(f"{name}: points behind its parts", float(behind), 1.0),
    ]


def one_sequence(quick: bool, seeds: int) -> list[Bar]:
    bars = [
        long_sequence("OCR", lambda: datasets.fetch_ocr("large"), 264),
        long_sequence("CoNLL-2000", datasets.fetch_conll2000, 85),
    ]
    if not quick:
        bars.append(long_sequence("CoNLL-2000", datasets.fetch_conll2000, 9000))
    for text in TEXTS:
        if text.quick or not quick:
            bars += with_defaults(text, seeds)
    return bars


def measured(data: Data, quick: bool, seeds: int) -> list[Bar]:
    goals, n = (GOALS[:2], data.few) if quick else (GOALS, None)
    ratios = np.array([row for case in data.cases(n) for row in compare(data, case, goals, seeds)])
    bars = bars_of(data.name, "CPU s", ratios[:, 0])
    if data.slow:
        bars += bars_of(data.name, "oracle calls", ratios[:, 1])
    return bars


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small version, under a minute")
    parser.add_argument("--seeds", type=int, help="runs whose median counts")
    names = [*(data.name for data in DATA), ONE_SEQUENCE]
    parser.add_argument("sets", nargs="*", choices=[[], *names], help="data sets; all, where none is named")
    args = parser.parse_args()
    seeds = args.seeds or (1 if args.quick else SEEDS)
    bars = []
    for data in DATA:
        if not args.sets or data.name in args.sets:
            bars += measured(data, args.quick, seeds)
    if not args.sets or ONE_SEQUENCE in args.sets:
        bars += one_sequence(args.quick, seeds)
    finish(bars)


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
