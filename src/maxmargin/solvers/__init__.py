"""Solvers: they ask a problem for loss-augmented argmaxes and certify how far from optimal they stopped."""

from . import diagnostics
from .base import Solver
from .block_coordinate import BlockFrankWolfe, Cache
from .catalyst import Catalyst
from .cutting_plane import CuttingPlane
from .exponentiated_gradient import ExponentiatedGradient
from .frank_wolfe import FrankWolfe
from .path import Path, lambda_grid, regularization_path
from .perceptron import Perceptron
from .presets import get_solver
from .result import Record, Result, Status
from .subgradient import Decay, Subgradient

__all__ = [
    "BlockFrankWolfe",
    "Cache",
    "Catalyst",
    "CuttingPlane",
    "Decay",
    "ExponentiatedGradient",
    "FrankWolfe",
    "Path",
    "Perceptron",
    "Record",
    "Result",
    "Solver",
    "Status",
    "Subgradient",
    "diagnostics",
    "get_solver",
    "lambda_grid",
    "regularization_path",
]
