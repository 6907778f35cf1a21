"""How the labelings of graphs are found: for each kind the plan, what edges are learned as, and the problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._parameters import check_count
from ..inference import make_cut_plan, make_junction_plan, make_relaxed_plan, make_tree_plan
from ..structures.known import KnownProblem
from ..structures.pairwise import PairwiseProblem
from ..structures.relaxed import Relaxations
from ._edge_weights import DifferenceWeights, PairWeights, UnmaskedPairWeights
from .inputs.graphs import stack_edges, stack_heads


class Inference(NamedTuple):
    # plan(model, links, offsets, n_labels, shared) of the samples' edges as they are given
    plan: Callable[[Any, list[Any], np.ndarray, int, bool], Any]
    edge_weights: PairWeights | DifferenceWeights = PairWeights()
    problem: Callable[[PairwiseProblem], Any] = lambda problem: problem
    is_exact: bool = True


def _tree(model: Any, heads: list[Any], offsets: np.ndarray, n_labels: int, shared: bool) -> Any:
    return make_tree_plan(offsets, stack_heads(heads, offsets), n_labels, shared=shared)


def _junction(model: Any, edges: list[Any], offsets: np.ndarray, n_labels: int, shared: bool) -> Any:
    width = check_count("max_width", model.max_width)
    return make_junction_plan(offsets, *stack_edges(edges), n_labels, shared=shared, max_width=width)


def _cut(model: Any, edges: list[Any], offsets: np.ndarray, n_labels: int, shared: bool) -> Any:
    if n_labels != 2:
        raise ValueError(f'inference="cut" is for two labels, and there are {n_labels}: take "junction" or "lp"')
    return make_cut_plan(offsets, *stack_edges(edges), shared=False)


def _relaxed(model: Any, edges: list[Any], offsets: np.ndarray, n_labels: int, shared: bool) -> Any:
    return make_relaxed_plan(offsets, *stack_edges(edges), n_labels, shared=shared)


def _relaxed_problem(problem: PairwiseProblem) -> KnownProblem:
    return KnownProblem(Relaxations(problem))


TREES = Inference(_tree)
GRAPHS = {
    "junction": Inference(_junction),
    "cut": Inference(_cut, DifferenceWeights()),
    "lp": Inference(_relaxed, UnmaskedPairWeights(), _relaxed_problem, is_exact=False),
}
