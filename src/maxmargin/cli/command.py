"""The command itself: which commands there are, and how they fail."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from . import compile, convert, demo, evaluate, fit, inspect, path, predict
from .messages import BROKEN_PIPE, FAILURE, INTERRUPTED, USAGE_ERROR, UsageError, fail, note

COMMANDS = (fit, predict, evaluate, path, convert, inspect, demo, compile)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the answer is the exit code."""
    arguments = parser().parse_args(argv)
    command = arguments.command
    try:
        with told_in_lines(command):
            code = arguments.run(arguments)
            sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # who reads has seen enough
        _leave_stdout()
        return BROKEN_PIPE
    except UsageError as error:
        return fail(str(error), command, USAGE_ERROR)
    except OSError as error:
        return fail(_reason(error), command, FAILURE)
    except MemoryError as error:
        return fail(f"out of memory: {error}" if str(error) else "out of memory", command, FAILURE)
    except (ValueError, TypeError, FloatingPointError, RuntimeError) as error:
        if arguments.traceback:
            raise
        return fail(str(error), command, FAILURE)


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    from .. import __version__

    made = argparse.ArgumentParser(
        prog="maxmargin", description="Max-margin structured prediction: learn, tag and evaluate from the shell."
    )
    made.add_argument("--version", action="version", version=f"maxmargin {__version__}")
    made.add_argument("--traceback", action="store_true", help="where an error comes from, for reports of bugs")
    commands = made.add_subparsers(title="commands", metavar="command", dest="command", required=True)
    for module in COMMANDS:
        module.add(commands)
    return made


@contextmanager
def told_in_lines(command: str) -> Iterator[None]:
    """Warnings are lines on standard error, without the line of the code that they come from."""

    def show(message: Any, *where: Any, **more: Any) -> None:
        note(str(message), command)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _reason(error: OSError) -> str:
    if error.filename is None or error.strerror is None:
        return str(error.strerror or error)
    return f"cannot open {os.fspath(error.filename)}: {error.strerror}"


def _leave_stdout() -> None:
    """What is still to be written at exit goes nowhere."""
    with suppress(OSError, ValueError):  # not a file at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
