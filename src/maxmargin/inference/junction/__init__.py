"""Junction trees: exact inference on graphs of low tree-width, the verbs of `verbs` for a JunctionPlan."""

from . import reweighted as _reweighted  # noqa: F401  (registers its verbs)
from .answers import JunctionScratch
from .plan import JunctionPlan, TooWide, make_junction_plan

__all__ = ["JunctionPlan", "JunctionScratch", "TooWide", "make_junction_plan"]
