"""The distance transform against a look at all pairs of positions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin.inference import distance_transform
from structures.pairs import interpreted

VALUES = {
    "ties": st.sampled_from([-1.0, 0.0, 1.0, 2.0]),
    "any": st.floats(-10, 10),
    "masked": st.one_of(st.floats(-10, 10), st.just(-np.inf)),
    "mostly masked": st.sampled_from([-np.inf, -np.inf, -np.inf, 0.0, 1.0]),
    "large": st.one_of(st.floats(-1e6, 1e6), st.floats(-1, 1)),
}
STIFFNESS = st.sampled_from([0.0, 5e-324, 1e-300, 1e-12, 0.25, 1.0, 3.7, 1e4])
PULL = st.sampled_from([0.0, 0.5, -2.0, 1e-300])
ANCHOR = st.sampled_from([0.0, 1.0, -2.5, 0.3, 9.0])


def every_offer(scores, stiffness, pull, anchor):
    """(H, W, H W): what each position is offered by each other, x along columns, y along rows."""
    height, width = scores.shape
    y, x = np.divmod(np.arange(height * width), width)
    offers = np.broadcast_to(scores.ravel(), (height * width, height * width)).copy()
    for axis, place in enumerate((x, y)):
        away = place[None, :] - place[:, None] - anchor[axis]
        offers += -stiffness[axis] * away**2 + pull[axis] * away
    return offers.reshape(height, width, -1)


def assert_best(scores, stiffness, pull, anchor):
    values, places = distance_transform(scores, stiffness, pull, anchor)
    offers = every_offer(scores, stiffness, pull, anchor)
    best = offers.max(axis=2)
    if not np.isfinite(scores).any():
        assert (values == -np.inf).all() and (places == -1).all()
        return
    largest = np.abs(offers[np.isfinite(offers)]).max(initial=1.0)
    assert_allclose(values, best, rtol=0, atol=1e-13 * largest)
    taken = np.take_along_axis(offers, places[:, :, None].astype(int), axis=2)[:, :, 0]
    assert_allclose(taken, best, rtol=0, atol=1e-13 * largest)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_against_all_pairs(values):
    side = st.integers(1, 5)
    grids = st.tuples(side, side).flatmap(lambda shape: arrays(np.float64, shape, elements=values))

    @settings(max_examples=60, deadline=None)
    @given(grids, st.tuples(STIFFNESS, STIFFNESS), st.tuples(PULL, PULL), st.tuples(ANCHOR, ANCHOR))
    def check(scores, stiffness, pull, anchor):
        with interpreted():
            assert_best(scores, stiffness, pull, anchor)

    check()


@pytest.mark.parametrize("stiffness", [0.0, 0.25, 2.0])
def test_the_first_of_several_is_found(stiffness):
    rng = np.random.default_rng(0)
    for _ in range(20):  # quarters: no rounding
        scores = rng.integers(-3, 3, size=(4, 5)) / 4
        with interpreted():
            _, places = distance_transform(scores, stiffness, 0.5, 0.5)
        offers = every_offer(scores, (stiffness,) * 2, (0.5,) * 2, (0.5,) * 2)
        assert_array_equal(places, offers.argmax(axis=2))


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (17, 23), (40, 33)])
def test_compiled(shape):
    """Also lines longer than a block of columns; and the two speeds agree."""
    rng = np.random.default_rng(0)
    scores = np.where(rng.random(shape) < 0.1, -np.inf, rng.normal(size=shape) * 10)
    scores[0, 0] = 0.0
    for stiffness, pull, anchor in [((0.01, 0.3), (1, -2), (3.5, -4)), ((0, 1e-300), (0, 0), (0, 2)), ((0, 0),) * 3]:
        assert_best(scores, stiffness, pull, anchor)
        fast = distance_transform(scores, stiffness, pull, anchor)
        with interpreted():
            slow = distance_transform(scores, stiffness, pull, anchor)
        assert_allclose(fast[0], slow[0], rtol=1e-12, atol=1e-12)
        assert_array_equal(fast[1], slow[1])


def test_what_is_given_stays_as_it_is():
    scores = np.arange(6.0).reshape(2, 3)
    with interpreted():
        values, places = distance_transform(scores, 1e9)
        assert_array_equal(values, scores)
        assert_array_equal(places, np.arange(6).reshape(2, 3))
        assert_array_equal(distance_transform(scores.tolist(), [1e9, 1e9])[0], scores)
    assert_array_equal(scores, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    "of, match",
    [
        ((np.zeros(3), 1.0), r"scores must be a grid .* got shape \(3,\)"),
        ((np.zeros((0, 3)), 1.0), "at least one"),
        ((np.full((2, 2), np.nan), 1.0), "below infinity"),
        ((np.full((2, 2), np.inf), 1.0), "below infinity"),
        ((np.zeros((2, 2)), -1.0), "stiffness must be >= 0"),
        ((np.zeros((2, 2)), np.nan), "stiffness must be a finite number"),
        ((np.zeros((2, 2)), 1.0, (1, 2, 3)), "pull must be a finite number, or two"),
        ((np.zeros((2, 2)), 1.0, 0.0, np.inf), "anchor must be a finite number"),
    ],
)
def test_refuses(of, match):
    with pytest.raises(ValueError, match=match):
        distance_transform(*of)
