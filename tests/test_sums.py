"""Sums and sweeps against exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from maxmargin._sums import CHUNK, OrderedSum, dot, mix_into, mixed, way_products

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


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]])
def test_sums_whose_order_does_not_depend_on_who_is_ready(order):
    given = 10.0 ** np.arange(-8, 8).reshape(4, 4)[:, [2, 0, 3, 1]] * np.pi
    expected = given[0] + given[1] + given[2] + given[3]
    total = OrderedSum(4)
    for k in order:
        vector = total.new_vector()
        assert not vector.any()
        vector += given[k]
        total.add(k, vector)
    assert np.array_equal(total.total, expected)


def test_a_sum_takes_two_vectors_where_one_comes_after_the_other():
    total, seen = OrderedSum(3), set()
    for k in range(5):
        vector = total.new_vector()
        seen.add(vector.ctypes.data)
        total.add(k, vector)
    assert len(seen) == 2


def test_sums_that_overflow_say_nothing(recwarn):
    assert dot(np.full(3, 1e200), np.full(3, 1e200)) == np.inf
    total = OrderedSum(1)
    for k, number in enumerate([1.7e308, 1.7e308, -np.inf]):
        total.add(k, np.array([number]))
    assert np.isnan(total.total)
    assert not recwarn.list
