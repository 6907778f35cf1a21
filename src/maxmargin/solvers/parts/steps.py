"""How a block changes: the steps of the one loop. A part of a run, given by name or as an object."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, verb
from ...structures.directions import BetweenCorners, ToCorner, ToExpectation
from ...structures.needs import Need
from ...structures.verbs import (
    block_value,
    find_corner,
    find_optimum,
    lacks_room,
    measure,
    move,
    new_expectation,
    slot_value,
    take_away,
    take_corner,
)
from ..box import after_change, clip, release
from .averaging import before_change, sums_lack_room
from .lengths import ExactLength, Line, choose_length, gain
from .memory import corner_from_cache, has_nameless_mass, needs_room, remember, shift_mass, worst_slot
from .samplers import observe
from .telling import tell_move

HITS, MISSES = 0, 1  # of a run's tally: outputs that were remembered, and that the oracle was asked for


@verb
def change_block(step, problem, run, i, k):
    """Improve block i, whose potentials are at hand, in step k of the run."""


@verb
def take_step(step, problem, run, i, k, found):
    """Improve it, given its corner."""


@verb
def foresee(step, problem, direction, run, i, gamma):
    """Block i is about to move; by default a step does nothing about it."""


@implements(foresee, object)
def _(step, problem, direction, run, i, gamma):
    return None


@helper
def lacks_any_room(problem, run, i, steps):
    """Whether something must get room before block i may change: its memory for so many steps, all else for one."""
    if needs_room(run.memory, i, steps) or lacks_room(problem, run.blocks, i):
        return True
    return sums_lack_room(run.averaging, problem, run.blocks, i)


class Found(NamedTuple):
    """A corner that improves a block."""

    slot: int  # where it is remembered, -1 if nowhere
    value: float
    gap: float  # > 0
    current: float  # value of the block


class FrankWolfeStep(NamedTuple):
    """A step towards the corner.

    Parameters
    ----------
    length : ExactLength or FixedLength, default=ExactLength()
        How far.
    toward : ToCorner, default=ToCorner()
        The direction to a corner, which structures know how to measure and to follow.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, FrankWolfeStep
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> print(BlockFrankWolfe(step=FrankWolfeStep()).solve(problem, 0.1, tol=1e-2, random_state=0).status)
    converged
    """

    length: Any = ExactLength()
    toward: ToCorner = ToCorner()


class AwayStep(NamedTuple):
    """A step to the corner or away from the worst active one, whichever descends more steeply.

    Parameters
    ----------
    length : ExactLength, default=ExactLength()
        How far.
    toward : ToCorner, default=ToCorner()
        The direction to a corner, which structures know how to measure and to follow.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, AwayStep
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> print(BlockFrankWolfe(step=AwayStep()).solve(problem, 0.1, tol=1e-2, random_state=0).status)
    converged
    """  # osokin16, Alg. 4

    length: Any = ExactLength()
    toward: ToCorner = ToCorner()


class PairwiseStep(NamedTuple):
    """Mass goes from the worst active corner to the new one.

    Parameters
    ----------
    safeguard : bool, default=False
        Take the Frank-Wolfe step where it gains more.
    length : ExactLength, default=ExactLength()
        How far.
    toward : ToCorner, default=ToCorner()
        The direction to a corner, which structures know how to measure and to follow.
    between : BetweenCorners, default=BetweenCorners()
        The direction from one corner to another.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, PairwiseStep
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> print(BlockFrankWolfe(step=PairwiseStep(safeguard=True)).solve(problem, 0.1, tol=1e-2, random_state=0).status)
    converged
    """  # osokin16, Alg. 3

    safeguard: bool = False
    length: Any = ExactLength()
    toward: ToCorner = ToCorner()
    between: BetweenCorners = BetweenCorners()


class OptimalStep(NamedTuple):
    """The block becomes the best that it can be while the others stay, in closed form; for classes only.

    Parameters
    ----------
    into : ToExpectation or None, default=None
        Where a block goes: room that a solver makes for its problem. Leave it None.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, OptimalStep
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> print(BlockFrankWolfe(step=OptimalStep()).solve(problem, 0.1, tol=1e-2, random_state=0).status)
    converged
    """  # crammer01, keerthi08

    into: Any = None


class Traits(NamedTuple):
    """What a step needs."""

    remembers: bool  # outputs known by name
    takes_outputs: bool  # goes to outputs, so that remembered ones may stand for the oracle's
    kind: Need = Need.HINGE  # of problems
    requires: frozenset[Need] = frozenset()  # of a structure
    begins_inside: bool = False  # where no output has mass 0, by the step's `odds`, and knows the blocks' distributions
    knows_gaps: bool = True  # of blocks, at least roughly, as drawing by gaps asks
    tells_gains: bool = False  # of the dual, as threads ask that add up what they found apart from each other
    finds_corners: bool = True  # so that gaps are exact, as acceleration and estimates ask
    moves: int = 1  # of a block at a visit, at most


@verb
def traits(step):
    """What a step needs of the other parts, and of a structure."""


@implements(traits, FrankWolfeStep)
def _(step):
    return Traits(remembers=False, takes_outputs=True, tells_gains=True)


@implements(traits, AwayStep, PairwiseStep)
def _(step):
    return Traits(remembers=True, takes_outputs=True, tells_gains=True)


@implements(traits, OptimalStep)
def _(step):
    return Traits(remembers=False, takes_outputs=False, requires=frozenset({Need.OPTIMA}), tells_gains=True)


@verb
def fitted_step(step, problem, lam):
    """The step at work, with the room it needs for a problem; by default it needs none."""


@implements(fitted_step, object)
def _(step, problem, lam):
    return step


@verb
def known_by(step):
    """What a step at work knows of the blocks, for a later run; by default nothing."""


@implements(known_by, object)
def _(step):
    return None


@verb
def informed(step, known):
    """The step with what one of an earlier run knew; None if that is of no use to it."""


@implements(informed, object)
def _(step, known):
    return None


@implements(fitted_step, OptimalStep)
def _(step, problem, lam):
    return OptimalStep(ToExpectation(new_expectation(problem)))


@helper
def ask_oracle(problem, run, i, current):
    """The corner of block i; returns its value and the block's gap, which is made known."""
    run.tally[MISSES] += 1
    value = find_corner(problem, run.work, run.w, i)
    gap = problem.weight[i] * (value - current)
    run.gaps[i] = gap
    observe(run.sampler, i, gap)
    return value, gap


@implements(change_block, OptimalStep)
def _(step, problem, run, i, k):
    current = block_value(problem, run.blocks, run.work, run.w, i)
    _, gap = ask_oracle(problem, run, i, current)
    if gap > 0.0:
        before_change(run.averaging, problem, run.blocks, i, k)
        find_optimum(problem, run.blocks, step.into.expectation, run.work, i, problem.weight[i] / run.lam)
        measured = measure(problem, step.into, run.blocks, run.work, i)
        follow(step.into, problem, run, i, measured, 1.0)
        if run.gains.shape[0] > 0:
            slope = problem.weight[i] * (block_value(problem, run.blocks, run.work, run.w, i) - current)
            run.gains[0] += gain(line_along(problem, run, i, measured, slope, 1.0), 1.0)


@implements(change_block, FrankWolfeStep, AwayStep, PairwiseStep)
def _(step, problem, run, i, k):
    current = block_value(problem, run.blocks, run.work, run.w, i)
    value = corner_from_cache(run.cache, problem, run, i, current)
    if value > -np.inf:
        run.tally[HITS] += 1
        gap = problem.weight[i] * (value - current)
    else:
        value, gap = ask_oracle(problem, run, i, current)
    if gap > 0.0:
        slot = remember(run.memory, problem, run.work, i, k)
        before_change(run.averaging, problem, run.blocks, i, k)
        take_step(step, problem, run, i, k, Found(slot, value, gap, current))


@helper
def line_along(problem, run, i, measured, slope, longest):
    """The dual along a direction of block i."""
    scale = problem.weight[i] / run.lam
    return Line(slope, run.lam * scale * scale * measured.norm, longest)


@helper
def count_gain(run, line, gamma):
    """Add up what a step gains, where somebody asks: a thread that works beside others."""
    if run.gains.shape[0] > 0:
        run.gains[0] += gain(line, gamma)


@helper
def follow(direction, problem, run, i, measured, gamma):
    """Take a step of length gamma."""
    foresee(run.step, problem, direction, run, i, gamma)
    tell_move(run.telling, problem, direction, run, i, gamma)
    release(run.box, run.w)
    scale = problem.weight[i] / run.lam
    move(problem, direction, measured, run.blocks, run.work, run.w, i, gamma, scale)
    clip(run.box, run.w)
    after_change(run.box, problem, run.work)


@helper
def along_corner(step, problem, run, i, k, slot, sign, slope, longest):
    """Go to the corner, which is in the slot, or, with a negative sign, away from it; returns how far."""
    measured = measure(problem, step.toward, run.blocks, run.work, i)
    line = line_along(problem, run, i, measured, slope, longest)
    gamma = choose_length(step.length, line, problem, run, i, k)
    count_gain(run, line, gamma)
    follow(step.toward, problem, run, i, measured, sign * gamma)
    shift_mass(run.memory, i, slot, sign * gamma)
    return gamma


@implements(take_step, FrankWolfeStep)
def _(step, problem, run, i, k, found):
    along_corner(step, problem, run, i, k, found.slot, 1.0, found.gap, 1.0)


@implements(take_step, AwayStep)
def _(step, problem, run, i, k, found):
    memory, slot, sign, slope, longest = run.memory, found.slot, 1.0, found.gap, 1.0
    worst = worst_slot(memory, problem, run.work, run.w, i)
    if worst >= 0 and memory.mass[i, worst] < 1.0:
        lowest = slot_value(problem, memory.labelings, run.work, run.w, i, worst)
        rise = problem.weight[i] * (found.current - lowest)
        if found.gap <= rise:
            take_corner(problem, memory.labelings, run.work, i, worst)
            mass = memory.mass[i, worst]
            slot, sign, slope, longest = worst, -1.0, rise, mass / (1.0 - mass)  # at which the corner is dropped
    gamma = along_corner(step, problem, run, i, k, slot, sign, slope, longest)
    if sign < 0.0 and gamma == longest:
        memory.mass[i, slot] = 0.0


@implements(take_step, PairwiseStep)
def _(step, problem, run, i, k, found):
    memory = run.memory
    worst = worst_slot(memory, problem, run.work, run.w, i)
    if worst >= 0 and worst != found.slot:
        take_away(problem, memory.labelings, run.work, i, worst)
        lowest = slot_value(problem, memory.labelings, run.work, run.w, i, worst)
        slope, mass = problem.weight[i] * (found.value - lowest), memory.mass[i, worst]
        measured = measure(problem, step.between, run.blocks, run.work, i)
        line = line_along(problem, run, i, measured, slope, mass)
        gamma = choose_length(step.length, line, problem, run, i, k)
        rival = -np.inf  # gain of the Frank-Wolfe step
        if step.safeguard or has_nameless_mass(memory, i):
            whole = measure(problem, step.toward, run.blocks, run.work, i)
            toward = line_along(problem, run, i, whole, found.gap, 1.0)
            rival = gain(toward, choose_length(step.length, toward, problem, run, i, k))
        if gain(line, gamma) >= rival:
            count_gain(run, line, gamma)
            follow(step.between, problem, run, i, measured, gamma)
            memory.mass[i, worst] = 0.0 if gamma == mass else mass - gamma
            memory.mass[i, found.slot] += gamma
            return
    along_corner(step, problem, run, i, k, found.slot, 1.0, found.gap, 1.0)


STEPS: dict[str, Any] = {
    "fw": FrankWolfeStep(),
    "away": AwayStep(),
    "pairwise": PairwiseStep(),
    "optimal": OptimalStep(),
}
