"""A slack for each sample: constraints are outputs of single samples."""  # tsochantaridis05

from __future__ import annotations

import numpy as np

from ..block_coordinate.engine import BlockEngine
from ..block_coordinate.memory import NoCache, Remembered
from ..block_coordinate.samplers import Order

# Passes over the outputs found so far, for each pass of the oracle.
PASSES = 4


class NSlackEngine(BlockEngine):
    """Passes of the oracle, between them passes that know only the outputs found so far, the working sets.

    Both are accelerated pairwise block steps, which solve the restricted quadratic program by coordinates. A new
    constraint is used as soon as it is found: asking all samples first, as the textbook does, takes three times the
    passes on OCR. And the program is not solved to its end before the oracle is asked again: where lam is small that
    takes a hundred passes over the working sets, and saves no calls of the oracle.
    """

    def prepare(self) -> None:
        super().prepare()
        self.run_loop(Order(np.empty(0, np.int64)), Remembered(0.0), 0, 0)

    def advance(self, n_steps: int) -> None:
        number, inside = divmod(self.steps, self.n)
        cache = Remembered(0.0) if number % (1 + PASSES) else NoCache(0.0)
        self.parts = self.parts._replace(cache=cache)
        super().advance(min(n_steps, self.n - inside))
