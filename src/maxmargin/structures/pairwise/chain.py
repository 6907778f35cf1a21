"""Linear chains: sites one after the other, each linked to the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...inference import Bounded, ChainPlan, SparseChainPlan, make_tree_plan
from ..masks import TransitionMask
from .graph import links_of
from .layout import PairwiseProblem, make_pairwise_problem
from .links import Successive
from .sites import Sites, make_sites

# Of so many labels most pairs never occur, and have weights of 0: to go by the others costs less than a look at all
# pairs, half at 300 and a hundredth at 2,500, where characters were labels. With a mask, scores are made anew for every
# sample, and all pairs are looked at anyway.
MANY_LABELS = 250


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
    free = bool(mask.allowed.all())
    links = Successive(np.empty((0, 0)) if free else np.where(mask.allowed, 0.0, -np.inf))
    start, end = np.where(mask.start, 0.0, -np.inf), np.where(mask.end, 0.0, -np.inf)
    kind: Any = SparseChainPlan if free and len(start) >= MANY_LABELS else ChainPlan
    return sites, links, kind(sites.offsets, start, end, int(np.diff(sites.offsets).max(initial=0)))


def has_many_labels(problem: Any) -> bool:
    """Whether labelings are found by the transitions that matter, among more labels than can be looked at in pairs."""
    return isinstance(problem, PairwiseProblem) and isinstance(problem.plan, SparseChainPlan)


def _with_features(offsets: np.ndarray, mask: TransitionMask, edge_matrix: Any) -> tuple[Any, Any]:
    """Transitions with features: a chain is a tree, rooted at its last position."""
    lengths, n_labels = np.diff(offsets), len(mask.start)
    parents = np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], lengths)
    parents[offsets[1:] - 1] = -1
    plan: Any = make_tree_plan(offsets, parents, n_labels, shared=False)
    links = links_of(plan, n_labels, mask.allowed, edge_matrix)
    if not (mask.start.all() and mask.end.all()):
        ends = np.where(mask.start, 0.0, -np.inf), np.where(mask.end, 0.0, -np.inf)
        plan = Bounded(plan, *ends, int(lengths.max(initial=0)))
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
    """Encode sequences once into flat arrays. Nothing is checked here; the estimators do that.

    Parameters
    ----------
    matrix : array, CSR matrix or KernelRows of shape (N, F)
        Features of all positions under each other, float64.
    offsets : array of int of shape (n + 1,)
        Sequence i is ``matrix[offsets[i]:offsets[i + 1]]``.
    labels : array of int of shape (N,)
        True labels, in ``range(n_labels)``.
    n_labels : int
        K, the number of labels.
    intercept : bool, default=True
        Whether labels have a bias.
    boundary : bool, default=True
        Whether they have biases of their own at first and at last positions.
    mask : TransitionMask or None, default=None
        Allowed transitions, first and last labels; None: all of them.
    edge_matrix : array or CSR matrix of shape (N - n, E), or None, default=None
        Features of all transitions; None: a weight for each pair of labels is all they have.
    **learning : by name
        `normalize`, `cost`, `class_weight` and `sample_weight`, as follows.
    normalize : bool, default=True
        Divide the loss of a sequence by its length.
    cost : array of shape (K, K) or None, default=None
        Loss of a label (column) at a position where another (row) is true; None: 1 for every wrong label.
    class_weight : array of shape (K,) or None, default=None
        Multiplies the row of the true label.
    sample_weight : array of shape (n,) or None, default=None
        Weights of the sequences, >= 0; None: all alike.

    Returns
    -------
    problem : PairwiseProblem

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import FrankWolfe
    >>> from maxmargin.structures import make_chain_problem
    >>> problem = make_chain_problem(np.eye(3), np.array([0, 2, 3]), np.array([0, 1, 1]), 2)  # two sequences
    >>> result = FrankWolfe().solve(problem, 0.1, tol=1e-2)
    >>> print(result.status, result.w.shape)  # three features, intercept, two boundaries: 6 x 2; transitions: 2 x 2
    converged (16,)
    """
    mask = TransitionMask.everything(n_labels) if mask is None else mask
    parts = make_chains(matrix, offsets, intercept=intercept, boundary=boundary, mask=mask, edge_matrix=edge_matrix)
    return make_pairwise_problem(*parts, labels, n_labels, **learning)
