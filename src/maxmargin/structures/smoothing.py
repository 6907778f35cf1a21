"""The maximum over outputs, smoothed: which smoothing, and what a structure answers.

The maximum of the values of all outputs is ``max_u <u, values>`` over distributions u. Smoothed, it is

    max_u <u, values> - mu omega(u),

with the entropy, ``omega(u) = sum u log u``, or with half the squares, ``omega(u) = (|u|^2 - 1) / 2``. Its gradient is
the maximiser u, and it lies above the maximum by at most mu times the largest ``-omega``: the logarithm of the number
of outputs, or 1/2.
"""  # pillutla18, Sec. 2

from __future__ import annotations

from typing import Any, NamedTuple

from .._compile import helper, verb
from .._parameters import check_count, check_positive
from .needs import Need


class Untilted(NamedTuple):
    """What expectations start from where it is nothing: ``alpha_i(y) ~ exp(eta value(y))``."""


class EntropySmoothing(NamedTuple):
    """Smooth by the entropy: all outputs share, in proportion to ``exp(value / mu)``.

    Parameters
    ----------
    mu : float
        How strongly, in units of the loss.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import smoothed_objective
    >>> from maxmargin.structures import EntropySmoothing, make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> found = smoothed_objective(problem, np.zeros(15), 0.1, EntropySmoothing(0.5))
    >>> bool(np.isclose(found.value, 0.5 * np.log(1 + 2 * np.exp(1 / 0.5))))
    True
    """

    mu: float


class L2Smoothing(NamedTuple):
    """Smooth by the squares: few outputs share, and the best few are mostly enough to know them.

    Parameters
    ----------
    mu : float
        How strongly, in units of the loss.
    top_k : int
        How many of the best outputs may share. With 1 nothing is smoothed.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import smoothed_objective
    >>> from maxmargin.structures import L2Smoothing, make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> smoothed_objective(problem, np.zeros(15), 0.1, L2Smoothing(0.5, top_k=2)).value  # two of loss 1, and the truth
    1.125
    """

    mu: float
    top_k: int


class Unsmoothed(NamedTuple):
    """As it is: for log-losses, which are smooth already."""

    mu: float = 1.0  # of the entropy in a log-loss


class Smoothed(NamedTuple):
    """What a structure found of the potentials at hand."""

    value: float  # of the smoothed maximum
    mean: float  # <u, values>
    largest: float  # of the values, -inf where it is not known
    exact: bool  # whether u is that of all outputs


NEEDS = {EntropySmoothing: Need.EXPECTATIONS, L2Smoothing: Need.TOP_OUTPUTS, Unsmoothed: Need.LOG_LOSS}

LEAST_MU = 1e-300  # one over it is still a number


def check_smoothing(smoothing: Any) -> None:
    """Refuse what is no smoothing, and numbers that smooth nothing."""
    if type(smoothing) not in NEEDS:
        raise ValueError(f"smoothing must be an EntropySmoothing or an L2Smoothing, got {smoothing!r}")
    check_positive("mu", smoothing.mu)
    if not LEAST_MU <= smoothing.mu < float("inf"):
        raise ValueError(f"mu must be finite and at least {LEAST_MU:g}, got {smoothing.mu!r}")
    check_count("top_k", getattr(smoothing, "top_k", 1))


@verb
def new_smoothed(problem, smoothing):
    """Room for the expectation under u, which directions may lead to."""


@verb
def find_smoothed(problem, smoothing, room, work, w, i):
    """The smoothed maximum over the outputs of block i, from the potentials at hand, as a :class:`Smoothed`.

    The expectation under u is left in the room.
    """


@helper
def by_entropy(smoothing, mean, log_sum):
    """What is known of the maximum smoothed by the entropy, from the log of the sum of ``exp(value / mu)``."""
    return Smoothed(smoothing.mu * log_sum, mean, -float("inf"), True)
