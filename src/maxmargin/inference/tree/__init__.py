"""Trees and forests: exact inference over given parents, the verbs of `verbs` for a TreePlan."""

from .answers import TreeScratch
from .plan import TreePlan, make_tree_plan

__all__ = ["TreePlan", "TreeScratch", "make_tree_plan"]
