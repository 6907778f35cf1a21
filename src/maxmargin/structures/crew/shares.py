"""What a member of a crew is given to ask, and how it answers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

SHARES = 4  # of the work, for each member: oracles do not take the same time


class Given(NamedTuple):
    """What a process begins with."""

    path: str  # of the file with the weights
    n_weights: int
    problem: bytes


class Answered(NamedTuple):
    """Answers up to the first error, which whoever asked will see for himself."""

    answers: dict[int, Any]  # by block
    failed: str = ""


def answer_all(problem: Any, w: np.ndarray, blocks: list[int]) -> Answered:
    """Ask for some blocks."""
    found: dict[int, Any] = {}
    for i in blocks:
        try:
            found[i] = problem.answer(w, i)
        except Exception as error:
            return Answered(found, f"{type(error).__name__}: {error}")
    return Answered(found)


def shares_of(blocks: list[int], n_members: int) -> list[list[int]]:
    size = max(1, -(-len(blocks) // (SHARES * n_members)))
    return [blocks[k : k + size] for k in range(0, len(blocks), size)]


def in_order(problem: Any, w: np.ndarray, blocks: list[int], answers: dict[int, Any]) -> dict[int, Any]:
    """All answers; what nobody answered is asked here, so that errors are those of one thread: the first one's."""
    return {i: answers[i] if i in answers else problem.answer(w, i) for i in blocks}
