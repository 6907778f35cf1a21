"""Steps to expectations: blocks stay inside the simplex, and each knows what its expectations start from."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, kernel
from ..._parameters import check_positive
from ...structures.directions import ToCorner, ToExpectation
from ...structures.needs import Need
from ...structures.verbs import (
    block_value,
    find_entry,
    find_expectation,
    find_potentials,
    keep_expectation,
    largest_loss,
    measure,
    mix_corner,
    move,
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

# Log odds of true parts, at least, where blocks go inside: no output may have probability 0, it could hardly get
# another one. Blocks that have moved already go less far.
ODDS, LATE_ODDS, TRIES = 8.0, 16.0, 6

# A temperature of its own for every block: colder where a step was as long as it may be, warmer where it was short. The
# first one and the limits are shares of the mean largest loss. Early, cold steps gain more; late, those at 0.1 do, and
# warmer ones gain nowhere. Chosen on OCR-small, dates, USPS and 500 sentences of CoNLL-2000.
COLDER, WARMER, SHORT = 0.9, 1.1, 0.25
FIRST_TAU, COLDEST, WARMEST = 0.03, 1e-3, 0.1
LOWEST_TAU = 1e-300  # one over it is a number

# A gain less than this, relative to the value of a block, is rounding.
LEAST = 1e-15

# Rates of blocks: halved until the dual value rises, and then raised a little, within these multiples of the first one:
# a block at its optimum must be able to follow when others move.
RATE, FASTER, LOWEST, HIGHEST = 0.1, 1.05, 1e-4, 1e6


class ExpectationStep(NamedTuple):
    """A step to an expectation: that under the block's own distribution times ``exp(value / tau)``.

    With a low temperature tau it is a step to the corner, with a high one hardly more than the gradient says. See
    ``docs/partial_linearization.md``.

    Parameters
    ----------
    tau : float or "auto", default="auto"
        The temperature, in units of the loss; 0 takes steps to corners. "auto": one for every block, colder where
        steps are as long as they may be and warmer where they are short.
    safeguard : bool, default=False
        Ask for the corner, too, and go there where that gains more. Then block gaps are exact; without, the gain of an
        expectation over the block is taken for its gap where blocks are drawn by gaps, which is less.
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

    tau: float | str = "auto"
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
    return Traits(remembers=False, takes_outputs=False, requires=frozenset({Need.EXPECTATIONS}), begins_inside=True)


@implements(traits, ExponentiatedStep)
def _(step):
    return Traits(
        remembers=False,
        takes_outputs=False,
        requires=frozenset({Need.EXPECTATIONS}),
        begins_inside=True,
        knows_gaps=False,
        takes_bounds=False,
    )


class Linearizing(NamedTuple):
    """An expectation step at work."""

    into: ToExpectation
    base: Any  # distributions of the blocks
    taus: np.ndarray  # (n,)
    limits: np.ndarray  # (2,) of them
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
    safeguard: bool  # whether the corner is asked for, too: then block gaps are exact


@implements(fitted_step, ExpectationStep)
def _(step, problem, lam):
    follows = isinstance(step.tau, str) and step.tau == "auto"
    tau = FIRST_TAU if follows else step.tau
    if isinstance(tau, bool) or not isinstance(tau, numbers.Real) or not (tau == 0.0 or LOWEST_TAU <= tau < np.inf):
        raise ValueError(f'tau must be 0, a number >= {LOWEST_TAU:g} or "auto", got {step.tau!r}')
    if not reweighs(problem):
        if tau == 0.0:
            raise ValueError('tau=0 takes steps to corners: take step="fw", since this structure knows tilts only')
        usual = RATE * lam * len(problem.weight)
        return exponentiating(problem, usual if follows else 1.0 / tau, usual, follows, step)
    unit = (largest_loss(problem) or 1.0) if follows else 1.0
    return Linearizing(
        into=ToExpectation(new_expectation(problem)),
        base=new_interior(problem),
        taus=np.full(len(problem.weight), unit * tau),
        limits=unit * np.array([COLDEST, WARMEST] if follows else [tau, tau]),
        safeguard=bool(step.safeguard) or tau == 0.0,
        length=step.length,
        toward=ToCorner(),
    )


@implements(fitted_step, ExponentiatedStep)
def _(step, problem, lam):
    check_positive("rate", step.rate)
    if step.rate == np.inf:
        raise ValueError("rate must be finite")
    first = float(step.rate) * lam * len(problem.weight)
    return exponentiating(problem, first, first, True, step)


def exponentiating(problem: Any, first: float, usual: float, rises: bool, step: Any) -> Exponentiating:
    """Steps that begin with the rate `first`, which may rise or not, and may fall to a share of the usual one."""
    return Exponentiating(
        into=ToExpectation(new_expectation(problem)),
        base=new_tilts(problem),
        rates=np.full(len(problem.weight), first),
        lowest=LOWEST * min(first, usual),
        highest=HIGHEST * first if rises else first,
        safeguard=bool(getattr(step, "safeguard", False)),
    )


def adapts(step: Any) -> bool:
    return bool(step.limits[0] < step.limits[1])


class Temperatures(NamedTuple):
    """What an expectation step knows of the blocks."""

    base: Any
    taus: np.ndarray
    limits: np.ndarray


class Rates(NamedTuple):
    """What an exponentiated step knows of the blocks."""

    base: Any
    rates: np.ndarray


@implements(known_by, Linearizing)
def _(step):
    return Temperatures(step.base, step.taus, step.limits)


@implements(known_by, Exponentiating)
def _(step):
    return Rates(step.base, step.rates)


@implements(informed, (Linearizing, Temperatures))
def _(step, known):
    if adapts(step) and adapts(known):
        return step._replace(base=known.base, taus=known.taus, limits=known.limits)
    return step._replace(base=known.base)


@implements(informed, (Exponentiating, Rates))
def _(step, known):
    return step._replace(base=known.base, rates=np.minimum(known.rates, step.highest))


@kernel
def enter_pass(problem, step, blocks, work, w, scale, odds):
    """All blocks go inside, where they are; ``w`` follows."""
    for i in range(problem.weight.shape[0]):
        find_potentials(problem, work, w, i)
        find_entry(problem, step.base, blocks, step.into.expectation, work, w, i, odds)
        measured = measure(problem, step.into, blocks, work, i)
        move(problem, step.into, measured, blocks, work, w, i, 1.0, scale * problem.weight[i])


@implements(change_block, Linearizing)
def _(step, problem, run, i, k):
    expectation = step.into.expectation
    current, gap = block_value(problem, run.blocks, run.work, run.w, i), np.inf
    if step.safeguard:
        _, gap = ask_oracle(problem, run, i, current)
    if gap <= 0.0:
        return
    open_block(problem, step.base, expectation, run.work, run.w, i)
    slope, gamma, tau = 0.0, 0.0, step.taus[i]
    if tau > 0.0:
        run.tally[MISSES] += 1
        value = find_expectation(problem, step.base, expectation, run.work, run.w, i, 1.0 / tau)
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
        if gamma == 1.0:
            step.taus[i] = max(COLDER * tau, step.limits[0])
        elif gamma < SHORT:
            step.taus[i] = min(WARMER * tau, step.limits[1])


@helper
def gain_at_corner(step, problem, run, i, k, gap):
    measured = measure(problem, step.toward, run.blocks, run.work, i)
    line = line_along(problem, run, i, measured, gap, 1.0)
    return gain(line, choose_length(step.length, line, problem, run, i, k))


@implements(change_block, Exponentiating)
def _(step, problem, run, i, k):
    expectation, rates = step.into.expectation, step.rates
    current = block_value(problem, run.blocks, run.work, run.w, i)
    if step.safeguard:
        ask_oracle(problem, run, i, current)
    while True:
        run.tally[MISSES] += 1
        value = find_expectation(problem, step.base, expectation, run.work, run.w, i, rates[i])
        measured = measure(problem, step.into, run.blocks, run.work, i)
        line = line_along(problem, run, i, measured, problem.weight[i] * (value - current), 1.0)
        if gain(line, 1.0) >= 0.0:
            break
        if rates[i] < step.lowest:
            return
        rates[i] *= 0.5
    before_change(run.averaging, problem, run.blocks, i, k)
    follow(step.into, problem, run, i, measured, 1.0)
    keep_expectation(problem, step.base, expectation, i, 1.0)
    rates[i] = min(FASTER * rates[i], step.highest)


INNER_STEPS: dict[str, Any] = {"expectation": ExpectationStep(), "exponentiated": ExponentiatedStep()}
