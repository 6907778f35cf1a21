"""A process that asks the oracles of a problem: questions come through its input until that ends, answers go back."""

from __future__ import annotations

import os
import pickle
from typing import Any

import numpy as np

from .shares import answer_all


def serve() -> None:
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # oracles, and commands that they run, read nothing
    os.dup2(2, 1)  # and print to standard error

    def reply(message: Any) -> None:
        pickle.dump(message, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()

    given = pickle.load(questions)
    try:
        problem = pickle.loads(given.problem)
    except Exception as error:  # whatever a class of the user's raises
        reply(f"{type(error).__name__}: {error}")
        return
    shared = np.memmap(given.path, np.float64, "r", shape=(given.n_weights,))
    reply("")
    known, w = 0, np.empty(0)
    while True:
        number, blocks = pickle.load(questions)
        if number != known:  # a copy: an oracle may keep its weights, to see whether they have changed
            known, w = number, np.array(shared)
        reply(answer_all(problem, w, blocks))


if __name__ == "__main__":
    try:
        serve()
    except (EOFError, BrokenPipeError):  # nobody asks any more
        os._exit(0)
