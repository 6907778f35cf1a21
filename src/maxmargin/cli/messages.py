"""What the commands say, and the codes they end with: results on standard output, everything else on standard error."""

from __future__ import annotations

import sys
import time

OK, FAILURE, USAGE_ERROR, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141


class UsageError(Exception):
    """Options that do not go together: the message says which."""


def refuse(complaint: str | None) -> None:
    """Stop where there is a complaint."""
    if complaint:
        raise UsageError(complaint)


def fail(message: str, command: str, code: int = FAILURE) -> int:
    """One line, and the exit code."""
    print(f"maxmargin {command}: error: {one_line(message)}", file=sys.stderr)
    return code


def note(message: str, command: str) -> None:
    """One line that is no error."""
    print(f"maxmargin {command}: {one_line(message)}", file=sys.stderr)


def one_line(message: str) -> str:
    return " ".join(str(message).split())


class Teller:
    """Tells how far a command is, with the seconds that each part took."""

    def __init__(self, quiet: bool):
        self.quiet, self.began, self.last = quiet, time.perf_counter(), time.perf_counter()

    def tell(self, message: str) -> None:
        now = time.perf_counter()
        if not self.quiet:
            print(f"{message} [{now - self.last:.1f} s]", file=sys.stderr, flush=True)
        self.last = now

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began
