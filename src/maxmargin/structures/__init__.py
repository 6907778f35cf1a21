"""Structures: data laid out for learning, and what solvers may ask of it."""

from typing import Any

from .custom import CustomProblem
from .masks import TransitionMask, bio_mask
from .multiclass import MulticlassProblem, make_multiclass_problem
from .pairwise import PairwiseProblem, make_chain_problem
from .verbs import find_corner

__all__ = [
    "CustomProblem",
    "MulticlassProblem",
    "PairwiseProblem",
    "TransitionMask",
    "as_problem",
    "bio_mask",
    "make_chain_problem",
    "make_multiclass_problem",
]


def as_problem(structure: Any) -> Any:
    """A problem as it is; a user's own structure with the verbs added."""
    if type(structure) in find_corner.table or isinstance(structure, CustomProblem):  # type: ignore[attr-defined]
        return structure
    return CustomProblem(structure)
