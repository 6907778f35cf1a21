"""Ctrl-C, and the signal that ends processes, as flags between two steps."""

from __future__ import annotations

import signal
import threading
from typing import Any, ClassVar

from .._threads import held_back_by


class Interrupt:
    """Turns the first Ctrl-C into a flag, so that no step is torn; the second one is an ordinary KeyboardInterrupt.

    Signals come to the main thread: what it sees there, runs in other threads are told.

    Parameters
    ----------
    also_termination : bool, default=False
        Whether SIGTERM is a flag, too: for runs that have something to save before they `deliver` it.
    """

    elsewhere: ClassVar[set[Interrupt]] = set()  # of runs in other threads

    def __init__(self, also_termination: bool = False) -> None:
        self.seen, self.terminated = False, False
        self.numbers = [signal.SIGINT, signal.SIGTERM] if also_termination else [signal.SIGINT]
        self.previous: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():  # signals can be caught nowhere else
            self.previous = {number: signal.signal(number, self._handle) for number in self.numbers}
        else:
            self.elsewhere.add(self)
        return self

    def _handle(self, number: int, frame: Any) -> None:
        if number == signal.SIGTERM:
            self.terminated = True
        elif self.seen:
            raise KeyboardInterrupt
        self.seen = True
        for other in list(self.elsewhere):
            other.seen = True

    def deliver(self) -> None:
        """SIGTERM was seen, and all is saved: now it goes where it would have gone."""
        if self.terminated:
            self.terminated = False
            signal.signal(signal.SIGTERM, self._before(signal.SIGTERM))
            signal.raise_signal(signal.SIGTERM)
            signal.signal(signal.SIGTERM, self._handle)  # somebody else's handler let us go on

    def _before(self, number: int) -> Any:
        # None: the handler was not set from Python, and cannot be set again from here
        default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        return self.previous[number] or default

    def __exit__(self, *exc: object) -> None:
        self.elsewhere.discard(self)
        for number in self.previous:
            signal.signal(number, self._before(number))
            outer = getattr(held_back_by(self.previous[number]), "__self__", None)
            if isinstance(outer, Interrupt):  # a run may have converged in the same moment: what goes on must know
                outer.seen |= self.seen
                outer.terminated |= self.terminated
