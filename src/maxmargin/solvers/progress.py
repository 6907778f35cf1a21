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


def progress(max_passes: float, verbose: int) -> Any:
    """A context with ``update(passes)`` and ``set_postfix_str(words)``, of which nothing is seen unless `verbose`."""
    limit = "" if max_passes == np.inf else f" of {max_passes:g}"
    in_terminal = fitting is for_terminals
    if verbose > 0 and in_terminal and not sys.stderr.isatty():
        return Lines(limit)
    return tqdm(
        disable=verbose <= 0, unit="pass", bar_format=f"{{desc}}{{n:.0f}}{limit} passes [{{elapsed}}]{{postfix}}"
    )


class Lines:
    """For files and pipes, where a bar would be one endless line: a line every few seconds, and one at the end."""

    def __init__(self, limit: str):
        self.limit, self.passes, self.words = limit, 0.0, ""
        self.began = self.told = time.monotonic()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *exc: object) -> None:
        self.tell()

    def update(self, passes: float) -> None:
        self.passes += passes
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
        sys.stderr.write(f"{self.passes:.0f}{self.limit} passes, {seconds:.0f} s{self.words}\n")
        sys.stderr.flush()
