"""Verbs and kernels: one text at two speeds."""

from typing import NamedTuple

import numpy as np
import pytest

from maxmargin._compile import Reference, implements, kernel, runs_compiled, verb
from maxmargin.structures import TransitionMask


@verb
def grow(part, amount):
    """Something larger."""


class Linear(NamedTuple):
    slope: float


class Square(NamedTuple):
    scale: float


@implements(grow, Linear)
def _(part, amount):
    return part.slope * amount


@implements(grow, Square)
def _(part, amount):
    return part.scale * amount * amount


class Python:
    def grow(self, amount):
        return 10 * amount


@kernel
def grow_all(part, numbers):
    total = 0.0
    for k in range(len(numbers)):
        total += grow(part, numbers[k])
    return total


NUMBERS = np.arange(4.0)


@pytest.mark.parametrize(("part", "expected"), [(Linear(3.0), 18.0), (Square(0.5), 7.0), (Python(), 60.0)])
def test_one_text_at_two_speeds(part, expected):
    assert grow(part, 2.0) == grow_all.interpreted(part, [2.0])
    assert grow_all.interpreted(part, NUMBERS) == expected
    assert grow_all(part, NUMBERS) == expected
    assert runs_compiled(part) == isinstance(part, tuple)


def test_only_registered_types_compile_and_others_need_the_method():
    with pytest.raises(AttributeError, match="grow"):
        grow(object(), 1.0)
    assert grow.__doc__ == "Something larger."
    assert "grow_all" in grow_all.__name__


def test_types_of_others_are_not_cached():
    assert grow_all(Linear(1.0), NUMBERS) == 6.0
    assert len(grow_all.uncached.signatures) > 0
    assert "cached" not in vars(grow_all)  # the dispatcher with a cache on disk was never made


def test_only_objects_of_other_classes_are_interpreted():
    assert runs_compiled(Linear(1.0), Reference(Linear(1.0)), NUMBERS, np.float64(1.0), 1, 1.0, True, None)
    assert not runs_compiled(Linear(1.0), Python())
    assert not runs_compiled(NUMBERS, [1.0])


def test_kernels_of_others_are_not_cached():
    mask = TransitionMask(np.ones((2, 2), bool), np.ones(2, bool), np.zeros(2, bool))

    @kernel
    def is_allowed(mask, label):
        return mask.start[label] and mask.end[label]

    assert not is_allowed(mask, 1)
    assert Reference(mask).is_own and "cached" not in vars(is_allowed)
