"""What an iteration cannot do without, compiled as iterations are."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from maxmargin._compile import kernel
from maxmargin.structures.verbs import find_corner, find_potentials, forget_weights, new_work


@kernel
def bare_pass(problem, work, w, order):
    """Potentials and argmax of every block, nothing learned."""
    total = 0.0
    forget_weights(problem, work)  # others change them between two passes
    for i in order:
        find_potentials(problem, work, w, i)
        total += find_corner(problem, work, w, i)
    return total


class Floor:
    """Scoring + argmax of blocks in random order."""

    def __init__(self, problem: Any, n: int):
        self.problem, self.n, self.work = problem, n, new_work(problem)
        self.rng = np.random.default_rng(0)

    def seconds(self, w: np.ndarray) -> float:
        """CPU seconds of a pass."""
        order = self.rng.integers(self.n, size=self.n)
        before = time.process_time()
        bare_pass(self.problem, self.work, w, order)
        return time.process_time() - before
