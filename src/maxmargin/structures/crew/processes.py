"""Processes that ask oracles written in Python, which threads would have to take turns for.

They are commands, not forks, which threads and locks of this process do not survive; a script that solves needs no
guard around its main part, and its classes travel by value. To start them takes a second, in which this process goes on
asking, so short runs never do. The problem is sent once, and weights through a file in memory.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Lock
from typing import IO, Any, cast

import numpy as np
from numba import cloudpickle  # takes classes of scripts and notebooks, too

from ..._threads import in_background
from .shares import Answered, Given, in_order, shares_of

# Processes are started when oracles have taken so many seconds, and so many each on average: an answer takes a tenth of
# that to travel. Nobody waits until they are there.
START_AFTER, LEAST_SECONDS, WAIT = 0.5, 1e-4, 0.0

WORKER = (sys.executable, "-P", "-m", f"{__package__}.worker")  # -P: modules are those of this process, see `Member`
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Member:
    """One process, which has the problem."""

    def __init__(self) -> None:
        path = os.pathsep.join(folder or os.curdir for folder in sys.path)
        # a session of its own: Ctrl-C comes to this process alone, and it says when the others end
        self.process = subprocess.Popen(
            WORKER,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def begin(self, given: Given) -> None:
        """Hand over the problem; an error where it cannot be taken."""
        refused = self.exchange(given)
        if refused:
            raise pickle.UnpicklingError(refused)

    def exchange(self, message: Any) -> Any:
        try:
            pickle.dump(message, cast(IO[bytes], self.process.stdin))
            cast(IO[bytes], self.process.stdin).flush()
            return pickle.load(cast(IO[bytes], self.process.stdout))
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:  # the last: in the midst of an answer
            raise ChildProcessError(f"a process ended with exit status {self.process.wait()}") from error

    def take(self, number: int, shares: Iterator[list[int]]) -> list[Answered]:
        """Answers to one share after the other, as long as there are any, at weights of this number."""
        return [self.exchange((number, share)) for share in shares]

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError, ValueError):  # what was not read, or is being read by a thread
                cast(IO[bytes], stream).close()


class ProcessCrew:
    """Processes for the oracles of one problem, once they are worth their start."""

    def __init__(self, problem: Any, n_members: int):
        self.problem, self.n_members = problem, n_members
        self.lock = Lock()  # one question at a time
        self.seconds, self.asked, self.number = 0.0, 0, 0  # of questions answered here; of the weights
        self.members: list[Member] = []
        self.beginning: list[Future] = []
        self.shared: np.ndarray | None = None  # weights
        self.path = ""  # of their file
        self.gave_up = False

    def ask(self, w: np.ndarray, blocks: list[int]) -> dict[int, Any]:
        if self.gave_up:
            return {}
        with self.lock:
            answers = self.ask_here(w, blocks)
            rest = blocks[len(answers) :]
            return answers | self.ask_others(w, rest) if rest else answers

    def ask_here(self, w: np.ndarray, blocks: list[int]) -> dict[int, Any]:
        """Answers to the first blocks, until others are there to go on."""
        answers: dict[int, Any] = {}
        for i in blocks:
            if self.are_there():
                break
            began = time.perf_counter()
            answers[i] = self.problem.answer(w, i)
            self.seconds, self.asked = self.seconds + time.perf_counter() - began, self.asked + 1
        return answers

    def are_there(self) -> bool:
        if not self.members:
            if self.gave_up or self.seconds < START_AFTER or self.seconds < LEAST_SECONDS * self.asked:
                return False
            self.start()
        if self.gave_up:
            return False
        wait(self.beginning, WAIT)
        if not all(one.done() for one in self.beginning):
            return False
        try:
            for one in self.beginning:
                one.result()
        except (ChildProcessError, pickle.UnpicklingError) as error:
            self.give_up(f"does not arrive in another process ({error})")
            return False
        self.beginning = []
        self.remove_file()  # all have opened it; where it must stay then, it goes with them
        return True

    def start(self) -> None:
        try:
            problem = cloudpickle.dumps(self.problem)
        except Exception as error:  # whatever a class of the user's raises
            self.give_up(f"cannot be sent to other processes ({type(error).__name__}: {error})")
            return
        try:
            file, self.path = tempfile.mkstemp(prefix="maxmargin-weights-")
            os.close(file)
            self.shared = np.memmap(self.path, np.float64, "w+", shape=(self.problem.d,))
            for _ in range(self.n_members):
                self.members.append(Member())  # at once: whatever comes between, it will be stopped
        except OSError as error:
            self.give_up(f"gets no other processes ({error})")
            return
        given = Given(self.path, self.problem.d, problem)
        self.beginning = [in_background(member.begin, given) for member in self.members]

    def give_up(self, why: str) -> None:
        self.close()
        self.gave_up = True
        warnings.warn(
            f"{type(self.problem.structure).__name__} {why}: its oracles are all asked in this process, whatever n_jobs"
            " is. Keep in it what pickle takes and any process can use; or say releases_lock = True, if threads may "
            "call its methods; or leave n_jobs out",
            UserWarning,
            stacklevel=2,
        )

    def ask_others(self, w: np.ndarray, blocks: list[int]) -> dict[int, Any]:
        cast(np.ndarray, self.shared)[:] = w
        self.number += 1
        shares = iter(shares_of(blocks, self.n_members))
        asked = [in_background(member.take, self.number, shares) for member in self.members]
        try:
            wait(asked)
        except BaseException:  # Ctrl-C
            self.close()
            raise
        answers: dict[int, Any] = {}
        failed = ""
        for one in asked:
            try:
                for found in one.result():
                    answers.update(found.answers)
                    failed = failed or found.failed
            except ChildProcessError as error:
                failed = str(error)
        answers = in_order(self.problem, w, blocks, answers)
        if failed:  # and nothing was wrong here
            self.give_up(f"is not answered in another process ({failed})")
        return answers

    def close(self) -> None:
        for member in self.members:
            member.stop()
        if self.beginning:
            wait(self.beginning)
        self.members, self.beginning, self.shared = [], [], None
        self.remove_file()

    def remove_file(self) -> None:
        with suppress(OSError):
            os.unlink(self.path)
            self.path = ""
