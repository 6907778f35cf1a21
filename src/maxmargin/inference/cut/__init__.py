"""Minimum cuts: exact inference for two labels a node that like to agree, the verbs of `verbs` for a CutPlan."""

from .answers import CutScratch
from .plan import CutPlan, first_nonsubmodular, make_cut_plan

__all__ = ["CutPlan", "CutScratch", "first_nonsubmodular", "make_cut_plan"]
