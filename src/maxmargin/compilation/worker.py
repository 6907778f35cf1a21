"""A process that compiles: tasks come in a line each, and so do answers."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import textwrap
import time
from typing import Any

from .._compile.disk import COMPILED, LOADED, TALLY
from .recipes import Task, run_task

ONE_LINE = 300  # characters of an error: compilers write pages


def work_on(task: Task) -> dict[str, Any]:
    """What running a task took; an error is an answer, too."""
    before, began = TALLY.copy(), time.perf_counter()
    answer: dict[str, Any] = {}
    try:
        answer["refused"] = run_task(task)
    except Exception as error:  # whatever it is, other tasks go on
        answer["error"] = textwrap.shorten(f"{type(error).__name__}: {error}", ONE_LINE)
    found = TALLY - before
    return {**answer, COMPILED: found[COMPILED], LOADED: found[LOADED], "seconds": time.perf_counter() - began}


def serve() -> None:
    answers = sys.stdout
    logging.getLogger("maxmargin").setLevel(logging.ERROR)  # that kernels are compiled is what is wanted
    with contextlib.redirect_stdout(sys.stderr):
        for line in sys.stdin:
            model, kind, solvers = json.loads(line)
            print(json.dumps(work_on(Task(model, kind, tuple(solvers)))), file=answers, flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):  # whoever asked was interrupted, too, and says so
        serve()
