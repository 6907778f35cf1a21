"""Processes that work on tasks side by side; they are commands, so that the script asking need not be importable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import IO, Any, cast

from .recipes import Task

WORKER = (sys.executable, "-m", f"{__package__}.worker")

Tell = Callable[[Task, dict[str, Any]], None]


class Worker:
    """One process; where it dies, the task it had is lost, and the next one gets a new process."""

    def __init__(self, command: Sequence[str]):
        self.command = command
        self.process: subprocess.Popen[str] | None = None

    def ask(self, task: Task) -> dict[str, Any]:
        process = self.process = self.process or self.start()
        try:
            print(json.dumps(task), file=process.stdin, flush=True)
            return json.loads(cast(IO[str], process.stdout).readline())
        except (OSError, ValueError):  # no answer
            self.stop()
            return {"error": f"the process that compiled ended with exit status {process.returncode}"}

    def start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        pipe = subprocess.PIPE
        return subprocess.Popen(self.command, env=environment, stdin=pipe, stdout=pipe, text=True)

    def stop(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.terminate()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError, ValueError):  # what was not read, or is being read by a thread
                    cast(IO[str], stream).close()


def run_tasks(tasks: Sequence[Task], n_jobs: int, tell: Tell, command: Sequence[str] = WORKER) -> None:
    """Work on all tasks in so many processes; `tell` is called with each task and its answer, one after the other."""
    waiting: SimpleQueue = SimpleQueue()
    for task in tasks:
        waiting.put(task)
    answered: SimpleQueue = SimpleQueue()

    def work(worker: Worker) -> None:
        for task in _drained(waiting):
            answered.put((task, worker.ask(task)))

    with _workers(min(n_jobs, len(tasks)), command) as workers:
        for worker in workers:
            threading.Thread(target=work, args=(worker,), daemon=True).start()
        try:
            for _ in tasks:
                tell(*answered.get())
        finally:  # interrupted: those that lose their process must find no other task to start one for
            list(_drained(waiting))


def _drained(queue: SimpleQueue) -> Iterator[Task]:
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return


@contextmanager
def _workers(count: int, command: Sequence[str]) -> Iterator[list[Worker]]:
    workers = [Worker(command) for _ in range(count)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.stop()
