"""Multiclass in part space: one node a block. Flat weights are ``[node (F, K) | intercept (K,)]``.

With kernel rows the node part is theirs, see :class:`~..rows.KernelRows`.
"""

from . import blocks, changes, expectations, smoothed  # they register the verbs
from .layout import MulticlassProblem, make_multiclass_problem

__all__ = ["MulticlassProblem", "blocks", "changes", "expectations", "make_multiclass_problem", "smoothed"]
