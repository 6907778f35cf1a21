"""Which problems the steps of a solver work on: the one as posed, or a sequence of proximal ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .catalyst import MANY_WEIGHTS, Catalyst, OneProblem, ProximalSequence
from .few_weights import FewWeights, allows_few
from .objective import DualPoint, Objective

# Where the curvature is less than this many times lam, plain steps take a few passes, and nothing is to be gained.
EASY = 0.5


def problems_for(
    settings: Catalyst | None,
    averages: bool,
    objective: Objective,
    point: DualPoint,
    find_curvature: Callable[[], float],
    steps: int,
    *,
    whole: bool = False,
    seldom: bool = False,
) -> Any:
    """What the steps of a solver are to work on, from a dual point on.

    `whole`: its vectors have all weights. `seldom`: steps are not to be stopped but where a pass or a problem ends.
    """
    lam = objective.lam
    if settings is None:
        return OneProblem(lam, settings, steps)
    if settings.kappa is not None:
        kappa = highest = float(settings.kappa)
    else:
        highest = find_curvature()  # with kappa there, a pass would solve a problem
        if highest < EASY * lam:
            return OneProblem(lam, settings, steps)
        kappa = 0.5 * np.sqrt(lam * highest)
    n, n_weights = len(objective.problem.weight), len(point.vector)
    few = n_weights > MANY_WEIGHTS * n and not whole and allows_few(objective)
    kind = FewWeights if few else ProximalSequence
    sequence = kind(settings, averages, n, n_weights, seldom)
    sequence.begin(objective, kappa, highest, point, steps)
    return sequence
