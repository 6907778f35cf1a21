"""Solvers: they ask a problem for loss-augmented argmaxes and certify how far from optimal they stopped."""

from . import (
    diagnostics,
    stored,  # noqa: F401  (says what of it may be in model files)
)
from .base import Solver
from .block_coordinate import BlockFrankWolfe
from .catalyst import Catalyst
from .cutting_plane import CuttingPlane
from .descent import Decay, Perceptron, Subgradient
from .engine import Earlier
from .exponentiated_gradient import ExponentiatedGradient
from .factorwise import GDMM, SoftBCFW
from .frank_wolfe import FrankWolfe
from .keeping import CheckpointError
from .lbfgs import LBFGS
from .partial_linearization import PartialLinearization
from .parts.cache import Cache
from .parts.gibbs_step import GibbsStep
from .parts.inner_steps import ExpectationStep, ExponentiatedStep
from .parts.lengths import ExactLength, FixedLength
from .parts.repeated import RepeatedStep
from .parts.samplers import Active, ByGaps, Drawn, Permutation, Ranges, Uniform
from .parts.steps import AwayStep, FrankWolfeStep, OptimalStep, PairwiseStep
from .path import Path, lam_grid, regularization_path
from .presets import get_solver
from .result import Record, Result, Status
from .smoothing import SVRG, Casimir, SmoothedObjective, smoothed_objective

__all__ = [
    "GDMM",
    "LBFGS",
    "SVRG",
    "Active",
    "AwayStep",
    "BlockFrankWolfe",
    "ByGaps",
    "Cache",
    "Casimir",
    "Catalyst",
    "CheckpointError",
    "CuttingPlane",
    "Decay",
    "Drawn",
    "Earlier",
    "ExactLength",
    "ExpectationStep",
    "ExponentiatedGradient",
    "ExponentiatedStep",
    "FixedLength",
    "FrankWolfe",
    "FrankWolfeStep",
    "GibbsStep",
    "OptimalStep",
    "PairwiseStep",
    "PartialLinearization",
    "Path",
    "Perceptron",
    "Permutation",
    "Ranges",
    "Record",
    "RepeatedStep",
    "Result",
    "SmoothedObjective",
    "SoftBCFW",
    "Solver",
    "Status",
    "Subgradient",
    "Uniform",
    "diagnostics",
    "get_solver",
    "lam_grid",
    "regularization_path",
    "smoothed_objective",
]
