"""The linear relaxation over the local polytope, for graphs of any shape and any number of labels."""

from .answers import RelaxedScratch
from .plan import RelaxedPlan, make_relaxed_plan
from .relaxation import Relaxed, bound_by_messages, new_messages, relax, relax_by_program

__all__ = [
    "Relaxed",
    "RelaxedPlan",
    "RelaxedScratch",
    "bound_by_messages",
    "make_relaxed_plan",
    "new_messages",
    "relax",
    "relax_by_program",
]
