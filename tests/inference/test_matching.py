"""Matchings against a look at all of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin.inference.matching import best_matching, matching_marginals, matching_max_marginals, top_matchings

# few values make ties, -inf forbids, large ones lose the small ones' last digits
VALUES = {
    "ties": st.sampled_from([-1.0, 0.0, 1.0, 2.0]),
    "any": st.floats(-10, 10),
    "masked": st.one_of(st.floats(-10, 10), st.just(-np.inf)),
    "mostly masked": st.sampled_from([-np.inf, -np.inf, -np.inf, 0.0, 1.0, -3.0]),
    "large": st.one_of(st.floats(-1e6, 1e6), st.floats(-1, 1)),
    "negative": st.floats(-10, -0.0),
}
each_kind = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
both = pytest.mark.parametrize("perfect", [False, True], ids=["partial", "perfect"])


def all_matchings(n, m, perfect=False):
    """(N, n) columns of the rows, -1 for none."""
    choices = range(0 if perfect else -1, m)
    every = itertools.product(choices, repeat=n)
    kept = [y for y in every if len({j for j in y if j >= 0}) == sum(j >= 0 for j in y)]
    return np.array(kept, int).reshape(len(kept), n)


def scored(scores, perfect):
    """All matchings of finite value, with their values."""
    n, m = scores.shape
    every = all_matchings(n, m, perfect)
    padded = np.hstack([scores, np.zeros((n, 1))])
    values = padded[np.arange(n), every].sum(axis=1)
    return every[values > -np.inf], values[values > -np.inf]


def rounding(scores):
    return 1e-13 * max(1.0, np.abs(scores[np.isfinite(scores)]).max(initial=0.0))


def with_scores(values, n_examples=120, largest=4):
    """Run a check on many matrices of these values."""

    def decorate(check):
        side = st.integers(0, largest)
        matrices = st.tuples(side, side).flatmap(lambda shape: arrays(np.float64, shape, elements=values))
        settings(max_examples=n_examples, deadline=None)(given(matrices)(check))()

    return decorate


@both
@each_kind
def test_best(values, perfect):
    @with_scores(values)
    def check(scores):
        given = scores.copy()
        columns, value = best_matching(scores, perfect)
        every, expected = scored(scores, perfect)
        assert value == pytest.approx(expected.max(initial=-np.inf), abs=rounding(scores))
        if value == -np.inf:
            assert (columns == -1).all()
        else:
            (row,) = np.flatnonzero((every == columns).all(axis=1))
            assert expected[row] == pytest.approx(value, abs=rounding(scores))
        if not perfect:
            assert (scores[np.flatnonzero(columns >= 0), columns[columns >= 0]] > 0).all()
        np.testing.assert_array_equal(scores, given)


@both
@each_kind
def test_max_marginals(values, perfect):
    @with_scores(values)
    def check(scores):
        n, m = scores.shape
        every, expected = scored(scores, perfect)
        found = matching_max_marginals(scores, perfect)
        close = {"abs": rounding(scores)}

        def best(kept):
            return expected[kept].max(initial=-np.inf)

        for i, j in itertools.product(range(n), range(m)):
            assert found.pairs[i, j] == pytest.approx(best(every[:, i] == j), **close)
        for i in range(n):
            assert found.rows[i] == pytest.approx(best(every[:, i] == -1), **close)
        for j in range(m):
            assert found.columns[j] == pytest.approx(best((every != j).all(axis=1)), **close)
        assert [len(part) for part in (found.pairs, found.rows, found.columns)] == [n, n, m]


@both
@each_kind
def test_top(values, perfect):
    @with_scores(values, 60)
    def check(scores):
        every, expected = scored(scores, perfect)
        for k in (1, 3, len(every) + 2):
            matchings, found = top_matchings(scores, k, perfect)
            assert matchings.shape == (min(k, len(every)), len(scores))
            assert found == pytest.approx(np.sort(expected)[::-1][:k], abs=rounding(scores))
            assert (np.diff(found) <= 0).all()
            rows = [np.flatnonzero((every == y).all(axis=1)).item() for y in matchings]
            assert len(set(rows)) == len(rows)
            assert expected[rows] == pytest.approx(found, abs=rounding(scores))


@both
def test_the_best_comes_first(perfect):
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores = rng.integers(-1, 3, (4, 5)).astype(float)
        columns, value = best_matching(scores, perfect)
        matchings, values = top_matchings(scores, 3, perfect)
        assert matchings[0].tolist() == columns.tolist() and values[0] == value


@both
@pytest.mark.parametrize("shape", [(12, 12), (7, 15), (15, 7)])
@pytest.mark.parametrize("share", [0.0, 0.6])
def test_max_marginals_by_solving_again(shape, share, perfect):
    """Sizes that cannot be enumerated: the pair is forced, and the rest solved anew."""
    rng = np.random.default_rng(1)
    scores = np.where(rng.random(shape) < share, -np.inf, rng.normal(size=shape))
    found = matching_max_marginals(scores, perfect)
    _, value = best_matching(scores, perfect)
    for i, j in itertools.product(*map(range, shape)):
        rest = np.delete(np.delete(scores, i, 0), j, 1)
        assert found.pairs[i, j] == pytest.approx(scores[i, j] + best_matching(rest, perfect)[1], abs=1e-12)
    for j in range(shape[1]):
        assert found.columns[j] == pytest.approx(best_matching(np.delete(scores, j, 1), perfect)[1], abs=1e-12)
    for i in range(shape[0]):
        without = -np.inf if perfect else best_matching(np.delete(scores, i, 0))[1]
        assert found.rows[i] == pytest.approx(without, abs=1e-12)
    assert max(part.max() for part in found) == pytest.approx(value, abs=1e-12)


@both
def test_many_of_a_larger_matrix(perfect):
    rng = np.random.default_rng(2)
    scores = np.round(rng.normal(size=(9, 10)), 1)
    matchings, values = top_matchings(scores, 200, perfect)
    assert len({tuple(row) for row in matchings.tolist()}) == 200
    assert (np.diff(values) <= 0).all()
    padded = np.hstack([scores, np.zeros((9, 1))])
    assert padded[np.arange(9), matchings].sum(axis=1) == pytest.approx(values, abs=1e-12)
    used = np.sort(matchings, axis=1)
    assert not ((np.diff(used, axis=1) == 0) & (used[:, 1:] >= 0)).any()
    # the best without one of the pairs of the best: what comes second can be no worse
    best = matchings[0]
    seconds = []
    for i in np.flatnonzero(best >= 0):
        other = scores.copy()
        other[i, best[i]] = -np.inf
        seconds.append(best_matching(other, perfect)[1])
    assert values[1] >= max(seconds) - 1e-12


def test_how_many_there_are():
    assert len(all_matchings(4, 4)) == len(top_matchings(np.zeros((4, 4)), 1000)[1]) == 209
    assert len(top_matchings(np.zeros((3, 4)), 1000, perfect=True)[1]) == 24
    assert len(top_matchings(np.zeros((4, 3)), 1000, perfect=True)[1]) == 0
    for shape in [(0, 0), (0, 3), (3, 0)]:
        matchings, values = top_matchings(np.zeros(shape), 5)
        assert matchings.tolist() == [[-1] * shape[0]] and values.tolist() == [0.0]


def test_empty_sides():
    assert best_matching(np.zeros((0, 3)))[1] == best_matching(np.zeros((3, 0)))[1] == 0.0
    assert best_matching(np.zeros((0, 3)), perfect=True)[1] == 0.0
    assert best_matching(np.zeros((3, 0)), perfect=True)[1] == -np.inf
    found = matching_max_marginals(np.zeros((3, 0)))
    assert found.pairs.shape == (3, 0) and found.rows.tolist() == [0.0] * 3
    found = matching_max_marginals(np.zeros((0, 2)), perfect=True)
    assert found.pairs.shape == (0, 2) and found.columns.tolist() == [0.0] * 2


@pytest.mark.parametrize("function", [best_matching, matching_max_marginals, lambda s: top_matchings(s, 2)])
@pytest.mark.parametrize("scores", [[[np.nan]], [[np.inf]], [1.0], 3.0, np.zeros((2, 2, 2)), [["a"]]])
def test_what_is_refused(function, scores):
    with pytest.raises(ValueError, match=r"scores must be|could not convert"):
        function(scores)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, None, "2"])
def test_counts_that_are_none(k):
    with pytest.raises(ValueError, match="k must be an integer >= 1"):
        top_matchings(np.zeros((2, 2)), k)


def test_marginals_are_refused():
    with pytest.raises(NotImplementedError, match="permanent"):
        matching_marginals(np.zeros((2, 2)))
