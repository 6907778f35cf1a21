"""Inference: functions of potentials; they never see weights."""

from . import bounded, linear, tree  # they register the verbs of their plans
from .cut import CutPlan, first_nonsubmodular, make_cut_plan
from .junction import JunctionPlan, make_junction_plan
from .matching import best_matching, matching_marginals, matching_max_marginals, top_matchings
from .tree_plan import TreePlan, make_tree_plan

__all__ = [
    "CutPlan",
    "JunctionPlan",
    "TreePlan",
    "best_matching",
    "bounded",
    "first_nonsubmodular",
    "linear",
    "make_cut_plan",
    "make_junction_plan",
    "make_tree_plan",
    "matching_marginals",
    "matching_max_marginals",
    "top_matchings",
    "tree",
]
