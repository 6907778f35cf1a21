"""Gap sampling, pairwise steps and the cache on OCR: the experiment of "Minding the Gaps" (Osokin et al., 2016).

Eight solvers, {Frank-Wolfe, pairwise} x {uniform, gap} x {no cache, cache}, at lam = 10/n, 1/n and 0.1/n, a few seeds:
certified gap against effective passes (oracle calls / n) and CPU seconds. A certificate follows every 5 passes of steps
and counts as n oracle calls; with a cache most oracle calls are those of certificates. Runs that are compared end after
the same number of oracle calls; PLANS says how many, chosen so that all of it takes about 20 minutes on two free cores.
Pictures go to benchmarks/output. Run: python -m benchmarks.gaps [--quick]
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

import numpy as np

from .._report import Bar, arguments, finish, in_turn
from .compare import Comparison, compare, late_rate, passes_a_decade
from .pictures import draw, figure_one
from .runs import LAMS, VARIANTS, Key, Run, Runs, Task, Variant, solve, solve_groups

LARGE_LAM = "10/n"
END, END_SECONDS = 1e-8, 250.0  # CPU seconds, each run
EARLY = 25.0  # effective passes; on OCR-large at small lam, gaps then say little of progress


class Plan(NamedTuple):
    split: str
    lam: str
    budget: float  # effective passes
    seeds: int


# Gap sampling takes the longer to be ahead in certified gap the smaller lam is: on OCR-large about 50 … 100 passes at
# 1/n, 500 at 0.1/n (one pair, one seed). There, all solvers stop early, which is reported as the failure it is, and one
# pair goes on, LATE.
PLANS = [
    *(Plan("small", lam, 150, 5) for lam in LAMS),
    Plan("large", "10/n", EARLY, 5),
    Plan("large", "1/n", 100, 1),
    Plan("large", "0.1/n", EARLY, 5),
]
LATE = Plan("large", "0.1/n", 1000, 1)
# on OCR-small it is there after 100 passes, and not after 60
QUICK = [Plan("small", "1/n", 100, 1)]


class Question(NamedTuple):
    """What a part changes."""

    claim: str
    field: str
    values: tuple[Any, Any]  # without and with the part
    names: tuple[str, str]
    lams: list[str]  # with a bar

    def pairs(self, runs: Runs) -> list[tuple[Key, Key]]:
        """Solvers that differ in this part only."""
        return [
            ((split, lam, variant), (split, lam, variant._replace(**{self.field: self.values[1]})))
            for split, lam, variant in runs
            if getattr(variant, self.field) == self.values[0]
        ]


SAMPLING = Question("(a) gap sampling never needs more", "sampling", ("uniform", "gap"), ("uniform", "gap"), list(LAMS))
CACHE = Question("(b) the cache cuts calls", "cache", (False, True), ("no cache", "cache"), ["1/n"])


def experiment(plans: list[Plan], workers: int) -> Runs:
    runs: Runs = {}
    for split, lam, budget, seeds in plans:
        began = time.perf_counter()
        runs |= solve_groups({(split, lam, variant): seeds for variant in VARIANTS}, budget, workers)
        print(
            f"OCR-{split}, lam = {lam}: {seeds} runs of {budget:g} effective passes a solver, "
            f"{time.perf_counter() - began:.0f} s",
            flush=True,
        )
    for split in dict.fromkeys(plan.split for plan in plans):
        print(f"  {draw(runs, split)}")
    return runs


def print_table(runs: Runs) -> None:
    print("\nat the end of each run, medians over seeds (lowest … highest gap):")
    print("  data   lam    solver                     eff. passes  steps/n   CPU s  gap                          hits")
    for (split, lam, variant), group in runs.items():
        gaps = np.array([run.gap[-1] for run in group])
        passes, steps, seconds, hits = np.median(
            [(run.passes[-1], run.steps[-1], run.seconds[-1], run.hit_rate[-1]) for run in group], axis=0
        )
        spread = f"{np.median(gaps):.2e} ({gaps.min():.2e} … {gaps.max():.2e})"
        print(
            f"  {split:6s} {lam:6s} {variant!s:26s} {passes:11.1f} {steps:8.0f} {seconds:7.2f}  {spread}"
            + (f"  {hits:.0%}" if variant.cache else "")
        )


def answer(question: Question, runs: Runs) -> list[Bar]:
    """Compare solvers that differ in one part; a bar for the worst ratio a data set and lam."""
    without, with_it = question.names
    print(f"\n{question.claim}: effective passes to 1 % of the first gap, or to the lowest gap that all reach;")
    print("last column: the ratio of passes to the highest dual value that both reach")
    print(
        f"  data   lam    otherwise              to gap {without:>9s} {with_it:>9s}   ratio (over seeds)    "
        "CPU ratio  to dual"
    )
    found = {base: compare(runs[base], runs[other]) for base, other in question.pairs(runs)}
    worst: dict[tuple[str, str], Comparison] = {}
    for (split, lam, variant), pair in found.items():
        print(
            f"  {split:6s} {lam:6s} {variant.without(question.field):20s} {pair.goal:.2e} {pair.base:9.1f} "
            f"{pair.other:9.1f} {pair.ratio:7.2f} ({pair.ratios.min():.2f} … {pair.ratios.max():.2f}) "
            f"{pair.cpu_ratio:8.2f} {pair.dual_ratio:10.2f}{'  more' if pair.ratio > 1 else ''}"
        )
        worst[split, lam] = max(worst.get((split, lam), pair), pair, key=lambda one: one.ratio)
    more = sum(pair.ratio > 1 for pair in found.values())
    print(f"  {'failed' if more else 'held'}: {with_it} needs more in {more} of {len(found)} pairs")
    return [
        Bar(f"effective passes, {with_it} / {without}, worst pair, {split}, {lam}", pair.ratio, 1.0)
        for (split, lam), pair in worst.items()
        if lam in question.lams
    ]


def explain(question: Question, runs: Runs, averaged: Runs, workers: int) -> None:
    """Why a part seems to lose early: the pairs that need more, again with the average of the iterates certified too.

    `averaged` keeps the runs made for this.
    """
    early = {key: cut(group, EARLY) for key, group in runs.items()}
    last = {(base, other): compare(early[base], early[other]) for base, other in question.pairs(runs)}
    failing = [pair for pair, found in last.items() if found.ratio > 1]
    part = question.names[1]
    print(f"\n{part} needs more in {len(failing)} of {len(last)} pairs of OCR-large at {EARLY:g} effective passes")
    if not failing:
        return
    missing = {key: len(runs[key]) for pair in failing for key in pair if key not in averaged}
    averaged |= solve_groups(missing, EARLY, workers, averaging="weighted")
    print("these with the last iterate certified, and with the average of the iterates too (its certificates count);")
    print(f"how far {part} is ahead (+) or behind (-) after the same oracle calls, and in root mean square hinge:")
    print("                            last iterate               average too")
    print("  lam    otherwise           ratio  primal    dual      ratio  primal    dual  rms hinge    to dual")
    both = [(last[base, other], compare(averaged[base], averaged[other])) for base, other in failing]
    for ((_, lam, variant), _), (one, two) in zip(failing, both, strict=True):
        print(
            f"  {lam:6s} {variant.without(question.field):18s} {one.ratio:6.2f} {one.leads.primal:+7.3f} "
            f"{one.leads.dual:+7.3f}     {two.ratio:6.2f} {two.leads.primal:+7.3f} {two.leads.dual:+7.3f} "
            f"{two.leads.rms_hinge:+10.3f} {one.dual_ratio:10.2f}  {'held' if two.ratio <= 1 else 'still more'}"
        )
    print_reasons(both)


def print_reasons(pairs: list[tuple[Comparison, Comparison]]) -> None:
    """In words, what pairs that fail with the last iterate have in common; with the average certified, second."""
    total = len(pairs)
    dual_ahead = sum(last.dual_ratio < 1 for last, _ in pairs)
    held = sum(average.ratio <= 1 for _, average in pairs)
    rest = [average.leads for _, average in pairs if average.ratio > 1]
    print(f"  the dual is ahead in {dual_ahead} of {total}, so it is the primal value that is behind;")
    print(f"  certified by the average, the claim holds in {held}: there, it was the wobble of the last iterate")
    if rest:
        # the likely reason: while the dual is near 0, block gaps are hinges, and steps drawn by them favour large ones
        squares = sum(leads.primal < 0 < leads.rms_hinge for leads in rest)
        print(
            f"  and fails in {len(rest)}; of these, {squares} have a higher primal value yet lower mean squared hinges"
        )


def cut(group: list[Run], budget: float) -> list[Run]:
    return [run.until(budget) for run in group]


def follow(runs: Runs, workers: int) -> Bar:
    """How the ratio of passes changes with the passes given, on OCR-large at small lam."""
    split, lam, budget, seeds = LATE
    late = solve_groups({(split, lam, Variant("fw", name, False)): seeds for name in SAMPLING.values}, budget, workers)
    followed = {key: group for key, group in runs.items() if key[:2] == ("large", "1/n")} | late
    budgets = [25, 50, 100, 300, 500, 1000]
    print("\ngap / uniform, effective passes to the lowest gap that both reach, if runs end after")
    print(f"  effective passes          {''.join(f'{budget:7d}' for budget in budgets)}")
    for base, other in SAMPLING.pairs(followed):
        given = [passes for passes in budgets if followed[base][0].passes[-1] >= passes]
        ratios = [compare(cut(followed[base], passes), cut(followed[other], passes)).ratio for passes in given]
        print(f"  {base[1]:6s} {base[2].without('sampling'):18s} {''.join(f'{ratio:7.2f}' for ratio in ratios)}")
    final = compare(*late.values()).ratio
    return Bar(f"effective passes, gap / uniform, fw, no cache, {split}, {lam}, {budget:g} given", final, 1.0)


def to_the_end(workers: int) -> dict[Variant, Run]:
    """Pairwise steps on OCR-small to a gap of 1e-8, at the large lam."""
    variants = [variant for variant in VARIANTS if variant.step == "pairwise"]
    tasks = [
        Task("small", LARGE_LAM, one, 0, np.inf, gap_every=10, tol=END, max_seconds=END_SECONDS) for one in variants
    ]
    return dict(zip(variants, in_turn(solve, tasks, workers), strict=True))


def answer_rates(runs: dict[Variant, Run]) -> list[Bar]:
    print(
        f"\n(c) pairwise steps converge linearly at lam = {LARGE_LAM}: OCR-small to a gap of {END:g}, certified every"
    )
    print(f"10 passes of steps, at most {END_SECONDS:g} CPU s each; fits to log gap over the second half of the passes")
    for variant, run in runs.items():
        rate, decades = late_rate(run), ", ".join(f"{passes:.0f}" for passes in passes_a_decade(run))
        print(
            f"  {variant!s:26s} {'linear' if rate.is_linear else 'not linear':10s} gap {run.gap[-1]:.1e} after "
            f"{run.passes[-1]:.0f} effective passes, {run.steps[-1]:.0f} of steps, {run.seconds[-1]:.0f} CPU s; "
            f"R2 {rate.linear:.4f}, halves every {rate.halving:.0f}; as passes^{rate.power:.1f} "
            f"R2 {rate.sublinear:.4f}; passes a decade from 0.1 on: {decades}"
        )
    return [
        Bar(f"final gap, {variant}, small, {LARGE_LAM}", float(run.gap[-1]), END)
        for variant, run in runs.items()
        if variant.sampling == "gap"
    ]


def main() -> None:
    quick = arguments(__doc__).quick
    began, workers = time.perf_counter(), 1 if quick else min(2, os.cpu_count() or 1)
    plans = QUICK if quick else PLANS
    runs = experiment(plans, workers)
    print_table(runs)
    large = {key: group for key, group in runs.items() if key[0] == "large"}
    averaged: Runs = {}
    bars: list[Bar] = []
    for question in (SAMPLING, CACHE):
        bars += answer(question, runs)
        if large:
            explain(question, large, averaged, workers)
    if large:
        bars.append(follow(large, workers))
    figure_one(list(dict.fromkeys(plan.lam for plan in plans)), 30 if quick else 100, runs, workers)
    if not quick:
        bars += answer_rates(to_the_end(workers))
    print(f"\n{time.perf_counter() - began:.0f} s in all")
    finish(bars)
