"""Scale: two threads or processes against one, chains of three times the memory they may take, and Dask clusters.

Wall-clock seconds where threads are compared, which need a quiet machine. Half an hour.
Run: python -m benchmarks.scale [--quick]
"""

from __future__ import annotations

from .._report import arguments, finish
from . import cluster, memory, oracles, threads


def main() -> None:
    quick = arguments(__doc__).quick
    finish([bar for part in (threads, oracles, memory, cluster) for bar in part.measure(quick)])


if __name__ == "__main__":
    main()
