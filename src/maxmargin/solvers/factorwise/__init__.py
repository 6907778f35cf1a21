"""Learning by factors: multiclass problems joined by messages."""

from .solver import GDMM, SoftBCFW

__all__ = ["GDMM", "SoftBCFW"]
