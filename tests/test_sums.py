"""Sums and sweeps against exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from maxmargin._sums import CHUNK, RunningSum, ShareSums, dot, mix_into, mixed, way_products

SIZES = [0, 1, 5, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7]


def exact(u, v):
    return float(sum((Fraction(a) * Fraction(b) for a, b in zip(u.tolist(), v.tolist(), strict=True)), Fraction(0)))


@pytest.mark.parametrize("size", SIZES)
def test_products(size):
    rng = np.random.default_rng(size)
    u, v = rng.normal(size=(2, size))
    scale = np.sum(np.abs(u * v)) + 1e-300
    assert abs(dot(u, v) - exact(u, v)) <= 1e-15 * scale
    assert dot(u[::2], v[::2]) == pytest.approx(exact(u[::2], v[::2]), abs=1e-12)
    near = u + 1e-6 * v  # the way is short: squares of the ends must not stand for its own
    way = near - u
    found = way_products(u, near)
    assert found == pytest.approx((exact(u, u), exact(u, way), exact(way, way)), rel=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_mixtures(size):
    u, v = np.random.default_rng(size).normal(size=(2, size))
    expected = 0.3 * u - 2.0 * v
    assert mixed(0.3, u, -2.0, v) == pytest.approx(expected, abs=1e-14)
    mix_into(u, 0.3, u, -2.0, v)
    assert u == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("size", [1, 5, CHUNK + 3])
@pytest.mark.parametrize("n_shares", [1, 2, 5])
def test_running_sums_are_those_of_shares(size, n_shares):
    given = 10.0 ** np.random.default_rng(size).uniform(-8, 8, (n_shares, size))
    shared, running = ShareSums(n_shares, size), RunningSum(size)
    for _ in range(2):
        for sums in (shared, running):
            for k in range(n_shares):
                vector = sums.begin(k)
                assert not vector.any()
                vector += given[k]
        found, expected = running.total(), shared.total()
        assert np.array_equal(found, expected)
        given *= 2.0
    assert np.array_equal(found, expected)  # nobody writes to it any more


@pytest.mark.parametrize("size", [1, 5, CHUNK + 3])
@pytest.mark.parametrize("n_shares", [1, 2, 5])
def test_sums_of_shares_are_in_their_order(size, n_shares):
    given = 10.0 ** np.random.default_rng(size).uniform(-8, 8, (n_shares, size))
    expected = given[0]
    for vector in given[1:]:
        expected = expected + vector
    sums = ShareSums(n_shares, size)
    for _ in range(2):  # room is used again
        for k in np.random.default_rng(0).permutation(n_shares):
            vector = sums.begin(k)
            assert not vector.any()
            vector += given[k]
        found = sums.total()
        assert np.array_equal(found, expected)
    assert not np.shares_memory(found, sums.vectors)


def test_sums_that_overflow_say_nothing(recwarn):
    assert dot(np.full(3, 1e200), np.full(3, 1e200)) == np.inf
    sums = ShareSums(3, 1)
    for k, number in enumerate([1.7e308, 1.7e308, -np.inf]):
        sums.begin(k)[:] = number
    assert np.isnan(sums.total())
    assert not recwarn.list
