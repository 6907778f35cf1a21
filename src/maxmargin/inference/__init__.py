"""Inference: functions of potentials; they never see weights."""

from . import bounded, linear, tree  # they register the verbs of their plans
from .junction import JunctionPlan, make_junction_plan
from .tree_plan import TreePlan, make_tree_plan

__all__ = [
    "JunctionPlan",
    "TreePlan",
    "bounded",
    "linear",
    "make_junction_plan",
    "make_tree_plan",
    "tree",
]
