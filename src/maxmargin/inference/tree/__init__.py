"""Trees and forests: exact inference over given parents, the verbs of `verbs` for a TreePlan."""

from . import reweighted as _reweighted  # noqa: F401  (registers its verbs)
from .answers import TreeScratch
from .plan import TreePlan, make_tree_plan

__all__ = ["TreePlan", "TreeScratch", "make_tree_plan"]
