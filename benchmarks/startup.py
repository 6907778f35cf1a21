"""Start-up: import and first fit in a fresh process, with a cold and a warm kernel cache, against the bare imports.

Each figure is the median of runs that take turns. Run: python -m benchmarks.startup [--quick]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from ._report import Bar, arguments, finish

IMPORTS = "import numba, sklearn"
FIT = """
from maxmargin import ChainSVM, datasets
dates = datasets.load_dates()
ChainSVM(lam=0.1, max_passes=20, tol=0.05, random_state=0).fit(dates.X_train, dates.y_train).predict(dates.X_test)
"""


def seconds(code: str, cache: str) -> float:
    """Wall seconds of a fresh interpreter."""
    before = time.perf_counter()
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, stderr=subprocess.DEVNULL)
    return time.perf_counter() - before


def main() -> None:
    args = arguments(__doc__)
    with tempfile.TemporaryDirectory() as cache:
        seconds(IMPORTS, cache)  # bring the files into memory
        cold = seconds(FIT, cache)
        turns = [(seconds(IMPORTS, cache), seconds(FIT, cache)) for _ in range(3 if args.quick else 9)]
    imports, warm = np.array(turns).T
    print(f"import numba, sklearn:                 {np.median(imports):6.2f} s")
    print(f"import, fit, predict, warm cache:      {np.median(warm):6.2f} s")
    print(f"import, fit, predict, cold cache:      {cold:6.2f} s")
    finish([Bar("start-up with a warm kernel cache / imports", float(np.median(warm / imports)), 2.0)])


if __name__ == "__main__":
    main()
