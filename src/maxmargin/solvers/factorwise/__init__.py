"""Learning by factors: multiclass problems joined by messages."""

from .solver import GDMM

__all__ = ["GDMM"]
