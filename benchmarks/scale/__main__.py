"""Scale: two threads or processes against one, chains of three times the memory they may take, and Dask clusters.

- `threads`: two threads against one, on chains.
- `oracles`: two processes against one, where oracles are written in Python.
- `memory`: samples on disk against samples in memory.
- `cluster`: optima of more and more workers, and what kills survive.

Wall-clock seconds where threads are compared, which need a quiet machine. Half an hour.
Run: python -m benchmarks.scale [--quick] [PART ...]
"""

from __future__ import annotations

import argparse

from .._report import Bar, finish
from . import cluster, memory, oracles, threads

PARTS = {"threads": threads, "oracles": oracles, "memory": memory, "cluster": cluster}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them if none")
    parser.add_argument("--quick", action="store_true", help="a small version, under a minute")
    given = parser.parse_args()
    unknown = set(given.parts) - PARTS.keys()
    if unknown:
        parser.error(f"no part is called {min(unknown)}; there are {', '.join(PARTS)}")
    bars: list[Bar] = []
    for name in given.parts or PARTS:
        print(f"\n{name}", flush=True)
        bars += PARTS[name].measure(given.quick)
    finish(bars)


if __name__ == "__main__":
    main()
