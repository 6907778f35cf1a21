"""How long a step is."""

from __future__ import annotations

from typing import NamedTuple

from ..._compile import helper, implements, verb


class Line(NamedTuple):
    """The dual along a direction: it gains ``gamma slope - gamma^2/2 curvature`` for gamma in [0, longest]."""

    slope: float
    curvature: float
    longest: float


@verb
def choose_length(rule, line, problem, run, i, k):
    """How far block i goes along a line in step k of the run."""


@helper
def gain(line, gamma):
    return gamma * (line.slope - 0.5 * gamma * line.curvature)


class ExactLength(NamedTuple):
    """The maximiser on the line; the dual is quadratic, so that it has a closed form."""  # lacoste13, Alg. 4


@implements(choose_length, ExactLength)
def _(rule, line, problem, run, i, k):
    if line.slope >= line.longest * line.curvature:
        return line.longest
    return line.slope / line.curvature


class FixedLength(NamedTuple):
    """``2n / (k + 2n)``, without a look at the line."""  # lacoste13, Alg. 3


@implements(choose_length, FixedLength)
def _(rule, line, problem, run, i, k):
    n = problem.weight.shape[0]
    return 2.0 * n / (k + 2.0 * n)
