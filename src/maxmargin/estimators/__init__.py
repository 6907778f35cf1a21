"""scikit-learn faces: no mathematics here."""

from .chain import ChainSVM
from .multiclass import MulticlassSVM

__all__ = ["ChainSVM", "MulticlassSVM"]
