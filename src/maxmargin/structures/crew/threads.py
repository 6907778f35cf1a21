"""Threads that ask oracles which release Python's lock for most of their time."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..._threads import one_by_one
from .shares import answer_all, in_order, shares_of


class ThreadCrew:
    """As many threads as wanted; they stay for whoever needs them next."""

    def __init__(self, problem: Any, n_members: int):
        self.problem, self.n_members = problem, n_members

    def ask(self, w: np.ndarray, blocks: list[int]) -> dict[int, Any]:
        calls = [partial(answer_all, self.problem, w, share) for share in shares_of(blocks, self.n_members)]
        answers: dict[int, Any] = {}
        for found in one_by_one(calls, self.n_members):
            answers.update(found.answers)
        return in_order(self.problem, w, blocks, answers)

    def close(self) -> None:
        """Nothing is to be done."""
