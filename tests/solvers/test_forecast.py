"""How long a run will still take."""

import math

import pytest

from maxmargin.solvers.forecast import in_words, seconds_left


def rows(*pairs):
    return [{"seconds": seconds, "gap": gap} for seconds, gap in pairs]


def test_a_gap_that_falls_by_a_factor_goes_on_like_that():
    assert seconds_left(rows((0, 1.0), (2, 0.1)), 1e-3) == pytest.approx(4.0)


@pytest.mark.parametrize("few", [rows(), rows((0, 1.0)), rows((0, 1.0), (1, 1.0)), rows((0, 1.0), (1, 2.0))])
def test_nobody_knows_when_nothing_falls(few):
    assert seconds_left(few, 0.1) is None


def test_what_has_no_gap_tells_nothing():
    assert seconds_left(rows((0, math.inf), (1, 1.0), (2, 0.5)), 0.5) == 0.0
    assert seconds_left(rows((0, math.inf), (1, math.inf)), 0.5) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, ""), (3.2, ", about 4 s left"), (90, ", about 2 min left"), (9000, ", about 2 h left")],
)
def test_in_words(seconds, words):
    assert in_words(seconds) == words
