"""Forecasts: a law that is fitted again, and meetings that cost what they cost."""

from typing import NamedTuple

import numpy as np
import pytest

from maxmargin.distributed import Forecast
from maxmargin.distributed.forecast import RoundsLaw


class Run(NamedTuple):
    partitions: int
    passes: float
    times: float


def test_a_law_is_found_from_its_runs():
    law = RoundsLaw(1.3, 0.2, 2.5)
    runs = [Run(k, passes, law.times(k, passes)) for k in (2, 8, 32) for passes in (0.25, 1.0, 2.0)]
    np.testing.assert_allclose(RoundsLaw.fitted(runs), law, rtol=1e-6)
    assert law.times(1, 2.0) == 1.0


def test_seconds_are_those_of_passes_and_meetings():
    costs = Forecast(
        1000, 1e-3, 1e6, bandwidth=1e8, latency=1e-2, overhead=0.5, passes_alone=10, law=RoundsLaw(1.0, 0.0, 0.0)
    )
    assert costs.seconds(1) == pytest.approx(10.0)
    assert costs.meeting(4) == pytest.approx(0.5 + 4 * (1e-2 + 0.08))
    assert costs.seconds_with(4, 0.5) == pytest.approx(10 * (0.25 + 2 * costs.meeting(4)))


def test_the_dearer_a_meeting_the_longer_the_rounds():
    cheap, dear = (Forecast(10**6, 1e-4, 1e5, overhead=overhead) for overhead in (1e-4, 100.0))
    assert cheap.best_passes(10) < dear.best_passes(10)
    assert cheap.speed_up(10) > 1.0 > dear.speed_up(10_000)
    assert str(cheap).count("\n") == 5
