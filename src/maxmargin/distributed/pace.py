"""How carefully partitions step, and how long before they meet: both follow what the last rounds were like."""

from __future__ import annotations

from typing import NamedTuple

MARGIN = 1.2  # over the curvature that was seen
CALM = 0.5  # how fast sigma falls
SHORTEST, LONGEST = 0.1, 2.0  # passes of a round
SLOW = 0.5  # how fast these follow


class Seen(NamedTuple):
    """What a round was like."""

    curvature: float  # |sum_k dV_k|^2 / sum_k |dV_k|^2
    passes: float
    seconds: float  # all in all
    working: float  # of which the slowest took steps


class Pace:
    """Sigma, and the passes of a round; see docs/clusters.md for both rules.

    Parameters
    ----------
    sigma : float or None
        As given; None follows the curvature along the joint directions, from 1 to the number of partitions.
    passes : float or None
        As given; None follows the clock.
    most : int
        The number of partitions.
    """

    def __init__(self, sigma: float | None, passes: float | None, most: int):
        self.follows_changes, self.follows_clock, self.most = sigma is None, passes is None, most
        self.sigma = float(most) if sigma is None else sigma
        self.passes = 1.0 if passes is None else passes

    def heed(self, seen: Seen) -> None:
        """Adapt to the last round."""
        if self.follows_changes:
            wanted = min(max(1.0, MARGIN * seen.curvature), float(self.most))
            self.sigma = wanted if wanted > self.sigma else self.sigma + CALM * (wanted - self.sigma)
        if self.follows_clock:
            # passes in all are about as 1 + those of a round: least where a meeting takes the square of these
            meeting, a_pass = max(seen.seconds - seen.working, 0.0), seen.working / seen.passes
            wanted = (meeting / a_pass) ** 0.5 if a_pass > 0.0 else LONGEST
            self.passes += SLOW * (min(max(wanted, SHORTEST), LONGEST) - self.passes)
