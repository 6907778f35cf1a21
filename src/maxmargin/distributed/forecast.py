"""How long a fit would take on so many workers: a model of what rounds cost, fitted on measured runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

BYTES = 8  # of a weight
PASSES = (0.1, 0.2, 0.5, 1.0, 2.0)  # of a round that are tried


class RoundsLaw(NamedTuple):
    """Passes in those of one machine: ``factor partitions^power (1 + share passes)``, `passes` being those of a round.

    Parameters
    ----------
    factor, power, share : float
        Fitted on 2 to 32 partitions and 0.25 to 2 passes a round of three problems, by
        ``python -m benchmarks.scale.cluster_costs``: within a factor of 1.4 mostly, of 1.9 always.
    """

    factor: float = 0.62
    power: float = 0.44
    share: float = 1.28

    def times(self, partitions: int, passes: float) -> float:
        """Passes over the data, in those of one machine."""
        if partitions == 1:
            return 1.0
        return max(1.0, self.factor * partitions**self.power * (1.0 + self.share * passes))

    @classmethod
    def fitted(cls, runs: Iterable[Any]) -> RoundsLaw:
        """The law that is nearest to runs, in logarithms; each has `partitions`, `passes` and `times`."""
        from scipy.optimize import least_squares

        runs = list(runs)
        k, passes, times = (
            np.array([getattr(run, name) for run in runs], float) for name in ("partitions", "passes", "times")
        )

        def misses(logs: np.ndarray) -> np.ndarray:
            return logs[0] + logs[1] * np.log(k) + np.log1p(np.exp(logs[2]) * passes) - np.log(times)

        found = least_squares(misses, [0.0, 0.3, 0.0]).x
        return cls(float(np.exp(found[0])), float(found[1]), float(np.exp(found[2])))


@dataclass(frozen=True)
class Forecast:
    """Seconds of a fit on a cluster.

    Parameters
    ----------
    n_samples : int
    step_seconds : float
        Of a step on one sample: the seconds of a pass on one machine over the number of its samples.
    n_weights : float
        How many there are to learn, or of them change in a round: what is sent.
    bandwidth : float, default=1.25e8
        Bytes a second between two workers: 1 GBit/s.
    latency : float, default=1e-3
        Seconds until a message arrives.
    overhead : float, default=0.02
        Seconds of a round that Dask takes for itself.
    passes_alone : float, default=30
        Passes that one machine takes to the goal.
    law : RoundsLaw, default=RoundsLaw()
        How many more partitions take.

    Examples
    --------
    >>> from maxmargin.distributed import Forecast
    >>> text = Forecast(n_samples=1_000_000, step_seconds=6e-5, n_weights=1e6)
    >>> text.seconds(100) < text.seconds(1)
    True
    >>> text.speed_up(10_000) < text.speed_up(100)  # at some point workers only wait for each other
    True
    """

    n_samples: int
    step_seconds: float
    n_weights: float
    bandwidth: float = 1.25e8
    latency: float = 1e-3
    overhead: float = 0.02
    passes_alone: float = 30.0
    law: RoundsLaw = RoundsLaw()  # noqa: RUF009  (it cannot be changed)

    def meeting(self, workers: int) -> float:
        """Seconds to add up changes and to hand weights round, both along a tree."""
        if workers == 1:
            return 0.0
        hops = 2 * np.ceil(np.log2(workers))
        return float(self.overhead + hops * (self.latency + BYTES * self.n_weights / self.bandwidth))

    def seconds_with(self, workers: int, passes: float) -> float:
        """Of a fit with rounds of so many passes."""
        all_passes = self.passes_alone * self.law.times(workers, passes)
        a_pass = self.step_seconds * np.ceil(self.n_samples / workers)
        return float(all_passes * (a_pass + self.meeting(workers) / passes))

    def best_passes(self, workers: int) -> float:
        """The passes of a round with which it takes least."""
        return min(PASSES, key=lambda passes: self.seconds_with(workers, passes))

    def seconds(self, workers: int) -> float:
        """Of a fit.

        Parameters
        ----------
        workers : int

        Returns
        -------
        seconds : float
        """
        return self.seconds_with(workers, self.best_passes(workers))

    def speed_up(self, workers: int) -> float:
        """How many times as fast as one machine.

        Parameters
        ----------
        workers : int

        Returns
        -------
        times : float
        """
        return self.seconds(1) / self.seconds(workers)

    def __str__(self) -> str:
        rows = [(k, self.seconds(k), self.speed_up(k), self.best_passes(k)) for k in (1, 10, 100, 1000, 10000)]
        lines = [f"{k:8d}{seconds:12.4g}{times:10.2f}{passes:8g}" for k, seconds, times, passes in rows]
        return "\n".join([f"{'workers':>8}{'seconds':>12}{'times':>10}{'passes':>8}", *lines])
