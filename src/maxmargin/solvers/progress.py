"""How far a run is: a bar in a terminal or a notebook, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from tqdm.auto import tqdm
from tqdm.autonotebook import tqdm as fitting
from tqdm.std import tqdm as for_terminals

# Between two lines, where there is no bar.
LINE_SECONDS = 10.0


def progress(unit: str, most: float, verbose: int) -> Any:
    """A context with ``update(n)``, ``n`` and ``set_postfix_str(words)``; nothing of it is seen unless `verbose`."""
    limit = "" if most == np.inf else f" of {most:g}"
    in_terminal = fitting is for_terminals
    if verbose > 0 and in_terminal and not sys.stderr.isatty():
        return Lines(f"{limit} {unit}")
    return tqdm(disable=verbose <= 0, bar_format=f"{{desc}}{{n:.0f}}{limit} {unit} [{{elapsed}}]{{postfix}}")


class Lines:
    """For files and pipes, where a bar would be one endless line: a line every few seconds, and one at the end."""

    def __init__(self, unit: str):
        self.unit, self.n, self.words = unit, 0.0, ""
        self.began = self.told = time.monotonic()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *exc: object) -> None:
        self.tell()

    def update(self, n: float) -> None:
        self.n += n
        self.tell_in_time()

    def set_postfix_str(self, words: str) -> None:
        self.words = f", {words}"
        self.tell_in_time()

    def tell_in_time(self) -> None:
        if time.monotonic() - self.told >= LINE_SECONDS:
            self.tell()

    def tell(self) -> None:
        self.told = time.monotonic()
        seconds = self.told - self.began
        sys.stderr.write(f"{self.n:.0f}{self.unit} [{seconds:.0f} s]{self.words}\n")
        sys.stderr.flush()
