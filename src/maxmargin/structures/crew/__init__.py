"""Oracles of structures in plain Python, asked ahead for many samples at the same weights, by threads or processes.

Whoever needs the answers goes on in one thread and in the order of the samples, and finds them in the scratch: so who
asked makes no difference to any bit of what comes out, and a clock may decide whether it is worth while.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np

from ..._parameters import count_threads
from .processes import ProcessCrew
from .threads import ThreadCrew

__all__ = ["ask_ahead", "crew_for"]


class _Held:
    """Crews at work, by problem: runs on the same one, as those of a path, share theirs."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.crews: dict[int, Any] = {}  # by the address of their problem, which they hold
        self.holders: dict[int, int] = {}

    def take(self, problem: Any, n_jobs: int) -> None:
        with self.lock:
            key = id(problem)
            if key not in self.crews:
                releases = getattr(problem.structure, "releases_lock", False)
                self.crews[key] = (ThreadCrew if releases else ProcessCrew)(problem, n_jobs)
            self.holders[key] = self.holders.get(key, 0) + 1

    def leave(self, problem: Any) -> None:
        with self.lock:
            key = id(problem)
            self.holders[key] -= 1
            if self.holders[key] == 0:
                del self.holders[key]
                self.crews.pop(key).close()


_HELD = _Held()


@contextmanager
def crew_for(problem: Any, n_jobs: int | None) -> Iterator[None]:
    """In this block, oracles in plain Python are asked by so many threads or processes, where that pays."""
    if not hasattr(problem, "answer") or count_threads(n_jobs) == 1:
        yield
        return
    _HELD.take(problem, count_threads(n_jobs))
    try:
        yield
    finally:
        _HELD.leave(problem)


def ask_ahead(problem: Any, work: Any, w: np.ndarray, blocks: np.ndarray) -> None:
    """The scratch gets the answers for these blocks at w, where there is a crew: they are about to be asked for."""
    crew = _HELD.crews.get(id(problem))
    if crew is not None:
        work.ahead = crew.ask(w, list(dict.fromkeys(blocks.tolist())))  # some may be drawn twice
