"""A slack for each sample: constraints are outputs of single samples."""  # tsochantaridis05

from __future__ import annotations

from ..block_coordinate import BlockEngine
from ..parts.memory import NoCache, Remembered

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
        for cache in (Remembered(), NoCache()):
            self.parts = self.parts._replace(cache=cache)
            super().prepare()

    def advance(self, n_steps: int) -> None:
        number, inside = divmod(self.steps, self.n)
        cache = Remembered() if number % (1 + PASSES) else NoCache()
        self.parts = self.parts._replace(cache=cache)
        super().advance(min(n_steps, self.n - inside))
