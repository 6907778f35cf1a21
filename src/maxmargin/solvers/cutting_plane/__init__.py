"""Cutting planes: the same problem with the constraints found so far, solved again and again."""

from .solver import CuttingPlane

__all__ = ["CuttingPlane"]
