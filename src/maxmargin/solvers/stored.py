"""What of solvers may be in model files, as parameters of estimators: solvers and their parts, not their states."""

from __future__ import annotations

from ..persistence import storable
from .block_coordinate import BlockFrankWolfe
from .catalyst import Catalyst
from .cutting_plane import CuttingPlane
from .descent import Decay, Perceptron, Subgradient
from .exponentiated_gradient import ExponentiatedGradient
from .factorwise import GDMM, SoftBCFW
from .frank_wolfe import FrankWolfe
from .lbfgs import LBFGS
from .partial_linearization import PartialLinearization
from .parts.cache import Cache
from .parts.gibbs_step import GibbsStep
from .parts.inner_steps import ExpectationStep, ExponentiatedStep
from .parts.lengths import ExactLength, FixedLength
from .parts.repeated import RepeatedStep
from .parts.samplers import Active, ByGaps, Drawn, Permutation, Ranges, Uniform
from .parts.steps import AwayStep, FrankWolfeStep, OptimalStep, PairwiseStep
from .smoothing import SVRG, Casimir

SOLVERS = (
    BlockFrankWolfe,
    Casimir,
    CuttingPlane,
    ExponentiatedGradient,
    FrankWolfe,
    GDMM,
    LBFGS,
    PartialLinearization,
    Perceptron,
    SVRG,
    SoftBCFW,
    Subgradient,
)
SAMPLING = (Active, ByGaps, Drawn, Permutation, Ranges, Uniform)
STEPS = (
    AwayStep,
    ExpectationStep,
    ExponentiatedStep,
    FrankWolfeStep,
    GibbsStep,
    OptimalStep,
    PairwiseStep,
    RepeatedStep,
)

for part in (*SOLVERS, *SAMPLING, *STEPS, ExactLength, FixedLength, Cache, Catalyst, Decay):
    storable(part)
