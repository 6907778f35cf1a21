"""Logarithms and exponentials that vectorise, against NumPy's."""

import numpy as np
import pytest

from maxmargin.inference.vectors import exp_to_one, log_of


def test_logarithms_are_as_exact_as_numbers():
    rng = np.random.default_rng(0)
    some = [*10.0 ** rng.uniform(-300, 300, 300), *(1.0 + 1e-3 * rng.normal(size=100)), 1.0, 2.0, 0.5, 2**0.5, 1e-30]
    for x in some:
        assert log_of(x) == pytest.approx(np.log(x), rel=1e-15, abs=1e-16)


def test_exponentials_up_to_one():
    for x in [0.0, -1e-9, -0.3, -1.0, -20.5, -707.9]:
        assert exp_to_one(x) == pytest.approx(np.exp(x), rel=1e-13)
    assert exp_to_one(-709.0) == exp_to_one(-np.inf) == 0.0
