"""Linear chains: sites one after the other, each linked to the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...inference import Bounded, ChainPlan, make_tree_plan
from ..masks import TransitionMask
from .graph import links_of
from .layout import PairwiseProblem, make_pairwise_problem
from .links import Successive
from .sites import Sites, make_sites


def make_chains(
    matrix: Any,
    offsets: np.ndarray,
    *,
    intercept: bool,
    boundary: bool,
    mask: TransitionMask,
    edge_matrix: Any = None,
) -> tuple[Sites, Any, Any]:
    """Lay out sequences for scoring: `matrix` holds all positions under each other, `edge_matrix` all transitions."""
    sites = make_sites(matrix, offsets, intercept=intercept, boundary=boundary)
    if edge_matrix is not None:
        return sites, *_with_features(sites.offsets, mask, edge_matrix)
    links = Successive(np.where(mask.allowed, 0.0, -np.inf) if not mask.allowed.all() else np.empty((0, 0)))
    start, end = np.where(mask.start, 0.0, -np.inf), np.where(mask.end, 0.0, -np.inf)
    return sites, links, ChainPlan(sites.offsets, start, end, int(np.diff(sites.offsets).max()))


def _with_features(offsets: np.ndarray, mask: TransitionMask, edge_matrix: Any) -> tuple[Any, Any]:
    """Transitions with features: a chain is a tree, rooted at its last position."""
    lengths, n_labels = np.diff(offsets), len(mask.start)
    parents = np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], lengths)
    parents[offsets[1:] - 1] = -1
    plan: Any = make_tree_plan(offsets, parents, n_labels, shared=False)
    links = links_of(plan, n_labels, mask.allowed, edge_matrix)
    if not (mask.start.all() and mask.end.all()):
        ends = np.where(mask.start, 0.0, -np.inf), np.where(mask.end, 0.0, -np.inf)
        plan = Bounded(plan, *ends, int(lengths.max()))
    return links, plan


def make_chain_problem(
    matrix: Any,
    offsets: np.ndarray,
    labels: np.ndarray,
    n_labels: int,
    *,
    intercept: bool = True,
    boundary: bool = True,
    mask: TransitionMask | None = None,
    edge_matrix: Any = None,
    **learning: Any,
) -> PairwiseProblem:
    """Encode sequences once into flat arrays.

    Parameters
    ----------
    matrix : (N, F) features of all positions, float64, dense or CSR, or kernel rows
    offsets : (n + 1,) sequence i is ``matrix[offsets[i]:offsets[i + 1]]``
    labels : (N,) int, in ``range(n_labels)``
    intercept, boundary : whether labels have a bias, and first and last positions biases of their own
    mask : allowed transitions, first and last labels
    edge_matrix : (N - n, E) features of all transitions, dense or CSR
    **learning : normalize, cost, class_weight, sample_weight, see :func:`~.layout.make_pairwise_problem`
    """
    mask = TransitionMask.everything(n_labels) if mask is None else mask
    parts = make_chains(matrix, offsets, intercept=intercept, boundary=boundary, mask=mask, edge_matrix=edge_matrix)
    return make_pairwise_problem(*parts, labels, n_labels, **learning)
