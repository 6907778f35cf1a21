"""Inference: functions of potentials; they never see weights."""

from . import bounded, linear, tree  # they register the verbs of their plans
from .boxes import best_box, candidate_marginals, scan_boxes, search_boxes, top_boxes
from .cut import CutPlan, first_nonsubmodular, make_cut_plan
from .distance_transform import distance_transform
from .junction import JunctionPlan, make_junction_plan
from .lp import Relaxed, RelaxedPlan, make_relaxed_plan, relax, relax_by_program
from .matching import best_matching, matching_marginals, matching_max_marginals, top_matchings
from .pose import Pose, Springs, best_pose, make_part_tree
from .search import OutOfBudget, best_first
from .tree_plan import TreePlan, make_tree_plan

__all__ = [
    "CutPlan",
    "JunctionPlan",
    "OutOfBudget",
    "Pose",
    "Relaxed",
    "RelaxedPlan",
    "Springs",
    "TreePlan",
    "best_box",
    "best_first",
    "best_matching",
    "best_pose",
    "bounded",
    "candidate_marginals",
    "distance_transform",
    "first_nonsubmodular",
    "linear",
    "make_cut_plan",
    "make_junction_plan",
    "make_part_tree",
    "make_relaxed_plan",
    "make_tree_plan",
    "matching_marginals",
    "matching_max_marginals",
    "relax",
    "relax_by_program",
    "scan_boxes",
    "search_boxes",
    "top_boxes",
    "top_matchings",
    "tree",
]
