"""Steps to expectations: blocks stay inside the simplex, and each knows what its expectations start from."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements
from ..._parameters import check_positive
from ...structures.directions import ToCorner, ToExpectation
from ...structures.needs import Need
from ...structures.verbs import (
    block_value,
    find_expectation,
    keep_expectation,
    largest_loss,
    measure,
    mix_corner,
    new_expectation,
    new_interior,
    new_tilts,
    open_block,
    reweighs,
)
from .averaging import before_change
from .lengths import ExactLength, choose_length, gain
from .samplers import observe
from .steps import (
    MISSES,
    Traits,
    along_corner,
    ask_oracle,
    change_block,
    fitted_step,
    follow,
    informed,
    known_by,
    line_along,
    traits,
)

# The temperature where none is given, as a share of the mean largest loss; chosen on OCR-small, dates, USPS and 500
# sentences of CoNLL-2000. One over the lowest is still a number.
SHARE, LOWEST_TAU = 0.05, 1e-300

# A gain less than this, relative to the value of a block, is rounding.
LEAST = 1e-15

# Rates of blocks: halved until the dual value rises, and then raised a little, within these multiples of the first one:
# a block at its optimum must be able to follow when others move.
RATE, FASTER, LOWEST, HIGHEST = 0.1, 1.05, 1e-4, 1e6


class ExpectationStep(NamedTuple):
    """A step to an expectation: that under the block's own distribution times ``exp(value / tau)``.

    With a low temperature tau it is a step to the corner, with a high one the block hardly moves. See
    ``docs/partial_linearization.md``.

    Parameters
    ----------
    tau : float or None, default=None
        The temperature, in units of the loss; 0 takes steps to corners. None: 0.05 times the mean largest loss.
    safeguard : bool, default=False
        Ask for the corner, too, and go there where that gains more. Then block gaps are exact; without, the gain of an
        expectation over the block is taken for its gap where blocks are drawn by gaps, which is less. A structure of
        your own is asked for the sake of the gaps alone.
    odds : float or None, default=None
        At the start, a true part of an output is likelier than a wrong one by ``exp(odds)``. None: by as much as lets
        the dual value be highest, but at least by ``exp(8)``.
    length : ExactLength, default=ExactLength()
        How far.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, ExpectationStep
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> print(BlockFrankWolfe(step=ExpectationStep(tau=0.1)).solve(problem, 0.1, tol=1e-2, random_state=0).status)
    converged
    """  # mohapatra16, Alg. 1

    tau: float | None = None
    safeguard: bool = False
    odds: float | None = None
    length: Any = ExactLength()


class ExponentiatedStep(NamedTuple):
    """Dual variables are multiplied by ``exp(eta value)``, with an eta that lets the dual value rise.

    Parameters
    ----------
    rate : float, default=0.1
        Eta at the start, relative to lam times the number of samples; each block has its own, halved until the dual
        value rises.
    odds : float or None, default=None
        At the start, a true part of an output is likelier than a wrong one by ``exp(odds)``. None: by as much as lets
        the dual value be highest, but at least by ``exp(8)``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, ExponentiatedStep
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> print(BlockFrankWolfe(step=ExponentiatedStep()).solve(problem, 0.1, tol=1e-2, random_state=0).status)
    converged
    """  # collins08

    rate: float = RATE
    odds: float | None = None


@implements(traits, ExpectationStep)
def _(step):
    return Traits(
        remembers=False,
        takes_outputs=False,
        requires=frozenset({Need.EXPECTATIONS}),
        begins_inside=True,
        finds_corners=bool(step.safeguard),
    )


@implements(traits, ExponentiatedStep)
def _(step):
    return Traits(
        remembers=False,
        takes_outputs=False,
        requires=frozenset({Need.EXPECTATIONS}),
        begins_inside=True,
        knows_gaps=False,
        finds_corners=False,
    )


class Linearizing(NamedTuple):
    """An expectation step at work."""

    into: ToExpectation
    base: Any  # distributions of the blocks
    tau: float
    safeguard: bool
    length: Any
    toward: ToCorner


class Exponentiating(NamedTuple):
    """An exponentiated step at work; or an expectation step that is followed through tilts."""

    into: ToExpectation
    base: Any  # tilts of the blocks
    rates: np.ndarray  # (n,) eta of each block
    lowest: float
    highest: float
    usual: float  # what rates are measured by under another lam
    safeguard: bool  # whether the corner is asked for, too: then block gaps are exact


@implements(fitted_step, ExpectationStep)
def _(step, problem, lam):
    tau = checked_tau(step.tau)
    if reweighs(problem):
        return Linearizing(
            into=ToExpectation(new_expectation(problem)),
            base=new_interior(problem),
            tau=SHARE * largest_loss(problem) if tau is None else tau,
            safeguard=bool(step.safeguard) or tau == 0.0,
            length=step.length,
            toward=ToCorner(),
        )
    if tau == 0.0:
        raise ValueError('tau=0 takes steps to corners: take step="fw", since this structure knows tilts only')
    usual = RATE * lam * len(problem.weight)
    highest = HIGHEST * usual if tau is None else 1.0 / tau
    # from 1 / tau on tilts may lead so far out that no smaller rate leads back: it rises by itself
    return exponentiating(problem, min(usual, highest), highest, usual, bool(step.safeguard))


def checked_tau(tau: Any) -> float | None:
    if tau is None:
        return None
    is_number = isinstance(tau, numbers.Real) and not isinstance(tau, bool)
    if not is_number or not (tau == 0.0 or LOWEST_TAU <= float(tau) < np.inf):
        raise ValueError(f"tau must be None, 0 or a number >= {LOWEST_TAU:g}, got {tau!r}")
    return float(tau)


@implements(fitted_step, ExponentiatedStep)
def _(step, problem, lam):
    check_positive("rate", step.rate)
    if step.rate == np.inf:
        raise ValueError("rate must be finite")
    first = float(step.rate) * lam * len(problem.weight)
    return exponentiating(problem, first, HIGHEST * first, first, False)


def exponentiating(problem: Any, first: float, highest: float, usual: float, safeguard: bool) -> Exponentiating:
    rates = np.full(len(problem.weight), first)
    into = ToExpectation(new_expectation(problem))
    return Exponentiating(into, new_tilts(problem), rates, LOWEST * first, highest, usual, safeguard)


class Distributions(NamedTuple):
    """What an expectation step knows of the blocks."""

    base: Any


class Rates(NamedTuple):
    """What an exponentiated step knows of the blocks."""

    base: Any
    rates: np.ndarray
    usual: float


@implements(known_by, Linearizing)
def _(step):
    return Distributions(step.base)


@implements(known_by, Exponentiating)
def _(step):
    return Rates(step.base, step.rates, step.usual)


@implements(informed, (Linearizing, Distributions))
def _(step, known):
    return step._replace(base=known.base)


@implements(informed, (Exponentiating, Rates))
def _(step, known):
    rates = np.minimum(known.rates * (step.usual / known.usual), step.highest)
    return step._replace(base=known.base, rates=rates)


@implements(change_block, Linearizing)
def _(step, problem, run, i, k):
    expectation = step.into.expectation
    current, gap = block_value(problem, run.blocks, run.work, run.w, i), np.inf
    if step.safeguard:
        _, gap = ask_oracle(problem, run, i, current)
    if gap <= 0.0:
        return
    open_block(problem, step.base, expectation, run.work, run.w, i)
    slope, gamma = 0.0, 0.0
    if step.tau > 0.0:
        run.tally[MISSES] += 1
        value = find_expectation(problem, step.base, expectation, run.work, run.w, i, 1.0 / step.tau)
        slope = problem.weight[i] * (value - current)
        if abs(value - current) <= LEAST * max(1.0, abs(current)):
            # too little for marginals to tell; the distribution follows, or what has hardly any mass would get no more
            keep_expectation(problem, step.base, expectation, i, 1.0)
            slope = 0.0
        if not step.safeguard:
            observe(run.sampler, i, slope)  # at most the gap: no corner has less than an expectation
    if slope > 0.0:
        measured = measure(problem, step.into, run.blocks, run.work, i)
        line = line_along(problem, run, i, measured, slope, 1.0)
        gamma = choose_length(step.length, line, problem, run, i, k)
        slope = gain(line, gamma)
    before_change(run.averaging, problem, run.blocks, i, k)
    if step.safeguard and gain_at_corner(step, problem, run, i, k, gap) > slope:
        gamma = along_corner(step, problem, run, i, k, -1, 1.0, gap, 1.0)
        mix_corner(problem, step.base, run.work, i, gamma)
    elif gamma > 0.0:
        follow(step.into, problem, run, i, measured, gamma)
        keep_expectation(problem, step.base, expectation, i, gamma)


@helper
def gain_at_corner(step, problem, run, i, k, gap):
    measured = measure(problem, step.toward, run.blocks, run.work, i)
    line = line_along(problem, run, i, measured, gap, 1.0)
    return gain(line, choose_length(step.length, line, problem, run, i, k))


@helper
def look_there(step, problem, run, i, current, eta):
    """The way to the expectation at a rate eta, which is found first, and the dual along it."""
    run.tally[MISSES] += 1
    value = find_expectation(problem, step.base, step.into.expectation, run.work, run.w, i, eta)
    measured = measure(problem, step.into, run.blocks, run.work, i)
    return measured, line_along(problem, run, i, measured, problem.weight[i] * (value - current), 1.0)


@helper
def go_there(step, problem, run, i, k, measured):
    """Go to the expectation just found, all the way, so that tilts can follow."""
    before_change(run.averaging, problem, run.blocks, i, k)
    follow(step.into, problem, run, i, measured, 1.0)
    keep_expectation(problem, step.base, step.into.expectation, i, 1.0)


@implements(change_block, Exponentiating)
def _(step, problem, run, i, k):
    rates = step.rates
    current = block_value(problem, run.blocks, run.work, run.w, i)
    if step.safeguard:
        ask_oracle(problem, run, i, current)
    while True:
        measured, line = look_there(step, problem, run, i, current, rates[i])
        if not step.safeguard:
            observe(run.sampler, i, line.slope)
        if gain(line, 1.0) >= 0.0:
            break
        if rates[i] < step.lowest:
            return
        rates[i] *= 0.5
    go_there(step, problem, run, i, k, measured)
    rates[i] = min(FASTER * rates[i], step.highest)


INNER_STEPS: dict[str, Any] = {"expectation": ExpectationStep(), "exponentiated": ExponentiatedStep()}
