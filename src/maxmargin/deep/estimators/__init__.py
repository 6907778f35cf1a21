"""scikit-learn faces of networks with structured outputs."""

from .box import DeepBoxSVM
from .chain import DeepChainSVM

__all__ = ["DeepBoxSVM", "DeepChainSVM"]
