"""The plots of Lacoste-Julien et al. 2013, Fig. 1, with all solvers: suboptimality and test error against effort.

OCR-small, OCR-large, CoNLL-2000, word alignment and USPS at three lam each. Effective passes are oracle calls / n, with
those of certificates; CPU seconds, too, are with certificates and without test errors. Certificates become rarer as a
run goes on. Suboptimality is the primal value less the highest dual value that any run certified, so it is never
understated. Every solver gets the same CPU seconds a run; those with randomness up to 10 seeds, as many as fit into the
minutes of a data set, which is said. Tuned subgradients are at an advantage: the seconds of the runs that chose their
first steps are not in theirs, and no bar rests on them. Cutting planes may take more than their seconds, as one pass of
theirs can take many. Other libraries take part where they are installed, with the settings they come with: python-
crfsuite, whose objective is another one, by test errors; LinearSVC on USPS. Runs are kept in benchmarks/output/figures,
pictures and tables are made from there.
Run: python -m benchmarks.figures [--quick] [--minutes 45] [--only OCR-large ...] [--more] [--redraw]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

from .._report import Bar, finish, in_turn
from .._trials import load_trial
from . import store
from .bars import bars_of
from .peers import ask, peer_tasks
from .pictures import draw, draw_summary
from .runs import SOLVERS, Pilot, Runs, Task, solve, tuned_length, warm
from .store import OUTPUT, REFERENCE
from .tables import print_table, write_tables

SEEDS, MINUTES = 10, 45.0
LONGER = 4.0  # times the CPU seconds of a run, for the one that is to know the optimum


class Plan(NamedTuple):
    data: str
    lams: tuple[str, ...]
    budget: float  # CPU seconds a run
    share: float  # of all the minutes
    n: int | None = None  # samples; None: all
    seeds: int = SEEDS
    patient: tuple[str, ...] = ()  # solvers with a long run at the last lam, beside that of `auto` at each


PAPER = ("0.01", "0.001", "1/n")
ALIGNMENT = ("0.1", "0.01", "0.001")  # n = 100, so that 1/n is among them
PLANS = [
    Plan("OCR-small", PAPER, 3.0, 0.16),
    Plan("OCR-large", PAPER, 20.0, 0.33, patient=("cutting plane, 1 slack", "cutting plane, n slacks")),
    Plan("CoNLL-2000", PAPER, 30.0, 0.34),
    Plan("word alignment", ALIGNMENT, 3.0, 0.11),
    Plan("USPS", PAPER, 3.0, 0.06),
]
QUICK = [Plan("OCR-small", PAPER, 0.1, 0.5, 50, 2), Plan("word alignment", ALIGNMENT, 0.1, 0.5, 15, 2)]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small version, under a minute")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for all data sets, or those of --only")
    names = [plan.data for plan in PLANS]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--more", action="store_true", help="add seeds to the runs that are there")
    parser.add_argument("--redraw", action="store_true", help="run nothing")
    return parser.parse_args()


def measure(plan: Plan, minutes: float, workers: int, runs: Runs, keep: Callable[[Runs], None]) -> None:
    """Add runs to `runs`: first what is known once, then rounds of one seed a solver while time is left."""
    began = time.perf_counter()
    trial = load_trial(plan.data, plan.n)
    names = [name for name, entry in SOLVERS.items() if entry.suits(trial)]
    for name in names:
        warm(plan.data, plan.n, name)  # kernels are there before processes share them
    pilots = [
        Pilot(plan.data, plan.n, lam, name)
        for lam, name in product(plan.lams, names)
        if SOLVERS[name].tries is not None
    ]
    lengths = dict(zip(pilots, in_turn(tuned_length, pilots, workers), strict=True))
    if not runs:
        known_once(plan, workers, runs)
        keep(runs)
    first = min(len(runs.get((lam, name), [])) for lam in plan.lams for name in names if SOLVERS[name].seeded)
    took, seed = 0.0, first
    while seed < plan.seeds and (seed == first or time.perf_counter() - began + took <= 60.0 * minutes):
        before = time.perf_counter()
        tasks = [
            Task(plan.data, plan.n, lam, name, seed, plan.budget, lengths.get(Pilot(plan.data, plan.n, lam, name), 0.0))
            for lam, name in product(plan.lams, names)
            if SOLVERS[name].seeded or seed == 0
        ]
        for task, run in zip(tasks, in_turn(solve, tasks, workers), strict=True):
            runs.setdefault((task.lam, task.solver), [])[seed:] = [run]
        keep(runs)
        took, seed = time.perf_counter() - before, seed + 1
    fewer = "" if seed == plan.seeds else f"; fewer than {plan.seeds}, which {minutes:.0f} minutes did not allow"
    print(
        f"{plan.data}: n = {trial.n}, {plan.budget:g} CPU s a run, {seed} seeds{fewer}; "
        f"{time.perf_counter() - began:.0f} s"
    )
    chosen = (f"{pilot.solver}, lam = {pilot.lam}: {length:.2g}" for pilot, length in lengths.items())
    print(f"  tuned first steps: {'; '.join(chosen)}", flush=True)


def known_once(plan: Plan, workers: int, runs: Runs) -> None:
    """The long runs for the optimum, and the peers."""
    wanted = [(lam, "auto") for lam in plan.lams] + [(plan.lams[-1], name) for name in plan.patient]
    long = [Task(plan.data, plan.n, lam, name, 0, LONGER * plan.budget) for lam, name in wanted]
    for task, run in zip(long, in_turn(solve, long, workers), strict=True):
        runs[task.lam, REFERENCE + task.solver] = [run]
    peers = peer_tasks(plan.data, plan.n, plan.lams)
    for asked, run in zip(peers, in_turn(ask, peers, workers), strict=True):
        runs[asked.lam, asked.peer] = [run]


def show(folder: Path, runs: dict[str, Runs]) -> list[Bar]:
    for data, of_data in runs.items():
        print_table(data, of_data)
        print(f"  {draw(folder, data, of_data)}")
    print(f"  {draw_summary(folder, runs)}")
    for path in write_tables(folder, runs):
        print(f"  {path}")
    return [bar for data, of_data in runs.items() for bar in bars_of(data, of_data)]


def main() -> None:
    args = arguments()
    folder = OUTPUT / "quick" if args.quick else OUTPUT
    plans = QUICK if args.quick else PLANS
    asked = [plan for plan in plans if not args.redraw and (args.only is None or plan.data in args.only)]
    workers = 1 if args.quick else min(2, os.cpu_count() or 1)
    for plan in asked:
        runs = store.load(folder, plan.data) if args.more else {}
        minutes = args.minutes * plan.share / sum(one.share for one in asked)
        measure(plan, minutes, workers, runs, lambda found, data=plan.data: store.save(folder, data, found))
        load_trial.cache_clear()
    kept = {plan.data: of_data for plan in plans if (of_data := store.load(folder, plan.data))}
    if not kept:
        sys.exit(f"there are no runs in {folder} to draw: leave --redraw out")
    finish(show(folder, kept))
