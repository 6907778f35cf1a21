"""Steps of log-losses: a block goes part of the way to the Gibbs distribution of the weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import implements
from ...structures.directions import ToExpectation
from ...structures.needs import Need
from ...structures.verbs import block_value, new_expectation, new_tilts
from .inner_steps import go_there, look_there
from .lengths import gain
from .samplers import observe
from .steps import Traits, change_block, fitted_step, informed, known_by, traits

# A step that is too long is taken where it gains this share of what the best one would, as far as is known.
ENOUGH = 0.5

# Near corners probabilities are exponential in eta, and a step far too long says little of the best one: not so much
# shorter at a time.
SHORTEN = 0.5

# How much of what a block was found to be joins what blocks usually are.
FRESH = 0.1


class GibbsStep(NamedTuple):
    """For log-losses: potentials of a block's distribution become ``(1 - eta)`` times theirs and eta times those at w.

    With eta = 1 that is the Gibbs distribution of the weights. How far it is best to go, every step tells for the next
    one of its block: near the optimum the dual gains ``s (eta - eta^2/2) - q eta^2/2``, with the slope s and the
    curvature q that features add to the entropy's own, both of which a step measures. See ``docs/log_losses.md``.

    Parameters
    ----------
    odds : float or None, default=None
        At the start, a true part of an output is likelier than a wrong one by ``exp(odds)``. None: by as much as lets
        the dual value be highest, but at least by ``exp(8)``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, GibbsStep
    >>> from maxmargin.structures import LogLoss, make_multiclass_problem
    >>> problem = LogLoss(make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3))
    >>> print(BlockFrankWolfe(step=GibbsStep()).solve(problem, 0.1, tol=1e-6, random_state=0).status)
    converged
    """  # collins08, Sec. 3; the length is ours

    odds: float | None = None


@implements(traits, GibbsStep)
def _(step):
    return Traits(
        remembers=False,
        takes_outputs=False,
        kind=Need.LOG_LOSS,
        begins_inside=True,
    )


class Approaching(NamedTuple):
    """A Gibbs step at work."""

    into: ToExpectation
    base: Any  # tilts of the blocks
    stiffness: np.ndarray  # (n,) lam q / s of each block, which does not depend on lam; NaN where it is not known yet
    usual: np.ndarray  # (1,) of the last blocks


@implements(fitted_step, GibbsStep)
def _(step, problem, lam):
    unknown = np.full(len(problem.weight), np.nan)
    return Approaching(ToExpectation(new_expectation(problem)), new_tilts(problem), unknown, np.full(1, lam))


class Approached(NamedTuple):
    """What a Gibbs step knows of the blocks."""

    base: Any
    stiffness: np.ndarray
    usual: np.ndarray


@implements(known_by, Approaching)
def _(step):
    return Approached(step.base, step.stiffness, step.usual)


@implements(informed, (Approaching, Approached))
def _(step, known):
    return step._replace(base=known.base, stiffness=known.stiffness, usual=known.usual)


@implements(change_block, Approaching)
def _(step, problem, run, i, k):
    current = block_value(problem, run.blocks, run.work, run.w, i)
    stiffness = step.stiffness[i]
    if np.isnan(stiffness):
        stiffness = step.usual[0]
    gap, eta = 0.0, run.lam / (run.lam + stiffness)
    while True:
        measured, line = look_there(step, problem, run, i, current, eta)
        if not line.slope > 0.0:  # a block at its optimum, as far as rounding tells
            break
        # of s (eta - eta^2/2) the slope of the line is the sum, of q eta^2 the curvature
        slope, curvature = line.slope / (eta * (1.0 - 0.5 * eta)), line.curvature / (eta * eta)
        stiffness, gap = run.lam * curvature / slope, 0.5 * slope
        best = slope / (slope + curvature)
        if eta <= best or gain(line, 1.0) >= ENOUGH * 0.5 * slope * best:
            step.stiffness[i] = stiffness
            step.usual[0] += FRESH * (stiffness - step.usual[0])
            go_there(step, problem, run, i, k, measured)
            break
        eta = max(best, SHORTEN * eta)
    run.gaps[i] = gap
    observe(run.sampler, i, gap)
