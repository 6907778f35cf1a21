"""Solvers: they ask a problem for loss-augmented argmaxes and certify how far from optimal they stopped."""

from typing import Any

from .base import Solver
from .block_coordinate import BlockFrankWolfe, Cache
from .frank_wolfe import FrankWolfe
from .result import Record, Result, Status

__all__ = ["BlockFrankWolfe", "Cache", "FrankWolfe", "Record", "Result", "Solver", "Status", "get_solver"]

PRESETS = {
    "auto": lambda: BlockFrankWolfe(sampling="permutation", averaging="weighted"),
    "bcfw": BlockFrankWolfe,
    "fw": FrankWolfe,
}


def get_solver(solver: Any) -> Solver:
    """A solver by its preset's name, or the solver itself."""
    if isinstance(solver, str) and solver in PRESETS:
        return PRESETS[solver]()
    if isinstance(solver, Solver):
        return solver
    raise ValueError(f"solver must be one of {sorted(PRESETS)} or a solver object, got {solver!r}")
