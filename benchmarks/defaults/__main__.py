"""Every estimator without any argument, against its best lam, against cross-validation, and against others' defaults.

For each data set: the score on its test set and the CPU seconds of ``fit`` with lam left to the rule; the best of grids
of lam, with features scaled and as they come; for chains ``lam="cv"``, and CRFsuite with its own default (c2 = 1) and
its tutorial's c1 = c2 = 0.1; for classes LinearSVC. "Surely behind" is the lower end of a paired bootstrap's 95 %
interval of how far we are behind. The best of eleven lam by the very set that judges them leads by chance, too: what is
left of its lead where one half of the test set chooses and the other judges is given beside it. The rule's one constant
is chosen on other draws of dates, OCR-small, WNUT-17, 500 sentences of CoNLL-2000, 2,000 of BC2GM and of EWT, and USPS
(``benchmarks.defaults.constant``); all else is shown only.
CRFsuite takes most of the time, an hour or so in all; --ours leaves it, and LinearSVC, out.
Run: python -m benchmarks.defaults [--quick] [--ours] [data sets]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from .._report import Bar, finish
from .fits import PATIENCE, Found, fit
from .rivals import CRFSUITE, crfsuite, linear_svc
from .scores import Counts, behind_chosen, score, standard_error, surely_behind
from .tasks import CHAINS, CLASSES, OTHERS, Task

AROUND = (1 / 16, 1 / 4, 1 / 2, 2.0, 4.0, 16.0)  # times the lam of the rule
PLAIN = (1.0, 10.0, 30.0, 100.0)  # over the number of samples, with features as they come
QUICK = {"dates": None, "OCR-small": None, "WNUT-17": 600, "USPS": 1000, "English-French": 20}


def grid(task: Task, default: Found) -> list[Found]:
    """Models of grids of lam, the default's among them."""
    n, lam = len(task.X_train), default.model.lam_
    tried = [fit(task, lam=factor * lam, scale=True, max_passes=PATIENCE) for factor in AROUND]
    tried += [fit(task, lam=times / n, max_passes=PATIENCE) for times in PLAIN]
    return [default, *tried]


def show(name: str, counts: Counts, seconds: float, more: str = "") -> None:
    print(f"    {name:28}{score(counts):8.2f} +- {standard_error(counts):4.2f}{seconds:10.1f} s  {more}", flush=True)


def measure(name: str, task: Task, quick: bool, ours: bool) -> list[Bar]:
    print(f"{name}: {len(task.X_train)} samples", flush=True)
    warm_up(name, task)
    default = fit(task)
    show("default", *default[:2], f"lam = {default.model.lam_:.3g}, {default.model.n_passes_:g} passes")
    tried = grid(task, default)
    best = max(tried, key=lambda found: found.score)
    surely = surely_behind(default.counts, best.counts)
    where = f"lam = {best.model.lam_:.3g}, scaled: {best.model.scaling_.features != 1.0}"
    show("best lam", *best[:2], f"{where}; default surely behind by {surely:.2f}")
    left = behind_chosen(default.counts, [found.counts for found in tried])
    bars = [
        Bar(f"{name}: default behind the best lam", best.score - default.score, 1.0),
        Bar(f"{name}: default behind the best lam of the other half of the test set", left, 1.0),
    ]
    if name in CHAINS:
        bars += cross_validated(name, task, best)
    if name in CHAINS and not ours:
        for setting, params in CRFSUITE.items():
            bars += against(name, setting, default, *crfsuite(task, params, 50 if quick else None))
    if name in CLASSES and not ours:
        bars += against(name, "LinearSVC", default, *linear_svc(task))
    return bars


def warm_up(name: str, task: Task) -> None:
    """Kernels, and what cross-validation imports, are loaded before the clock runs."""
    few = task.cut(20)
    fit(few, max_passes=1)
    if name in CHAINS:
        fit(few, lam="cv", max_passes=1)


def cross_validated(name: str, task: Task, best: Found) -> list[Bar]:
    chosen = fit(task, lam="cv")
    single = fit(task, lam=chosen.model.lam_, scale=True)
    ratio = chosen.seconds / single.seconds
    show('lam="cv"', *chosen[:2], f"lam = {chosen.model.lam_:.3g}, {ratio:.1f} x one fit at that lam")
    allowed = max(0.5, standard_error(best.counts))
    return [
        Bar(f"{name}: cross-validation behind the best lam", best.score - chosen.score, allowed),
        Bar(f"{name}: cross-validation, fits' worth", ratio, 10.0),
    ]


def against(name: str, rival: str, ours: Found, theirs: Counts, seconds: float) -> list[Bar]:
    show(rival, theirs, seconds)
    return [
        Bar(f"{name}: surely behind {rival}", surely_behind(ours.counts, theirs), 0.0),
        Bar(f"{name}: CPU seconds over those of {rival}", ours.seconds / seconds, 1.0),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small version, under a minute")
    parser.add_argument("--ours", action="store_true", help="without what others have to say")
    makers: dict[str, Callable[[], Task]] = {**CHAINS, **CLASSES, **OTHERS}
    parser.add_argument("sets", nargs="*", choices=[[], *makers], help="data sets; all, where none is named")
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    bars = []
    for name in args.sets or (QUICK if args.quick else makers):
        task = makers[name]()
        n = QUICK.get(name) if args.quick else None
        bars += measure(name, task if n is None else task.cut(n), args.quick, args.ours)
    finish(bars)


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
