"""How long steps are: one over how steep gradients are, as far as that is known."""

from __future__ import annotations

import numpy as np

# Steps shrink weights by no more than exp of this in an epoch: more gains nothing, and sums would lose their digits.
MOST_SHRINKING = 10.0

# What a rise of the objective multiplies the steepness by that steps are made for, and what each fall does, in limits:
# samples with few features in common allow for far longer steps than the steepness of each would say. Not so without
# regularisation, where nothing brings weights back. Chosen on OCR-small and parts of WNUT-17 and BC2GM.
CAREFUL, BOLD, LEAST, MOST = 4.0, 0.8, 1.0 / 64.0, 64.0


class Pace:
    """What a run knows of the Lipschitz constants of its samples' gradients.

    They are looked for after ever more epochs, and where smoothing got weaker; in between, gradients are the steeper
    the weaker it is.

    Parameters
    ----------
    lam : float
        Regularisation.
    """

    def __init__(self, lam: float) -> None:
        self.steepness, self.mu = 0.0, 1.0  # found in the mean, and under which smoothing
        self.looks = 0  # epochs so far
        self.caution, self.least = 1.0, LEAST if lam > 0.0 else 1.0  # what steepness is multiplied by
        self.value = np.inf  # of the objective where the last epoch began

    def is_due(self, mu: float) -> bool:
        """Whether to look before this epoch."""
        self.looks += 1
        return self.looks & (self.looks - 1) == 0 or mu < 0.5 * self.mu

    def found(self, steepness: float, mu: float) -> None:
        self.steepness, self.mu = steepness, mu

    def rises(self, value: float) -> bool:
        """Whether the objective rose since the last epoch: steps were too long, or momentum led too far.

        The mean steepness says nothing of the largest, and nothing of how samples add up.
        """
        rose, self.value = value > self.value, value
        self.caution = min(CAREFUL * self.caution, MOST) if rose else max(BOLD * self.caution, self.least)
        return rose

    def effective(self, mu: float) -> float:
        """The steepness that steps are made for, where smoothing is mu."""
        return self.caution * self.steepness * (self.mu / mu)

    def length(self, mu: float, stiff: float, n: int) -> float:
        """Of a step, where quadratic terms have so much curvature and an epoch has n steps."""
        return float(min(1.0 / (self.effective(mu) + stiff), -np.expm1(-MOST_SHRINKING / n) / stiff))
