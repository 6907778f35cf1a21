"""Best-first search with bounds and splits of one's own."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.inference.boxes import search_boxes
from maxmargin.inference.search import OutOfBudget, best_first
from reference.boxes import box_values
from structures.pairs import interpreted

TABLES = st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=1, max_size=3), min_size=1, max_size=4)


def choices(table, slack=0.0):
    """One number of each list; the bound is loose by `slack` where something is open."""

    def bound(chosen):
        rest = table[len(chosen) :]
        return sum(chosen) + sum(max(options) for options in rest) + slack * len(rest)

    def split(chosen):
        return ((*chosen, one) for one in table[len(chosen)]) if len(chosen) < len(table) else ()

    return (), bound, split


@settings(max_examples=40, deadline=None)
@given(TABLES, st.sampled_from([0.0, 0.3, 10.0]))
def test_all_come_out_best_first(table, slack):
    """Every output once, ties included, by decreasing value, whatever the bounds are worth."""
    found = list(best_first(*choices(table, slack)))
    every = sorted(((chosen, sum(chosen)) for chosen in itertools.product(*table)), key=lambda one: -one[1])
    assert [value for _, value in found] == [value for _, value in every]
    assert sorted(state for state, _ in found) == sorted(chosen for chosen, _ in every)
    assert all(value == sum(state) for state, value in found)


def test_ties_are_followed_to_their_end():
    """A million equal outputs: the first takes as many splits as there are lists."""
    found = best_first(*choices([[0.0, 0.0]] * 20), max_expansions=20)
    assert next(found) == ((0.0,) * 20, 0.0)


def test_is_lazy():
    split_states = []
    root, bound, split = choices([[1.0, 0.0]] * 5)
    search = best_first(root, bound, lambda state: split_states.append(state) or split(state))
    assert next(search)[1] == 5.0
    assert len(split_states) == 6


def test_budget():
    search = best_first(*choices([[1.0, 0.0]] * 5, slack=1.0), max_expansions=6)
    with pytest.raises(OutOfBudget, match="Raise max_expansions") as stop:
        list(search)
    assert stop.value.bound >= 5.0
    assert len(list(best_first(*choices([[1.0, 0.0]] * 2), max_expansions=3))) == 4  # just enough


@pytest.mark.parametrize(("bound", "count"), [(lambda state: -np.inf, 0), (lambda state: np.inf, 1)])
def test_infinite_bounds(bound, count):
    assert len(list(best_first("root", bound, lambda state: []))) == count


def test_nan_is_refused():
    with pytest.raises(ValueError, match="NaN for the state 'root'"):
        list(best_first("root", lambda state: np.nan, lambda state: []))


def test_subwindow_search_as_an_instance():
    """The generic search, given the bound of lampert08, against the compiled one."""
    scores = np.random.default_rng(0).integers(-3, 4, (3, 4)).astype(float)

    def bound(ranges):
        (left, last_left), (top, last_top), (first_right, right), (first_bottom, bottom) = ranges
        most = np.maximum(scores, 0)[top:bottom, left:right].sum()
        least = np.minimum(scores, 0)[last_top:first_bottom, last_left:first_right].sum()
        return most + least if left < right and top < bottom else -np.inf

    def split(ranges):
        side = max(range(4), key=lambda c: ranges[c][1] - ranges[c][0])
        first, last = ranges[side]
        if first == last:
            return []
        middle = (first + last) // 2
        return [(*ranges[:side], part, *ranges[side + 1 :]) for part in ((first, middle), (middle + 1, last))]

    found = list(best_first(((0, 3), (0, 2), (1, 4), (1, 3)), bound, split))
    every = box_values(scores)
    assert {tuple(side[0] for side in state): value for state, value in found} == every
    with interpreted():
        assert [value for _, value in found] == search_boxes(scores, len(every))[1].tolist()
