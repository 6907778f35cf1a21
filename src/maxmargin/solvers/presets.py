"""Solvers by name, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..structures import as_problem
from ..structures.needs import Need
from ..structures.verbs import argmax_cost, offers
from .base import Solver
from .block_coordinate import BlockFrankWolfe
from .cutting_plane import CuttingPlane
from .descent import Perceptron, Subgradient
from .exponentiated_gradient import ExponentiatedGradient
from .frank_wolfe import FrankWolfe

# An argmax that costs this many times the rest of a step is worth saving by a cache.
EXPENSIVE = 4.0


def choose(problem: Any) -> Solver:
    """Accelerated pairwise steps on blocks drawn by their gaps, with a cache where the oracle is expensive.

    Where a block has an optimum in closed form, accelerated steps to that: they cost so little that drawing by gaps
    would cost as much again, so that blocks come in orders drawn ahead, those with a gap more often.

    Built-in structures know what their oracle costs, so the choice is the same in every run; a user's own oracle is
    timed. Whether acceleration has anything to gain, the solver sees from the curvature of the data and lam.
    """
    problem = None if problem is None else as_problem(problem)
    if problem is not None and Need.OPTIMA in offers(problem):
        return BlockFrankWolfe("active", "weighted", gap_every=3, step="optimal", acceleration="catalyst")
    expensive = problem is not None and bool(argmax_cost(problem) > EXPENSIVE)
    return BlockFrankWolfe("gap", "weighted", step="pairwise", cache=expensive, acceleration="catalyst")


PRESETS: dict[str, Callable[[Any], Solver]] = {
    "auto": choose,
    "bcfw": lambda problem: BlockFrankWolfe(),
    "bcpfw": lambda problem: BlockFrankWolfe(step="pairwise"),
    "bcafw": lambda problem: BlockFrankWolfe(step="away"),
    "fw": lambda problem: FrankWolfe(),
    "cutting_plane": lambda problem: CuttingPlane(),
    "exponentiated_gradient": lambda problem: ExponentiatedGradient(),
    "subgradient": lambda problem: Subgradient(),
    "perceptron": lambda problem: Perceptron(),
}


def get_solver(solver: Any, problem: Any = None) -> Solver:
    """The solver itself, or the one a preset's name means for the problem.

    Parameters
    ----------
    solver : str or Solver
        "auto", which chooses for the problem; "bcfw", "bcpfw" or "bcafw", block-coordinate with Frank-Wolfe, pairwise
        or away steps; "fw", "cutting_plane", "exponentiated_gradient", "subgradient" or "perceptron"; or a solver.
    problem : object or None, default=None
        A structure over data, which "auto" looks at: whether blocks have optima in closed form, and what its oracle
        costs. None means that nothing is known of it.

    Returns
    -------
    solver : Solver

    Examples
    --------
    >>> from maxmargin.solvers import get_solver
    >>> get_solver("bcpfw")
    BlockFrankWolfe(step='pairwise')
    >>> get_solver(get_solver("fw"))
    FrankWolfe()
    """
    if isinstance(solver, str) and solver in PRESETS:
        return PRESETS[solver](problem)
    if isinstance(solver, Solver):
        return solver
    raise ValueError(f"solver must be one of {sorted(PRESETS)} or a solver object, got {solver!r}")
