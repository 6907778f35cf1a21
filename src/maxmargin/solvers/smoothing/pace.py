"""How long steps are: one over how steep gradients are, as far as that is known."""

from __future__ import annotations

import numpy as np

# Steps shrink weights by no more than exp of this in an epoch: more gains nothing, and sums would lose their digits.
MOST_SHRINKING = 10.0

# What a rise of the objective multiplies the steepness by that steps are made for, and what each fall does.
CAREFUL, MOST_CAREFUL, BOLD = 2.0, 64.0, 0.95


class Pace:
    """What a run knows of the Lipschitz constants of its samples' gradients.

    They are looked for after ever more epochs, and where smoothing got weaker; in between, gradients are the steeper
    the weaker it is.
    """

    def __init__(self) -> None:
        self.steepness, self.mu = 0.0, 1.0  # found in the mean, and under which smoothing
        self.looks = 0  # epochs so far
        self.caution, self.value = 1.0, np.inf  # and the objective where the last one began

    def is_due(self, mu: float) -> bool:
        """Whether to look before this epoch."""
        self.looks += 1
        return self.looks & (self.looks - 1) == 0 or mu < 0.5 * self.mu

    def found(self, steepness: float, mu: float) -> None:
        self.steepness, self.mu = steepness, mu

    def rises(self, value: float) -> bool:
        """Whether the objective rose since the last epoch: steps were too long, or momentum led too far.

        The mean steepness says nothing of the largest.
        """
        rose, self.value = value > self.value, value
        self.caution = min(CAREFUL * self.caution, MOST_CAREFUL) if rose else max(BOLD * self.caution, 1.0)
        return rose

    def length(self, mu: float, stiff: float, n: int) -> float:
        """Of a step, where quadratic terms have so much curvature and an epoch has n steps."""
        steepness = self.caution * self.steepness * (self.mu / mu)
        return float(min(1.0 / (steepness + stiff), -np.expm1(-MOST_SHRINKING / n) / stiff))
