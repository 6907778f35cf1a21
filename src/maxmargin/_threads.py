"""Work on ranges of samples, one thread each."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from threading import current_thread, local, main_thread
from typing import Any

import numpy as np

# As many as are asked for at the same time: those that wait for each other must all run.
NO_LIMIT = 10_000


class _Pool:
    """Threads that stay: to start one takes as long as some ten samples."""

    def __init__(self) -> None:
        self.forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)  # a child has none of its parent's threads

    def forget(self) -> None:
        self.executor: ThreadPoolExecutor | None = None

    def submit(self, call: Callable[..., Any], *args: Any) -> Future:
        if self.executor is None:
            self.executor = ThreadPoolExecutor(NO_LIMIT, thread_name_prefix="maxmargin")
        return self.executor.submit(call, *args)


_POOL = _Pool()


def in_background(call: Callable[..., Any], *args: Any) -> Future:
    """A call that another thread makes."""
    return _POOL.submit(call, *args)


class HeldBack:
    """In this block what Ctrl-C raises waits for its end; handlers that raise nothing see it at once."""

    def __init__(self) -> None:
        self.error: KeyboardInterrupt | None = None

    def __enter__(self) -> None:
        self.handler = signal.getsignal(signal.SIGINT)
        # signals come to the main thread, and do nothing there if there is no handler in Python
        self.holds = current_thread() is main_thread() and callable(self.handler)
        if self.holds:
            signal.signal(signal.SIGINT, self._handle)

    def _handle(self, number: int, frame: Any) -> None:
        try:
            self.handler(number, frame)  # type: ignore[operator, misc]
        except KeyboardInterrupt as error:
            self.error = error

    def __exit__(self, *exc: object) -> None:
        if self.holds:
            signal.signal(signal.SIGINT, self.handler)
        if self.error is not None:
            raise self.error


def held_back_by(handler: Any) -> Any:
    """The handler that was there before, if it is one that holds Ctrl-C back; else itself."""
    while isinstance(holder := getattr(handler, "__self__", None), HeldBack):
        handler = holder.handler
    return handler


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What the calls return, one thread each; they may wait for each other.

    This thread makes the first. If it did nothing but wait, one thread more than there are cores would wake up for a
    moment, and two that work might begin on the same core, where they stay for milliseconds.

    All work on the same data, so that Ctrl-C waits until all are done.
    """
    with HeldBack(), sweeping_on(1):
        begun = [_POOL.submit(call) for call in calls[1:]]
        try:
            first = calls[0]()
        finally:
            wait(begun)
    return [first, *(one.result() for one in begun)]


def one_by_one(calls: Sequence[Callable[[], Any]], n_threads: int) -> list[Any]:
    """What the calls return, each made by the next of so many threads that is free."""
    found, ahead = [None] * len(calls), iter(range(len(calls)))

    def take_calls() -> None:
        for k in ahead:
            found[k] = calls[k]()

    n_threads = min(n_threads, len(calls))
    if n_threads <= 1:
        take_calls()
    else:
        at_once([take_calls] * n_threads)
    return found


def equal_shares(sizes: np.ndarray, n_shares: int) -> np.ndarray:
    """(n_shares + 1,) bounds of ranges with about the same sum of sizes."""
    ends = np.cumsum(sizes, dtype=np.float64)
    inner = np.searchsorted(ends - 0.5 * sizes, sum(ends[-1:]) * np.arange(1, n_shares) / n_shares)
    return np.concatenate([[0], inner, [len(sizes)]]).astype(np.int64)


class _Sweeps(local):
    """How many threads may share sweeps over vectors of weights that the thread at work begins."""

    n_threads = 1


_SWEEPS = _Sweeps()
MANY = 1 << 19  # numbers: to sweep over fewer takes no longer than to wake a thread


@contextmanager
def sweeping_on(n_threads: int) -> Iterator[None]:
    """In this block, long sweeps are shared by so many threads."""
    before, _SWEEPS.n_threads = _SWEEPS.n_threads, n_threads
    try:
        yield
    finally:
        _SWEEPS.n_threads = before


def sweep(n: int, width: int, call: Callable[[int, int], None]) -> None:
    """Call ``call(first, last)`` for ranges of n items of so many numbers each."""
    on_ranges(n, _SWEEPS.n_threads if n * width >= MANY else 1, call)


def on_ranges(n: int, n_threads: int, call: Callable[[int, int], None], sizes: np.ndarray | None = None) -> None:
    """Call ``call(first, last)`` for ranges that cover ``range(n)``, one thread each; alike in number, or in size."""
    n_threads = min(n_threads, n)
    if n_threads <= 1:
        call(0, n)
        return
    bounds = np.linspace(0, n, n_threads + 1).astype(int) if sizes is None else equal_shares(sizes, n_threads)
    bounds = bounds.tolist()
    at_once([partial(call, first, last) for first, last in pairwise(bounds)])
