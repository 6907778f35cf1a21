"""Inference: functions of potentials; they never see weights."""

from . import bounded, junction, linear, tree  # they register the verbs of their plans
from .elimination import JunctionPlan, make_junction_plan
from .tree_plan import TreePlan, make_tree_plan

__all__ = [
    "JunctionPlan",
    "TreePlan",
    "bounded",
    "junction",
    "linear",
    "make_junction_plan",
    "make_tree_plan",
    "tree",
]
