"""Several steps in a row on one block, whose potentials follow them, so that features are looked up once."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._compile import implements
from ..._parameters import check_count
from ...structures.verbs import shift_potentials
from ..box import renew
from .memory import A_VISIT
from .steps import (
    AwayStep,
    FrankWolfeStep,
    PairwiseStep,
    change_block,
    foresee,
    lacks_any_room,
    traits,
)

MOST_TIMES = A_VISIT  # two or three were best wherever it was measured


class RepeatedStep(NamedTuple):
    """Steps of a kind on the same block, one after the other, each to the output that the oracle finds then.

    What a step changes of a block's own scores is known from the products of its features with each other, so that
    features are looked up once. Pays where there are many labels, so that a block gives mass to many outputs.

    Parameters
    ----------
    step : PairwiseStep, AwayStep or FrankWolfeStep, default=PairwiseStep()
        Their kind.
    times : int, default=2
        How many, from 1 to 4; fewer where the block has no gap left.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, RepeatedStep
    >>> from maxmargin.structures import make_chain_problem
    >>> problem = make_chain_problem(np.eye(4), np.array([0, 2, 4]), np.array([0, 1, 2, 2]), 3)
    >>> print(BlockFrankWolfe(step=RepeatedStep(times=3)).solve(problem, 0.1, tol=1e-3, random_state=0).status)
    converged
    """

    step: PairwiseStep | AwayStep | FrankWolfeStep = PairwiseStep()
    times: int = 2

    @property
    def length(self) -> Any:
        """How far each of them goes."""
        return self.step.length


@implements(traits, RepeatedStep)
def _(step):
    if not isinstance(step.step, PairwiseStep | AwayStep | FrankWolfeStep):
        raise ValueError(f"a RepeatedStep repeats PairwiseStep(), AwayStep() or FrankWolfeStep(), not {step.step!r}")
    times = check_count("times of a RepeatedStep", step.times)
    if times > MOST_TIMES:
        raise ValueError(f"a RepeatedStep repeats 1 to {MOST_TIMES} times, got times={times}")
    return traits(step.step)._replace(moves=times)


@implements(foresee, RepeatedStep)
def _(step, problem, direction, run, i, gamma):
    shift_potentials(problem, direction, run.blocks, run.work, i, gamma, problem.weight[i] / run.lam)


@implements(change_block, RepeatedStep)
def _(step, problem, run, i, k):
    change_block(step.step, problem, run, i, k)
    for _ in range(1, step.times):
        if run.gaps[i] <= 0.0 or lacks_any_room(problem, run, i, 1):
            return
        renew(run.box, problem, run.work, run.w, i)
        change_block(step.step, problem, run, i, k)
