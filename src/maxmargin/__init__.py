"""Max-margin structured prediction, with a certificate of how far from optimal it stopped."""

from . import datasets, metrics, solvers, structures
from .estimators import ChainSVM, MulticlassSVM
from .structures import TransitionMask, bio_mask

__version__ = "0.1.0"

__all__ = [
    "ChainSVM",
    "MulticlassSVM",
    "TransitionMask",
    "bio_mask",
    "datasets",
    "metrics",
    "solvers",
    "structures",
]
