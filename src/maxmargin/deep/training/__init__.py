"""Training of networks through structured hinges: prox-linear steps, and stochastic ones."""

from .gradient_steps import GradientSteps
from .prox_linear import ProxLinear
from .risk import Risk
from .runs import Trained, train

__all__ = ["GradientSteps", "ProxLinear", "Risk", "Trained", "train"]
