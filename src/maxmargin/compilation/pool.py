"""Processes that work on tasks side by side, started as commands: a script that asks for them need not be importable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

from .recipes import Task

WORKER = (sys.executable, "-m", f"{__package__}.worker")

Tell = Callable[[Task, dict[str, Any]], None]


class Worker:
    """One process; where it dies, the task it had is lost, and the next one gets a new process."""

    def __init__(self, command: Sequence[str]):
        self.command, self.process = command, None

    def ask(self, task: Task) -> dict[str, Any]:
        if self.process is None:
            path = os.pathsep.join(filter(None, sys.path))
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            self.process = subprocess.Popen(self.command, env={**os.environ, "PYTHONPATH": path}, **pipes)
        try:
            print(json.dumps(task), file=self.process.stdin, flush=True)
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):  # no answer
            code = self.process.wait()
            self.process = None
            return {"error": f"the process that compiled ended with exit status {code}"}

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.communicate()


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
        for _ in tasks:
            tell(*answered.get())


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
