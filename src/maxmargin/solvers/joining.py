"""Which solvers go on where samples join a problem."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from ..structures.joining import can_join
from ..structures.verbs import dimension
from .base import Solver
from .block_coordinate import BlockFrankWolfe
from .engine import Earlier, State
from .parts.gibbs_step import GibbsStep
from .parts.steps import traits


def check_joinable(solver: Solver) -> None:
    """A ValueError where a solver has no blocks to keep of samples that others join."""
    if not isinstance(solver, BlockFrankWolfe):
        raise ValueError(f'samples can join runs of block solvers: take "auto" or BlockFrankWolfe, not {solver!r}')
    step = solver.chosen_step()
    if traits(step).begins_inside and not isinstance(step, GibbsStep):
        raise ValueError(f"samples can join runs whose steps go to outputs, or Gibbs steps, not {solver!r}")


def solver_for_more(solver: Solver, problem: Any) -> Solver:
    """The solver, for problems that other samples may join; a ValueError where there are no blocks to keep of these.

    Pieces of chains are no blocks of samples: chains are then taken whole.
    """
    if not can_join(problem):
        raise ValueError(
            "samples can join where each has dual variables of its own, which structures in plain Python have not "
            "(interactions of labels, relaxed graphs): fit to all samples instead"
        )
    check_joinable(solver)
    return solver if getattr(solver, "pieces", None) is None else clone(solver).set_params(pieces=None)


def earlier(state: State | None, solver: Solver, problem: Any) -> Earlier | None:
    """What to go on from; None where the state is none of that solver, or of problems with other weights."""
    if state is None or state.family != solver.family or len(state.w) != dimension(problem):
        return None
    return Earlier(state)
