"""Junction trees: exact inference on graphs of low tree-width, the verbs of `verbs` for a JunctionPlan."""

from .answers import JunctionScratch
from .plan import JunctionPlan, TooWide, make_junction_plan

__all__ = ["JunctionPlan", "JunctionScratch", "TooWide", "make_junction_plan"]
