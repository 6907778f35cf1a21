"""Threads that stay, and what they are given."""

import threading

import numpy as np
import pytest

from maxmargin._threads import at_once, equal_shares, on_ranges, one_by_one


def test_calls_may_wait_for_each_other():
    barrier = threading.Barrier(5, timeout=30)
    assert at_once([lambda k=k: (barrier.wait(), k)[1] for k in range(5)]) == list(range(5))


def test_what_a_call_raises_is_raised():
    def fail():
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        at_once([lambda: 1, fail])


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_results_come_in_order(n_threads):
    assert one_by_one([lambda k=k: k * k for k in range(5)], n_threads) == [0, 1, 4, 9, 16]


def test_shares_have_equal_sums():
    sizes = np.array([5, 1, 1, 1, 1, 1, 5, 5])
    bounds = equal_shares(sizes, 2)
    assert bounds.tolist() == [0, 6, 8]
    assert equal_shares(np.empty(0), 3).tolist() == [0, 0, 0, 0]
    assert equal_shares(np.ones(2), 4)[-1] == 2


@pytest.mark.parametrize("sizes", [None, np.array([9, 1, 1, 1, 1])])
def test_ranges_cover_all(sizes):
    seen = np.zeros(5, int)

    def count(first, last):
        seen[first:last] += 1

    on_ranges(5, 3, count, sizes)
    assert seen.tolist() == [1] * 5
