"""Inference: functions of potentials; they never see weights."""

from .bounded import Bounded
from .boxes import best_box, candidate_marginals, scan_boxes, search_boxes, top_boxes
from .chain import ChainPlan, SparseChainPlan
from .cut import CutPlan, first_nonsubmodular, make_cut_plan
from .distance_transform import distance_transform
from .junction import JunctionPlan, TooWide, make_junction_plan
from .lp import Relaxed, RelaxedPlan, make_relaxed_plan, relax, relax_by_program
from .matching import best_matching, matching_marginals, matching_max_marginals, top_matchings
from .pose import Pose, Springs, best_pose, make_part_tree
from .search import OutOfBudget, best_first
from .subsets import RelaxedSubset, Subset, best_subset, relax_subset
from .tree import TreePlan, make_tree_plan

__all__ = [
    "Bounded",
    "ChainPlan",
    "CutPlan",
    "JunctionPlan",
    "OutOfBudget",
    "Pose",
    "Relaxed",
    "RelaxedPlan",
    "RelaxedSubset",
    "SparseChainPlan",
    "Springs",
    "Subset",
    "TooWide",
    "TreePlan",
    "best_box",
    "best_first",
    "best_matching",
    "best_pose",
    "best_subset",
    "candidate_marginals",
    "distance_transform",
    "first_nonsubmodular",
    "make_cut_plan",
    "make_junction_plan",
    "make_part_tree",
    "make_relaxed_plan",
    "make_tree_plan",
    "matching_marginals",
    "matching_max_marginals",
    "relax",
    "relax_by_program",
    "relax_subset",
    "scan_boxes",
    "search_boxes",
    "top_boxes",
    "top_matchings",
]
