"""Solvers by name, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..structures import CustomProblem, as_problem
from ..structures.label_pairs import LabelPairs
from ..structures.needs import Need
from ..structures.pairwise.chain import has_many_labels
from ..structures.pairwise.pieces import can_be_cut
from ..structures.verbs import argmax_cost, offers
from .base import Solver
from .block_coordinate import BlockFrankWolfe
from .cutting_plane import CuttingPlane
from .descent import Perceptron, Subgradient
from .exponentiated_gradient import ExponentiatedGradient
from .factorwise import GDMM
from .frank_wolfe import FrankWolfe
from .lbfgs import LBFGS
from .partial_linearization import PartialLinearization
from .parts.cache import Cache
from .parts.repeated import RepeatedStep
from .smoothing import SVRG, Casimir

# Chains of more than this many times the square root of all positions are cut into pieces of that many times; none is
# shorter than so many.
LONG, PIECE, SHORTEST_PIECE = 1.5, 0.3, 40

# An argmax that costs this many times the rest of a step is worth saving by a cache, where a remembered output is taken
# for it only if its gap is nearly as large as the last one known: lesser ones, accelerated, cost more steps than they
# save.
EXPENSIVE, CHOOSY = 2.0, Cache(F=0.8)


def has_log_loss(problem: Any) -> bool:
    return problem is not None and Need.LOG_LOSS in offers(as_problem(problem))


def choose(problem: Any) -> Solver:
    """Accelerated pairwise steps on blocks drawn by their gaps, with a cache where the oracle is expensive.

    Where a block has an optimum in closed form, accelerated steps to that: they cost so little that drawing by gaps
    would cost as much again, so that blocks come in orders drawn ahead, those with a gap more often. Where the oracle
    is plain Python, a user's or our own, compiled steps over all it ever answered, between its calls; but sets of many
    labels that interact are taken apart, and learn label by label and pair by pair. Chains that are long beside the
    square root of all positions are cut into pieces, and chains of many labels take two steps a visit. Samples on disk
    come a few ranges at a time. Log-losses take accelerated Gibbs steps on blocks drawn by their gaps.

    All of it follows from types and sizes, so that the choice is the same in every run. Whether acceleration has
    anything to gain, the solver sees from the curvature of the data and lam.
    """
    problem = None if problem is None else as_problem(problem)
    offered = frozenset() if problem is None else offers(problem)
    if has_log_loss(problem):
        return BlockFrankWolfe("gap", gap_every=5, step="gibbs", acceleration="catalyst")
    if Need.OPTIMA in offered:
        return BlockFrankWolfe("active", "weighted", gap_every=3, step="optimal", acceleration="catalyst")
    solver = BlockFrankWolfe("gap", "weighted", step="pairwise", acceleration="catalyst")
    if problem is not None and Need.IN_MEMORY not in offered:
        return solver.set_params(sampling="ranges")
    if isinstance(problem, CustomProblem):
        if Need.FACTORS in offered and isinstance(problem.structure, LabelPairs):
            return GDMM()  # its steps and certificates are compiled: 7 to over 20 x as fast on four data sets
        return solver.set_params(working_set=True, gap_every=5)
    if can_be_cut(problem):
        root = np.sqrt(len(problem.labels))
        if problem.longest > max(SHORTEST_PIECE, LONG * root):
            return solver.set_params(pieces=max(SHORTEST_PIECE, int(PIECE * root)))
    if has_many_labels(problem):
        solver.set_params(step=RepeatedStep())
    is_expensive = problem is not None and argmax_cost(problem) > EXPENSIVE
    return solver.set_params(cache=CHOOSY if is_expensive else False)


PRESETS: dict[str, Callable[[Any], Solver]] = {
    "auto": choose,
    "bcfw": lambda problem: BlockFrankWolfe(),
    "bcpfw": lambda problem: BlockFrankWolfe(step="pairwise"),
    "bcafw": lambda problem: BlockFrankWolfe(step="away"),
    "fw": lambda problem: FrankWolfe(),
    "cutting_plane": lambda problem: CuttingPlane(),
    "exponentiated_gradient": lambda problem: ExponentiatedGradient(),
    "partial_linearization": lambda problem: PartialLinearization(),
    "subgradient": lambda problem: Subgradient(),
    "perceptron": lambda problem: Perceptron(),
    "gdmm": lambda problem: GDMM(),
    "lbfgs": lambda problem: LBFGS(),
    "svrg": lambda problem: SVRG(None) if has_log_loss(problem) else SVRG(),
    "casimir": lambda problem: Casimir("constant", None) if has_log_loss(problem) else Casimir(),
}


def get_solver(solver: Any, problem: Any = None) -> Solver:
    """The solver itself, or the one a preset's name means for the problem.

    Parameters
    ----------
    solver : str or Solver
        "auto", which chooses for the problem; "bcfw", "bcpfw" or "bcafw", block-coordinate with Frank-Wolfe, pairwise
        or away steps; "fw", "cutting_plane", "exponentiated_gradient", "partial_linearization", "subgradient",
        "perceptron", "gdmm", "svrg" or "casimir"; "lbfgs", for log-losses, which "svrg" and "casimir" know, too; or a
        solver.
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
