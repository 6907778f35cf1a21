"""Threads that stay, and what they are given."""

import signal
import threading

import numpy as np
import pytest

from maxmargin._threads import at_once, equal_shares, on_ranges, one_by_one, sweep, sweeping_on
from maxmargin.solvers.interrupt import Interrupt


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


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_this_thread_makes_the_first_call():
    found = at_once([threading.get_ident, threading.get_ident])
    assert found[0] == threading.get_ident() != found[1]


def test_ctrl_c_waits_until_all_calls_are_done():
    barrier, done = threading.Barrier(2, timeout=30), []

    def first():
        press_ctrl_c()
        barrier.wait()  # a thread that was torn away would never come
        done.append(1)

    with pytest.raises(KeyboardInterrupt):
        at_once([first, lambda: (barrier.wait(), done.append(2))])
    assert sorted(done) == [1, 2]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_others_are_waited_for_where_the_first_call_fails():
    barrier, done = threading.Barrier(2, timeout=30), []

    def fail():
        barrier.wait()
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        at_once([fail, lambda: (barrier.wait(), done.append(2))])
    assert done == [2]


def test_runs_are_told_of_ctrl_c_at_once():
    with Interrupt() as outer:
        assert at_once([lambda: (press_ctrl_c(), outer.seen)[1], lambda: None])[0]


def test_a_run_in_the_first_call_tells_the_one_around_it():
    def run():
        with Interrupt() as inner:
            press_ctrl_c()
            return inner.seen

    with Interrupt() as outer:
        assert at_once([run, lambda: None])[0]
        assert outer.seen


def test_sweeps_in_calls_have_one_thread():
    ranges = []
    with sweeping_on(2):
        at_once([lambda: sweep(1 << 20, 1, lambda *ends: ranges.append(ends)), lambda: None])
    assert ranges == [(0, 1 << 20)]
