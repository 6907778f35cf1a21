"""OCR at the splits of the papers: how fast primal and dual close in on optima known from an independent solver.

Prints, per problem, passes, CPU seconds, how far primal and dual are from the optimum, and the test error per letter.
Run: python -m benchmarks.ocr [--quick]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from maxmargin import ChainSVM, datasets
from maxmargin.solvers import BlockFrankWolfe

from ._report import Bar, Watch, arguments, finish

DIMENSION = 4082
KNOWN_TO = 2e-7  # the optima below are known this exactly


class Setting(NamedTuple):
    split: str
    n: int
    lam: float
    optimum: float
    test_error: float  # at the optimum
    passes: int


SETTINGS = [
    Setting("small", 626, 0.01, 0.165030, 0.235, 1000),
    Setting("small", 626, 1 / 626, 0.049082, 0.268, 1000),
    Setting("large", 6251, 0.01, 0.381080, 0.123, 300),
]


def measure(setting: Setting, quick: bool) -> list[Bar]:
    data = datasets.fetch_ocr(setting.split)
    passes = setting.passes // (10 if quick else 1)
    solver = BlockFrankWolfe(sampling="permutation", averaging="weighted", gap_every=10)
    watch = Watch(lambda model: 1 - model.score(data.X_test, data.y_test))
    model = ChainSVM(lam=setting.lam, solver=solver, tol=1e-9, max_passes=passes, random_state=0)
    ChainSVM(lam=setting.lam, solver=solver, max_passes=1, tol=0).fit(data.X_train, data.y_train)  # kernels loaded
    model.set_callbacks(watch).fit(data.X_train, data.y_train)
    history = model.history_
    above, below = history["primal"] - setting.optimum, setting.optimum - history["dual"]
    d = sum(part.size for part in (model.coef_, model.transitions_, model.intercept_, model.boundary_))
    name = f"OCR-{setting.split}, lam = {'0.01' if setting.lam == 0.01 else '1/n'}"
    print(f"\n{name}: n = {setting.n}, d = {d}, optimum {setting.optimum}, its test error {setting.test_error:.1%}")
    print("  passes  CPU s  primal - opt  opt - dual  certified gap  test error")
    for wanted in sorted({10, 50, 100, 300, passes}):
        at = np.flatnonzero(history["passes"] == wanted)
        for k in at:
            seconds, error = watch.rows[k]
            gap = history["gap"][k]
            print(f"  {wanted:6d} {seconds:6.2f} {above[k]:13.2e} {below[k]:11.2e} {gap:14.2e} {error:11.2%}")
    bars = [
        Bar(f"{name}: dimension", d, DIMENSION),
        Bar(f"{name}: lowest primal - optimum", float(above.min()), -KNOWN_TO, at_least=True),
        Bar(f"{name}: lowest optimum - dual", float(below.min()), -KNOWN_TO, at_least=True),
    ]
    if not quick:
        far = abs(watch.rows[-1].value - setting.test_error)
        bars.append(Bar(f"{name}: |test error - that of the optimum|", far, 0.01))
    return bars


def main() -> None:
    args = arguments(__doc__)
    finish([bar for setting in SETTINGS for bar in measure(setting, args.quick)])


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
