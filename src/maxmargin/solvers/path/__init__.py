"""Weights for every lam: the regularization path, and grids to compare it with."""

from .follow import lam_grid, regularization_path
from .path import Breakpoint, Path
from .rules import PathEnd

__all__ = ["Breakpoint", "Path", "PathEnd", "lam_grid", "regularization_path"]
