"""The smoothed maximum against all scores at once, and against the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin._compile import kernel
from maxmargin.inference.smoothing import smooth_max

SCORES = st.one_of(st.integers(-2, 2).map(float), st.floats(-3, 3))


@kernel
def smooth(scores, count, k, mu, weights):
    return smooth_max(scores, count, k, mu, weights)


def run(scores, k, mu, asked=smooth.interpreted):
    top = np.sort(np.asarray(scores))[::-1][: k + 1]  # one more than may share, to know whether k are enough
    weights = np.full(len(top), np.nan)
    value, size, enough = asked(top, len(top), k, mu, weights)
    return value, size, enough, weights


def project(z):
    """On the simplex: max(z - rho, 0) that adds up to 1, rho by bisection."""
    low, high = np.max(z) - 1.0, np.max(z)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.sum(np.maximum(z - middle, 0)) > 1 else (low, middle)
    return np.maximum(z - (low + high) / 2, 0)


@given(st.lists(SCORES, min_size=1, max_size=8), st.integers(1, 9), st.sampled_from([1e-3, 0.3, 1.0, 4.0]))
@settings(max_examples=200, deadline=None)
def test_projection_value_and_exactness(scores, k, mu):
    value, size, enough, weights = run(scores, k, mu)
    psi = np.sort(scores)[::-1]
    top = psi[: k + 1]
    assert weights[:k] == pytest.approx(project(top[:k] / mu), abs=1e-10) and not np.any(weights[k:])
    assert np.sum(weights) == pytest.approx(1.0) and (weights[:size] >= 0).all() and (weights[size:] == 0).all()
    assert value == pytest.approx(weights @ top - mu / 2 * (weights @ weights - 1), abs=1e-12)
    u = project(psi / mu)
    exact = u @ psi - mu / 2 * (u @ u - 1)
    assert value <= exact + 1e-9
    if enough:
        assert value == pytest.approx(exact, abs=1e-9)
        assert weights == pytest.approx(u[: len(weights)], abs=1e-9)
    rho = psi[0] / mu - u[0]
    on_the_edge = np.any(np.abs(psi / mu - rho) < 1e-6)  # rounding decides whether such a score has weight
    if len(psi) <= k or (np.sum(u > 0) <= k and not on_the_edge):
        assert enough
    assert psi[0] - 1e-9 <= exact <= psi[0] + mu / 2 + 1e-9


def test_gradient_is_the_weights():
    rng, step = np.random.default_rng(0), 1e-6
    psi = np.sort(rng.normal(size=6))[::-1]
    weights = run(psi, 6, 1.5)[3]
    slopes = [(run(psi + step * e, 6, 1.5)[0] - run(psi - step * e, 6, 1.5)[0]) / (2 * step) for e in np.eye(6)]
    assert weights == pytest.approx(slopes, abs=1e-8)
    assert 1 < np.sum(weights > 0) < 6


def test_ties_large_scores_and_no_labelings():
    value, size, enough, weights = run([3.0, 3.0, 3.0, 3.0], 3, 1e-10)
    assert (value, size, enough) == (pytest.approx(3.0), 3, False)
    weights = weights[:3]
    assert weights == pytest.approx([1 / 3] * 3)
    value, size, enough, weights = run([1e6, 1e6 - 1, -1e6], 3, 1e-10)
    assert (value, size, enough) == (1e6, 1, True)
    assert weights.tolist() == [1.0, 0.0, 0.0]
    assert run([], 3, 1.0)[:3] == (-np.inf, 0, True)


def test_compiled_agrees():
    rng = np.random.default_rng(1)
    for k in (1, 2, 5, 12):
        scores, mu = rng.normal(size=10), rng.random() * 3
        plain, fast = run(scores, k, mu), run(scores, k, mu, smooth.uncached)
        assert fast[:3] == (pytest.approx(plain[0]), *plain[1:3])
        assert fast[3] == pytest.approx(plain[3])
