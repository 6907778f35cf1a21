"""Start-up in fresh processes: the first fit with no compiled kernel on disk, against the same fit at commit 1c9b87b;
import, fit and predict with all kernels there, against the bare imports; and the kernels that a fit compiles after
`maxmargin compile`, which ought to be none.

CPU seconds of first fits, without imports; start-up is the median wall time of runs that take turns. --quick leaves
out the earlier commit, which compiles for minutes, and `maxmargin compile`. Run: python -m benchmarks.startup [--quick]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ._before import SOURCE, environment, source_before
from ._report import Bar, arguments, finish

IMPORTS = "import numba, sklearn"
START = """
from maxmargin import ChainSVM, datasets
dates = datasets.load_dates()
ChainSVM(lam=0.1, max_passes=20, tol=0.05, random_state=0).fit(dates.X_train, dates.y_train).predict(dates.X_test)
"""

FIRST_FIT = """
import time
import numpy as np
import maxmargin
rng = np.random.default_rng(0)
X, y = rng.normal(size=(40, 6, 5)), rng.integers(2, size=(40, 6))
heads = [-1, 0, 0, 1, 1, 2]
edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3)]
before = time.process_time()
maxmargin.{fit}
print(time.process_time() - before)
"""
COMPILE = """
from maxmargin import compile_models
done = compile_models("chain", solvers="auto", n_jobs=-1)
print(done.n_compiled, done.seconds, done.n_bytes)
"""
COUNT = """
from maxmargin._compile import disk
print(disk.TALLY[disk.COMPILED], disk.TALLY[disk.LOADED])
"""

FITS = {
    "ChainSVM": "ChainSVM().fit(list(X), list(y))",
    "MulticlassSVM": "MulticlassSVM().fit(X.reshape(-1, 5), y.ravel())",
    "TreeSVM": "TreeSVM().fit([(x, heads) for x in X], list(y))",
    'GraphSVM(inference="cut")': 'GraphSVM(inference="cut").fit([(x, edges) for x in X], list(y))',
}
BOUNDS = {name: 0.35 if name == "ChainSVM" else 0.4 for name in FITS}


def run(code: str, source: Path, kernels: str) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, "-W", "ignore", "-c", code]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.run(command, check=True, env=environment(source, kernels), text=True, **streams).stdout


def wall_seconds(code: str, source: Path, kernels: str) -> float:
    before = time.perf_counter()
    run(code, source, kernels)
    return time.perf_counter() - before


def first_fit(name: str, source: Path) -> float:
    """CPU seconds of a fit in a fresh interpreter that finds no compiled kernel."""
    with tempfile.TemporaryDirectory() as kernels:
        seconds = float(run(FIRST_FIT.format(fit=FITS[name]), source, kernels))
        if not any(Path(kernels).iterdir()):
            raise RuntimeError(f"{name} stored no kernel in {kernels}: it was not cold")
    return seconds


def compare_first_fits(quick: bool) -> list[Bar]:
    if quick:
        print(f"first ChainSVM fit: {first_fit('ChainSVM', SOURCE):6.1f} CPU s")
        return [Bar(f"first fit / before, {name}", None, bound) for name, bound in BOUNDS.items()]
    bars = []
    with source_before() as earlier:
        for name, bound in BOUNDS.items():
            now = first_fit(name, SOURCE)
            before = None if earlier is None else first_fit(name, earlier)
            print(
                f"first {name} fit: {now:6.1f} CPU s, before: {'-' if before is None else f'{before:.1f}'}", flush=True
            )
            bars.append(Bar(f"first fit / before, {name}", None if before is None else now / before, bound))
    return bars


def warm_start(rounds: int) -> Bar:
    with tempfile.TemporaryDirectory() as kernels:
        run(START, SOURCE, kernels)
        turns = [(wall_seconds(IMPORTS, SOURCE, kernels), wall_seconds(START, SOURCE, kernels)) for _ in range(rounds)]
    imports, start = np.array(turns).T
    print(f"import numba, sklearn:              {np.median(imports):6.2f} s")
    print(f"import, fit, predict, kernels there: {np.median(start):5.2f} s")
    return Bar("start-up with kernels there / imports", float(np.median(start / imports)), 1.75)


def compiled_ahead(quick: bool) -> Bar:
    """Kernels that a fit of another process compiles after those of its model were compiled ahead."""
    name = "kernels compiled after `maxmargin compile chain`"
    if quick:
        return Bar(name, None, 0)
    with tempfile.TemporaryDirectory() as kernels:
        n_compiled, seconds, n_bytes = map(float, run(COMPILE, SOURCE, kernels).split())
        again = float(run(COMPILE, SOURCE, kernels).split()[1])
        compiled, loaded = map(int, run(START + COUNT, SOURCE, kernels).split())
    print(f"maxmargin compile chain --solver auto: {n_compiled:.0f} kernels, {seconds:.0f} s, {n_bytes / 1e6:.1f} MB")
    print(f"the same with all of them there:       {again:.0f} s")
    print(f"a fit in a fresh process then loads {loaded} and compiles {compiled}")
    return Bar(name, compiled, 0)


def main() -> None:
    args = arguments(__doc__)
    ahead = compiled_ahead(args.quick)
    finish([*compare_first_fits(args.quick), warm_start(3 if args.quick else 9), ahead])


if __name__ == "__main__":
    main()
