"""Smoothed hinges: SVRG and Casimir against subgradient steps, block Frank-Wolfe and `auto`.

First what a step of SVRG costs beside one of block Frank-Wolfe on all of CoNLL-2000. Then WNUT-17, BC2GM and CoNLL-2000
(of the last two the first 1,000 sentences), with the number of wrong labels as loss and lam = c/n: how far the primal
objective is above the best value known, relative to it, after passes of oracle calls, those of full gradients counted;
CPU seconds and F1 of chunks on the test sentences at the end. What the strength of smoothing, the number of best
outputs and the warm start change on WNUT-17. And the localisation of blood cells among proposed boxes.

Objectives are the lowest so far, which is what solvers return; the best value known is that of a longer run of `auto`.
Certificates come every ten passes. They count in the seconds, and not in the passes; SVRG has its own from full
gradients.

--quick takes slices. Run: python -m benchmarks.smoothing [--quick]
"""  # pillutla18, Section 7

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from maxmargin import BoxSVM, ChainSVM, Proposals, datasets
from maxmargin.estimators import Encoded
from maxmargin.metrics import average_precision, chunk_f1, corloc
from maxmargin.solvers import SVRG, BlockFrankWolfe, Casimir, Record, Result, Solver, Subgradient, get_solver

from ._report import Bar, arguments, finish

CS = (0.01, 0.1, 1.0, 10.0)  # lam n
PASSES = 40
SHOWN = (10, 20, 40)
FEW = 200  # sentences of a quick run
BEST_PASSES, CLOSE = 200, 1e-3  # of the run that finds the best value, or the relative gap it stops at
STEP = 3.0  # bar: a step of SVRG over one of block Frank-Wolfe
ROUNDING = 1e-9

OF_BOXES = 10.0  # the paper's mu for proposals, whose losses are at most 1

SOLVERS: dict[str, Callable[[Any], Solver]] = {
    "subgradient": lambda problem: Subgradient(),
    "bcfw, averaged": lambda problem: BlockFrankWolfe(averaging="weighted"),
    "SVRG": lambda problem: SVRG(),
    "Casimir, constant": lambda problem: Casimir("constant"),
    "Casimir, adaptive": lambda problem: Casimir(),
    "adaptive, mu 2": lambda problem: Casimir(mu=2.0),
    "auto": partial(get_solver, "auto"),
}
# the paper chooses the lengths of steps by the objective that they lead to; so may these, and only the best is shown
LIPSCHITZ = (4.0, 16.0, 64.0)
TUNED: dict[str, Callable[[float], Solver]] = {
    "SVRG, tuned": lambda lipschitz: SVRG(lipschitz=lipschitz),
    "adaptive, mu 2, tuned": lambda lipschitz: Casimir(mu=2.0, lipschitz=lipschitz),
}

MUS, TOP_KS, WARM_STARTS = (0.2, 2.0, 20.0), (2, 5, 10), ("prox-center", "extrapolation", "previous")
EFFECTS: dict[str, Solver] = {
    **{f"{kind}, mu {mu:g}": Casimir(kind, mu=mu) for kind in ("constant", "adaptive") for mu in MUS},
    "SVRG, top 1": SVRG(top_k=1),
    **{f"{kind}, top 1": Casimir(kind, top_k=1) for kind in ("constant", "adaptive")},
    **{f"{kind}, top {k}": Casimir(kind, top_k=k) for kind in ("constant", "adaptive") for k in TOP_KS},
    **{f"{kind}, {way}": Casimir(kind, warm_start=way) for kind in ("constant", "adaptive") for way in WARM_STARTS},
}


class Case(NamedTuple):
    name: str
    encoded: Encoded
    score: Callable[[Any], str]  # of a model, on the test samples

    @property
    def n(self) -> int:
        return len(self.encoded.problem.weight)


class Curve(NamedTuple):
    """One row a certificate."""

    passes: np.ndarray
    seconds: np.ndarray  # CPU
    primal: np.ndarray  # the lowest so far
    dual: np.ndarray
    result: Result

    def at(self, passes: float) -> tuple[float, float]:
        """The objective, and the seconds, after so many passes."""
        k = int(np.flatnonzero(self.passes <= passes + 0.5)[-1])
        return float(self.primal[k]), float(self.seconds[k])


def chunking(n: int | None) -> Bunch:
    """The first sentences of CoNLL-2000, with the attributes of all."""
    data = datasets.fetch_conll2000()
    return Bunch(X_train=data.X_train[:n], y_train=data.y_train[:n], X_test=data.X_test, y_test=data.y_test)


def sentences(name: str, data: Any) -> Case:
    encoded = ChainSVM(loss="hamming_sum", scale=False).encode(data.X_train, data.y_train)

    def score(model: Any) -> str:
        return f"{chunk_f1(data.y_test, model.predict(data.X_test)):.3f}"

    return Case(name, encoded, score)


def chains(quick: bool) -> list[Case]:
    found = [sentences("WNUT-17", datasets.fetch_wnut17(n_train=FEW if quick else None))]
    if not quick:
        found.append(sentences("BC2GM", datasets.fetch_bc2gm(n_train=1000)))
        found.append(sentences("CoNLL-2000", chunking(1000)))
    return found


def follow(solver: Solver, problem: Any, lam: float) -> Curve:
    solver.solve(problem, lam, tol=0.0, max_passes=1, random_state=0)  # compiles
    rows: list[tuple[float, float, float, float]] = []
    began = time.process_time()

    def note(record: Record) -> bool:
        rows.append((record.passes, time.process_time() - began, record.primal, record.dual))
        return False

    result = solver.solve(problem, lam, tol=0.0, max_passes=PASSES, callbacks=[note], random_state=0)
    found = np.array(rows).T
    return Curve(found[0], found[1], np.minimum.accumulate(found[2]), found[3], result)


def best_of(problem: Any, lam: float, passes: float) -> Result:
    def close(record: Record) -> bool:
        return record.gap <= CLOSE * record.primal

    solver = get_solver("auto", problem)
    return solver.solve(problem, lam, tol=0.0, max_passes=passes, callbacks=[close], random_state=0)


def crossing(curve: Curve) -> float:
    """How far a lower bound lies above an objective, relative to that: more than rounding would be a wrong one."""
    known = ~np.isnan(curve.dual)
    return float(np.max(curve.dual[known] / curve.primal[-1] - 1.0, initial=-1.0))


def tuned(case: Case, lam: float) -> dict[str, Curve]:
    found = {}
    for name, make in TUNED.items():
        tried = [follow(make(lipschitz), case.encoded.problem, lam) for lipschitz in LIPSCHITZ]
        found[name] = min(tried, key=lambda curve: curve.primal[-1])
    return found


def compare(
    case: Case, c: float, solvers: dict[str, Callable[[Any], Solver]], quick: bool, tune: bool = False
) -> float:
    """One table; returns by how much the worst lower bound is too high."""
    problem, lam = case.encoded.problem, c / case.n
    longer = best_of(problem, lam, 1.5 * PASSES if quick else BEST_PASSES)
    curves = {name: follow(make(problem), problem, lam) for name, make in solvers.items()}
    curves |= tuned(case, lam) if tune else {}
    best = min(longer.primal, *(curve.primal[-1] for curve in curves.values()))
    dual = max(longer.dual, *(np.nanmax(curve.dual, initial=-np.inf) for curve in curves.values()))
    print(f"\n{case.name}, n = {case.n}, c = {c:g}: best value {best:.6g}, certified to {(best - dual) / best:.1e}")
    print(f"{'':26}" + "".join(f"{'at ' + str(look):>10}" for look in SHOWN) + "   CPU s   calls/n  gap/best  test")
    for name, curve in curves.items():
        above = [curve.at(look)[0] / best - 1.0 for look in SHOWN]
        result = curve.result
        inexact = ""
        if "inexact" in result.history:
            mu, lipschitz, share = (result.history[key][-1] for key in ("mu", "lipschitz", "inexact"))
            inexact = f"   inexact {share:.2f}, mu {mu:.3g}, L {lipschitz:.3g}"
        cells = f"{curve.seconds[-1]:8.2f}{result.n_oracle_calls / case.n:10.1f}{result.gap / best:10.3g}  "
        score = case.score(case.encoded.model(result.w))
        print(f"{name:26}" + "".join(f"{one:10.4f}" for one in above) + cells + score + inexact, flush=True)
    return max(max(crossing(curve), (longer.dual - best) / best) for curve in curves.values())


def proposals(words: np.ndarray, boxes: np.ndarray, n_words: int, area: float) -> list[Proposals]:
    """Counts of the words in boxes, over a mean area, and the area itself."""
    left, top, right, bottom = boxes.T
    found = []
    for image in words:
        counts = np.zeros((image.shape[0] + 1, image.shape[1] + 1, n_words), np.float64)
        counts[1:, 1:] = np.eye(n_words)[image].cumsum(axis=0).cumsum(axis=1)
        inside = counts[bottom, right] - counts[top, right] - counts[bottom, left] + counts[top, left]
        found.append(Proposals(boxes, np.hstack([inside, inside.sum(axis=1, keepdims=True)]) / area))
    return found


def windows(true: np.ndarray, height: int, width: int, stride: int) -> np.ndarray:
    """Boxes of the usual sizes, everywhere."""
    wide, high = (np.quantile(true[:, k + 2] - true[:, k], (0.2, 0.5, 0.8)).round().astype(int) for k in (0, 1))
    return np.array(
        [
            (left, top, left + w, top + h)
            for w in np.unique(wide)
            for h in np.unique(high)
            for top in range(0, height - h + 1, stride)
            for left in range(0, width - w + 1, stride)
        ]
    )


def cells(quick: bool) -> Case:
    """One white blood cell an image, among windows."""
    n, levels = (20 if quick else None), 4
    data = datasets.fetch_bccd(n_levels=levels)
    words, true = data.words_train[:n], data.y_train[:n]
    boxes = windows(true, *words.shape[1:], stride=10 if quick else 5)
    area = float(np.prod(true[:, 2:] - true[:, :2], axis=1).mean())
    make = partial(proposals, boxes=boxes, n_words=levels**3, area=area)
    encoded = BoxSVM(scale=False).encode(make(words), true)
    test, truth = make(data.words_test[:n]), data.y_test[:n]

    def score(model: Any) -> str:
        found, scores = model.predict(test), model.decision_function(test)
        return f"CorLoc {corloc(found, truth):.3f}, AP {average_precision(found, scores, truth):.3f}"

    return Case(f"blood cells, {len(boxes)} windows", encoded, score)


def of_boxes() -> dict[str, Callable[[Any], Solver]]:
    kinds = {
        "SVRG": SVRG,
        "Casimir, constant": partial(Casimir, "constant"),
        "Casimir, adaptive": partial(Casimir, "adaptive"),
    }
    made: dict[str, Callable[[Any], Solver]] = {name: SOLVERS[name] for name in ("subgradient", "bcfw, averaged")}
    for name, kind in kinds.items():
        made[name] = lambda problem, kind=kind: kind(top_k=10)
        made[f"{name}, mu {OF_BOXES:g}"] = lambda problem, kind=kind: kind(top_k=10, mu=OF_BOXES)
    return {**made, "auto": SOLVERS["auto"]}


def step_cost(quick: bool) -> Bar:
    """CPU seconds of epochs without their full gradients, beside as many iterations of block Frank-Wolfe."""
    data = chunking(FEW if quick else None)
    problem = ChainSVM(loss="hamming_sum", scale=False).encode(data.X_train, data.y_train).problem
    n = len(problem.weight)
    solvers = {"bcfw": BlockFrankWolfe(), "l2, top 5": SVRG(top_k=5), "entropy": SVRG("entropy")}
    engines = {name: solver.start(problem, 1.0 / n, None, 0, None) for name, solver in solvers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in engines}
    for engine in engines.values():
        engine.prepare()
    for _ in range(4 if quick else 8):
        for name, engine in engines.items():
            if name != "bcfw":
                engine.advance(n)  # opens an epoch
            before, goal = time.process_time(), engine.steps + n
            while engine.steps < goal:
                engine.advance(goal - engine.steps)
            seconds[name].append(time.process_time() - before)
    print(f"\na step on CoNLL-2000, {n} sentences (median of epochs, the first left out)")
    ratio = 0.0
    for name, found in seconds.items():
        ratios = np.array(found[1:]) / np.array(seconds["bcfw"][1:])
        print(f"{name:12}{1e6 * np.median(found[1:]) / n:8.1f} us {np.median(ratios):6.2f} of bcfw's")
        ratio = float(np.median(ratios)) if name.startswith("l2") else ratio
    return Bar("a step of SVRG (l2, top 5) over one of bcfw, CoNLL-2000", ratio, STEP)


def main() -> None:
    quick = arguments(__doc__).quick
    with threadpool_limits(1):
        bars, too_high = [step_cost(quick)], []
        found = chains(quick)
        for case in found:
            too_high += [compare(case, c, SOLVERS, quick, tune=True) for c in ((1.0,) if quick else CS)]
        print("\nmu, top_k and warm start:", end="")
        some = list(EFFECTS)[::4] if quick else list(EFFECTS)
        effects: dict[str, Callable[[Any], Solver]] = {name: lambda problem, name=name: EFFECTS[name] for name in some}
        too_high.append(compare(found[0], 1.0, effects, quick))
        too_high += [compare(cells(quick), c, of_boxes(), quick) for c in ((1.0,) if quick else (0.01, 1.0))]
    finish([*bars, Bar("lower bounds above objectives, relative", max(too_high), ROUNDING)])


if __name__ == "__main__":
    main()
