"""Scores from PyTorch: batched inference on tensors, structured losses, and training of networks through them.

It needs PyTorch, which the rest of the package never imports: ``pip install "maxmargin[deep]"``.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError('maxmargin.deep needs PyTorch 2.4 or later: pip install "maxmargin[deep]"') from error

from .batches import Candidates, Chains, Marginals, Trees
from .estimators import DeepBoxSVM, DeepChainSVM
from .losses import CRFLoss, StructuredHinge
from .training import GradientSteps, ProxLinear, Risk, Trained, train

__all__ = [
    "CRFLoss",
    "Candidates",
    "Chains",
    "DeepBoxSVM",
    "DeepChainSVM",
    "GradientSteps",
    "Marginals",
    "ProxLinear",
    "Risk",
    "StructuredHinge",
    "Trained",
    "Trees",
    "train",
]
