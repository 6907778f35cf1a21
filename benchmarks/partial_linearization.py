"""Partial linearization: steps to expectations at a temperature, against block Frank-Wolfe and `auto`.

For each data set and lam, and for every solver, how far the dual value is below the optimum, relative to it, after some
passes, and passes and CPU seconds until it is a tenth, a hundredth and a thousandth; certificates are not counted, nor
is the optimum, which is that of a run of `auto` to a relative gap of 1e-4. Then what one step costs on OCR, beside one
of block Frank-Wolfe, and what the marginals of all links take.

The default temperature was chosen on OCR-small, dates, USPS and 500 sentences of CoNLL-2000; the rest is shown only.
Images are enlarged as in the paper's experiment on scene text, to its numbers of features.
--quick takes slices of OCR and USPS. Run: python -m benchmarks.partial_linearization [--quick]
"""  # mohapatra16, Section 1.7

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import zoom
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from maxmargin import datasets
from maxmargin.solvers import BlockFrankWolfe, PartialLinearization, Solver, get_solver
from maxmargin.structures.verbs import new_interior

from ._problems import chains_of, classes_of
from ._report import Bar, arguments, effort_to, finish, time_in_turn

TAUS = (1.0, 0.1, 0.01, 1e-3, 1e-5)
SHARES = (0.1, 0.01, 0.001)  # of the optimum, that the dual value is below it
LOOKS = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 56, 80)  # passes
SHOWN = (5, 20, 80)
MOST_SECONDS = 25.0  # of a run
STEP, ALONE = 5.0, 1.1  # bars: a step over one of block Frank-Wolfe, passes of the default over those of the best tau

PARTIAL = {f"tau {tau:g}": PartialLinearization(tau) for tau in TAUS}
OURS = "tau 0.05"  # the default, in units of the largest loss, which is 1 here
SOLVERS: dict[str, Callable[[Any], Solver]] = {
    "bcfw, uniform": lambda problem: BlockFrankWolfe(),
    "bcfw, gap": lambda problem: BlockFrankWolfe("gap"),
    "auto": lambda problem: get_solver("auto", problem),
    **{name: lambda problem, solver=solver: solver for name, solver in PARTIAL.items()},
    OURS: lambda problem: PartialLinearization(),
    "tau 0.05, gap": lambda problem: PartialLinearization(sampling="gap"),
    "tau 0.05, accelerated": lambda problem: PartialLinearization(acceleration="catalyst"),
}


class Case(NamedTuple):
    name: str
    problem: Any
    lam: float


class Curve(NamedTuple):
    passes: np.ndarray
    seconds: np.ndarray
    below: np.ndarray  # of the dual value, relative to the optimum

    def to(self, share: float) -> tuple[float, float]:
        """Passes and seconds until so little is missing."""
        return effort_to(share, self.below, self.passes), effort_to(share, self.below, self.seconds)

    def at(self, passes: float) -> float:
        return float(self.below[np.flatnonzero(self.passes <= passes)[-1]])


def cut(data: Any, n: int | None) -> Bunch:
    return Bunch(X_train=data.X_train[:n], y_train=data.y_train[:n])


def enlarged(data: Any, height: int, width: int) -> Bunch:
    """Letters of 16 x 8 pixels as larger grey images."""
    factor = (1, height / 16, width / 8)
    images = [zoom(x.reshape(-1, 16, 8).astype(float), factor, order=1).reshape(len(x), -1) for x in data.X_train]
    return Bunch(X_train=[np.clip(x, 0.0, 1.0) for x in images], y_train=data.y_train)


def cases(quick: bool) -> list[Case]:
    few = 120 if quick else None
    small = cut(datasets.fetch_ocr("small"), few)
    problems = {"OCR-small": chains_of(small), "USPS": classes_of(cut(datasets.fetch_usps(), few and 500))}
    if not quick:
        problems["OCR-large"] = chains_of(datasets.fetch_ocr("large"))
        problems["MNIST"] = classes_of(datasets.fetch_mnist())
    found = [
        Case(f"{name}, {times}/n", problem, times / len(problem.weight))
        for name, problem in problems.items()
        for times in ((30,) if quick else (1, 30))
    ]
    for size in [] if quick else [(50, 25), (70, 35)]:
        problem = chains_of(enlarged(small, *size))
        found += [Case(f"OCR {size[0]} x {size[1]}, {lam:g}", problem, lam) for lam in (0.1, 0.01)]
    return found


def optimum(case: Case) -> float:
    solver = get_solver("auto", case.problem)
    rough = solver.solve(case.problem, case.lam, tol=1e-2, max_passes=np.inf, random_state=0)
    goal = max(1e-4 * rough.primal, 1e-7)
    return solver.solve(case.problem, case.lam, tol=goal, max_passes=3000, random_state=0).dual


def follow(solver: Solver, case: Case, best: float) -> Curve:
    """The dual value over passes and CPU seconds, without certificates."""
    engine = solver.start(case.problem, case.lam, None, 0, None)
    engine.prepare()
    n, spent, rows = engine.n, 0.0, []
    for look in LOOKS:
        before = time.process_time()
        while engine.steps < look * n:
            engine.advance(look * n - engine.steps)
        spent += time.process_time() - before
        point = engine.best_point()
        dual = point.loss - 0.5 * float(point.vector @ point.vector) / case.lam
        rows.append((look, spent, max(1.0 - dual / best, 1e-12)))
        if rows[-1][2] <= SHARES[-1] or spent > MOST_SECONDS:
            break
    return Curve(*np.array(rows).T)


def show(case: Case, curves: dict[str, Curve]) -> None:
    print(f"\n{case.name}: below the optimum after passes; passes (CPU seconds) to shares of it")
    print(f"{'':22}" + "".join(f"{look:>9}" for look in SHOWN) + "".join(f"{share:>18g}" for share in SHARES))
    for name, curve in curves.items():
        efforts = [curve.to(share) for share in SHARES]
        cells = [f"{passes:.1f} ({seconds:.2f})" if passes < np.inf else "-" for passes, seconds in efforts]
        print(f"{name:22}" + "".join(f"{curve.at(look):9.4f}" for look in SHOWN) + "".join(f"{c:>18}" for c in cells))


def mean_ratio(ours: list[float], theirs: list[float]) -> float:
    """Geometric mean over what one of them reaches; what the other does not counts as twice that."""
    logs = []
    for a, b in zip(ours, theirs, strict=True):
        if min(a, b) < np.inf:
            logs.append(np.log(min(a, 2 * b)) - np.log(min(b, 2 * a)) if max(a, b) == np.inf else np.log(a / b))
    return float(np.exp(np.mean(logs)))


def step_bars(quick: bool) -> list[Bar]:
    """What a step costs beside one of block Frank-Wolfe, in one run."""
    problem = chains_of(cut(datasets.fetch_ocr("small" if quick else "large"), 120 if quick else None))
    solvers = {
        "bcfw": BlockFrankWolfe("permutation"),
        "corner, too": PartialLinearization(0.1, safeguard=True),
        **PARTIAL,
    }
    engines = {name: one.start(problem, 1 / len(problem.weight), None, 0, None) for name, one in solvers.items()}
    for engine in engines.values():
        engine.prepare()
    calls = {name: lambda turn, engine=engine: engine.advance(engine.n) for name, engine in engines.items()}
    seconds = {name: np.median(found) for name, found in time_in_turn(calls, 3 if quick else 7).items()}
    for name, found in seconds.items():
        print(f"a step, {name}: {1e6 * found / len(problem.weight):.1f} us, {found / seconds['bcfw']:.2f} of bcfw's")
    return [
        Bar(f"a step at {name} over bcfw's", seconds[name] / seconds["bcfw"], STEP) for name in ("tau 1", "tau 0.1")
    ]


def main() -> None:
    quick = arguments(__doc__).quick
    with threadpool_limits(1):
        bars = step_bars(quick)
        efforts: dict[str, list[float]] = {name: [] for name in SOLVERS}
        seconds: dict[str, list[float]] = {name: [] for name in SOLVERS}
        for case in cases(quick):
            best = optimum(case)
            curves = {name: follow(make(case.problem), case, best) for name, make in SOLVERS.items()}
            show(case, curves)
            for name, curve in curves.items():
                efforts[name] += [curve.to(share)[0] for share in SHARES]
                seconds[name] += [curve.to(share)[1] for share in SHARES]
    print("\nover all rows and shares, geometric means against bcfw, uniform: passes, CPU seconds")
    for name in SOLVERS:
        passes = mean_ratio(efforts[name], efforts["bcfw, uniform"])
        print(f"{name:22}{passes:8.2f}{mean_ratio(seconds[name], seconds['bcfw, uniform']):8.2f}")
    fixed = {name: mean_ratio(efforts[OURS], efforts[name]) for name in PARTIAL}
    closest = max(fixed, key=fixed.__getitem__)
    print(f"passes of {OURS} over those of fixed tau:", ", ".join(f"{k} {v:.2f}" for k, v in fixed.items()))
    best_of_each = [min(efforts[name][k] for name in PARTIAL) for k in range(len(efforts[OURS]))]
    print(f"and over the best of them in each row: {mean_ratio(efforts[OURS], best_of_each):.2f}")
    if not quick:
        text = chains_of(datasets.fetch_conll2000())
        print(
            f"marginals of all links, CoNLL-2000: {new_interior(text).cliques.nbytes / 1e9:.2f} GB if all blocks move"
        )
    finish([*bars, Bar(f"passes of {OURS} over those of the best fixed, {closest}", fixed[closest], ALONE)])


if __name__ == "__main__":
    main()
