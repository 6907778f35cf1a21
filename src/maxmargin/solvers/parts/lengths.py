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
    """How far block i goes along a line in step k of the run, at most as long as the line is."""


@helper
def gain(line, gamma):
    return gamma * (line.slope - 0.5 * gamma * line.curvature)


class ExactLength(NamedTuple):
    """The maximiser on the line; the dual is quadratic, so that it has a closed form.

    Examples
    --------
    >>> from maxmargin.solvers import ExactLength, FrankWolfeStep
    >>> FrankWolfeStep().length == ExactLength()  # every step's default
    True
    """  # lacoste13, Alg. 4


@implements(choose_length, ExactLength)
def _(rule, line, problem, run, i, k):
    if line.slope >= line.longest * line.curvature:
        return line.longest
    return line.slope / line.curvature


class FixedLength(NamedTuple):
    """``2n / (k + 2n)``, without a look at the line: for Frank-Wolfe steps, without acceleration.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, FixedLength, FrankWolfeStep
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> solver = BlockFrankWolfe(step=FrankWolfeStep(FixedLength()))  # as line_search=False does
    >>> print(solver.solve(problem, 0.1, tol=0.1, random_state=0).status)
    converged
    """  # lacoste13, Alg. 3


@implements(choose_length, FixedLength)
def _(rule, line, problem, run, i, k):
    n = problem.weight.shape[0]
    return min(2.0 * n / (k + 2.0 * n), line.longest)
